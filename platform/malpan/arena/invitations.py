"""Invitations of judges: sent by mail, once more, to those who were removed, and accepted."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import IntegrityError, transaction
from django.utils import timezone

from malpan.accounts.selectors import has_verified
from malpan.accounts.tokens import hash_token, make_token
from malpan.arena.errors import (
    CampaignNotOpen,
    CampaignTimeOver,
    InvitationMailFailed,
    JudgeAccepted,
    JudgeAddressInvalid,
    JudgeAlready,
    JudgeInvitationExpired,
    JudgeInvitationForAnother,
    JudgeInvitationNotFound,
    JudgeInvitationUsed,
    JudgeInvited,
    JudgeIsOrganiser,
    JudgeNotFound,
    JudgeNotRemoved,
    JudgeRemoved,
    TooManyJudges,
)
from malpan.arena.invitation_mail import send_invitation
from malpan.arena.judges import assign_late
from malpan.arena.locks import lock_campaign, lock_judge, lock_unclosed
from malpan.arena.models import Campaign, CampaignJudge
from malpan.competitions.permissions import Permission, permissions_of, require
from malpan.core import audit
from malpan.core.constraints import violated_constraint
from malpan.core.errors import DomainError
from malpan.core.rows import only
from malpan.core.text import one_line, without_unseen
from malpan.teams.invitations import masked

if TYPE_CHECKING:
    from malpan.accounts.models import User

INVITATION_LIFETIME: Final = timedelta(days=14)
JUDGES_MAX: Final = 200
INSTITUTION_MAX: Final = 120


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
            fresh = lock_unclosed(campaign.pk)
            if fresh.judges.filter(removed_at=None).count() >= JUDGES_MAX:
                raise TooManyJudges(limit=JUDGES_MAX)
            judge = CampaignJudge.objects.create(
                campaign=fresh,
                email=address,
                institution=without_unseen(institution)[:INSTITUTION_MAX],
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


def reinvite_judge(
    *, judge: CampaignJudge, actor: User, link_for: Callable[[str], str], now: datetime | None = None
) -> None:
    """Invite a judge who was removed again. Once they accept anew they get a share of what is open; their judgements
    of before stay, and an exclusion stays in force until it is lifted.

    Raises ``ManageNotFound`` and ``NotAllowed`` without the permission to manage, ``CampaignNotOpen`` after the
    closing, ``JudgeNotRemoved``, ``JudgeNotFound`` for a person whose data were erased, ``InvitationMailFailed`` (then
    they stay removed).
    """
    require(actor, judge.campaign.track.competition, Permission.MANAGE)
    token, moment = make_token(), now or timezone.now()
    before = _return(judge, actor, hash_token(token), moment)
    judge.refresh_from_db()
    try:
        send_invitation(judge, link_for(token))
    except InvitationMailFailed:
        with transaction.atomic():
            lock_campaign(judge.campaign_id)
            if CampaignJudge.objects.filter(pk=judge.pk, token_sha256=judge.token_sha256).update(**before):
                audit.record(actor=actor, action="campaign_judge.reinvite_failed", obj=judge, after={})
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


def obstacle_to(*, judge: CampaignJudge, user: User | None, now: datetime | None = None) -> DomainError | None:
    """What keeps ``user``, or anybody where nobody is logged in, from accepting the invitation now."""
    try:
        _require_free(judge, judge.campaign, user, now or timezone.now())
    except DomainError as error:
        return error
    return None


def accept_invitation(*, token: str, user: User, now: datetime | None = None) -> CampaignJudge:
    """Make ``user`` the judge of the invitation; accepting twice is harmless. In an open campaign they are assigned
    late.

    Raises as ``invitation_of``, ``JudgeInvitationUsed``, ``JudgeInvitationForAnother``, ``JudgeIsOrganiser``,
    ``JudgeAlready``, ``JudgeRemoved``, ``JudgeBarredEverywhere``, ``CampaignNotOpen`` after the
    closing, ``CampaignTimeOver`` from the planned end on.
    """
    moment = now or timezone.now()
    found = invitation_of(token, moment)
    try:
        with transaction.atomic():
            campaign = lock_campaign(found.campaign_id)
            judge = lock_judge(found.pk)
            if judge.token_sha256 != found.token_sha256:
                raise JudgeInvitationNotFound
            if judge.user_id == user.pk and judge.is_active:
                return judge
            _require_free(judge, campaign, user, moment)
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


def _clean_address(email: str) -> str:
    address = email.strip().lower()
    try:
        validate_email(address)
    except ValidationError:
        raise JudgeAddressInvalid(email=one_line(email)[:100]) from None
    return address


def _drop(judge: CampaignJudge, actor: User) -> None:
    """Take back an invitation whose mail was not sent."""
    with transaction.atomic():
        lock_campaign(judge.campaign_id)
        audit.record(actor=actor, action="campaign_judge.drop", obj=judge, before={"campaign": judge.campaign_id})
        CampaignJudge.objects.filter(pk=judge.pk, accepted_at=None).delete()


def _replace_token(judge: CampaignJudge, actor: User, token_sha256: str, now: datetime) -> dict[str, object]:
    """Store another token; what was there before."""
    with transaction.atomic():
        lock_unclosed(judge.campaign_id)
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


def _require_free(judge: CampaignJudge, campaign: Campaign, user: User | None, now: datetime) -> None:
    """Raise what ``accept_invitation`` says of an invitation that ``user`` cannot accept now, or that nobody can."""
    is_own = user is not None and judge.user_id == user.pk
    if judge.accepted_at is not None and not is_own:
        raise JudgeInvitationUsed
    if judge.removed_at is not None:
        raise JudgeRemoved
    if campaign.closed_at is not None:
        raise CampaignNotOpen
    if campaign.is_over(now):
        raise CampaignTimeOver(end=campaign.end_text)
    if user is None:
        return
    is_anothers = judge.user_id is not None and not is_own  # invited again, with judgements of before
    if is_anothers or not has_verified(user, judge.email):
        raise JudgeInvitationForAnother(email=masked(judge.email))
    if permissions_of(user, campaign.track.competition):
        raise JudgeIsOrganiser


def _return(judge: CampaignJudge, actor: User, token_sha256: str, now: datetime) -> dict[str, object]:
    """Make a removed judge an invited one; what was there before."""
    with transaction.atomic():
        lock_unclosed(judge.campaign_id)
        fresh = lock_judge(judge.pk)
        if fresh.removed_at is None:
            raise JudgeNotRemoved
        if not fresh.email:
            raise JudgeNotFound
        renewed = {
            "token_sha256": token_sha256,
            "invited_by": actor,
            "invited_at": now,
            "expires_at": now + INVITATION_LIFETIME,
            "accepted_at": None,
            "removed_at": None,
            "removal_reason": "",
            "returns": fresh.returns + 1,
        }
        before = {name: getattr(fresh, name) for name in renewed}
        for name, value in renewed.items():
            setattr(fresh, name, value)
        fresh.save(update_fields=list(renewed))
        audit.record(actor=actor, action="campaign_judge.reinvite", obj=fresh, after={"campaign": fresh.campaign_id})
    return before
