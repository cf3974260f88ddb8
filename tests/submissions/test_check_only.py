"""A check without a submission: who may ask for it, what is kept of it, and which earlier file is the same."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.core.cache import cache
from django.utils import timezone

from malpan.archive.format import BY_LABEL
from malpan.competitions.models import Phase
from malpan.core.storage import stored_files
from malpan.submissions.errors import FileRejected, PhaseNotOpen, SameFile, TooManyRejections
from malpan.submissions.intake import DryRun, check_only
from malpan.submissions.models import Rejection, ScoringRun, Submission
from malpan.submissions.overview_selectors import open_work_of
from malpan.submissions.quota import services as quota
from malpan.submissions.selectors import team_history
from malpan.teams.errors import NotTeamMember, TeamDisqualified
from malpan.teams.models import Team
from malpan.teams.services import disqualify_team
from tests.factories import PhaseFactory, TeamFactory, UserFactory, leader_of, prediction_bytes, publish
from tests.submissions.conftest import limited, send
from tests.submissions.test_checking import BAD

pytestmark = pytest.mark.django_db
FILE, OTHER = prediction_bytes(), prediction_bytes(mark="2")
ADDRESS = "192.0.2.7"


def check(phase: Phase, team: Team, data: bytes = FILE, **given: Any) -> DryRun:
    options: dict[str, Any] = {"user": leader_of(team), "file_name": "folder/답.json", "upload": data}
    return check_only(phase=phase, team=team, **(options | given))


def same(phase: Phase, team: Team, data: bytes = FILE) -> Submission | None:
    return check(phase, team, data).same


def test_nothing_of_a_sound_file_is_kept_and_it_costs_nothing(phase: Phase, team: Team) -> None:
    before = set(stored_files())
    found = check(phase, team)
    assert (found.file_name, found.size, found.same) == ("답.json", len(FILE), None)
    assert found.found.item_count == 3
    assert set(stored_files()) == before
    assert [model.objects.count() for model in (Submission, ScoringRun, Rejection)] == [0, 0, 0]
    assert quota.status(phase=phase, team=team).used_total == 0


def test_a_file_with_errors_is_counted_and_leaves_no_trace_where_people_look(phase: Phase, team: Team) -> None:
    with pytest.raises(FileRejected):
        check(phase, team, BAD)
    assert (Rejection.objects.get().team, Rejection.objects.get().is_check) == (team, True)
    competition = phase.track.competition
    assert team_history(team, phase) == []
    assert open_work_of(competition, timezone.now()).rejections_today == 0
    assert not BY_LABEL["submissions.rejection"].rows(competition).exists()
    with pytest.raises(FileRejected):
        send(phase, team, BAD)
    assert [entry.kind for entry in team_history(team, phase)] == ["rejection"]
    assert open_work_of(competition, timezone.now()).rejections_today == 1
    assert BY_LABEL["submissions.rejection"].rows(competition).count() == 1


def removed(team: Team) -> None:
    disqualify_team(team=team, actor=UserFactory.create(is_superuser=True), note_ko="규정 위반")


@pytest.mark.parametrize(
    ("prepare", "user", "refused"),
    [
        (lambda _team: None, lambda: UserFactory.create(), NotTeamMember),
        (removed, lambda: None, TeamDisqualified),
    ],
    ids=["a stranger", "a disqualified team"],
)
@pytest.mark.parametrize("act", [check, send])
def test_who_may_not_submit_may_not_check(
    phase: Phase,
    team: Team,
    prepare: Callable[[Team], None],
    user: Callable[[], Any],
    refused: type[Exception],
    act: Callable[..., Any],
) -> None:
    given = {"user": person} if (person := user()) is not None else {}
    prepare(team)
    with pytest.raises(refused):
        act(phase, team, **given)


def test_before_and_after_a_phase_nothing_is_checked(phase: Phase, team: Team) -> None:
    now = timezone.now()
    for starts_at, ends_at in ((now + timedelta(days=1), now + timedelta(days=2)), (now - timedelta(days=2), now)):
        Phase.objects.filter(pk=phase.pk).update(starts_at=starts_at, ends_at=ends_at)
        with pytest.raises(PhaseNotOpen):
            check(Phase.objects.get(pk=phase.pk), team)


def test_the_team_s_newest_submission_of_the_very_bytes_in_the_phase_is_the_same(phase: Phase, team: Team) -> None:
    elsewhere = PhaseFactory.create(track=phase.track, starts_at=phase.starts_at, ends_at=phase.ends_at)
    publish(elsewhere)
    send(phase, TeamFactory.create(competition=phase.track.competition))
    send(elsewhere, team)
    assert same(phase, team) is None

    begun = timezone.now() - timedelta(hours=1)
    first, second, third = (send(phase, team, now=begun + timedelta(minutes=number)) for number in range(3))
    send(phase, team, OTHER)
    Submission.objects.filter(pk=third.pk).update(refunded_at=timezone.now())
    Submission.objects.filter(pk=first.pk).update(created_at=second.created_at - timedelta(minutes=5))
    assert same(phase, team) == second
    Submission.objects.filter(pk=first.pk).update(created_at=second.created_at + timedelta(minutes=5))
    assert same(phase, team) == first


def test_a_file_that_was_submitted_is_refused_where_that_is_asked(phase: Phase, team: Team) -> None:
    first = send(phase, team, refuses_same=True)
    assert send(phase, team, OTHER, refuses_same=True).pk
    assert send(phase, team).pk, "it was not asked"
    with pytest.raises(SameFile) as refused:
        send(phase, team, OTHER, refuses_same=True)
    assert refused.value.params["public_id"] != first.public_id


@pytest.fixture
def at_one_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten minutes, and the shares of them, are those of the clock: the next ones begin at any time."""
    cache.clear()
    now = timezone.now()
    monkeypatch.setattr(timezone, "now", lambda: now)


@pytest.mark.usefixtures("at_one_moment")
def test_every_check_counts_for_the_address_and_a_submission_does_not(team: Team, phase: Phase, settings: Any) -> None:
    settings.REJECTIONS_PER_ADDRESS = 1
    for number in range(3):
        assert send(phase, team, prediction_bytes(mark=str(number)), address=ADDRESS).pk
    check(phase, team, address=ADDRESS)
    with pytest.raises(TooManyRejections):
        check(phase, team, address=ADDRESS)


@pytest.mark.usefixtures("at_one_moment")
def test_every_check_counts_for_the_person_wherever_they_are(team: Team, phase: Phase, settings: Any) -> None:
    settings.REJECTIONS_PER_ADDRESS = 2
    for number in range(2):
        check(phase, team, address=f"192.0.2.{number}")
    with pytest.raises(TooManyRejections):
        check(phase, team, address="192.0.2.9")
    assert send(phase, team, prediction_bytes(mark="sent"), address="192.0.2.9").pk, "sound submissions are charged"
    assert check(phase, TeamFactory.create(competition=team.competition), address="192.0.2.9")


def test_a_team_without_slots_may_check() -> None:
    phase, team = limited(daily_limit=1)
    send(phase, team)
    assert check(phase, team, OTHER).same is None
