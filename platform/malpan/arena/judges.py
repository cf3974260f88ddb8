"""Judges: their consent, their share of the work, their removal."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Final

from django.db import transaction
from django.utils import timezone

from malpan.arena.bars import set_bars
from malpan.arena.declaring import hides_too_much, record_declared, unknown_teams
from malpan.arena.design_rows import specs_of
from malpan.arena.errors import (
    CampaignReasonMissing,
    GuidelineChanged,
    JudgeBarredEverywhere,
    JudgeNotFound,
    JudgeRemoved,
    NobodyCanTakeOver,
    OrganiserMustBar,
    TeamsUnknown,
)
from malpan.arena.locks import lock_campaign, lock_campaigns, lock_judge, lock_judges, lock_unclosed
from malpan.arena.models import Assignment, Campaign, CampaignItem, CampaignJudge, JudgementDraft, Rubric
from malpan.arena.panel import Redistributed, redistribute
from malpan.arena.practice import create_practice
from malpan.competitions.permissions import Permission, require
from malpan.core import audit
from malpan.core.text import one_line

if TYPE_CHECKING:
    from malpan.accounts.models import User

REASON_MAX: Final = 300
ACCOUNT_CLOSED: Final = "계정을 닫음 / account closed"
CONSENT_VERSION: Final = "2026-12"  # of the site's own words to judges


def consent_version_of(campaign: Campaign) -> str:
    """What a judge of ``campaign`` agrees to: the site's own words and the notice of the campaign, both languages."""
    notice = f"{campaign.notice_ko}\n{campaign.notice_en}"
    return f"{CONSENT_VERSION}-{hashlib.sha256(notice.encode()).hexdigest()[:12]}"


def give_consent(
    *, judge: CampaignJudge, actor: User, rubric: Rubric, consent_version: str, now: datetime | None = None
) -> None:
    """Record that the judge agreed to the notice (``consent_version_of``) and acknowledged the guideline of ``rubric``.

    Giving the same again changes nothing. Raises ``JudgeNotFound`` for another person's, ``GuidelineChanged``,
    ``JudgeRemoved``.
    """
    if judge.user_id != actor.pk:
        raise JudgeNotFound
    with transaction.atomic():
        campaign = lock_campaign(judge.campaign_id)
        fresh = lock_judge(judge.pk)
        if fresh.removed_at is not None:
            raise JudgeRemoved
        if rubric.pk != campaign.rubric_id or consent_version != consent_version_of(campaign):
            raise GuidelineChanged
        if (fresh.rubric_id, fresh.consent_version) == (rubric.pk, consent_version):
            return
        fresh.rubric, fresh.consent_version, fresh.consented_at = rubric, consent_version, now or timezone.now()
        fresh.save(update_fields=["rubric", "consent_version", "consented_at"])
        facts = {"rubric": rubric.number, "consent_version": consent_version}
        audit.record(actor=actor, action="campaign_judge.consent", obj=fresh, after=facts)


def bar_judge(
    *,
    judge: CampaignJudge,
    actor: User,
    reason: str,
    team_numbers: Sequence[int] = (),
    team_names: Sequence[str] = (),
    now: datetime | None = None,
) -> None:
    """Bar a judge from teams as if they had declared them, all or none; for organisers. What the judge declared already
    holds from then on whatever it leaves.

    Raises ``ManageNotFound`` and ``NotAllowed`` without the permission to manage, ``CampaignReasonMissing``,
    ``TeamsUnknown``, ``CampaignNotOpen`` after the closing.
    """
    require(actor, judge.campaign.track.competition, Permission.MANAGE)
    why = clean_reason(reason)
    if unknown := unknown_teams(judge.campaign, team_numbers, team_names):
        raise TeamsUnknown(teams=", ".join(unknown))
    record_declared(judge=judge, actor=actor, team_numbers=team_numbers, team_names=team_names, reason=why, now=now)


