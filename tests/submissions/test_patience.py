"""How many rejected files are checked: of a team, of a person and of an address, one after another and at once."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.core.cache import cache
from django.db import connection
from django.utils import timezone
from redis.exceptions import ConnectionError as RedisAway

from malpan.competitions.models import Phase
from malpan.core.messages import text_of
from malpan.submissions import patience as patience_module
from malpan.submissions.errors import CheckCrashed, FileRejected, TeamCheckRunning, TooManyRejections
from malpan.submissions.models import Rejection
from malpan.submissions.patience import WINDOW, patience
from malpan.teams.models import Team
from tests.factories import PhaseFactory, TeamFactory, UserFactory, leader_of, publish
from tests.submissions.conftest import send
from tests.submissions.test_checking import BAD, reject
from tests.threads import at_once

pytestmark = pytest.mark.django_db
ADDRESS = "192.0.2.7"
BEGUN = datetime(2026, 11, 20, 12, 10, tzinfo=UTC)  # of ten minutes


@pytest.fixture
def few_rejections(settings: Any) -> int:
    settings.REJECTIONS_PER_TEAM = 3
    return 3


@pytest.fixture
def counted_addresses(settings: Any) -> int:
    cache.clear()
    settings.REJECTIONS_PER_TEAM, settings.REJECTIONS_PER_ADDRESS = 0, 3
    return 3


def refuse(**who: Any) -> None:
    """A file is checked and rejected."""
    with pytest.raises(FileRejected), patience(**who):
        raise FileRejected(errors=[], total=1)


def take(**who: Any) -> None:
    """A file is checked and sound."""
    with patience(**who):
        pass


def test_after_too_many_rejected_files_a_team_waits(phase: Phase, team: Team, few_rejections: int) -> None:
    now = timezone.now()
    for number in range(few_rejections):
        reject(phase, team, now=now + timedelta(seconds=number))
    with pytest.raises(TooManyRejections) as refused:
        send(phase, team, now=now + timedelta(seconds=10))
    pace = WINDOW / few_rejections
    waits = pace - timedelta(seconds=10 - 2)  # since the newest
    known = {"count": few_rejections, "window": WINDOW, "pace": pace, "wait": waits}
    assert refused.value.params == known
    said = text_of(refused.value)
    assert said.startswith(f"최근 10분 동안 반려되었거나 검사만 한 파일이 {few_rejections}개여서 ")
    assert "지금은 200초에 하나씩만 검사합니다." in said
    assert "192초 뒤에 다시 올려" in said
    assert refused.value.retry_after == 192
    assert Rejection.objects.count() == few_rejections
    other = TeamFactory.create(competition=phase.track.competition)
    assert send(phase, other, now=now + timedelta(seconds=10)).pk
    assert send(phase, team, now=now + WINDOW).pk, "the first is ten minutes old"


def test_the_wait_ends_when_the_oldest_is_ten_minutes_old(phase: Phase, team: Team, few_rejections: int) -> None:
    for second in (0, 450, 500)[-few_rejections:]:
        record(phase, team, leader_of(team), BEGUN + timedelta(seconds=second))
    assert wait_of(team, UserFactory.create(), BEGUN + timedelta(seconds=550)) == 50, "not 200 seconds after the newest"
    assert wait_of(team, UserFactory.create(), BEGUN + timedelta(seconds=600)) == 0


def test_the_locks_of_gates_and_of_checks_are_not_each_other_s() -> None:
    assert len({*patience_module._GATES, *patience_module._CHECKS}) == 4


def wait_of(team: Team, user: Any, now: datetime) -> int:
    """The seconds that ``user`` is told to wait; 0: the file is checked."""
    try:
        take(team=team, user=user, address="", now=now)
    except TooManyRejections as refused:
        return refused.retry_after or -1
    return 0


def record(phase: Phase, team: Team, user: Any, now: datetime) -> None:
    known = {"file_name": "a.json", "file_size": 1, "errors": [], "error_count": 1}
    Rejection.objects.create(phase=phase, team=team, submitted_by=user, created_at=now, **known)


def test_who_sends_without_end_leaves_the_others_of_the_team_their_turns(
    phase: Phase, team: Team, few_rejections: int
) -> None:
    """One member's program sends a bad file every second; another comes now and then, and waits as told."""
    careless, careful = leader_of(team), UserFactory.create()
    begun = timezone.now()
    checked, waits, comes, tries = [], [], 100, 100
    for second in range(1800):
        now = begun + timedelta(seconds=second)
        if wait_of(team, careless, now) == 0:
            record(phase, team, careless, now)
            checked.append(second)
        if second == tries:
            tries += wait_of(team, careful, now)
        if second == tries:
            waits.append(second - comes)
            comes = tries = second + 50
    assert checked[:4] == [0, 1, 2, 402], "three at once, then one in twice the team's 200 seconds"
    assert len(checked) <= few_rejections + 3 * few_rejections, "those at once, and three times ten minutes"
    assert len(waits) > 6
    assert max(waits) <= 2 * 200


