"""Somebody with something in every table that can name a person."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

import pytest
from allauth.account.models import EmailAddress, EmailConfirmation
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Group, Permission
from django.contrib.contenttypes.models import ContentType
from django.core.cache import cache
from django.db import connection
from django.test import Client
from django.utils import timezone

from malpan.accounts.models import User
from malpan.accounts.services import confirm_email, create_api_token
from malpan.arena.models import (
    Assignment,
    Campaign,
    CampaignItem,
    CampaignJudge,
    CampaignResult,
    Exclusion,
    Judgement,
    JudgementDraft,
    Rubric,
)
from malpan.competitions import roles
from malpan.competitions.models import Competition, Phase, TermsAcceptance
from malpan.competitions.questions import answer_question, ask_question
from malpan.core import audit
from malpan.jobs.claim import claim_next
from malpan.leaderboard.models import BoardSnapshot
from malpan.notifications.endpoints import create_endpoint
from malpan.notifications.preferences import set_preference
from malpan.stages.models import Stage, StageDecision, StageSnapshot, StageTable
from malpan.submissions import intake
from malpan.submissions.errors import FileRejected
from malpan.submissions.evaluation import runs
from malpan.submissions.evaluation.actions import open_for_download
from malpan.submissions.models import RescoreBatch, RescoreOrder, Submission
from malpan.submissions.quota import services as quota
from malpan.teams.invitations import create_invitation, join_team
from malpan.teams.merging import ask_merge, decline_merge
from malpan.teams.models import Team
from tests.factories import PhaseFactory, TeamFactory, UserFactory, leader_of, prediction_bytes, publish, report
from tests.submissions.conftest import collect_rings, rings

__all__ = ["rings"]  # a fixture

NAME: Final = "카나리아길동"
EMAIL: Final = "canary.person@example.com"
SECOND: Final = "canary.second@example.org"
CANARIES: Final = (NAME, EMAIL, SECOND)


@dataclass
class Scene:
    """``person`` is alone in ``team`` and has submitted; two others are in ``other``; ``owner`` owns the competition,
    ``person`` is an organiser of ``elsewhere``.
    """

    person: User
    team: Team
    other: Team
    phase: Phase
    owner: User
    elsewhere: Competition
    submission: Submission

    @property
    def competition(self) -> Competition:
        return self.phase.track.competition


@pytest.fixture(autouse=True)
def _no_rate_limit_of_another_test() -> Iterator[None]:
    cache.clear()
    yield
    cache.clear()


@pytest.fixture
def person(db: None) -> User:
    return make_person()


def make_person() -> User:
    """Somebody with two addresses, one of which is not confirmed."""
    person = UserFactory.create(name=NAME, email=EMAIL)
    EmailAddress.objects.create(user=person, email=EMAIL, primary=True, verified=True)
    return person


@pytest.fixture(scope="module")
def made_scene(kept: None) -> Scene:
    with pytest.MonkeyPatch.context() as patched:
        collect_rings(patched)
        return make_scene(make_person())


@pytest.fixture
def scene(db: None, made_scene: Scene, rings: list[str]) -> Scene:
    return copy.deepcopy(made_scene)


def make_scene(person: User) -> Scene:
    phase = PhaseFactory.create(daily_limit=9, total_limit=99)
    publish(phase)
    competition = phase.track.competition
    owner = UserFactory.create()
    roles.appoint(competition=competition, user=owner, role="owner", actor=None)
    team = TeamFactory.create(competition=competition, name="말글 연구실", leader=person)
    other = TeamFactory.create(competition=competition, members=1)
    submission = _submitted(phase, team, person, 0.4137219058)  # unlike any piece of a time or an id
    _submitted(phase, other, leader_of(other), 0.3)
    _account(person)
    _participant(person, team, other, phase, owner)
    elsewhere = _organiser(person)
    return Scene(person, team, other, phase, owner, elsewhere, submission)


def _submitted(phase: Phase, team: Team, user: User, score: float) -> Submission:
    submission = intake.submit(
        phase=phase,
        team=team,
        user=user,
        file_name=f"{user.name}_제출.json",
        memo=f"{user.email}의 첫 제출",
        upload=prediction_bytes(mark=team.pk),
    )
    job = claim_next(worker="w")
    assert job is not None
    assert runs.finish_run(run_id=submission.runs.get().pk, attempt=job.attempt, report=report(score))
    return submission


def _account(person: User) -> None:
    """What belongs to an account, and what an administrator did with it."""
    administrator = UserFactory.create(is_staff=True, is_superuser=True)
    second = EmailAddress.objects.create(user=person, email=SECOND, primary=False, verified=False)
    EmailConfirmation.objects.create(email_address=second, sent=timezone.now(), key="k" * 64)
    set_preference(person=person, language="ko", paces={"notice": "never", "scored": "daily"})
    create_endpoint(person=person, url="https://hooks.example.com/x", events=["scored"])
    create_api_token(user=person, label=f"{NAME}의 노트북")
    person.groups.add(Group.objects.create(name="helpers"))
    person.user_permissions.add(Permission.objects.get(codename="add_competition"))
    confirm_email(user=person, actor=administrator)
    before, after = audit.changed({"email": "was@example.com", "name": "옛 이름"}, audit.snapshot(person))
    audit.record(actor=administrator, action="user.update", obj=person, before=before, after=after)
    about = {"content_type": ContentType.objects.get_for_model(User), "object_id": str(person.pk)}
    LogEntry.objects.create(user=administrator, action_flag=2, object_repr=str(person), change_message=EMAIL, **about)
    LogEntry.objects.create(user=person, action_flag=2, object_repr="somebody", object_id="1")
    Client().force_login(person)
    User.objects.filter(pk=person.pk).update(last_login=timezone.now())


def _participant(person: User, team: Team, other: Team, phase: Phase, owner: User) -> None:
    """What a participant does: asks, invites, is invited, uploads what is wrong, agrees, offers to merge."""
    competition = phase.track.competition
    TermsAcceptance.objects.create(user=person, competition=competition, version=1)
    asked = ask_question(
        competition=competition, asked_by=person, title=f"{NAME}입니다", body=f"답은 {EMAIL.upper()}로."
    )
    answer_question(question=asked, answer_ko="공개로 답합니다.", is_public=True, actor=owner)
    ask_question(competition=competition, asked_by=person, title="또 하나", body="기다립니다.")
    create_invitation(team=team, actor=person, email="friend@example.com")
    create_invitation(team=other, actor=leader_of(other), email=EMAIL)
    with pytest.raises(FileRejected):
        intake.submit(phase=phase, team=team, user=person, file_name=f"{NAME}.json", upload=b"[]")
    request = ask_merge(source=other, target=team, actor=leader_of(other))
    decline_merge(request=request, actor=person)
    ask_merge(source=team, target=other, actor=person)
    quota.grant(phase=phase, team=team, slots=1, reason="서버 점검", actor=owner)
    open_for_download(submission=Submission.objects.get(submitted_by=person), actor=owner).close()


def _organiser(person: User) -> Competition:
    """What an organiser does elsewhere, where somebody else owns the competition."""
    phase = PhaseFactory.create(daily_limit=9, total_limit=99)
    competition = phase.track.competition
    owner = UserFactory.create()
    roles.appoint(competition=competition, user=owner, role="owner", actor=None)
    held = roles.appoint_by_email(competition=competition, email=EMAIL, role="organiser", actor=owner)
    roles.change(held=held, role="operator", actor=owner)
    version = publish(phase)
    type(version).objects.filter(pk=version.pk).update(created_by=person)
    guest = TeamFactory.create(competition=competition)
    quota.grant(phase=phase, team=guest, slots=2, reason="정전", actor=person)
    batch = RescoreBatch.objects.create(
        competition=competition, phase=phase, reason="정오", state="cancelled", created_by=person, closed_by=person
    )
    RescoreOrder.objects.create(
        batch=batch, state="withdrawn", guarded_places=3, ordered_by=person, ended_by=person, ended_at=timezone.now()
    )
    BoardSnapshot.objects.create(
        phase=phase, number=1, recipe="rag-qa@1", rows=[], sha256="0" * 64, published_by=person,
        published_at=timezone.now(),
    )  # fmt: skip
    _judge(person, owner, phase)
    _evaluate(person, phase)
    asked = ask_question(competition=competition, asked_by=leader_of(guest), title="질문", body="본문")
    answer_question(question=asked, answer_ko="답", is_public=False, actor=person)
    _invitation, token = create_invitation(team=guest, actor=leader_of(guest))
    join_team(token=token, user=person)
    return competition


def _judge(person: User, owner: User, phase: Phase) -> None:
    """Enters a table, decides about another's, and publishes a stage."""
    now = timezone.now()
    stage = Stage.objects.create(track=phase.track, position=2, title_ko="발표 심사", source="table", weight=20)
    for number, (enters, decides) in enumerate(((person, owner), (owner, person)), start=1):
        table = StageTable.objects.create(
            stage=stage, number=number, rows=[], sha256="0" * 64, entered_by=enters, created_at=now
        )
        StageDecision.objects.create(table=table, verdict="confirmed", decided_by=decides, created_at=now)
    StageSnapshot.objects.create(
        track=phase.track, stage=stage, number=1, rule={}, rows=[], sha256="0" * 64, published_by=person,
        published_at=now,
    )  # fmt: skip


