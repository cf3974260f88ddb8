"""A contest with everything a page can show, and clients of the people who look at it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from unittest import mock

import pytest
from allauth.account.models import EmailAddress
from django.core.cache import cache
from django.test import Client
from django.utils import timezone

from malpan.accounts.models import User
from malpan.accounts.services import create_api_token, revoke_api_token
from malpan.competitions.models import Competition, Phase, Track
from malpan.competitions.services import add_data_file, post_notice
from malpan.submissions.models import Rejection, ScoringRun, Submission
from malpan.submissions.quota import services as quota
from malpan.teams.invitations import create_invitation
from malpan.teams.models import Team
from tests.factories import (
    CompetitionFactory,
    PhaseFactory,
    ScoringRunFactory,
    SubmissionFactory,
    TeamFactory,
    TrackFactory,
    UserFactory,
    finished_submission,
    leader_of,
    publish,
)
from tests.web import small_font

SCORES = {
    "exact_match": 0.91,
    "descriptive_avg": 0.7345678912,
    "bleurt": 0.61,
    "bertscore": 0.88,
    "rouge_1": 0.7137036736,
}


@dataclass
class Contest:
    """One open phase with references, and a team with something of every kind in its history."""

    competition: Competition
    track: Track
    phase: Phase
    team: Team
    leader: User
    finished: Submission
    failed: Submission
    running: Submission
    queued: Submission
    rejection: Rejection
    invitation_token: str

    def url(self, page: str = "") -> str:
        return f"/competitions/{self.competition.slug}/{page}"


@pytest.fixture(scope="session", autouse=True)
def _small_font() -> Iterator[None]:
    """Papers are drawn with a small font, but where a test takes ``certificate.font`` itself."""
    with mock.patch("malpan.web.certificate.font", small_font.font):
        yield


@pytest.fixture(autouse=True)
def _no_rate_limit_of_another_test() -> None:
    cache.clear()


@pytest.fixture
def phase(db: None) -> Phase:
    """Open, five a day, forty in all, with references of three items."""
    competition = CompetitionFactory.create(
        title_ko="어문 규범 대회",
        title_en="Norms contest",
        summary_ko="한 줄 소개",
        summary_en="A summary",
        description_ko="## 소개\n\n**설명**입니다.",
        description_en="## About\n\nA **description**.",
        organiser_ko="말판 운영팀",
        organiser_en="Malpan team",
    )
    track = TrackFactory.create(competition=competition, slug="norms", description_ko="과제", description_en="Task")
    phase = PhaseFactory.create(track=track, daily_limit=5, total_limit=40, title_ko="본선", title_en="Main")
    publish(phase)
    return phase


@pytest.fixture
def team(phase: Phase) -> Team:
    leader = UserFactory.create(name="Leader Kim", email="leader@example.com")
    EmailAddress.objects.create(user=leader, email=leader.email, primary=True, verified=True)  # as signing up does
    return TeamFactory.create(competition=phase.track.competition, name="Team One", leader=leader)


@pytest.fixture
def member(team: Team) -> Client:
    """The browser of the team's leader."""
    return client_of(leader_of(team))


@pytest.fixture
def contest(phase: Phase, team: Team) -> Contest:
    leader = leader_of(team)
    finished = finished_submission(
        phase, team, 0.8222839456, scores=SCORES, submitted_by=leader, memo="first try", normalized_count=2
    )
    ScoringRun.objects.filter(submission=finished).update(
        is_demo_models=True,
        coverage={"items": 3, "answered": 3, "reason_gold": 3, "reason_answered": 2, "reason_coverage": 2 / 3},
        warnings=[{"code": "demo_models", "params": {"profile": "demo"}}],
        signature={"recipe": "rag-qa@1", "about": {"is_demo": True}},
    )
    finished_submission(phase, TeamFactory.create(competition=team.competition, name="Better"), 0.93, scores=SCORES)
    baseline = TeamFactory.create(competition=team.competition, name="Baseline", is_baseline=True)
    finished_submission(phase, baseline, 0.5, scores=dict.fromkeys(SCORES, 0.4))
    _invitation, token = create_invitation(team=team, actor=leader)
    revoke_api_token(api_token=create_api_token(user=leader, label="old laptop")[0], actor=leader)
    create_api_token(user=leader, label="laptop")
    post_notice(competition=team.competition, title_ko="공지", title_en="Notice", body_ko="본문", body_en="Body")
    for kind, name in (("data", "questions.json"), ("sample", "sample.json")):
        add_data_file(
            track=phase.track, kind=kind, title_ko="파일", title_en="A file", file_name=name, data=name.encode()
        )
    return Contest(
        competition=team.competition,
        track=phase.track,
        phase=phase,
        team=team,
        leader=leader,
        finished=finished,
        failed=in_state(phase, team, ScoringRun.State.FAILED, error_code="scoring_crashed"),
        running=in_state(phase, team, ScoringRun.State.RUNNING, job__stage="bleurt", job__progress=0.424),
        queued=in_state(phase, team, ScoringRun.State.QUEUED),
        rejection=rejected(phase, team),
        invitation_token=token,
    )


