"""A design in the database: the rows of a queue as ``scoring.arena.design`` plans them, and back.

Positions of the design begin at ``QUEUE_START`` in the database; before them are the calibration items.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, cast

from malpan.arena.bad_texts import bad_text
from malpan.arena.models import Assignment, Campaign, CampaignItem, CampaignJudge, JudgeBar
from scoring.arena.design import JudgeSpec, Planned, Settings, plan
from scoring.arena.planned import Kind as PlannedKind
from scoring.arena.redrawing import queues_sha256
from scoring.signature import json_sha256

QUEUE_START: Final = 100

Kind = Assignment.Kind


def settings_of(campaign: Campaign) -> Settings:
    """The numbers of the design of ``campaign``."""
    return Settings(
        group=campaign.group_size,
        units_per_item=campaign.units_per_item,
        judges_per_unit=campaign.judges_per_unit,
        control_share=campaign.control_percent / 100,
        repeat_share=campaign.repeat_percent / 100,
    )


def specs_of(judges: Iterable[CampaignJudge]) -> list[JudgeSpec]:
    """``judges``, who have a label in the design, with the labels of the systems that they never see."""
    known = {judge.pk: judge for judge in judges}
    barred: dict[int, set[str]] = {pk: set() for pk in known}
    bars = JudgeBar.objects.filter(judge__in=known).values_list("judge_id", "system__label")
    for pk, label in bars:
        barred[pk].add(label)
    return [JudgeSpec(judge.design_label, frozenset(barred[pk])) for pk, judge in known.items()]


def queues_of(rows: Iterable[Assignment]) -> dict[str, dict[int, Planned]]:
    """``rows``, with judge, item and what they repeat, as queues of the design; calibration is left out."""
    found: dict[str, dict[int, Planned]] = {}
    for row in rows:
        if row.kind != Kind.CALIBRATION:
            queue = found.setdefault(row.judge.design_label, {})
            queue[row.position - QUEUE_START] = planned_of(row)
    return found


def panel_at_opening(campaign: Campaign) -> list[CampaignJudge]:
    """The judges that the design of the opening was drawn for; none where that was not kept."""
    return list(campaign.judges.filter(barred_at_opening__isnull=False).order_by("design_label"))


def recorded_queues_sha256(campaign: Campaign) -> str:
    """The hash of the queues of the opening, as they are in the database; a judge without one has an empty one."""
    assert campaign.opened_at is not None
    rows = Assignment.objects.filter(campaign=campaign, created_at=campaign.opened_at).exclude(kind=Kind.CALIBRATION)
    queues = queues_of(rows.select_related("judge", "item", "repeats").defer("bad_text", "item__outputs"))
    found: dict[str, list[Planned]] = {judge.design_label: [] for judge in panel_at_opening(campaign)}
    found |= {label: [planned for _place, planned in sorted(queue.items())] for label, queue in queues.items()}
    return queues_sha256(found)


def drawn_queues_sha256(campaign: Campaign) -> str:
    """The hash of the queues that the seed of ``campaign`` draws for the opening. Raises ``DesignImpossible``."""
    items = CampaignItem.objects.filter(campaign=campaign, kind=CampaignItem.Kind.REAL).values_list("label", flat=True)
    systems = campaign.systems.values_list("label", flat=True)
    specs = [
        JudgeSpec(judge.design_label, frozenset(judge.barred_at_opening or ())) for judge in panel_at_opening(campaign)
    ]
    return queues_sha256(plan(items, systems, specs, settings_of(campaign), campaign.seed))


def planned_of(row: Assignment) -> Planned:
    """``row`` as the design has it."""
    return Planned(
        judge=row.judge.design_label,
        item=row.item.label,
        systems=tuple(row.systems),
        kind=cast("PlannedKind", row.kind),  # not a calibration
        bad=row.bad_index,
        repeats=None if row.repeats is None else row.repeats.position - QUEUE_START,
    )


def create_assignments(
    *,
    campaign: Campaign,
    added: Mapping[str, Sequence[Planned]],
    starts: Mapping[str, int],
    judges: Iterable[CampaignJudge],
    items: Iterable[CampaignItem],
    now: datetime,
) -> int:
    """Write planned assignments, by the judge's label in the design: the queue from position ``starts`` on (default 0).
    A bad output is made for every control. Returns how many there are. In the caller's transaction.
    """
    by_label, item_of = {judge.design_label: judge for judge in judges}, {item.label: item for item in items}
    texts = {item.label: item.outputs for item in item_of.values() if item.kind == CampaignItem.Kind.REAL}
    rows: list[tuple[Assignment, Planned]] = []
    for label, queue in added.items():
        for position, planned in enumerate(queue, start=starts.get(label, 0)):
            item = item_of[planned.item]
            made_bad: dict[str, str] = {}
            if planned.bad is not None:
                made_bad = bad_text(campaign, item, planned.systems[planned.bad], label, texts)
            row = Assignment(
                campaign=campaign,
                judge=by_label[label],
                item=item,
                systems=list(planned.systems),
                kind=planned.kind,
                bad_index=planned.bad,
                position=QUEUE_START + position,
                created_at=now,
                **made_bad,
            )
            rows.append((row, planned))
    first = [row for row, planned in rows if planned.repeats is None]
    Assignment.objects.bulk_create(first, batch_size=1000)
    _create_repeats([(row, planned) for row, planned in rows if planned.repeats is not None])
    return len(rows)


def design_sha256(rows: Iterable[Assignment]) -> str:
    """The hash of a design: every assignment by judge (label in the design) and position, without the outputs."""
    return json_sha256([_fact(row) for row in sorted(rows, key=lambda row: (row.judge.design_label, row.position))])


def _fact(row: Assignment) -> dict[str, Any]:
    return {
        "judge": row.judge.design_label,
        "position": row.position,
        "item": row.item.label,
        "systems": row.systems,
        "kind": row.kind,
        "bad": row.bad_index,
        "repeats": None if row.repeats is None else row.repeats.position,
    }


def _create_repeats(rows: Sequence[tuple[Assignment, Planned]]) -> None:
    """Write the repeats, whose firsts are in the database."""
    judges = {row.judge_id for row, _planned in rows}
    firsts = Assignment.objects.filter(judge__in=judges, kind=Kind.REAL)
    place_of = {(judge, position): pk for judge, position, pk in firsts.values_list("judge_id", "position", "pk")}
    for row, planned in rows:
        row.repeats_id = place_of[row.judge_id, QUEUE_START + (planned.repeats or 0)]
    Assignment.objects.bulk_create([row for row, _planned in rows], batch_size=1000)
