"""Judges of the demo's campaigns: how one takes part, and how a simulated one works at a queue."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

from malpan.accounts.services import confirm_email
from malpan.arena.invitations import accept_invitation, create_invitation
from malpan.arena.judges import consent_version_of, give_consent
from malpan.arena.judging import judge_assignment
from malpan.arena.models import Campaign, CampaignJudge
from malpan.arena.queue import next_assignment, progress_of
from malpan.demo.assembly import person
from malpan.demo.readers import Readers

if TYPE_CHECKING:
    from malpan.accounts.models import User

PAUSE: Final = timedelta(seconds=2)  # between two judgements


def email_of_judge(number: int) -> str:
    """The address of the ``number``-th simulated judge, from 1."""
    return f"demo-judge-{number}@example.com"


def add_judge(campaign: Campaign, organiser: User, email: str, row: Mapping[str, str], now: datetime) -> CampaignJudge:
    """A judge with the ``name`` and ``institution`` of ``row``, who is invited, has an account and accepts. No mail is
    sent.
    """
    user = person(email, row["name"])
    confirm_email(user=user, actor=user)
    _invited, token = create_invitation(
        campaign=campaign, actor=organiser, email=user.email, institution=row["institution"], now=now
    )
    return accept_invitation(token=token, user=user, now=now)


def agree(judge: CampaignJudge, now: datetime) -> None:
    """Let a simulated judge agree to what is asked of judges."""
    assert judge.user is not None
    campaign = judge.campaign
    version = consent_version_of(campaign)
    give_consent(judge=judge, actor=judge.user, rubric=campaign.rubric, consent_version=version, now=now)


def do_queue(judge: CampaignJudge, place: int, readers: Readers, now: datetime, share: float = 1.0) -> None:
    """Let the judge at ``place`` of ``readers`` do what is left of the first ``share`` (0-1) of their queue, from
    ``now`` on.
    """
    user, progress = judge.user, progress_of(judge)
    if user is None:  # whose data were erased
        return
    done, total = progress.done, max(progress.total, 1)
    while done < share * total or share == 1.0:
        found = next_assignment(judge=judge, actor=user, now=now)
        if found is None:
            return
        seconds = readers.seconds(place)
        now += timedelta(seconds=seconds)
        value = readers.value(place, found, min(done / total, 1.0))
        judge_assignment(assignment=found, actor=user, value=value, seconds=seconds, now=now)
        done += found.kind != found.Kind.CALIBRATION
        now += PAUSE
