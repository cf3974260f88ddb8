"""What changed between two sets of reference answers. Pure.

A diff contains reference texts: it is shown only to people with ``Permission.VIEW_ANSWERS``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from scoring.records import Item, Items

_NO_ANSWERS: Final[tuple[Item, ...]] = ()


@dataclass(frozen=True, slots=True)
class ItemChange:
    """One item with a changed reference. ``old`` and ``new`` are all its texts; empty: the item does not exist."""

    id: str
    question: str
    old: tuple[str, ...] = ()
    new: tuple[str, ...] = ()
    old_type: str | None = None
    new_type: str | None = None


@dataclass(frozen=True, slots=True)
class ReferenceDiff:
    """Items by kind of change, in the order of the new file (removed ones in that of the old)."""

    changed: tuple[ItemChange, ...]
    added: tuple[ItemChange, ...]
    removed: tuple[ItemChange, ...]
    unchanged_count: int

    @property
    def is_empty(self) -> bool:
        return not (self.changed or self.added or self.removed)

    @property
    def keeps_ids(self) -> bool:
        """Whether both sets have the same items, so that every stored submission answers exactly them."""
        return not (self.added or self.removed)


def diff_references(before: Items | None, after: Items) -> ReferenceDiff:
    """How ``after`` differs from ``before`` in texts, further texts and question types. ``None``: no version."""
    old = {answer.id: answer for answer in (before.items if before else _NO_ANSWERS)}
    new = {answer.id: answer for answer in after.items}
    both = [(old[item], answer) for item, answer in new.items() if item in old]
    changed = tuple(_change(was, now) for was, now in both if scored_content(was) != scored_content(now))
    return ReferenceDiff(
        changed=changed,
        added=tuple(_change(None, answer) for item, answer in new.items() if item not in old),
        removed=tuple(_change(answer, None) for item, answer in old.items() if item not in new),
        unchanged_count=len(both) - len(changed),
    )


def scored_content(answer: Item) -> tuple[tuple[str, ...], str | None]:
    """The content of a reference answer that can change a score."""
    return answer.texts, answer.question_type


def _change(was: Item | None, now: Item | None) -> ItemChange:
    item = now or was
    assert item is not None, "a change needs one side at least"
    question = item.input.get("question")
    return ItemChange(
        id=item.id,
        question=question if isinstance(question, str) else "",
        old=was.texts if was else (),
        new=now.texts if now else (),
        old_type=was.question_type if was else None,
        new_type=now.question_type if now else None,
    )
