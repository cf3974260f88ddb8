"""Leaving out a judge or a judgement, with a reason and a preview of what it changes; and taking that back."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from django.db import transaction
from django.utils import timezone

from malpan.arena.computations import Kind, Question, answer_or_former
from malpan.arena.errors import (
    AssignmentNotFound,
    CampaignNotBegun,
    ExclusionInForce,
    ExclusionLifted,
    JudgeNotFound,
)
from malpan.arena.judge_names import require_nameless
from malpan.arena.judges import clean_reason
from malpan.arena.locks import lock_campaign
from malpan.arena.models import Assignment, Campaign, CampaignJudge, Exclusion, Judgement
from malpan.arena.quality import has_opened_scores
from malpan.arena.results import require_computable
from malpan.arena.votes_file import votes_of
from malpan.competitions.permissions import Permission, require
from malpan.core import audit
from scoring.arena.votes import Votes, votes_bytes
from scoring.signature import canonical_json

if TYPE_CHECKING:
    from malpan.accounts.models import User

_RESAMPLES: Final = 50  # of a preview, which shows no interval


@dataclass(frozen=True, slots=True)
class Effect:
    """What an exclusion would change. ``moved``: the label of each system whose rank changes, with both ranks; empty
    without the scores opened. ``ranks_changed`` counts systems that get or lose a rank, too. ``of``: the moment of the
    judgements that it is of, ``None`` if of all; ``waiting``: the computation of those that is under way.
    """

    votes_before: int
    votes_after: int
    ranks_changed: int
    largest_score_change: float
    moved: tuple[tuple[str, int, int], ...]
    of: datetime | None = None
    waiting: int | None = None


def preview_exclusion(
    *, campaign: Campaign, actor: User, judge: CampaignJudge | None = None, judgement: Judgement | None = None
) -> Effect:
    """What leaving out ``judge`` or ``judgement`` changes in the result, as a worker computes it.

    Raises ``ManageNotFound`` and ``NotAllowed`` without the permission to manage, ``CampaignNotBegun``, ``NoVotes``,
    ``ResultNotComputable`` for what cannot be computed with or without it, ``JudgeNotFound``, ``AssignmentNotFound``,
    ``ExclusionInForce``, ``StillComputing``, ``ComputationFailed``.
    """
    require(actor, campaign.track.competition, Permission.MANAGE)
    _require_possible(campaign, judge, judgement)
    left_out = Exclusion(campaign=campaign, judge=judge, judgement=judgement, reason="-")
    before, after = votes_of(campaign), votes_of(campaign, leave_out=left_out)
    subject = f"judge {judge.pk}" if judge else f"judgement {judgement.pk}" if judgement else ""
    answer = answer_or_former(_question(campaign, subject, before, after))
    found = json.loads(answer.content)
    was, now = found["before"], found["after"]
    both = sorted(was.keys() & now.keys())
    moved = tuple((label, was[label][0], now[label][0]) for label in both if was[label][0] != now[label][0])
    return Effect(
        votes_before=len(before.real()),
        votes_after=len(after.real()),
        ranks_changed=len(moved) + len(was.keys() ^ now.keys()),
        largest_score_change=max((abs(now[label][1] - was[label][1]) for label in both), default=0.0),
        moved=moved if has_opened_scores(campaign, actor) else (),
        of=answer.of,
        waiting=answer.waiting,
    )


def make_exclusion(
    *,
    campaign: Campaign,
    actor: User,
    reason: str,
    judge: CampaignJudge | None = None,
    judgement: Judgement | None = None,
    now: datetime | None = None,
) -> Exclusion:
    """Leave out a judge or a judgement, also after the publication (then the result is published again).

    Raises ``ManageNotFound`` and ``NotAllowed`` without the permission to manage, ``CampaignNotBegun``,
    ``CampaignReasonMissing``, ``JudgeNamed`` for a reason that says who judges, ``ExclusionInForce``, ``JudgeNotFound``
    and ``AssignmentNotFound`` for what is of another campaign, and for practice.
    """
    require(actor, campaign.track.competition, Permission.MANAGE)
    why = clean_reason(reason)
    require_nameless(campaign, {"reason": why})
    with transaction.atomic():
        fresh = lock_campaign(campaign.pk)
        _require_possible(fresh, judge, judgement)
        exclusion = Exclusion.objects.create(
            campaign=fresh, judge=judge, judgement=judgement, reason=why, by=actor, created_at=now or timezone.now()
        )
        audit.record(actor=actor, action="exclusion.create", obj=exclusion, after=_facts(exclusion) | {"reason": why})
    return exclusion


def lift_exclusion(*, exclusion: Exclusion, actor: User, reason: str, now: datetime | None = None) -> Exclusion:
    """Take an exclusion back.

    Raises ``ManageNotFound`` and ``NotAllowed`` without the permission to manage, ``CampaignReasonMissing``,
    ``ExclusionLifted``.
    """
    require(actor, exclusion.campaign.track.competition, Permission.MANAGE)
    why = clean_reason(reason)
    with transaction.atomic():
        lock_campaign(exclusion.campaign_id)
        fresh = Exclusion.objects.select_related("campaign").get(pk=exclusion.pk)
        if fresh.lifted_at is not None:
            raise ExclusionLifted
        fresh.lifted_at, fresh.lifted_by, fresh.lift_reason = now or timezone.now(), actor, why
        fresh.save(update_fields=["lifted_at", "lifted_by", "lift_reason"])
        facts = _facts(fresh)
        audit.record(actor=actor, action="exclusion.lift", obj=fresh, before=facts, after=facts | {"reason": why})
    return fresh


def _require_possible(campaign: Campaign, judge: CampaignJudge | None, judgement: Judgement | None) -> None:
    """Raise what ``make_exclusion`` says of the campaign, and of the judge or judgement to leave out."""
    if (judge is None) == (judgement is None):
        raise TypeError("either a judge or a judgement is left out")
    if campaign.opened_at is None:
        raise CampaignNotBegun
    in_force = Exclusion.objects.filter(lifted_at=None)
    if judge is not None:
        if judge.campaign_id != campaign.pk:
            raise JudgeNotFound
        in_force = in_force.filter(judge=judge)
    elif judgement is not None:
        assignment = judgement.assignment
        if assignment.campaign_id != campaign.pk or assignment.kind == Assignment.Kind.CALIBRATION:
            raise AssignmentNotFound
        in_force = in_force.filter(judgement__assignment=assignment)
    if in_force.exists():
        raise ExclusionInForce


def _question(campaign: Campaign, subject: str, before: Votes, after: Votes) -> Question:
    """What the results of both are. Raises ``NoVotes``, ``ResultNotComputable``."""
    given = {}
    for name, votes in (("before", before), ("after", after)):
        require_computable(votes)
        few = replace(votes, settings=replace(votes.settings, resamples=_RESAMPLES))
        given[name] = json.loads(votes_bytes(few))
    return Question(
        competition=campaign.track.competition,
        kind=Kind.EFFECT,
        given=canonical_json(given),
        campaign=campaign,
        subject=subject,
    )


def _facts(exclusion: Exclusion) -> dict[str, Any]:
    return {"judge": exclusion.judge_id, "judgement": exclusion.judgement_id}
