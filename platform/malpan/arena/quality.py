"""Live quality of a running campaign: speed, agreement, controls, suspicious judges. Who leads is not shown, unless
somebody opens the scores, which is logged.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from statistics import median
from typing import TYPE_CHECKING, Any, Final

from django.db import transaction

from malpan.arena.checks import Checks, check_figures
from malpan.arena.computations import Answer, answer_or_former
from malpan.arena.errors import (
    CampaignNotBegun,
    ComputationFailed,
    NoVotes,
    ResultNotComputable,
    ScoresNotOpened,
    StillComputing,
)
from malpan.arena.judges import clean_reason
from malpan.arena.locks import lock_campaign_shared
from malpan.arena.models import Assignment, Campaign, CampaignJudge, Exclusion, Judgement
from malpan.arena.panel import current_balance
from malpan.arena.results import question_of
from malpan.arena.votes_file import numbered_votes, votes_of
from malpan.competitions.permissions import Permission, may, require
from malpan.core import audit
from malpan.core.models import AuditEntry
from scoring.arena.design import Balance
from scoring.arena.judge_quality import JudgeQuality
from scoring.arena.votes import Votes

if TYPE_CHECKING:
    from malpan.accounts.models import User

OPENED: Final = "campaign.open_scores"


@dataclass(frozen=True, slots=True)
class LiveJudgeQuality:
    """Where a judge stands in its queue, and its figures. ``too_fast``: judgements in less than the campaign's minimum;
    ``figures``: what ``scoring.arena.quality`` says of the judgements, ``None`` before that is computed, as is
    ``influence`` (``scoring.arena.influence``): what the standing would be without the judge, for who may know who
    leads.
    """

    judge: CampaignJudge
    done: int
    total: int
    median_seconds: float | None
    too_fast: int
    figures: JudgeQuality | None
    influence: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class LiveQuality:
    """Of a campaign. ``agreement``: that of a result document, ``None`` before it is computed. ``balance``: how even
    the present design is; ``checks``: how judges did on controls and repeats. ``of``: the moment of the judgements
    that figures and agreement are of, ``None`` if they are of all; ``waiting``: the computation of those that is under
    way; ``has_failed``: it could not be done.
    """

    done: int
    total: int
    judges: tuple[LiveJudgeQuality, ...]
    agreement: list[dict[str, Any]] | None
    balance: Balance
    checks: Checks
    of: datetime | None = None
    waiting: int | None = None
    has_failed: bool = False


def live_quality(campaign: Campaign) -> LiveQuality:
    """The figures as they are now, without scores of systems. Raises ``CampaignNotBegun``."""
    if campaign.opened_at is None:
        raise CampaignNotBegun
    votes, assignments = numbered_votes(campaign)
    found = _computed(campaign, votes)
    figures = {row["judge"]: JudgeQuality.of_row(row) for row in found.judges}
    influence = {row["judge"]: row for row in found.influence}
    queues, seconds = _queues(campaign), _seconds(campaign)
    judges = []
    for judge in campaign.judges.exclude(design_label="").select_related("user").order_by("design_label"):
        label = judge.design_label if campaign.closed_at is None else judge.label
        taken = seconds[judge.pk]
        queue = queues[judge.pk]
        judges.append(
            LiveJudgeQuality(
                judge=judge,
                done=sum(state == Assignment.State.DONE for _pk, state in queue),
                total=len(queue),
                median_seconds=median(taken) if taken else None,
                too_fast=sum(each < campaign.min_seconds for each in taken),
                figures=figures.get(label),
                influence=influence.get(label),
            )
        )
    return LiveQuality(
        done=sum(each.done for each in judges),
        total=sum(each.total for each in judges),
        judges=tuple(judges),
        agreement=found.agreement,
        balance=current_balance(campaign),
        checks=check_figures(
            votes, assignments, {judge: [pk for pk, _state in queue] for judge, queue in queues.items()}
        ),
        of=found.of,
        waiting=found.waiting,
        has_failed=found.has_failed,
    )


def open_scores(*, campaign: Campaign, actor: User, reason: str) -> None:
    """Record that ``actor`` looks at the scores before the closing; the time is that of the record.

    Opening again records the other reason. Raises ``ManageNotFound`` and ``NotAllowed`` without the permission to
    manage, ``CampaignReasonMissing``, ``CampaignNotBegun``.
    """
    require(actor, campaign.track.competition, Permission.MANAGE)
    why = clean_reason(reason)
    with transaction.atomic():
        fresh = lock_campaign_shared(campaign.pk)
        if fresh.opened_at is None:
            raise CampaignNotBegun
        audit.record(actor=actor, action=OPENED, obj=fresh, after={"reason": why})


def has_opened_scores(campaign: Campaign, user: User) -> bool:
    """Whether ``user`` opened the scores, or the campaign is closed."""
    if campaign.closed_at is not None:
        return True
    entries = AuditEntry.objects.filter(object_type=campaign._meta.label_lower, object_id=str(campaign.pk))
    return entries.filter(action=OPENED, actor=user).exists()


@dataclass(frozen=True, slots=True)
class CurrentResult:
    """A result document; ``of`` and ``waiting`` as in ``LiveQuality``."""

    document: dict[str, Any]
    of: datetime | None
    waiting: int | None


def may_see_scores(campaign: Campaign, user: User) -> bool:
    """Whether ``user`` may manage and opened the scores, or the campaign is closed."""
    return may(user, campaign.track.competition, Permission.MANAGE) and has_opened_scores(campaign, user)


@dataclass(frozen=True, slots=True)
class SeenJudgement:
    """A judgement as somebody sees it: ``value`` is ``None`` while they have not opened the scores, as it says who
    leads.
    """

    judgement: Judgement
    is_excluded: bool
    value: dict[str, Any] | None


def seen_judgements(campaign: Campaign, rows: Iterable[Judgement], viewer: User) -> list[SeenJudgement]:
    """Judgements of ``campaign`` as ``viewer`` sees them."""
    is_opened = has_opened_scores(campaign, viewer)
    in_force = Exclusion.objects.filter(campaign=campaign, lifted_at=None, judgement__isnull=False)
    excluded = set(in_force.values_list("judgement__assignment", flat=True))
    return [SeenJudgement(row, row.assignment_id in excluded, row.value if is_opened else None) for row in rows]


def current_result(*, campaign: Campaign, actor: User) -> CurrentResult:
    """The result of the judgements so far; while judges are at work, the last one that was computed.

    Raises ``ManageNotFound`` and ``NotAllowed`` without the permission to manage, ``CampaignNotBegun``,
    ``ScoresNotOpened``, ``NoVotes``, ``ResultNotComputable``, ``StillComputing``, ``ComputationFailed``.
    """
    require(actor, campaign.track.competition, Permission.MANAGE)
    if campaign.opened_at is None:
        raise CampaignNotBegun
    if not has_opened_scores(campaign, actor):
        raise ScoresNotOpened
    answer = _answer(campaign, votes_of(campaign))
    return CurrentResult(json.loads(answer.content), answer.of, answer.waiting)


def _answer(campaign: Campaign, votes: Votes) -> Answer:
    return answer_or_former(question_of(campaign, votes))


@dataclass(frozen=True, slots=True)
class _Computed:
    """What a result document says of judges, as far as there is one."""

    judges: list[dict[str, Any]] = field(default_factory=list)
    influence: list[dict[str, Any]] = field(default_factory=list)
    agreement: list[dict[str, Any]] | None = None
    of: datetime | None = None
    waiting: int | None = None
    has_failed: bool = False


def _computed(campaign: Campaign, votes: Votes) -> _Computed:
    try:
        answer = _answer(campaign, votes)
    except (NoVotes, ResultNotComputable):
        return _Computed()
    except StillComputing as error:
        return _Computed(waiting=error.params["computation"])
    except ComputationFailed:
        return _Computed(has_failed=True)
    document = json.loads(answer.content)
    return _Computed(document["judges"], document["influence"], document["agreement"], answer.of, answer.waiting)


def _queues(campaign: Campaign) -> dict[int, list[tuple[int, str]]]:
    """The assignments of each judge in order, each with its state, practice and void ones left out."""
    rows = Assignment.objects.filter(campaign=campaign).exclude(kind=Assignment.Kind.CALIBRATION)
    rows = rows.exclude(state=Assignment.State.VOID).order_by("judge_id", "position")
    found: dict[int, list[tuple[int, str]]] = defaultdict(list)
    for judge, pk, state in rows.values_list("judge_id", "pk", "state"):
        found[judge].append((pk, state))
    return found


def _seconds(campaign: Campaign) -> dict[int, list[int]]:
    """How long each judge took for each judgement that counts, practice left out."""
    rows = Judgement.objects.filter(assignment__campaign=campaign)
    rows = rows.exclude(assignment__kind=Assignment.Kind.CALIBRATION)
    newest = rows.order_by("assignment_id", "-number").distinct("assignment_id")
    found: dict[int, list[int]] = defaultdict(list)
    for judge, seconds in newest.values_list("assignment__judge_id", "seconds"):
        found[judge].append(seconds)
    return found
