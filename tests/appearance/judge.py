"""A judge amid an evaluation of each protocol on the demo, with the pages that only a form leads to."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, Final

from django.urls import reverse
from django.utils import timezone

from malpan.accounts.models import User
from malpan.arena.campaigns import create_campaign
from malpan.arena.invitations import create_invitation
from malpan.arena.judging import judge_assignment, save_draft
from malpan.arena.models import Assignment, Campaign, CampaignJudge
from malpan.arena.opening import open_campaign
from malpan.arena.queue import next_assignment
from malpan.arena.rubrics import create_rubric
from malpan.arena.systems import choose_top
from malpan.competitions.models import Phase
from malpan.demo.assembly import ORGANISER, PHASE_SLUG
from malpan.demo.habits import RAG_QA
from malpan.demo.judges import add_judge, agree
from tests.system.make_arena import CRITERIA, GUIDELINE, REASONS

EMAIL: Final = "appearance-judge@example.com"
PERSON: Final = {"name": "김평가", "institution": "가람대학교"}
VALUES: Final[dict[str, dict[str, Any]]] = {
    "pairwise": {"choice": "second", "reasons": ["accuracy"]},
    "rubric": {"scores": {"fluency": 4, "accuracy": 2, "overall": 85}},
    "ranking": {"ranks": [2, 1, 3]},
    "errors": {
        "score": 72,
        "spans": [{"output": 0, "start": 0, "end": 5, "severity": "major", "category": "accuracy"}],
    },
}


def judge_everywhere() -> tuple[User, list[str]]:
    """The judge, and the addresses of what they are shown: of each protocol the campaign, what they said, practice with
    feedback, a judgement to be corrected and one begun; an invitation.
    """
    organiser = User.objects.get(email=ORGANISER[0])
    phase = Phase.objects.select_related("track__competition").get(
        track__competition__slug="demo", track__slug=RAG_QA, slug=PHASE_SLUG
    )
    rubric = create_rubric(
        track=phase.track,
        actor=organiser,
        title_ko="기준표",
        criteria=CRITERIA,
        reasons=REASONS,
        guideline_ko=GUIDELINE,
    )
    addresses = []
    for protocol in VALUES:
        campaign = create_campaign(
            track=phase.track, actor=organiser, rubric=rubric, phase=phase, protocol=protocol,
            title_ko=f"{Campaign.Protocol(protocol).label} 평가", group_size=3, item_count=4, judges_per_unit=1,
            calibration_count=1, shows_reference=True, ends_at=timezone.now() + timedelta(days=9),
        )  # fmt: skip
        choose_top(campaign=campaign, actor=organiser, count=4)
        judge = add_judge(campaign, organiser, EMAIL, PERSON, timezone.now())
        agree(judge, timezone.now())
        open_campaign(campaign=campaign, actor=organiser)
        addresses += _course(judge, VALUES[protocol])
    _invited, token = create_invitation(campaign=campaign, actor=organiser, email=EMAIL.replace("judge", "other"))
    addresses.append(reverse("arena_invitation", args=[token]))
    assert judge.user is not None
    return judge.user, addresses


def _course(judge: CampaignJudge, value: dict[str, Any]) -> list[str]:
    """Judge the practice and the first assignment, and begin the next."""
    assert judge.user is not None
    addresses = [reverse(name, args=[judge.campaign_id]) for name in ("arena_campaign", "arena_done")]
    for ending in ("", "?list=1"):
        shown = _next(judge)
        judge_assignment(assignment=shown, actor=judge.user, value=value, note="메모입니다.")
        addresses.append(_address(shown) + ending)
    begun = _next(judge)
    save_draft(assignment=begun, actor=judge.user, value=value, note="쓰던 메모")
    return [*addresses, _address(begun)]


def _next(judge: CampaignJudge) -> Assignment:
    assert judge.user is not None
    found = next_assignment(judge=judge, actor=judge.user)
    assert found is not None
    return found


def _address(shown: Assignment) -> str:
    return reverse("arena_assignment", args=[shown.campaign_id, shown.shown_key])
