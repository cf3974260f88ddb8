"""The panel of an open campaign changes: a judge left, came late, or may not see a team any more. Who judges what is
still open is decided anew by ``scoring.arena.design``; what was judged, or is being looked at, stays.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.db.models import Max, QuerySet

from malpan.arena.design_rows import QUEUE_START, create_assignments, planned_of, queues_of, settings_of, specs_of
from malpan.arena.disqualified import (
    cannot_count,
    disqualified_labels,
    reinstated,
    reopen_reinstated,
    void_disqualified,
)
from malpan.arena.locks import lock_campaign
from malpan.arena.models import Assignment, Campaign, CampaignItem, CampaignJudge, JudgeBar, JudgementDraft
from malpan.arena.seeds import require_seed
from scoring.arena.design import Balance, JudgeSpec, Planned, Reassigned, balance, reassign

Kind, State, VoidReason = Assignment.Kind, Assignment.State, Assignment.VoidReason


@dataclass(frozen=True, slots=True)
class Redistributed:
    """Real assignments that were ``moved`` to another judge, and ``lost``: nobody can take them, so they are void."""

    moved: int
    lost: int


def redistribute(
    *, campaign: Campaign, now: datetime, giving: CampaignJudge | None = None, because: str = VoidReason.MOVED
) -> Redistributed:
    """Distribute the open assignments of ``campaign`` over its active judges, in the caller's transaction, the campaign
    locked.

    ``giving``: the judge who was removed or barred, whose assignments with no other taker become void ``because`` of
    that. Judges keep what they were shown, if they may still see it. Raises ``SeedMissing``.
    """
    require_seed(campaign)
    void_disqualified(campaign=campaign)
    reopen_reinstated(campaign=campaign)
    out = disqualified_labels(campaign)
    rows = [row for row in standing(campaign) if not cannot_count(campaign, row.systems, out)]  # nor is it repeated
    judges = {judge.design_label: judge for judge in campaign.judges.exclude(design_label="")}
    specs = specs_of(judge for judge in judges.values() if judge.is_active)
    change = _reassigned(campaign, rows, specs, judges)
    added = [planned for queue in change.added.values() for planned in queue if planned.kind == Kind.REAL]
    _void(rows, change, giving, because)
    create_assignments(
        campaign=campaign,
        added=change.added,
        starts=change.starts,
        judges=judges.values(),
        items=CampaignItem.objects.filter(campaign=campaign),
        now=now,
    )
    return Redistributed(moved=len(added), lost=len(change.unassigned))


def renew_reinstated(campaign: Campaign, now: datetime) -> None:
    """Where a disqualified team of an open campaign was reinstated, what was open of it is open again."""
    if not reinstated(campaign).exists():
        return
    with transaction.atomic():
        fresh = lock_campaign(campaign.pk)
        if fresh.opened_at is not None and fresh.closed_at is None:
            take_back_reinstated(fresh, now)


def take_back_reinstated(campaign: Campaign, now: datetime) -> None:
    """As ``renew_reinstated``, in the caller's transaction, the campaign locked. Judges have again what they had; of
    one who left, or may not see it any more, it is distributed.
    """
    had = reopen_reinstated(campaign=campaign)
    gone = any(not judge.is_active for judge in CampaignJudge.objects.filter(pk__in=had))
    if gone or JudgeBar.objects.filter(judge__in=had).exists():
        redistribute(campaign=campaign, now=now)


def standing(campaign: Campaign) -> QuerySet[Assignment]:
    """The assignments of ``campaign`` that are open or done, practice left out, with what the design knows of them."""
    rows = Assignment.objects.filter(campaign=campaign).exclude(kind=Kind.CALIBRATION).exclude(state=State.VOID)
    texts = ("bad_text", "item__outputs", "item__input_text", "item__reference_text", "repeats__bad_text")
    return rows.select_related("judge", "item", "repeats").defer(*texts).order_by("judge", "position")


def current_balance(campaign: Campaign) -> Balance:
    """How even the design of ``campaign`` is now: open and done assignments."""
    return balance({label: list(queue.values()) for label, queue in queues_of(standing(campaign)).items()})


def _reassigned(
    campaign: Campaign, rows: Sequence[Assignment], specs: Sequence[JudgeSpec], judges: dict[str, CampaignJudge]
) -> Reassigned:
    barred = {spec.label: spec.barred for spec in specs}

    def stays(row: Assignment) -> bool:
        if row.state == State.DONE:
            return True
        label = row.judge.design_label
        return row.first_shown_at is not None and label in barred and barred[label].isdisjoint(row.systems)

    return reassign(
        open_assignments=queues_of(row for row in rows if not stays(row)),
        done=queues_of(row for row in rows if stays(row)),
        judges=specs,
        seed=campaign.seed,
        event=_event(judges.values()),
        settings=settings_of(campaign),
        starts=_next_positions(campaign, barred),
    )


def _event(judges: Iterable[CampaignJudge]) -> int:
    """The number of this change of the panel: it grows with everyone who comes, leaves, comes back or declares a team.
    Where bars are renewed or a team is reinstated it is that of the change before, and what is distributed differs.
    """
    return sum(1 + (judge.removed_at is not None) + 2 * judge.returns + len(judge.declared_teams) for judge in judges)


def _next_positions(campaign: Campaign, labels: Iterable[str]) -> dict[str, int]:
    """The first free position of each judge in the design, void assignments counted."""
    rows = Assignment.objects.filter(campaign=campaign).exclude(kind=Kind.CALIBRATION)
    last = dict(rows.values_list("judge__design_label").annotate(last=Max("position")))
    return {label: last[label] - QUEUE_START + 1 if label in last else 0 for label in labels}


def _void(rows: Sequence[Assignment], change: Reassigned, giving: CampaignJudge | None, because: str) -> None:
    """Make what is no longer in the design void: real assignments are moved, but for those that nobody takes."""
    places = set(change.void)
    lost = {_key(planned) for planned in change.unassigned}
    reasons: dict[str, list[int]] = {}
    for row in rows:
        if (row.judge.design_label, row.position - QUEUE_START) in places:
            is_moved = row.kind == Kind.REAL and _key(planned_of(row)) not in lost
            of_giving = giving is not None and row.judge_id == giving.pk
            reasons.setdefault(because if of_giving and not is_moved else VoidReason.MOVED, []).append(row.pk)
    for reason, pks in reasons.items():
        Assignment.objects.filter(pk__in=pks).update(state=State.VOID, void_reason=reason)
        JudgementDraft.objects.filter(assignment__in=pks).delete()


def _key(planned: Planned) -> tuple[str, str, tuple[str, ...]]:
    return planned.judge, planned.item, planned.systems
