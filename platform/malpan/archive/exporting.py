"""Writing the archive of a competition, with little memory: rows and files are read one at a time."""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import cached_property
from tempfile import TemporaryFile
from typing import IO, Any, Final

from django.db import connection
from django.utils import timezone

from malpan.accounts.models import User
from malpan.archive import crypto
from malpan.archive.campaigns import SEALED, Leaving
from malpan.archive.errors import PassphraseTooShort
from malpan.archive.format import (
    BY_LABEL,
    CHUNK_BYTES,
    FORMAT,
    MANIFEST,
    PEOPLE,
    TABLES,
    VERSION,
    open_files,
    points_at_person,
)
from malpan.archive.rows import PERSON, encoded
from malpan.competitions.models import Competition, ReferenceVersion
from malpan.competitions.permissions import Permission, require
from malpan.core import audit
from malpan.core.errors import StoredFileCorrupt, StoredFileMissing
from malpan.core.locks import repeatable_read
from malpan.core.models import AuditEntry
from malpan.core.storage import open_private

ROWS_AT_ONCE: Final = 100  # item values of a large test set take half a megabyte for each row


@dataclass(frozen=True, slots=True)
class Exported:
    """The written archive. ``missing_files``: sha256 of stored files that are missing or damaged on this site."""

    counts: dict[str, int]
    missing_files: list[str]
    has_references: bool


def export_competition(
    *, competition: Competition, actor: User | None, target: IO[bytes], passphrase: str = ""
) -> Exported:
    """Write everything of ``competition`` into ``target``, in its state at one moment.

    Reference answers, and the seeds of human evaluations before their end, are included only with a ``passphrase``,
    encrypted. ``actor`` is ``None`` for the operator of the
    machine. Raises ``ManageNotFound`` and ``NotAllowed`` without the permission to own; ``PassphraseTooShort``.
    """
    if actor is not None:
        require(actor, competition, Permission.OWN)
    if passphrase and len(passphrase) < crypto.PASSPHRASE_MIN:
        raise PassphraseTooShort(limit=crypto.PASSPHRASE_MIN)
    facts = {"references": "encrypted" if passphrase else "left out"}
    audit.record(actor=actor, action="competition.export", obj=competition, after=facts)
    # the isolation level of a running transaction cannot be changed
    reading = nullcontext() if connection.in_atomic_block else repeatable_read()
    with reading, zipfile.ZipFile(target, "w") as archive:
        return _Writing(competition, archive).write(passphrase)


