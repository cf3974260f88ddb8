"""A track with four teams whose files are stored, people who judge, and campaigns in every state."""

from __future__ import annotations

import copy
import json
import random
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone

from malpan.accounts.models import User
from malpan.arena.campaigns import create_campaign
from malpan.arena.closing import close_campaign
from malpan.arena.models import Assignment, Campaign, CampaignJudge, CampaignResult, Judgement, Rubric
from malpan.arena.opening import open_campaign
from malpan.arena.publishing import computed_result, publish_result
from malpan.arena.rubrics import create_rubric
from malpan.arena.systems import choose_systems
from malpan.competitions.models import Competition, CompetitionRole, Phase, Track
from malpan.core.storage import store_private
from malpan.leaderboard.snapshots import publish_final_board
from malpan.submissions.models import Submission
from malpan.submissions.scoring_changes import publish_reference_version
from malpan.teams.models import Team
from tests.arena.answers import answered
from tests.factories import CANARY, PhaseFactory, TeamFactory, UserFactory, finished_submission

ITEMS = 24  # one third is of the second type
SCORES = (0.9, 0.8, 0.7, 0.6)
NAMES = ("고래바다", "은하수연구회", "토끼와거북", "청출어람팀")  # in the answers of their teams
CRITERIA = [
    {"key": "fluency", "label_ko": "유창성", "label_en": "Fluency", "low": 1, "high": 5, "weight": 2},
    {"key": "accuracy", "label_ko": "정확성", "label_en": "Accuracy", "low": 1, "high": 5, "weight": 1},
]
REASONS = [{"key": "accuracy", "label_ko": "정확함", "label_en": "Accurate"}]


def reference_rows(count: int = ITEMS) -> list[dict[str, Any]]:
    """References of two types, each with ``CANARY``."""
    return [
        {
            "id": f"q{number:02d}",
            "input": {"question_type": kind_of(number), "question": f"{number}번째 문제: 무엇이 옳은가?"},
            "output": {"answer": f"{CANARY}{number}이 옳다. 까닭은 {number}번째 규정이다."},
        }
        for number in range(1, count + 1)
    ]


def kind_of(number: int) -> str:
    return "교정형" if number % 3 == 0 else "선택형"


def answer(team: str, number: int) -> str:
    """What a team answers: long enough to be cut, shuffled or repeated, and with the team's own name."""
    words = f"{number}번에는 맞히다가 옳다. 저희 {team}에서는 문맥 {number * 7}쪽과 뜻풀이를 함께 살펴 이렇게 답합니다"
    return f"**답변:** {words}. 그러므로 {number}번째 문장의 쓰임도 이에 따라 고칩니다."


def answers_file(team: str, count: int = ITEMS) -> bytes:
    rows = [{"id": f"q{number:02d}", "output": {"answer": answer(team, number)}} for number in range(1, count + 1)]
    return json.dumps(rows, ensure_ascii=False).encode()


@dataclass
class World:
    """``owner`` runs the competition; ``teams`` and ``submissions`` by number, the best on the board first."""

    phase: Phase
    owner: User
    teams: dict[int, Team] = field(default_factory=dict)
    submissions: dict[int, Submission] = field(default_factory=dict)

    @property
    def track(self) -> Track:
        return self.phase.track

    @property
    def competition(self) -> Competition:
        return self.phase.track.competition

    def add_team(self, name: str, score: float, **fields: Any) -> Team:
        """A team with a stored file, scored."""
        team = TeamFactory.create(competition=self.competition, name=name, **fields)
        stored = store_private(answers_file(name))
        self.teams[team.number] = team
        self.submissions[team.number] = finished_submission(
            self.phase,
            team,
            score,
            file_sha256=stored.sha256,
            file_size=stored.size,
            item_count=ITEMS,
            created_at=timezone.now() - timedelta(hours=team.number),
        )
        return team

    def rubric(self, **values: Any) -> Rubric:
        """The newest version, made where there is none."""
        found = Rubric.objects.filter(track=self.track).order_by("-number").first()
        if found is not None and not values:
            return found
        given: dict[str, Any] = {"title_ko": "기준표", "guideline_ko": "두 출력을 읽고 견줍니다."}
        given |= {"criteria": CRITERIA, "reasons": REASONS}
        return create_rubric(track=self.track, actor=self.owner, **(given | values))

    def campaign(self, **values: Any) -> Campaign:
        """A draft of a small pairwise campaign without systems."""
        given: dict[str, Any] = {
            "title_ko": "사람 평가",
            "protocol": "pairwise",
            "rubric": self.rubric(),
            "phase": self.phase,
            "item_count": 12,
            "units_per_item": 2,
            "judges_per_unit": 1,
            "calibration_count": 2,
            "control_percent": 10,
            "repeat_percent": 10,
            "resamples": 200,
        }
        return create_campaign(track=self.track, actor=self.owner, **(given | values))

    def ready(self, judges: int = 3, **values: Any) -> Campaign:
        """A draft with all teams and accepted judges."""
        campaign = self.campaign(**values)
        names = [row.public_id for row in self.submissions.values()]
        choose_systems(campaign=campaign, actor=self.owner, submissions=names)
        for _number in range(judges):
            self.judge(campaign)
        return campaign

    def draft_with(self, *institutions: str) -> Campaign:
        """A draft with all teams and an accepted judge of each of the institutions."""
        campaign = self.ready(judges=0)
        for name in institutions:
            self.judge(campaign, institution=name)
        return campaign

    def judge(self, campaign: Campaign, user: User | None = None, **fields: Any) -> CampaignJudge:
        """A judge who accepted, agreed and has read the guideline."""
        person, now = user or UserFactory.create(), timezone.now()
        given: dict[str, Any] = {
            "email": person.email,
            "token_sha256": f"{CampaignJudge.objects.count():064x}",
            "invited_by": self.owner,
            "invited_at": now,
            "expires_at": now + timedelta(days=14),
            "accepted_at": now,
            "consent_version": "2026-11",
            "consented_at": now,
            "rubric": campaign.rubric,
        }
        return CampaignJudge.objects.create(campaign=campaign, user=person, **(given | fields))

    def opened(self, judges: int = 3, **values: Any) -> Campaign:
        return open_campaign(campaign=self.ready(judges, **values), actor=self.owner)

    def closed(self, judges: int = 3, **values: Any) -> Campaign:
        """Everything judged, and closed."""
        campaign = self.opened(judges, **values)
        judge_everything(campaign)
        return close_campaign(campaign=campaign, actor=self.owner)

    def publish(self, campaign: Campaign, note: str = "") -> CampaignResult:
        sha256 = answered(computed_result, campaign=campaign).result_sha256
        return publish_result(campaign=campaign, actor=self.owner, result_sha256=sha256, note_ko=note)

    def published(self, judges: int = 3, **values: Any) -> Campaign:
        campaign = self.closed(judges, **values)
        self.publish(campaign)
        return campaign