def remove_judge(
    *, judge: CampaignJudge, actor: User, reason: str, accepts_loss: bool = False, now: datetime | None = None
) -> int:
    """Remove a judge; open real assignments go to others who may see them, the rest is void. Returns how many moved;
    removing twice is harmless.

    Judgements stay and count, unless they are excluded as well. Raises ``ManageNotFound`` and ``NotAllowed`` without
    the permission to manage, ``CampaignReasonMissing``, ``CampaignNotOpen`` after the closing, and
    ``NobodyCanTakeOver`` unless ``accepts_loss``: then what nobody can take is void.
    """
    require(actor, judge.campaign.track.competition, Permission.MANAGE)
    why, moment = clean_reason(reason), now or timezone.now()
    with transaction.atomic():
        campaign = lock_unclosed(judge.campaign_id)
        fresh = lock_judge(judge.pk)
        if fresh.removed_at is not None:
            return 0
        change = _hand_over(campaign, fresh, why, moment)
        if change is not None and change.lost and not accepts_loss:
            raise NobodyCanTakeOver(count=change.lost)
        _record_removal(fresh, actor, change)
    return 0 if change is None else change.moved


def leave_campaigns(*, person: User, now: datetime) -> int:
    """Remove ``person``, who is being erased, from every campaign that is not closed, as ``remove_judge`` does: what
    nobody can take is void. Returns how many campaigns these are. In the caller's transaction.

    A campaign that lacks its seed is left as it is: nothing can be drawn there.
    """
    held = CampaignJudge.objects.filter(user=person, removed_at=None)
    where = held.filter(campaign__closed_at=None).exclude(campaign__seed="")
    campaigns = {row.pk: row for row in lock_campaigns(where) if row.closed_at is None}  # one may close meanwhile
    judges = lock_judges(held.filter(campaign__in=campaigns))
    for judge in judges:
        _record_removal(judge, None, _hand_over(campaigns[judge.campaign_id], judge, ACCOUNT_CLOSED, now))
    return len(judges)


def _hand_over(campaign: Campaign, judge: CampaignJudge, reason: str, now: datetime) -> Redistributed | None:
    """Remove ``judge``; what they had open goes to others. ``None`` before anything was drawn."""
    judge.removed_at, judge.removal_reason = now, reason
    judge.save(update_fields=["removed_at", "removal_reason"])
    if campaign.opened_at is None or not judge.design_label:
        return None
    change = redistribute(campaign=campaign, giving=judge, because=Assignment.VoidReason.JUDGE_REMOVED, now=now)
    _end_queue(judge)
    return change


def _record_removal(judge: CampaignJudge, actor: User | None, change: Redistributed | None) -> None:
    counts = {} if change is None else {"moved": change.moved, "lost": change.lost}
    audit.record(
        actor=actor, action="campaign_judge.remove", obj=judge, after={"reason": judge.removal_reason, **counts}
    )


def assign_late(*, judge: CampaignJudge, now: datetime | None = None) -> int:
    """Give a judge who came after the opening, or came back, their share of the open assignments of others, with
    practice, controls and repeats; returns how many assignments they have. In the caller's transaction, the campaign
    locked.

    Raises ``JudgeBarredEverywhere``, and ``OrganiserMustBar`` if what they declared before leaves them too few.
    """
    campaign, moment = judge.campaign, now or timezone.now()
    systems = list(campaign.systems.select_related("submission__team"))
    barred = set_bars(judge=judge, systems=systems)
    if len(systems) - len(barred) < campaign.group_size:
        raise JudgeBarredEverywhere
    if hides_too_much(judge, systems):
        raise OrganiserMustBar(reason="late")
    if not judge.design_label:  # one who comes back keeps label and practice
        numbers = campaign.judges.exclude(design_label="").values_list("design_label", flat=True)
        judge.design_label = f"D{max((int(label[1:]) for label in numbers), default=0) + 1:02d}"
        judge.save(update_fields=["design_label"])
        items = list(CampaignItem.objects.filter(campaign=campaign))
        create_practice(campaign=campaign, judges=[judge], specs=specs_of([judge]), items=items, now=moment)
    redistribute(campaign=campaign, now=moment)
    return Assignment.objects.filter(judge=judge).count()


def clean_reason(text: str) -> str:
    """``text`` on one line. Raises ``CampaignReasonMissing`` for none, or one that is too long."""
    reason = one_line(text)
    if not reason or len(reason) > REASON_MAX:
        raise CampaignReasonMissing(limit=REASON_MAX)
    return reason


def _end_queue(judge: CampaignJudge) -> None:
    """Make what a removed judge still had void: practice, and what a disqualified team left."""
    rows = Assignment.objects.filter(judge=judge, state=Assignment.State.OPEN)
    JudgementDraft.objects.filter(assignment__in=rows.values("pk")).delete()
    rows.update(state=Assignment.State.VOID, void_reason=Assignment.VoidReason.JUDGE_REMOVED)
