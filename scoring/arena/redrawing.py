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
    queues = _queues(votes, votes.design)
    found = queues is not None and queues_sha256(queues) == votes.design.sha256
    label_of = {seat.judge: seat.label for seat in votes.design.panel}
    places = {label: {_planned(each) for each in queue} for label, queue in (queues or {}).items()}
    drawn = sum(_shown(vote) in places.get(label_of.get(vote.judge, ""), ()) for vote in votes.votes)
    return Redrawn(found, drawn, len(votes.votes) - drawn)


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
        return plan(items, systems, [JudgeSpec(seat.label) for seat in design.panel], settings, votes.settings.seed)
    except DesignImpossible:
        return None


def _planned(planned: Planned) -> Shown:
    return planned.item, planned.systems, planned.kind, planned.bad


def _shown(vote: Vote) -> Shown:
    return vote.item, vote.systems, vote.kind, vote.bad
