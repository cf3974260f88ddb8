"""Whether the queues that judges had at the opening are those that the revealed seed draws."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from scoring.arena.design import DesignImpossible, JudgeSpec, Planned, Settings, plan
from scoring.arena.vote_records import DrawnDesign, Vote, Votes
from scoring.signature import json_sha256

Shown = tuple[str, tuple[str, ...], str, int | None]  # item, systems as shown, kind, place of the bad output


@dataclass(frozen=True, slots=True)
class Redrawn:
    """``is_same``: the seed draws the queues whose hash was recorded. Of the votes, ``drawn`` are of these queues, and
    ``moved`` were assigned after the opening, as when a judge came late or left.
    """

    is_same: bool
    drawn: int
    moved: int


def redrawn(votes: Votes) -> Redrawn | None:
    """What drawing the queues of ``votes`` again shows; ``None`` without what that needs."""
    if votes.design is None:
        return None
    queues = _queues(votes, votes.design) or {}
    drawn = _drawn(votes, {label: {_planned(each) for each in queue} for label, queue in queues.items()})
    return Redrawn(queues_sha256(queues) == votes.design.sha256, drawn, len(votes.votes) - drawn)


def design_labels(judges: int) -> list[str]:
    """What so many judges are called in a design: by chance, and not as in the votes."""
    return [f"D{number:02d}" for number in range(1, judges + 1)]


def _drawn(votes: Votes, queues: Mapping[str, set[Shown]]) -> int:
    """How many votes are of ``queues``, each of which is that of the judge with the most votes of it."""
    said: dict[str, list[Shown]] = {}
    for vote in votes.votes:
        said.setdefault(vote.judge, []).append(_shown(vote))
    found = [
        (sum(each in queue for each in own), judge, label)
        for judge, own in said.items()
        for label, queue in queues.items()
    ]
    total, taken = 0, set[str]()
    for count, judge, label in sorted(found, key=lambda each: (-each[0], each[1], each[2])):
        if f"judge {judge}" not in taken and f"queue {label}" not in taken:
            taken |= {f"judge {judge}", f"queue {label}"}
            total += count
    return total


def queues_sha256(queues: Mapping[str, Sequence[Planned]]) -> str:
    """The hash of the queues of a design, by judge and in their order."""
    return json_sha256({label: [_fact(each) for each in queue] for label, queue in queues.items()})


def _fact(planned: Planned) -> list[object]:
    return [planned.item, list(planned.systems), planned.kind, planned.bad, planned.repeats]


def _queues(votes: Votes, design: DrawnDesign) -> dict[str, tuple[Planned, ...]] | None:
    settings = Settings(
        group=design.group,
        units_per_item=design.units_per_item,
        judges_per_unit=design.judges_per_unit,
        control_share=design.control_share,
        repeat_share=design.repeat_share,
    )
    items, systems = [item.label for item in votes.items], [system.label for system in votes.systems]
    try:
        return plan(
            items, systems, [JudgeSpec(label) for label in design_labels(design.judges)], settings, votes.settings.seed
        )
    except DesignImpossible:
        return None


def _planned(planned: Planned) -> Shown:
    return planned.item, planned.systems, planned.kind, planned.bad


def _shown(vote: Vote) -> Shown:
    return vote.item, vote.systems, vote.kind, vote.bad