def test_a_team_that_never_stops_has_no_more_checked_than_its_limit(
    phase: Phase, team: Team, few_rejections: int
) -> None:
    people = [leader_of(team), *UserFactory.create_batch(2)]
    begun = timezone.now()
    checked = 0
    for second in range(0, 3600, 5):
        for person in people:
            if wait_of(team, person, now := begun + timedelta(seconds=second)) == 0:
                record(phase, team, person, now)
                checked += 1
    assert 3 + 15 <= checked <= 7 * few_rejections, "one more ten minutes' worth than the six that it took"


def test_a_person_waits_in_every_team(phase: Phase, team: Team, few_rejections: int) -> None:
    person = leader_of(team)
    elsewhere = TeamFactory.create(leader=person) if "leader" in TeamFactory._meta.declarations else None
    for _file in range(few_rejections):
        reject(phase, team)
    Rejection.objects.update(team=elsewhere or TeamFactory.create(competition=phase.track.competition))
    with pytest.raises(TooManyRejections):
        send(phase, team)


def test_an_address_is_counted_over_all_teams(phase: Phase, settings: Any) -> None:
    cache.clear()
    settings.REJECTIONS_PER_ADDRESS = 2
    teams = [TeamFactory.create(competition=phase.track.competition) for _ in range(3)]
    now = BEGUN
    for team in teams[:2]:
        refuse(team=team, user=leader_of(team), address=ADDRESS, now=now)
    who: dict[str, Any] = {"team": teams[2], "user": leader_of(teams[2])}
    for second, waits in ((1, 299), (300, take), (301, refuse), (302, 298), (599, 1)):
        moment = now + timedelta(seconds=second)
        if callable(waits):  # a sound file leaves the turn to the next
            waits(**who, address=ADDRESS, now=moment)
            continue
        with pytest.raises(TooManyRejections) as refused:
            take(**who, address=ADDRESS, now=moment)
        assert refused.value.retry_after == waits
    assert send(phase, teams[2], address="192.0.2.8").pk


def test_the_wait_of_an_address_ends_with_its_ten_minutes(phase: Phase, team: Team, settings: Any) -> None:
    cache.clear()
    settings.REJECTIONS_PER_ADDRESS = 1
    begun = BEGUN
    who: dict[str, Any] = {"team": team, "user": leader_of(team)}
    refuse(**who, address=ADDRESS, now=begun)
    with pytest.raises(TooManyRejections) as refused:
        take(**who, address=ADDRESS, now=begun + timedelta(seconds=599))
    waits = {"pace": WINDOW, "wait": timedelta(seconds=1)}
    assert refused.value.params == {"count": 1, "window": WINDOW, **waits}
    for address, now in ((ADDRESS, begun + WINDOW), ("", begun), ("192.0.2.8", begun)):
        take(**who, address=address, now=now)