def _evaluate(person: User, phase: Phase) -> None:
    """Runs a human evaluation, judges in it, and is invited to another."""
    now, track = timezone.now(), phase.track
    rubric = Rubric.objects.create(
        track=track, number=1, title_ko="기준", guideline_ko="읽는다", created_by=person, created_at=now
    )
    first, second = (
        Campaign.objects.create(
            track=track, number=number, title_ko="평가", protocol="pairwise", rubric=rubric, phase=phase,
            created_by=person, created_at=now,
        )
        for number in (1, 2)
    )  # fmt: skip
    asked = {"invited_by": person, "invited_at": now, "expires_at": now, "institution": f"{NAME}의 연구소"}
    judge = CampaignJudge.objects.create(
        campaign=first, user=person, email=EMAIL, token_sha256="1" * 64, accepted_at=now, **asked
    )
    CampaignJudge.objects.create(campaign=second, email=EMAIL, token_sha256="2" * 64, **asked)
    item = CampaignItem.objects.create(campaign=first, label="I0001", reference_id="q1", outputs={"S01": "가"})
    unit = Assignment.objects.create(
        campaign=first, judge=judge, item=item, systems=["S01"], position=100, state="done", created_at=now
    )
    judged = Judgement.objects.create(
        assignment=unit, number=1, value={"choice": "tie"}, note=f"{NAME}의 메모", seconds=9, judged_by=person,
        created_at=now,
    )  # fmt: skip
    other = Assignment.objects.create(
        campaign=first, judge=judge, item=item, systems=["S01"], position=101, created_at=now
    )
    JudgementDraft.objects.create(assignment=other, value={}, note=f"{NAME}의 생각", updated_at=now)
    Exclusion.objects.create(
        campaign=first, judgement=judged, reason="잘못 눌렀습니다.", by=person, created_at=now, lifted_by=person,
        lifted_at=now, lift_reason="다시 확인했습니다.",
    )  # fmt: skip
    CampaignResult.objects.create(
        campaign=second, number=1, rows=[], sha256="0" * 64, votes_sha256="", votes_size=0, result_sha256="",
        result_size=0, signature_hash="", published_by=person, published_at=now,
    )  # fmt: skip


def over(phase: Phase, *, days: int = 1) -> None:
    """The phase ended so many days ago."""
    now = timezone.now()
    Phase.objects.filter(pk=phase.pk).update(
        starts_at=now - timedelta(days=days + 30), ends_at=now - timedelta(days=days)
    )


def found_in_tables(words: tuple[str, ...]) -> dict[str, int]:
    """In how many rows of which tables one of ``words`` stands, in any column, as text."""
    found: dict[str, Any] = {}
    patterns = [f"%{form}%" for word in words for form in {word, word.encode("unicode_escape").decode()}]
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            cursor.execute(
                f'SELECT count(*) FROM "{table}" AS row WHERE row::text ILIKE ANY(%s)',
                [[pattern.replace("\\", "\\\\") for pattern in patterns]],
            )
            if count := cursor.fetchone()[0]:
                found[table] = count
    return found