def strength_of(campaign: Campaign, label: str) -> float:
    """The better on the board, the better for the simulated judges."""
    return -float(campaign.systems.get(label=label).submission.team.number)


def judge_everything(campaign: Campaign, seed: int = 1) -> None:
    """Every open assignment is judged: the bad output loses, the stronger system wins three times of four."""
    rng = random.Random(seed)
    strengths = {row.label: strength_of(campaign, row.label) for row in campaign.systems.all()}
    rows = (
        Assignment.objects.filter(campaign=campaign, state="open").select_related("judge").order_by("judge", "position")
    )
    for row in rows:
        judge_one(row, value_of(campaign, row, strengths, rng))


def value_of(campaign: Campaign, row: Assignment, strengths: dict[str, float], rng: random.Random) -> dict[str, Any]:
    good = [strengths[label] + rng.gauss(0, 1.5) for label in row.systems]
    if row.bad_index is not None:
        good[row.bad_index] = -99
    if campaign.protocol == "pairwise":
        choice = "tie" if rng.random() < 0.1 and row.bad_index is None else ("first", "second")[good[0] < good[1]]
        return {"choice": choice, "reasons": []}
    if campaign.protocol == "ranking":
        order = sorted(good, reverse=True)
        return {"ranks": [1 + order.index(each) for each in good]}
    if campaign.protocol == "errors":
        return {"spans": [], "score": max(0, min(100, round(90 + 10 * good[0])))}
    points = max(1, min(5, round(6 + good[0])))
    return {"scores": {"fluency": points, "accuracy": max(1, points - rng.randint(0, 1))}}


def judge_one(row: Assignment, value: dict[str, Any], seconds: int = 20, now: datetime | None = None) -> Judgement:
    """Another judgement of an assignment, as rows."""
    number = row.judgements.count() + 1
    judged = Judgement.objects.create(
        assignment=row,
        number=number,
        value=value,
        seconds=seconds,
        judged_by=row.judge.user,
        created_at=now or timezone.now(),
    )
    Assignment.objects.filter(pk=row.pk).update(state="done")
    return judged


def make_world() -> World:
    now = timezone.now()
    phase = PhaseFactory.create(slug="main", starts_at=now - timedelta(days=9), ends_at=now + timedelta(days=1))
    publish_reference_version(phase=phase, data=json.dumps(reference_rows(), ensure_ascii=False).encode(), actor=None)
    world = World(phase, UserFactory.create(name="운영자"))
    CompetitionRole.objects.create(user=world.owner, competition=world.competition, role="owner")
    for name, score in zip(NAMES, SCORES, strict=True):
        world.add_team(name, score)
    return world


@pytest.fixture(scope="module")
def made_world(kept: None) -> World:
    return make_world()


@pytest.fixture
def world(made_world: World) -> World:
    return copy.deepcopy(made_world)


def over(world: World) -> None:
    """The phase is over, and its final board published."""
    Phase.objects.filter(pk=world.phase.pk).update(ends_at=timezone.now() - timedelta(minutes=1))
    world.phase.refresh_from_db()
    publish_final_board(phase=world.phase, actor=world.owner)
