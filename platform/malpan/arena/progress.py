"""How far campaigns are, in counts, for the manage pages. Nothing here says anything of systems."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from django.db.models import Count, Model, Q, QuerySet

from malpan.arena.design_rows import QUEUE_START
from malpan.arena.disqualified import cannot_count, disqualified_labels
from malpan.arena.models import Assignment, Campaign, CampaignJudge, CampaignSystem, JudgeBar, Judgement, Rubric

LOST: Final = (
    Assignment.VoidReason.JUDGE_REMOVED,
    Assignment.VoidReason.BARRED,
    Assignment.VoidReason.DISQUALIFIED,
)


@dataclass(frozen=True, slots=True)
class Counts:
    """Of a campaign. ``accepted``: judges who are there now; ``waiting``: invited and not yet accepted. ``done`` and
    ``total``: assignments without those of practice and without void ones.
    """

    systems: int = 0
    waiting: int = 0
    accepted: int = 0
    done: int = 0
    total: int = 0

    @property
    def left(self) -> int:
        return self.total - self.done


@dataclass(frozen=True, slots=True)
class Workload:
    """What a design asks for. ``real`` judgements that count; ``every`` with controls and repeats, ``per_judge`` of
    them, ``None`` before anybody has accepted.
    """

    real: int
    every: int
    per_judge: int | None


def workload(campaign: Campaign, judges: int) -> Workload:
    """How many judgements the settings of ``campaign`` ask for, by ``judges`` people; practice is not counted."""
    real = campaign.item_count * campaign.units_per_item * campaign.judges_per_unit
    checks = campaign.control_percent + campaign.repeat_percent
    every = round(real / max(1 - checks / 100, 0.1))
    return Workload(real, every, -(-every // judges) if judges else None)


def judge_state(judge: CampaignJudge, now: datetime) -> str:
    """Where ``judge`` stands: waiting, expired, accepted, ready or removed."""
    if judge.removed_at is not None:
        return "removed"
    if judge.accepted_at is None:
        return "expired" if judge.expires_at <= now else "waiting"
    return "ready" if judge.calibrated_at is not None else "accepted"


def place_of(assignment: Assignment) -> int:
    """Which one of its queue, from 1, practice not counted."""
    return assignment.position - QUEUE_START + 1


def left_by_judge(campaign: Campaign) -> Counter[int]:
    """How many assignments each judge who is there has left, by primary key; practice and what cannot count any more is
    left out, and so are judges with none.
    """
    labels = disqualified_labels(campaign)
    rows = Assignment.objects.filter(campaign=campaign, state=Assignment.State.OPEN, judge__removed_at=None)
    rows = rows.exclude(kind=Assignment.Kind.CALIBRATION)
    if not labels:
        return Counter(dict(rows.order_by().values_list("judge").annotate(count=Count("pk"))))
    queues = rows.values_list("judge", "systems")
    return Counter(judge for judge, systems in queues if not cannot_count(campaign, systems, labels))


def counts_of(campaigns: Iterable[Campaign]) -> dict[int, Counts]:
    """The counts of ``campaigns`` by primary key, in three queries."""
    keys = [campaign.pk for campaign in campaigns]
    systems, judges, queues = _of(CampaignSystem, keys), _of(CampaignJudge, keys), _of(Assignment, keys)
    found: dict[int, dict[str, int]] = {key: {} for key in keys}
    for key, count in systems.annotate(count=Count("pk")).values_list("campaign", "count"):
        found[key]["systems"] = count
    waiting = Count("pk", filter=Q(accepted_at=None, removed_at=None))
    accepted = Count("pk", filter=Q(accepted_at__isnull=False, removed_at=None))
    rows = judges.annotate(waiting=waiting, accepted=accepted).values_list("campaign", "waiting", "accepted")
    for key, waits, came in rows:
        found[key] |= {"waiting": waits, "accepted": came}
    is_done = Q(state=Assignment.State.DONE)
    rows = counted(queues).annotate(total=Count("pk"), done=Count("pk", filter=is_done))
    for key, total, done in rows.values_list("campaign", "total", "done"):
        found[key] |= {"total": total, "done": done}
    return {key: Counts(**values) for key, values in found.items()}


def _of(model: type[Model], keys: Collection[int]) -> QuerySet[Any]:
    """The rows of the campaigns, grouped by campaign."""
    return model._default_manager.filter(campaign__in=keys).order_by().values("campaign")


def counted(assignments: QuerySet[Any]) -> QuerySet[Any]:
    """Those that count as work: no practice, nothing void."""
    return assignments.exclude(kind=Assignment.Kind.CALIBRATION).exclude(state=Assignment.State.VOID).order_by()


def rubric_uses(rubrics: Collection[Rubric]) -> dict[int, list[Campaign]]:
    """The campaigns of each version of a rubric, by its primary key, in the order of their numbers."""
    found: dict[int, list[Campaign]] = {rubric.pk: [] for rubric in rubrics}
    for campaign in Campaign.objects.filter(rubric__in=found).order_by("number"):
        found[campaign.rubric_id].append(campaign)
    return found


def judgements_of(judge: CampaignJudge) -> QuerySet[Judgement]:
    """The newest judgement of every judged assignment of ``judge``, practice left out, in the order of the queue."""
    newest = (
        Judgement.objects.filter(assignment__judge=judge)
        .exclude(assignment__kind=Assignment.Kind.CALIBRATION)
        .order_by("assignment_id", "-number")
        .distinct("assignment_id")
    )
    rows = Judgement.objects.filter(pk__in=newest.values("pk")).select_related("assignment__item")
    return rows.order_by("assignment__position")


def judgement_of(campaign: Campaign, pk: int) -> Judgement | None:
    """A judgement of ``campaign``, practice left out, with assignment, item and judge."""
    rows = Judgement.objects.filter(assignment__campaign=campaign).exclude(assignment__kind=Assignment.Kind.CALIBRATION)
    return rows.select_related("assignment__item", "assignment__judge__user").filter(pk=pk).first()


def written_bars(judge: CampaignJudge) -> list[JudgeBar]:
    """The bars of ``judge`` that are in the database, with the team of each."""
    rows = JudgeBar.objects.filter(judge=judge).select_related("system__submission__team")
    return list(rows.order_by("system__position"))


def judged_though_barred(campaign: Campaign) -> Counter[int]:
    """By judge: how many assignments they judged before they were barred from a system in it, practice left out."""
    barred: dict[int, set[str]] = {}
    bars = JudgeBar.objects.filter(judge__campaign=campaign).values_list("judge_id", "system__label")
    for judge, label in bars:
        barred.setdefault(judge, set()).add(label)
    rows = Assignment.objects.filter(judge__in=barred, state=Assignment.State.DONE)
    done = rows.exclude(kind=Assignment.Kind.CALIBRATION).values_list("judge_id", "systems")
    return Counter(judge for judge, systems in done if not barred[judge].isdisjoint(systems))


def lost_counts(campaign: Campaign) -> list[tuple[str, int]]:
    """Why real assignments of ``campaign`` became void while it was judged and went to nobody else, in words, and how
    many each.
    """
    rows = Assignment.objects.filter(campaign=campaign, kind=Assignment.Kind.REAL, void_reason__in=LOST).order_by()
    counts = rows.values_list("void_reason").annotate(count=Count("pk")).order_by("void_reason")
    return [(str(Assignment.VoidReason(reason).label), count) for reason, count in counts]


def void_counts(judge: CampaignJudge) -> list[tuple[str, int]]:
    """Why assignments of ``judge`` are void, in words, and how many each."""
    rows = judge.assignments.filter(state=Assignment.State.VOID).order_by().values_list("void_reason")
    counts = rows.annotate(count=Count("pk")).order_by("void_reason")
    return [(str(Assignment.VoidReason(reason).label), count) for reason, count in counts]
