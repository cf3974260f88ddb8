"""SHA-256 of model files. Those of weights, which take seconds, are remembered while size and modification time stay.

They are remembered in the instrument's own folder of models, never in the folder of a model, which is its user's. Where
that cannot be written, each process computes them once.
"""

from __future__ import annotations

import hashlib
import json
import os
import uuid
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from scoring.models.demo import demo_models_root

HASH_CACHE: Final = "sha256.json"

_known: dict[str, dict[str, Any]] = {}  # by path: stamp and hash


def file_sha256(path: Path) -> str:
    """SHA-256 of the file at ``path``, read now."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def remembered_sha256(path: Path) -> str:
    """SHA-256 of a large file, from memory or the folder's file while its size and modification time are the same."""
    key, status = str(path.resolve()), path.stat()
    stamp = [status.st_size, status.st_mtime_ns]
    if not _is_of(_known.get(key), stamp):
        _known.update(_stored())
    if not _is_of(_known.get(key), stamp):
        _known[key] = {"stamp": stamp, "sha256": file_sha256(path)}
        _store()
    return str(_known[key]["sha256"])


def hash_cache() -> Path:
    """The file with the hashes of this machine's model weights."""
    return demo_models_root().parent / HASH_CACHE


def _is_of(entry: Any, stamp: list[int]) -> bool:
    return isinstance(entry, dict) and entry.get("stamp") == stamp and isinstance(entry.get("sha256"), str)


def _stored() -> dict[str, dict[str, Any]]:
    with suppress(OSError, ValueError):
        stored = json.loads(hash_cache().read_text(encoding="utf-8"))
        if isinstance(stored, dict):
            return stored
    return {}


def _store() -> None:
    """Write what is known of files that are still there. Of two processes that write at once one is in vain."""
    target = hash_cache()
    draft = target.with_name(f".{target.name}.{uuid.uuid4().hex}")
    with suppress(OSError):
        target.parent.mkdir(parents=True, exist_ok=True)
        entries = {path: entry for path, entry in {**_stored(), **_known}.items() if Path(path).is_file()}
        draft.write_text(json.dumps(entries), encoding="utf-8")
        os.replace(draft, target)
    with suppress(OSError):
        draft.unlink(missing_ok=True)
