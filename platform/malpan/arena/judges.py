"""Judges: invited by mail, accepted, told, removed."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import IntegrityError, transaction
from django.utils import timezone

from malpan.accounts.selectors import has_verified
from malpan.accounts.tokens import hash_token, make_token
from malpan.arena.bars import set_bars
from malpan.arena.design_rows import specs_of
from malpan.arena.errors import (
    CampaignNotOpen,
    CampaignReasonMissing,
    GuidelineChanged,
    InvitationMailFailed,
    JudgeAccepted,
    JudgeAddressInvalid,
    JudgeAlready,
    JudgeBarredEverywhere,
    JudgeInvitationExpired,
    JudgeInvitationForAnother,
    JudgeInvitationNotFound,
    JudgeInvitationUsed,
    JudgeInvited,
    JudgeIsOrganiser,
    JudgeNotFound,
    JudgeRemoved,
    NobodyCanTakeOver,
    TooManyJudges,
)
from malpan.arena.invitation_mail import send_invitation
from malpan.arena.locks import lock_campaign, lock_judge
from malpan.arena.models import Assignment, Campaign, CampaignItem, CampaignJudge, JudgementDraft, Rubric
from malpan.arena.panel import redistribute
from malpan.arena.practice import create_practice
from malpan.competitions.permissions import Permission, permissions_of, require
from malpan.core import audit
from malpan.core.constraints import violated_constraint
from malpan.core.rows import only
from malpan.core.text import one_line

if TYPE_CHECKING:
    from malpan.accounts.models import User

INVITATION_LIFETIME: Final = timedelta(days=14)
JUDGES_MAX: Final = 200
INSTITUTION_MAX: Final = 120
REASON_MAX: Final = 300
CONSENT_VERSION: Final = "2026-11"  # of the site's own words to judges


def invite_judge(
    *,
    campaign: Campaign,
    actor: User,
    email: str,
    institution: str = "",
    link_for: Callable[[str], str],
    now: datetime | None = None,
) -> CampaignJudge:
    """Invite one address by mail; ``link_for`` turns the token into the full address.

    Raises as ``create_invitation``, and ``InvitationMailFailed`` (then nothing is kept).
    """
    judge, token = create_invitation(campaign=campaign, actor=actor, email=email, institution=institution, now=now)
    try:
        send_invitation(judge, link_for(token))
    except InvitationMailFailed:
        _drop(judge, actor)
        raise
    return judge


def create_invitation(
    *, campaign: Campaign, actor: User, email: str, institution: str = "", now: datetime | None = None
) -> tuple[CampaignJudge, str]:
    """Make the invitation of one address; its token is returned only here. The caller must send it (``invite_judge``).

    Raises ``ManageNotFound`` and ``NotAllowed`` without the permission to manage, ``CampaignNotOpen`` after the
    closing, ``JudgeAddressInvalid``, ``JudgeInvited``, ``TooManyJudges``.
    """
    require(actor, campaign.track.competition, Permission.MANAGE)
    address, token, moment = _clean_address(email), make_token(), now or timezone.now()
    try:
        with transaction.atomic():
            fresh = _lock_unclosed(campaign.pk)
            if fresh.judges.filter(removed_at=None).count() >= JUDGES_MAX:
                raise TooManyJudges(limit=JUDGES_MAX)
            judge = CampaignJudge.objects.create(
                campaign=fresh,
                email=address,
                institution=one_line(institution)[:INSTITUTION_MAX],
                token_sha256=hash_token(token),
                invited_by=actor,
                invited_at=moment,
                expires_at=moment + INVITATION_LIFETIME,
            )
            audit.record(actor=actor, action="campaign_judge.invite", obj=judge, after={"campaign": fresh.pk})
    except IntegrityError as error:
        if violated_constraint(error) == "judge_email_unique_in_campaign":
            raise JudgeInvited(email=address) from None
        raise
    return judge, token


def resend_invitation(
    *, judge: CampaignJudge, actor: User, link_for: Callable[[str], str], now: datetime | None = None
) -> None:
    """Mail a new link, which takes the old one's place once the mail is sent.

    Raises ``ManageNotFound`` and ``NotAllowed`` without the permission to manage, ``CampaignNotOpen`` after the
    closing, ``JudgeAccepted``, ``JudgeNotFound`` for a removed one, ``InvitationMailFailed`` (then the old link stays
    good).
    """
    require(actor, judge.campaign.track.competition, Permission.MANAGE)
    token, moment = make_token(), now or timezone.now()
    before = _replace_token(judge, actor, hash_token(token), moment)
    judge.refresh_from_db(fields=["token_sha256", "invited_at", "expires_at"])
    try:
        send_invitation(judge, link_for(token))
    except InvitationMailFailed:
        CampaignJudge.objects.filter(pk=judge.pk, token_sha256=judge.token_sha256).update(**before)
        raise


def invitation_of(token: str, now: datetime | None = None) -> CampaignJudge:
    """The invitation with its campaign; an accepted one too, for who accepted it.

    Raises ``JudgeInvitationNotFound``, ``JudgeInvitationExpired``.
    """
    rows = CampaignJudge.objects.select_related("campaign__track__competition", "campaign__rubric", "user")
    judge = only(rows.filter(token_sha256=hash_token(token)))
    if judge is None:
        raise JudgeInvitationNotFound
    if judge.accepted_at is None and judge.expires_at <= (now or timezone.now()):
        raise JudgeInvitationExpired
    return judge


def accept_invitation(*, token: str, user: User, now: datetime | None = None) -> CampaignJudge:
    """Make ``user`` the judge of the invitation; accepting twice is harmless. In an open campaign they are assigned
    late.

    Raises as ``invitation_of``, ``JudgeInvitationUsed``, ``JudgeInvitationForAnother``, ``JudgeIsOrganiser``,
    ``JudgeAlready``, ``JudgeRemoved``, ``JudgeBarredEverywhere``, ``CampaignNotOpen`` after the closing.
    """
    moment = now or timezone.now()
    found = invitation_of(token, moment)
    try:
        with transaction.atomic():
            campaign = lock_campaign(found.campaign_id)
            judge = lock_judge(found.pk)
            if judge.token_sha256 != found.token_sha256:
                raise JudgeInvitationNotFound
            if not _is_free(judge, campaign, user):
                return judge
            judge.user, judge.accepted_at = user, moment
            judge.save(update_fields=["user", "accepted_at"])
            count = assign_late(judge=judge, now=moment) if campaign.opened_at is not None else 0
            facts = {"campaign": campaign.pk, "assignments": count}
            audit.record(actor=user, action="campaign_judge.accept", obj=judge, after=facts)
    except IntegrityError as error:
        if violated_constraint(error) == "judge_user_unique_in_campaign":
            raise JudgeAlready from None
        raise
    return judge


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
    why, moment, moved = clean_reason(reason), now or timezone.now(), 0
    with transaction.atomic():
        campaign = _lock_unclosed(judge.campaign_id)
        fresh = lock_judge(judge.pk)
        if fresh.removed_at is not None:
            return 0
        fresh.removed_at, fresh.removal_reason = moment, why
        fresh.save(update_fields=["removed_at", "removal_reason"])
        facts: dict[str, Any] = {"reason": why}
        if campaign.opened_at is not None and fresh.design_label:
            change = redistribute(
                campaign=campaign, giving=fresh, because=Assignment.VoidReason.JUDGE_REMOVED, now=moment
            )
            if change.lost and not accepts_loss:
                raise NobodyCanTakeOver(count=change.lost)
            _end_queue(fresh)
            moved = change.moved
            facts |= {"moved": moved, "lost": change.lost}
        audit.record(actor=actor, action="campaign_judge.remove", obj=fresh, after=facts)
    return moved


def assign_late(*, judge: CampaignJudge, now: datetime | None = None) -> int:
    """Give a judge who came after the opening their share of the open assignments of others, with practice, controls
    and repeats; returns how many assignments they have. In the caller's transaction, campaign locked.

    Raises ``JudgeBarredEverywhere``.
    """
    campaign, moment = judge.campaign, now or timezone.now()
    systems = list(campaign.systems.select_related("submission__team"))
    barred = set_bars(judge=judge, systems=systems)
    if len(systems) - len(barred) < campaign.group_size:
        raise JudgeBarredEverywhere
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


def _clean_address(email: str) -> str:
    address = email.strip().lower()
    try:
        validate_email(address)
    except ValidationError:
        raise JudgeAddressInvalid(email=one_line(email)[:100]) from None
    return address


def _lock_unclosed(pk: int) -> Campaign:
    campaign = lock_campaign(pk)
    if campaign.closed_at is not None:
        raise CampaignNotOpen
    return campaign


def _drop(judge: CampaignJudge, actor: User) -> None:
    """Take back an invitation whose mail was not sent."""
    with transaction.atomic():
        lock_campaign(judge.campaign_id)
        audit.record(actor=actor, action="campaign_judge.drop", obj=judge, before={"campaign": judge.campaign_id})
        CampaignJudge.objects.filter(pk=judge.pk, accepted_at=None).delete()


def _replace_token(judge: CampaignJudge, actor: User, token_sha256: str, now: datetime) -> dict[str, object]:
    """Store another token; what was there before."""
    with transaction.atomic():
        _lock_unclosed(judge.campaign_id)
        fresh = lock_judge(judge.pk)
        if fresh.removed_at is not None:
            raise JudgeNotFound
        if fresh.accepted_at is not None:
            raise JudgeAccepted
        before = {name: getattr(fresh, name) for name in ("token_sha256", "invited_at", "expires_at")}
        fresh.token_sha256, fresh.invited_at, fresh.expires_at = token_sha256, now, now + INVITATION_LIFETIME
        fresh.save(update_fields=list(before))
        audit.record(actor=actor, action="campaign_judge.resend", obj=fresh, after={"campaign": fresh.campaign_id})
    return before


def _is_free(judge: CampaignJudge, campaign: Campaign, user: User) -> bool:
    """Whether ``user`` can become the judge now; false if they are already. Raises as ``accept_invitation``."""
    if judge.accepted_at is not None and judge.user_id != user.pk:
        raise JudgeInvitationUsed
    if judge.removed_at is not None:
        raise JudgeRemoved
    if judge.accepted_at is not None:
        return False
    if campaign.closed_at is not None:
        raise CampaignNotOpen
    if not has_verified(user, judge.email):
        raise JudgeInvitationForAnother
    if permissions_of(user, campaign.track.competition):
        raise JudgeIsOrganiser
    return True


def _end_queue(judge: CampaignJudge) -> None:
    """Make what a removed judge still had void: practice, and what a disqualified team left."""
    rows = Assignment.objects.filter(judge=judge, state=Assignment.State.OPEN)
    JudgementDraft.objects.filter(assignment__in=rows.values("pk")).delete()
    rows.update(state=Assignment.State.VOID, void_reason=Assignment.VoidReason.JUDGE_REMOVED)
