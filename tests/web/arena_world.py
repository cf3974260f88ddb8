"""What the two matrices know of human evaluation: a judge with a campaign in every state that they meet, as rows."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.utils import timezone

from malpan.accounts.models import User
from malpan.accounts.tokens import hash_token
from malpan.arena.errors import NoVotes, StillComputing
from malpan.arena.exclusions import preview_exclusion
from malpan.arena.judges import consent_version_of
from malpan.arena.models import (
    Assignment,
    Campaign,
    CampaignItem,
    CampaignJudge,
    CampaignSystem,
    Computation,
    Exclusion,
    Judgement,
    Rubric,
)
from malpan.arena.publishing import computed_result
from malpan.competitions.models import Phase
from malpan.submissions.models import Submission
from tests.arena.answers import answered, quality_of, work_off
from tests.factories import CANARY, UserFactory

TOKEN = "token-of-a-judge"


@dataclass
class Arena:
    """Campaigns of one judge: ``shown`` is open and an assignment is on show, ``waiting`` is open and none was shown,
    ``asked`` waits for the consent and has no systems yet, ``invited`` for the answer to an invitation.

    Those of the organisers' pages have other judges: ``new`` is a draft without systems, ``draft`` can be opened,
    ``judged`` is open, ``closed`` can be published.
    """

    campaigns: dict[str, Campaign]
    assignment: Assignment  # of ``shown``, on show
    rubric: Rubric
    judges: dict[str, CampaignJudge]  # by campaign
    judgement: Judgement  # of ``judged``
    exclusion: Exclusion  # of another judge of ``judged``
    left: CampaignJudge  # removed from ``judged``
    computation: Computation  # of ``closed``, answered; so are those of the other pages
    token: str = TOKEN

    def desk(self) -> list[Campaign]:
        """What the organisers' pages are looked at with."""
        return [self.campaigns[name] for name in ("judged", "draft", "closed")]


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
    for state in ("shown", "waiting", "invited"):
        campaign = campaigns[state]
        for place, name in enumerate(("own.after", "other.after"), start=1):
            CampaignSystem.objects.create(
                campaign=campaign, submission=submissions[name], label=f"S{place:02d}", position=place
            )
    for name in ("shown", "waiting"):
        Campaign.objects.filter(pk=campaigns[name].pk).update(opened_at=timezone.now())
    agreed = {name: _judge(campaigns[name], judge, organiser, name) for name in names}
    shown = _assignment(agreed["shown"], first_shown_at=timezone.now())
    _assignment(agreed["waiting"])
    desk = _plant_desk(rubric, phase, submissions, organiser)
    judgements = {name: _judged(desk[1][name]) for name in ("judged", "closed")}
    other = _judge(desk[0]["judged"], UserFactory.create(), organiser, "other", design_label="D02")
    gone = {"removed_at": timezone.now(), "removal_reason": "사유", "design_label": "D03"}
    left = _judge(desk[0]["judged"], UserFactory.create(), organiser, "left", **gone)
    exclusion = Exclusion.objects.create(
        campaign=desk[0]["judged"], judge=other, reason="사유", by=organiser, created_at=timezone.now()
    )
    closed = {"opened_at": timezone.now(), "closed_at": timezone.now()}
    Campaign.objects.filter(pk=desk[0]["closed"].pk).update(**closed)
    Campaign.objects.filter(pk=desk[0]["judged"].pk).update(opened_at=timezone.now())
    for row in desk[0].values():
        row.refresh_from_db()
    computation = _compute(desk[0], judgements["judged"], organiser)
    return Arena(
        campaigns | desk[0], shown, rubric, agreed | desk[1], judgements["judged"], exclusion, left, computation
    )


def _compute(campaigns: dict[str, Campaign], judgement: Judgement, organiser: User) -> Computation:
    """What the organisers' pages show is computed."""
    answered(computed_result, campaign=campaigns["closed"])
    quality_of(campaigns["judged"])
    for left_out in ({"judge": judgement.assignment.judge}, {"judgement": judgement}):
        try:
            preview_exclusion(campaign=campaigns["judged"], actor=organiser, **left_out)
        except StillComputing:
            work_off()
        except NoVotes:  # there is no other
            continue
    return Computation.objects.get(campaign=campaigns["closed"])


def _plant_desk(
    rubric: Rubric, phase: Phase, submissions: dict[str, Submission], organiser: User
) -> tuple[dict[str, Campaign], dict[str, CampaignJudge]]:
    """Campaigns of the organisers' pages, each of two systems but ``new``, with a judge of its own."""
    names = ("new", "draft", "judged", "closed")
    few = {"item_count": 2, "judges_per_unit": 1, "control_percent": 0, "repeat_percent": 0, "resamples": 200}
    campaigns = {name: _campaign(rubric, phase, organiser, number, **few) for number, name in enumerate(names, start=5)}
    judges = {}
    for name in names[1:]:
        for place, key in enumerate(("own.after", "other.after"), start=1):
            label = "" if name == "draft" else f"S{place:02d}"
            CampaignSystem.objects.create(
                campaign=campaigns[name], submission=submissions[key], label=label, position=place
            )
        labels = {"draft": "", "judged": "D01", "closed": "D01"}
        person = UserFactory.create()
        judges[name] = _judge(campaigns[name], person, organiser, name, design_label=labels[name])
    CampaignJudge.objects.filter(pk=judges["closed"].pk).update(label="J01")
    return campaigns, judges


def _judged(judge: CampaignJudge) -> Judgement:
    """A judgement of the only assignment of ``judge``."""
    row = _assignment(judge, state="done", first_shown_at=timezone.now())
    return Judgement.objects.create(
        assignment=row, number=1, value={"choice": "first", "reasons": []}, seconds=20, judged_by=judge.user,
        created_at=timezone.now(),
    )  # fmt: skip


def _campaign(rubric: Rubric, phase: Phase, organiser: User, number: int, **fields: Any) -> Campaign:
    return Campaign.objects.create(
        track=phase.track,
        number=number,
        title_ko="사람 평가",
        protocol="pairwise",
        rubric=rubric,
        phase=phase,
        calibration_count=0,
        **fields,
        seed=f"{number:064x}",
        seed_sha256="0" * 64,
        created_by=organiser,
        created_at=timezone.now(),
    )


def _judge(campaign: Campaign, judge: User, organiser: User, state: str, **fields: Any) -> CampaignJudge:
    now = timezone.now()
    accepted: dict[str, Any] = {} if state == "invited" else {"user": judge, "accepted_at": now}
    if state not in ("invited", "asked"):
        accepted |= {"consent_version": consent_version_of(campaign), "consented_at": now, "rubric": campaign.rubric}
        accepted |= {"design_label": "D01", "calibrated_at": now}
    return CampaignJudge.objects.create(
        campaign=campaign,
        email=judge.email,
        token_sha256=hash_token(TOKEN if state == "invited" else state),
        invited_by=organiser,
        invited_at=now,
        expires_at=now + timedelta(days=9),
        **(accepted | fields),
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