@dataclass
class _Writing:
    competition: Competition
    archive: zipfile.ZipFile
    members: list[dict[str, Any]] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)
    numbers: dict[str, dict[int, int]] = field(default_factory=dict)

    def write(self, passphrase: str) -> Exported:
        self._add(PEOPLE, _lines(self._people()))
        self.counts["people"] = len(self.people)
        for table in TABLES:
            self.counts[table.name] = self._add(table.member, _lines(self._rows(table)))
        for sha256 in sorted(open_files(self.competition)):
            self._add_file(f"files/{sha256}", sha256)
        key = self._add_references() if passphrase else None
        self._add_manifest(crypto.locked_key(key, passphrase) if key else None)
        return Exported(self.counts, self.missing, has_references=bool(passphrase))

    @cached_property
    def people(self) -> dict[int, int]:
        """The archive's number of each person, by primary key; in order of e-mail, so the same on every site."""
        named = {int(key) for key in self._about_people().values_list("object_id", flat=True) if key.isdecimal()}
        for table in TABLES:
            for column in filter(points_at_person, table.fields()):
                rows = table.rows(self.competition).order_by()
                if table.label == "core.auditentry":
                    rows = audit.named(rows, column.name)
                keys = rows.values_list(column.attname, flat=True).distinct()
                named.update(key for key in keys if key is not None)
        people = User.objects.filter(pk__in=named).values_list("email", "pk")
        found = sorted((email.lower(), key) for email, key in people)
        return {key: number for number, (_email, key) in enumerate(found, start=1)}

    def renumber(self, label: str, key: int) -> int:
        """The archive's number of a row. Raises ``KeyError`` if it is not in the archive."""
        if label == PERSON:
            return self.people[key]
        if label not in self.numbers:
            keys = BY_LABEL[label].rows(self.competition).values_list("pk", flat=True)
            self.numbers[label] = {each: number for number, each in enumerate(keys.iterator(), start=1)}
        return self.numbers[label][key]

    def _about_people(self) -> Any:
        return AuditEntry.objects.filter(competition_pk=self.competition.pk, object_type=PERSON)

    def _people(self) -> Iterator[dict[str, Any]]:
        users = User.objects.in_bulk(list(self.people))
        for key, number in self.people.items():
            yield {"id": number, "email": users[key].email, "name": users[key].name}

    def _rows(self, table: Any) -> Iterator[dict[str, Any]]:
        columns = [column.attname for column in table.fields()]
        rows = table.rows(self.competition).values("pk", *columns).iterator(chunk_size=ROWS_AT_ONCE)
        for number, row in enumerate(rows, start=1):
            yield encoded(table, self.leaving.row(table.label, row), number, self.renumber)

    @cached_property
    def leaving(self) -> Leaving:
        return Leaving(self.competition)

    def _add_references(self) -> crypto.Key:
        """Add every file of the references and what is sealed, encrypted to the key that is returned."""
        key = crypto.new_key()
        with TemporaryFile() as plain:
            plain.writelines(_lines(self.leaving.sealed(self.renumber)))
            plain.seek(0)
            with crypto.encrypted(plain, key) as sealed:
                self._add(SEALED, _chunks(sealed), zipfile.ZIP_STORED)
        versions = ReferenceVersion.objects.filter(phase__track__competition=self.competition)
        names = {name for row in versions.values_list(*ReferenceVersion.FILES) for name in row if name}
        for sha256 in sorted(names):
            self._add_file(f"references/{sha256}.age", sha256, key)
        return key

    def _add_file(self, name: str, sha256: str, key: crypto.Key | None = None) -> None:
        try:
            file = open_private(sha256)
        except (StoredFileMissing, StoredFileCorrupt):
            self.missing.append(sha256)
            return
        with file:
            if key is None:
                self._add(name, _chunks(file))
                return
            with crypto.encrypted(file, key) as sealed:
                self._add(name, _chunks(sealed), zipfile.ZIP_STORED)

    def _add(self, name: str, chunks: Iterable[bytes], compression: int = zipfile.ZIP_DEFLATED) -> int:
        """Write a member and record its size and sha256 for the manifest; returns the number of chunks."""
        info = zipfile.ZipInfo(name)  # with a fixed date: the same content gives the same member
        info.compress_type, info.external_attr = compression, 0o600 << 16
        digest, size, count = hashlib.sha256(), 0, 0
        with self.archive.open(info, "w", force_zip64=True) as member:
            for chunk in chunks:
                member.write(chunk)
                digest.update(chunk)
                size, count = size + len(chunk), count + 1
        self.members.append({"name": name, "size": size, "sha256": digest.hexdigest()})
        return count

    def _add_manifest(self, locked_key: dict[str, str] | None) -> None:
        manifest = {
            "format": FORMAT,
            "version": VERSION,
            "made_at": timezone.localtime().isoformat(),
            "competition": {"slug": self.competition.slug, "title": self.competition.title_ko},
            "counts": self.counts,
            "references": locked_key,
            "missing_files": self.missing,
            "members": self.members,
        }
        text = json.dumps(manifest, ensure_ascii=False, indent=1)
        self.archive.writestr(MANIFEST, text.encode(), zipfile.ZIP_DEFLATED)


def _chunks(file: IO[bytes]) -> Iterator[bytes]:
    return iter(lambda: file.read(CHUNK_BYTES), b"")


def _lines(rows: Iterable[dict[str, Any]]) -> Iterator[bytes]:
    for row in rows:
        yield json.dumps(row, ensure_ascii=False, allow_nan=False, sort_keys=True).encode() + b"\n"