def in_state(phase: Phase, team: Team, state: str, **fields: Any) -> Submission:
    """A submission whose only run is in ``state``."""
    submission = SubmissionFactory.create(phase=phase, team=team, file_name=f"{state}.json")
    if state == ScoringRun.State.RUNNING:
        fields |= {"job__lease_expires_at": timezone.now() + timedelta(minutes=1), "job__attempt": 1}
    if state == ScoringRun.State.FAILED:
        quota.refund(submission=submission, reason=fields.get("error_code", "worker_lost"))
    ScoringRunFactory.create(submission=submission, state=state, **fields)
    return submission


def rejected(phase: Phase, team: Team) -> Rejection:
    """A rejected file with two located errors kept of 142."""
    errors = [
        {"code": "duplicate_id", "params": {"first_line": 3}, "line": 12, "id": "q2", "field": "id"},
        {"code": "missing_id", "params": {}, "line": None, "id": "q3", "field": None},
    ]
    return Rejection.objects.create(
        phase=phase,
        team=team,
        submitted_by=leader_of(team),
        file_name="wrong.json",
        file_size=2048,
        errors=errors,
        error_count=142,
        created_at=timezone.now(),
    )


def client_of(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


PageList = list[tuple[str, str, bool]]  # name, address, whether a member looks at it


@pytest.fixture
def pages(contest: Contest) -> PageList:
    """Every page a person can open, in every state worth seeing."""
    url = contest.url
    submissions = {"finished": contest.finished, "failed": contest.failed}
    submissions |= {"running": contest.running, "queued": contest.queued}
    return [
        ("home", "/", False),
        ("home of a member", "/", True),
        ("overview", url(), False),
        ("overview of a member", url(), True),
        ("data", url("data/"), False),
        ("submit, logged out", url("submit/"), False),
        ("submit", url("submit/"), True),
        ("submit with errors", url(f"submit/?rejection={contest.rejection.pk}"), True),
        ("board, logged out", url("board/"), False),
        ("board", url("board/"), True),
        ("board, sorted", url("board/?sort=bleurt&order=asc"), True),
        ("chain", url("chain/"), False),
        ("receipt", f"/submissions/{contest.finished.public_id}/receipt/", True),
        ("history", url("submissions/"), True),
        ("team, logged out", url("team/"), False),
        ("team", url("team/"), True),
        ("questions, logged out", url("questions/"), False),
        ("questions", url("questions/"), True),
        ("notices", url("notices/"), False),
        ("invitation", f"/invitations/{contest.invitation_token}/", False),
        ("invitation of a member", f"/invitations/{contest.invitation_token}/", True),
        ("metrics", "/metrics/", False),
        ("metric", "/metrics/meteor/", False),
        ("not found", "/no/such/page/", False),
        ("no such competition", "/competitions/none/", False),
        ("log in", "/accounts/login/", False),
        ("sign up", "/accounts/signup/", False),
        ("log out", "/accounts/logout/", True),
        ("password reset", "/accounts/password/reset/", False),
        ("password reset sent", "/accounts/password/reset/done/", False),
        ("password changed", "/accounts/password/reset/key/done/", False),
        ("broken reset link", "/accounts/password/reset/key/1-broken/", False),
        ("password change", "/accounts/password/change/", True),
        ("e-mail addresses", "/accounts/email/", True),
        ("API tokens", "/tokens/", True),
        ("broken confirmation link", "/accounts/confirm-email/broken/", False),
        ("confirmation sent", "/accounts/confirm-email/", False),
        ("account inactive", "/accounts/inactive/", False),
        *((f"submission {name}", f"/submissions/{row.public_id}/", True) for name, row in submissions.items()),
    ]


Look = Callable[..., Any]


@pytest.fixture
def look(member: Client) -> Look:
    """Open an address as the member or as a visitor, in a language."""

    def _look(address: str, is_member: bool, **headers: str) -> Any:
        client = member if is_member else Client()
        return client.get(address, headers=headers)

    return _look