def test_a_limit_of_none_is_no_limit(phase: Phase, team: Team, settings: Any) -> None:
    settings.REJECTIONS_PER_TEAM = settings.REJECTIONS_PER_ADDRESS = 0
    for _file in range(2):
        reject(phase, team, address=ADDRESS)
    assert send(phase, team, address=ADDRESS).pk


def test_without_the_cache_files_are_taken(
    phase: Phase, team: Team, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    settings.REJECTIONS_PER_ADDRESS = 1

    def away(*_args: Any, **_options: Any) -> None:
        raise RedisAway

    for name in ("get", "add", "incr", "decr", "set", "delete_many"):
        monkeypatch.setattr(type(cache._connections[cache._alias]), name, away)
    reject(phase, team, address=ADDRESS)
    assert send(phase, team, address=ADDRESS).pk


def test_a_stranger_learns_nothing_of_limits(phase: Phase, team: Team, few_rejections: int) -> None:
    for _file in range(few_rejections):
        reject(phase, team)
    with pytest.raises(Exception, match="not_team_member"):
        send(phase, team, user=UserFactory.create())


def test_who_is_refused_and_who_was_sound_is_not_counted_for_an_address(
    phase: Phase, team: Team, settings: Any
) -> None:
    cache.clear()
    settings.REJECTIONS_PER_TEAM, settings.REJECTIONS_PER_ADDRESS = 0, 2
    who: dict[str, Any] = {"team": team, "user": leader_of(team), "address": ADDRESS, "now": BEGUN}
    with patience(**who), patience(**who):
        for _time in range(3):
            with pytest.raises(TooManyRejections) as refused:
                take(**who)
            assert refused.value.params["pace"] == WINDOW / 2
    refuse(**who)
    take(**who)
    refuse(**who)
    with pytest.raises(TooManyRejections):
        take(**who)


# --- at once ----------------------------------------------------------------------------------------------------------
def rejected_at_once(calls: list[Callable[[], Any]]) -> int:
    """How many of the calls were answered by a rejected file; the others were told to wait."""
    outcomes = at_once(calls)
    found = [outcome for outcome in outcomes if isinstance(outcome, FileRejected)]
    others = [outcome for outcome in outcomes if not isinstance(outcome, FileRejected)]
    assert all(isinstance(outcome, TeamCheckRunning | TooManyRejections) for outcome in others), others
    return len(found)


def slow_rejection(**who: Any) -> Callable[[], None]:
    def call() -> None:
        with patience(**who):
            time.sleep(0.05)
            raise FileRejected(errors=[], total=1)

    return call


@pytest.mark.django_db(transaction=True)
def test_of_small_files_at_once_a_team_has_no_more_checked_than_its_limit(
    phase: Phase, team: Team, few_rejections: int
) -> None:
    assert rejected_at_once([lambda: send(phase, team, BAD) for _file in range(12)]) == few_rejections
    assert Rejection.objects.count() == few_rejections
    with pytest.raises(TooManyRejections):
        send(phase, team)


@pytest.mark.django_db(transaction=True)
def test_a_person_in_two_teams_has_no_more_checked_at_once(phase: Phase, team: Team, few_rejections: int) -> None:
    person = leader_of(team)
    elsewhere = PhaseFactory.create()
    publish(elsewhere)
    other = TeamFactory.create(competition=elsewhere.track.competition, leader=person)
    calls = [lambda: send(phase, team, BAD), lambda: send(elsewhere, other, BAD)] * 5
    assert rejected_at_once(calls) == few_rejections


@pytest.mark.django_db(transaction=True)
def test_an_address_has_no_more_checked_at_once(phase: Phase, counted_addresses: int) -> None:
    teams = TeamFactory.create_batch(10, competition=phase.track.competition)
    calls = [slow_rejection(team=team, user=leader_of(team), address=ADDRESS, now=BEGUN) for team in teams]
    assert rejected_at_once(calls) == counted_addresses


@pytest.mark.django_db(transaction=True)
def test_sound_files_at_once_give_back_what_they_held(phase: Phase, team: Team, settings: Any) -> None:
    cache.clear()
    settings.REJECTIONS_PER_TEAM = settings.REJECTIONS_PER_ADDRESS = 4
    who: dict[str, Any] = {"team": team, "user": leader_of(team), "address": ADDRESS, "now": BEGUN}
    for _time in range(3):
        assert at_once([lambda: take(**who) for _file in range(4)]) == [None] * 4
    refuse(**who)
    assert send(phase, team, address=ADDRESS).pk


@pytest.mark.django_db(transaction=True)
def test_while_the_last_file_that_may_be_rejected_is_checked_the_next_one_waits_for_it(
    phase: Phase, team: Team, few_rejections: int
) -> None:
    """And a member who is not the cause is told what there is to wait for."""
    for _file in range(few_rejections - 1):
        reject(phase, team)
    begun, over = threading.Event(), threading.Event()

    def check() -> None:
        with patience(team=team, user=leader_of(team), address="", now=timezone.now()):
            begun.set()
            assert over.wait(30)

    def send_beside() -> None:
        assert begun.wait(30)
        try:
            send(phase, team)
        finally:
            over.set()

    checked, refused = at_once([check, send_beside])
    assert checked is None
    assert isinstance(refused, TeamCheckRunning)
    assert send(phase, team).pk


def test_a_file_counts_for_its_own_team_alone(phase: Phase, few_rejections: int) -> None:
    """And that of a team which is not there yet for none."""
    competition = phase.track.competition
    team, other = TeamFactory.create(pk=1, competition=competition), TeamFactory.create(competition=competition)
    for _file in range(few_rejections - 1):
        record(phase, team, UserFactory.create(), BEGUN)
    for beside in (other, Team(competition=competition, name="새 기준", is_baseline=True)):
        with patience(team=beside, user=UserFactory.create(), address="", now=BEGUN):
            take(team=team, user=leader_of(team), address="", now=BEGUN)


def test_files_of_two_members_count_together_for_their_team(phase: Phase, team: Team, few_rejections: int) -> None:
    UserFactory.create_batch(3)  # else a team and a person have one number
    for _file in range(few_rejections - 1):
        record(phase, team, UserFactory.create(), BEGUN)
    first, second = UserFactory.create_batch(2)
    assert team.pk not in {first.pk, second.pk}
    with patience(team=team, user=first, address="", now=BEGUN), pytest.raises(TeamCheckRunning):
        take(team=team, user=second, address="", now=BEGUN)


def test_rejections_of_ten_minutes_ago_leave_room_for_files_at_once(
    phase: Phase, team: Team, few_rejections: int
) -> None:
    for _file in range(few_rejections):
        record(phase, team, leader_of(team), BEGUN - WINDOW)
    with patience(team=team, user=leader_of(team), address="", now=BEGUN):
        take(team=team, user=UserFactory.create(), address="", now=BEGUN)


def test_a_fault_of_ours_counts_for_nobody(phase: Phase, team: Team, settings: Any) -> None:
    cache.clear()
    settings.REJECTIONS_PER_TEAM = settings.REJECTIONS_PER_ADDRESS = 1
    who: dict[str, Any] = {"team": team, "user": leader_of(team), "address": ADDRESS, "now": BEGUN}
    for error in (CheckCrashed, ZeroDivisionError):
        with pytest.raises(error), patience(**who):
            raise error
    take(**who)


def test_a_dry_run_counts_for_the_address(phase: Phase, team: Team, settings: Any) -> None:
    cache.clear()
    settings.REJECTIONS_PER_ADDRESS = 1
    who: dict[str, Any] = {"team": team, "user": leader_of(team), "address": ADDRESS, "now": BEGUN}
    take(**who, counts_sound=True)
    with pytest.raises(TooManyRejections):
        take(**who)


def test_nothing_is_held_afterwards(phase: Phase, team: Team, few_rejections: int) -> None:
    send(phase, team)
    reject(phase, team)
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 2 AND pid = pg_backend_pid()"
        )
        assert cursor.fetchone() == (0,)
