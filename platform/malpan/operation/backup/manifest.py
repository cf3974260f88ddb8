"""The form of a backup, and how it is checked.

A folder: ``database.dump`` (of ``pg_dump --format=custom``), ``files/ab/cd/<sha256>`` and ``notes/`` as below
``PRIVATE_ROOT``, and ``manifest.json``, written last, with the sha256 and size of all of it and with what the site's
boards and chains were.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Final, Self

from malpan.operation.backup.errors import BackupError

FORMAT: Final = "malpan-backup@1"
DUMP: Final = "database.dump"
FILES: Final = "files"
NOTES: Final = "notes"
MANIFEST: Final = "manifest.json"
SHOWN: Final = 20  # of a list in a message


@dataclass(frozen=True, slots=True)
class SiteFacts:
    """What a restored site must have again. ``boards``: digests by phase; ``chains``: the newest hash by competition,
    empty without one; ``files``: the sha256 of every private file that the database names.
    """

    boards: Mapping[str, str]
    chains: Mapping[str, str]
    files: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Manifest:
    """What is in a backup. ``parts``: size and sha256 by the path below its folder. ``migrations``: as applied."""

    made_at: str
    postgres: int
    migrations: tuple[str, ...]
    parts: Mapping[str, tuple[int, str]]
    facts: SiteFacts

    def write(self, folder: Path) -> None:
        """Write it, to the disk itself: after this the backup is complete."""
        text = json.dumps({"format": FORMAT, **asdict(self)}, ensure_ascii=False, indent=1, sort_keys=True)
        with open_new(folder / MANIFEST) as file:
            file.write(text.encode())

    @classmethod
    def read(cls, folder: Path) -> Self:
        """The manifest of the backup in ``folder``. Raises ``BackupError`` if there is no complete one."""
        try:
            body = json.loads((folder / MANIFEST).read_bytes())
            if body.pop("format") != FORMAT:
                raise ValueError
            body["parts"] = {name: (int(size), str(sha256)) for name, (size, sha256) in body["parts"].items()}
            body["facts"] = SiteFacts(**body["facts"] | {"files": tuple(body["facts"]["files"])})
            return cls(**body | {"migrations": tuple(body["migrations"])})
        except (OSError, ValueError, KeyError, TypeError):
            raise BackupError(
                f"온전한 백업이 아닙니다: {folder} ({MANIFEST}이 없거나 이 프로그램이 모르는 형식입니다).\n"
                f"Not a complete backup: {folder} ({MANIFEST} is missing or in an unknown form)."
            ) from None

    @property
    def stored_files(self) -> list[str]:
        """The sha256 of every private file in it."""
        return sorted(Path(name).name for name in self.parts if name.startswith(f"{FILES}/"))

    @property
    def missing_files(self) -> list[str]:
        """The files that the database names and the site did not have, or had damaged."""
        return sorted(set(self.facts.files) - set(self.stored_files))

    def verify(self, folder: Path) -> None:
        """Raises ``BackupError`` unless ``folder`` holds exactly these parts, each with its size and sha256."""
        there = {str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir()} - {MANIFEST}
        wrong = [name for name in sorted(there & set(self.parts)) if measure(folder / name) != self.parts[name]]
        lacking, strange = sorted(set(self.parts) - there), sorted(there - set(self.parts))
        if wrong or lacking or strange:
            raise BackupError(
                f"백업이 목록과 다릅니다: {folder}. 아무것도 바꾸지 않았습니다.\n"
                f"The backup is not what its manifest says: {folder}. Nothing was changed.\n"
                + "\n".join(
                    [
                        *_lines("바뀐 파일 / changed", wrong),
                        *_lines("없는 파일 / missing", lacking),
                        *_lines("목록에 없는 파일 / not in the manifest", strange),
                    ]
                )
            )


def measure(path: Path) -> tuple[int, str]:
    """The size and sha256 of a file."""
    with path.open("rb") as file:
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
        return file.tell(), sha256


@contextmanager
def open_new(path: Path) -> Iterator[IO[bytes]]:
    """A new file, 0600, that is on the disk itself when the block ends."""
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        yield file
        file.flush()
        os.fsync(file.fileno())


def _lines(title: str, names: list[str]) -> Iterator[str]:
    yield from (f"{title}: {name}" for name in names[:SHOWN])
    if len(names) > SHOWN:
        yield f"{title}: … ({len(names)})"
