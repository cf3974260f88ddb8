"""What the two matrices know of human evaluation: a judge with a campaign in every state that they meet, as rows."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.utils import timezone

from malpan.accounts.models import User
from malpan.accounts.tokens import hash_token
from malpan.arena.judges import consent_version_of
from malpan.arena.models import Assignment, Campaign, CampaignItem, CampaignJudge, CampaignSystem, Rubric
from malpan.competitions.models import Phase
from malpan.submissions.models import Submission
from tests.factories import CANARY

TOKEN = "token-of-a-judge"


@dataclass
class Arena:
    """Campaigns of one judge: ``shown`` is open and an assignment is on show, ``waiting`` is open and none was shown,
    ``asked`` waits for the consent, ``invited`` for the answer to an invitation.
    """

    campaigns: dict[str, Campaign]
    assignment: Assignment  # of ``shown``, on show
    token: str = TOKEN


def plant_arena(phase: Phase, submissions: dict[str, Submission], judge: User, organiser: User) -> Arena:
    """The campaigns of ``judge``, each of two systems; reference answers are in them, and not shown."""
    rubric = Rubric.objects.create(
        track=phase.track,
        number=1,
        title_ko="기준표",
        guideline_ko="끝까지 읽습니다.",
        created_by=organiser,
        created_at=timezone.now(),
    )
    names = ("shown", "waiting", "asked", "invited")
    campaigns = {name: _campaign(rubric, phase, organiser, number) for number, name in enumerate(names, start=1)}
    for campaign in campaigns.values():
        for place, name in enumerate(("own.after", "other.after"), start=1):
            CampaignSystem.objects.create(
                campaign=campaign, submission=submissions[name], label=f"S{place:02d}", position=place
            )
    for name in ("shown", "waiting"):
        Campaign.objects.filter(pk=campaigns[name].pk).update(opened_at=timezone.now())
    agreed = {name: _judge(campaigns[name], judge, organiser, name) for name in names}
    shown = _assignment(agreed["shown"], first_shown_at=timezone.now())
    _assignment(agreed["waiting"])
    return Arena(campaigns, shown)


def _campaign(rubric: Rubric, phase: Phase, organiser: User, number: int) -> Campaign:
    return Campaign.objects.create(
        track=phase.track,
        number=number,
        title_ko="사람 평가",
        protocol="pairwise",
        rubric=rubric,
        phase=phase,
        calibration_count=0,
        seed=f"{number:064x}",
        seed_sha256="0" * 64,
        created_by=organiser,
        created_at=timezone.now(),
    )


def _judge(campaign: Campaign, judge: User, organiser: User, state: str) -> CampaignJudge:
    now = timezone.now()
    accepted: dict[str, Any] = {} if state == "invited" else {"user": judge, "accepted_at": now}
    if state in ("shown", "waiting"):
        accepted |= {"consent_version": consent_version_of(campaign), "consented_at": now, "rubric": campaign.rubric}
        accepted |= {"design_label": "D01", "calibrated_at": now}
    return CampaignJudge.objects.create(
        campaign=campaign,
        email=judge.email,
        token_sha256=hash_token(TOKEN if state == "invited" else state),
        invited_by=organiser,
        invited_at=now,
        expires_at=now + timedelta(days=9),
        **accepted,
    )


def _assignment(judge: CampaignJudge, **fields: Any) -> Assignment:
    item = CampaignItem.objects.create(
        campaign=judge.campaign,
        label="I0001",
        reference_id="q1",
        input_text="물음",
        reference_text=CANARY,
        outputs={"S01": "하나의 대답", "S02": "다른 대답"},
    )
    return Assignment.objects.create(
        campaign=judge.campaign, judge=judge, item=item, systems=["S02", "S01"], position=1000,
        created_at=timezone.now(), **fields,
    )  # fmt: skip
