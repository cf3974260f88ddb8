"""Copies all files, and the notes, from one store to another. It may be killed at any moment; run again, it goes on.

A file is in the target when its bytes were read back from there and have its address; a rerun reads those that are
there already and copies the others. Only then, and only if asked to, are the source's copies removed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import groupby

from malpan.core.errors import StoredFileCorrupt, StoredFileMissing
from malpan.core.storage.collecting import is_held
from malpan.core.storage.stores import Copy, Store


@dataclass(slots=True)
class Moved:
    """Files that were ``copied``, were ``present`` in the target, or are ``damaged`` in the source (addresses)."""

    copied: int = 0
    present: int = 0
    size: int = 0
    damaged: list[str] = field(default_factory=list)
    removed: int = 0

    @property
    def files(self) -> int:
        return self.copied + self.present + len(self.damaged)


def move(
    *, source: Store, target: Store, removes: bool = False, tell: Callable[[Moved], None] = lambda _: None
) -> Moved:
    """Copy every file of ``source`` to ``target``, and with ``removes`` remove those of the source at the end.

    Nothing is removed while a file of the source is damaged and not sound in the target. A target without an owner gets
    that of the source first. What is held after a restore stays so, also in a target that has an owner: it may be the
    store of earlier, and the site's. A source that was emptied has no owner any more. ``tell`` is called after each
    file. Raises ``StorageUnavailable`` and ``StorageFull``.
    """
    done = Moved()
    if (owner := source.owner()) is not None:
        if is_held(owner):
            target.adopt(owner)
        else:
            target.claim(owner)
    copy_notes(source, target)
    there: list[Copy] = []
    for sha256, group in groupby(source.copies(), key=lambda copy: copy.sha256):
        copies = list(group)
        if _is_in(target, sha256):
            done.present += 1
        else:
            try:
                _copy(sha256, source, target)
            except StoredFileMissing:  # removed since it was listed
                continue
            except StoredFileCorrupt:
                done.damaged.append(sha256)
                continue
            done.copied += 1
        done.size += copies[0].size
        there += copies
        tell(done)
    if removes and not done.damaged:
        done.removed = sum(source.remove(copy) for copy in there)
        for name in set(source.notes()) & set(target.notes()):  # one that came meanwhile stays
            source.remove_note(name)
        source.disown()
    return done


def copy_notes(source: Store, target: Store) -> None:
    """Copy the notes of ``source`` that ``target`` does not have. Raises as ``move``."""
    there = set(target.notes())
    for name in source.notes():
        if name not in there:
            target.write_note(name, source.read_note(name))


def _copy(sha256: str, source: Store, target: Store) -> None:
    with source.open(sha256) as file:
        target.put(file)
    target.open(sha256).close()


def _is_in(store: Store, sha256: str) -> bool:
    try:
        store.open(sha256).close()
    except (StoredFileMissing, StoredFileCorrupt):
        return False
    return True
