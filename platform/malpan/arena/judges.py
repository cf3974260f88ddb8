"""Judges: invited by mail, accepted, told, removed."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

from malpan.arena.models import Campaign, CampaignJudge, Rubric

if TYPE_CHECKING:
    from malpan.accounts.models import User

INVITATION_LIFETIME: Final = timedelta(days=14)
JUDGES_MAX: Final = 200
CONSENT_VERSION: Final = "2026-11"


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

    Raises ``ManageNotFound`` and ``NotAllowed`` without the permission to manage, ``CampaignNotOpen`` after the
    closing, ``JudgeAddressInvalid``, ``JudgeInvited``, ``TooManyJudges``, ``InvitationMailFailed`` (then
    nothing is kept).
    """
    raise NotImplementedError


def resend_invitation(
    *, judge: CampaignJudge, actor: User, link_for: Callable[[str], str], now: datetime | None = None
) -> None:
    """Mail a new link, which takes the old one's place. Raises as ``invite_judge``, and ``JudgeAlready``."""
    raise NotImplementedError


def invitation_of(token: str, now: datetime | None = None) -> CampaignJudge:
    """The invitation with its campaign. Raises ``JudgeInvitationNotFound``, ``JudgeInvitationExpired``."""
    raise NotImplementedError


def accept_invitation(*, token: str, user: User, now: datetime | None = None) -> CampaignJudge:
    """Make ``user`` the judge of the invitation; accepting twice is harmless. In an open campaign they
    are assigned late.

    Raises as ``invitation_of``, ``JudgeInvitationUsed``, ``JudgeInvitationForAnother``, ``JudgeIsOrganiser``,
    ``JudgeAlready``, ``JudgeRemoved``, ``CampaignNotOpen`` after the closing.
    """
    raise NotImplementedError


def give_consent(
    *, judge: CampaignJudge, actor: User, rubric: Rubric, consent_version: str, now: datetime | None = None
) -> None:
    """Record that the judge agreed to the notice and acknowledged the guideline of ``rubric``.

    Raises ``JudgeNotFound`` for another person's, ``GuidelineChanged``, ``JudgeRemoved``.
    """
    raise NotImplementedError


def remove_judge(*, judge: CampaignJudge, actor: User, reason: str, now: datetime | None = None) -> int:
    """Remove a judge; open real assignments go to others who may see them, the rest is void. Returns how many moved.

    Judgements stay and count, unless they are excluded as well. Raises ``ManageNotFound`` and ``NotAllowed`` without
    the permission to manage, ``CampaignReasonMissing``, ``CampaignNotOpen`` after the closing, ``NobodyCanTakeOver``.
    """
    raise NotImplementedError


def assign_late(*, judge: CampaignJudge, now: datetime | None = None) -> int:
    """Give a judge who came after the opening their share of the open assignments of others, with calibration,
    controls and repeats; returns how many assignments they have. In the caller's transaction, campaign locked.
    """
    raise NotImplementedError
