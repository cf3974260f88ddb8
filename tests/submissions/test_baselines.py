"""A baseline is made with its first file, in one transaction: one that was refused leaves nothing of it."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from malpan.accounts.models import User
from malpan.competitions.errors import CompetitionStorageFull, ManageNotFound, NotAllowed
from malpan.competitions.models import Phase
from malpan.competitions.room import set_storage_limit
from malpan.core.errors import DomainError
from malpan.core.models import AuditEntry
from malpan.submissions import checking, intake
from malpan.submissions.baselines import submit_baseline
from malpan.submissions.errors import (
    DuplicateUpload,
    FileRejected,
    QuotaExceeded,
    TeamCheckRunning,
    TooManyRejections,
)
from malpan.submissions.models import ChainEntry, QuotaEntry, Rejection, Submission
from malpan.teams.errors import TeamNameInvalid, TeamNameTaken
from malpan.teams.models import Team
from malpan.teams.services import create_team
from scoring.errors import InvalidFile
from tests.factories import PhaseFactory, TeamFactory, UserFactory, person_in, prediction_bytes, publish
from tests.threads import at_once


@pytest.fixture
def organiser(phase: Phase) -> User:
    return person_in(phase.track.competition, "organiser")


def send(phase: Phase, user: User, data: bytes | None = None, *, name: str = "KoGPT", **rest: str) -> Submission:
    file = SimpleUploadedFile("a.json", prediction_bytes() if data is None else data)
    return submit_baseline(phase=phase, name=name, user=user, file_name="a.json", upload=file, **rest)


def made() -> tuple[int, int, int]:
    """How many baselines, audit entries of teams made, and submissions there are."""
    audited = AuditEntry.objects.filter(action="team.create").count()
    return Team.objects.filter(is_baseline=True).count(), audited, Submission.objects.count()


def test_the_team_comes_with_its_file(phase: Phase, organiser: User) -> None:
    TeamFactory.create(competition=phase.track.competition, number=7)
    submission = send(phase, organiser)
    team = Team.objects.get(is_baseline=True)
    assert (submission.team, team.number, team.members.count()) == (team, 8, 0)
    assert QuotaEntry.objects.get().team == team
    assert ChainEntry.objects.get().facts["team"] == 8
    actions = AuditEntry.objects.filter(action__in=["team.create", "submission.create"]).order_by("pk")
    assert list(actions.values_list("action", flat=True)) == ["team.create", "submission.create"]


def test_a_refused_file_leaves_no_team_and_is_recorded_for_who_sent_it(phase: Phase, organiser: User) -> None:
    with pytest.raises(FileRejected) as refused:
        send(phase, organiser, b"[]")
    assert refused.value.errors
    assert made() == (0, 0, 0)
    rejection = Rejection.objects.get()
    assert (rejection.team, rejection.submitted_by, rejection.phase) == (None, organiser, phase)
    assert send(phase, organiser).team.name == "KoGPT"
    with pytest.raises(FileRejected):
        send(phase, organiser, b"[]")
    assert Rejection.objects.latest("pk").team == Team.objects.get(is_baseline=True)


def test_what_is_refused_at_the_very_end_leaves_no_team(
    phase: Phase, organiser: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_storage_limit(competition=phase.track.competition, limit=1)
    monkeypatch.setattr(intake, "require_room", lambda *_arguments: None)  # others take it after the first look
    with pytest.raises(CompetitionStorageFull):
        send(phase, organiser)
    assert made() == (0, 0, 0)


def test_a_quota_without_slots_refuses_before_the_file_is_read(
    phase: Phase, organiser: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    phase.daily_limit = 0
    phase.save()
    monkeypatch.setattr(intake, "checked", lambda *_arguments, **_options: pytest.fail("it was read"))
    with pytest.raises(QuotaExceeded):
        send(phase, organiser)


def test_rejected_files_of_baselines_not_there_count_for_who_sends_them(
    phase: Phase, organiser: User, settings: Any
) -> None:
    settings.REJECTIONS_PER_TEAM = 2
    for name in ("가", "나"):
        with pytest.raises(FileRejected):
            send(phase, organiser, b"[]", name=name)
    with pytest.raises(TooManyRejections):
        send(phase, organiser, name="다")
    assert send(phase, person_in(phase.track.competition, "organiser"), name="다").team.name == "다"


@pytest.mark.django_db(transaction=True)
def test_large_files_of_new_baselines_of_a_contest_are_checked_one_after_the_other(
    phase: Phase, organiser: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checking, "is_small", lambda *_arguments: False)
    elsewhere = publish(PhaseFactory.create()).phase
    other = person_in(elsewhere.track.competition, "organiser")

    def meanwhile(*_arguments: Any, **_options: Any) -> None:
        monkeypatch.setattr(checking.checking, "check_apart", none_sound)
        [same, another] = at_once([lambda: send(phase, organiser, name="나"), lambda: send(elsewhere, other)])
        assert isinstance(same, TeamCheckRunning)
        assert isinstance(another, FileRejected)
        none_sound()

    monkeypatch.setattr(checking, "_running", checking.threading.BoundedSemaphore(2))
    monkeypatch.setattr(checking.checking, "check_apart", meanwhile)
    with pytest.raises(FileRejected):
        send(phase, organiser, name="가")


def none_sound(*_arguments: Any, **_options: Any) -> None:
    raise InvalidFile([])


def test_names_that_others_have_or_nobody_may_have(phase: Phase, organiser: User) -> None:
    taken = TeamFactory.create(competition=phase.track.competition, name="참가팀 하나")
    for name in (taken.name, "참가팀하나"):  # the same to a reader
        with pytest.raises(TeamNameTaken):
            send(phase, organiser, name=name)
    with pytest.raises(TeamNameInvalid):
        send(phase, organiser, name="말\u200b글")
    assert made() == (0, 0, 0)


def test_only_who_manages_makes_one(phase: Phase) -> None:
    with pytest.raises(NotAllowed):
        send(phase, person_in(phase.track.competition, "operator"))
    with pytest.raises(ManageNotFound):
        send(phase, UserFactory.create())
    assert made() == (0, 0, 0)


@pytest.mark.django_db(transaction=True)
def test_two_clicks_at_once_make_one_baseline_with_one_submission(phase: Phase, organiser: User) -> None:
    outcomes = at_once([lambda: send(phase, organiser, upload_key="k")] * 6)
    assert made() == (1, 1, 1)
    assert sum(isinstance(each, DuplicateUpload) for each in outcomes) == 5


@pytest.mark.django_db(transaction=True)
def test_organisers_at_once_submit_for_one_baseline_or_make_teams_of_their_own(phase: Phase, organiser: User) -> None:
    competition, people = phase.track.competition, UserFactory.create_batch(4)
    others = Team.objects.filter(competition=competition).count()
    files = [lambda n=n: send(phase, organiser, prediction_bytes(mark=str(n)), name=f"기준 {n % 2}") for n in range(6)]
    teams = [
        lambda n=n, each=each: create_team(competition=competition, name=f"팀 {n}", leader=each, is_baseline=True)
        for n, each in enumerate(people)
    ]
    outcomes = at_once([*files, *teams])
    assert not [each for each in outcomes if isinstance(each, DomainError)]
    assert made() == (6, 6, 6)
    assert len(set(Team.objects.filter(competition=competition).values_list("number", flat=True))) == 6 + others
    assert sorted(ChainEntry.objects.values_list("number", flat=True)) == [1, 2, 3, 4, 5, 6]


@pytest.mark.django_db(transaction=True)
def test_a_team_that_takes_the_name_while_the_file_is_checked_keeps_it(
    phase: Phase, organiser: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    check = intake.checked

    def meanwhile(*arguments: Any, **options: Any) -> Any:
        monkeypatch.setattr(intake, "checked", check)
        TeamFactory.create(competition=phase.track.competition, name="KoGPT")
        return check(*arguments, **options)

    monkeypatch.setattr(intake, "checked", meanwhile)
    with pytest.raises(TeamNameTaken):
        send(phase, organiser)
    assert not Submission.objects.exists()
    assert not Team.objects.filter(is_baseline=True).exists()
