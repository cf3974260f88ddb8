"""Live quality of a running campaign: speed, agreement, controls, suspicious judges. Who leads is not shown, unless
somebody opens the scores, which is logged.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Any, Final

from django.db import transaction

from malpan.arena.errors import CampaignNotBegun, ScoresNotOpened
from malpan.arena.judges import clean_reason
from malpan.arena.locks import lock_campaign_shared
from malpan.arena.models import Assignment, Campaign, CampaignJudge, Judgement
from malpan.arena.panel import current_balance
from malpan.arena.publishing import result_from
from malpan.arena.votes_file import votes_of
from malpan.competitions.permissions import Permission, require
from malpan.core import audit
from malpan.core.models import AuditEntry
from scoring.arena import quality
from scoring.arena.design import Balance
from scoring.arena.result import ArenaResult
from scoring.arena.verdicts import agreement_document

if TYPE_CHECKING:
    from malpan.accounts.models import User

OPENED: Final = "campaign.open_scores"


@dataclass(frozen=True, slots=True)
class JudgeQuality:
    """Figures of a judge. ``too_fast``: judgements in less than the campaign's minimum; ``figures``: what
    ``scoring.arena.quality`` says of them, ``None`` before there is a vote that counts.
    """

    judge: CampaignJudge
    done: int
    total: int
    median_seconds: float | None
    too_fast: int
    figures: quality.JudgeQuality | None


@dataclass(frozen=True, slots=True)
class LiveQuality:
    """Of a campaign. ``agreement``: that of a result document, ``None`` before there is a vote that counts.
    ``balance``: how even the design is as it stands.
    """

    done: int
    total: int
    judges: tuple[JudgeQuality, ...]
    agreement: list[dict[str, Any]] | None
    balance: Balance


def live_quality(campaign: Campaign) -> LiveQuality:
    """The figures as they are now, without scores of systems. Raises ``CampaignNotBegun``."""
    if campaign.opened_at is None:
        raise CampaignNotBegun
    votes = votes_of(campaign)
    figures = {each.judge: each for each in quality.judge_qualities(votes)} if votes.real() else {}
    states, seconds = _states(campaign), _seconds(campaign)
    judges = []
    for judge in campaign.judges.exclude(design_label="").select_related("user").order_by("design_label"):
        label = judge.design_label if campaign.closed_at is None else judge.label
        taken = seconds[judge.pk]
        done = states[judge.pk].count(Assignment.State.DONE)
        judges.append(
            JudgeQuality(
                judge=judge,
                done=done,
                total=len(states[judge.pk]),
                median_seconds=median(taken) if taken else None,
                too_fast=sum(each < campaign.min_seconds for each in taken),
                figures=figures.get(label),
            )
        )
    return LiveQuality(
        done=sum(each.done for each in judges),
        total=sum(each.total for each in judges),
        judges=tuple(judges),
        agreement=agreement_document(votes) if votes.real() else None,
        balance=current_balance(campaign),
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


def current_result(*, campaign: Campaign, actor: User) -> ArenaResult:
    """The result of the judgements so far.

    Raises ``ManageNotFound`` and ``NotAllowed`` without the permission to manage, ``CampaignNotBegun``,
    ``ScoresNotOpened``, ``NoVotes``, ``ResultNotComputable``.
    """
    require(actor, campaign.track.competition, Permission.MANAGE)
    if campaign.opened_at is None:
        raise CampaignNotBegun
    if not has_opened_scores(campaign, actor):
        raise ScoresNotOpened
    return result_from(votes_of(campaign))


def _states(campaign: Campaign) -> dict[int, list[str]]:
    """The states of the assignments of each judge, practice and void ones left out."""
    rows = Assignment.objects.filter(campaign=campaign).exclude(kind=Assignment.Kind.CALIBRATION)
    found: dict[int, list[str]] = defaultdict(list)
    for judge, state in rows.exclude(state=Assignment.State.VOID).values_list("judge_id", "state"):
        found[judge].append(state)
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
