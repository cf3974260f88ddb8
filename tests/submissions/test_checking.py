"""Checking uploads so that nobody keeps the others waiting: apart, a few at a time, and not without end."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.core.cache import cache
from django.db import connection
from django.utils import timezone
from redis.exceptions import ConnectionError as RedisAway

from malpan.competitions.models import Phase
from malpan.core.messages import text_of
from malpan.core.uploads import FORM_BYTES
from malpan.submissions import checking
from malpan.submissions.errors import (
    CheckCrashed,
    ChecksBusy,
    FileRejected,
    TeamCheckRunning,
    TooManyRejections,
)
from malpan.submissions.models import Rejection, Submission
from malpan.teams.models import Team
from scoring.checking import CheckFailed, check_apart
from tests.database import server
from tests.factories import TeamFactory, UserFactory, file_bytes, leader_of, prediction_bytes, reference_bytes, rows
from tests.submissions.conftest import send
from tests.threads import at_once

pytestmark = pytest.mark.django_db
BAD = file_bytes([*rows(2), {"id": "q3", "output": {"answer": 7}}])
ADDRESS = "192.0.2.7"


@pytest.fixture
def all_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checking, "INLINE_BYTES", 0)


@pytest.fixture
def few_rejections(settings: Any) -> int:
    settings.REJECTIONS_PER_TEAM = 3
    return 3


@contextmanager
def another_check_of(team: Team) -> Iterator[None]:
    """Another process checks a large file of the team."""
    with server(connection.settings_dict["NAME"]) as other:
        other.execute("SELECT pg_advisory_lock(%s, %s)", [checking._LOCKS, team.pk])
        yield


def reject(phase: Phase, team: Team, **options: Any) -> None:
    with pytest.raises(FileRejected):
        send(phase, team, BAD, **options)


def test_a_large_file_is_known_apart_as_it_is_here(phase: Phase, team: Team, monkeypatch: pytest.MonkeyPatch) -> None:
    data = prediction_bytes()
    here = checking.checked(data, team=team, reference=phase.reference_versions.get(), recipe_id=phase.track.recipe)
    monkeypatch.setattr(checking, "INLINE_BYTES", 0)
    apart = checking.checked(data, team=team, reference=phase.reference_versions.get(), recipe_id=phase.track.recipe)
    assert apart == here
    assert (here.item_count, here.format) == (3, "json-array")
    assert here.cost > 1


def test_the_errors_of_a_large_file_are_those_found_here(
    phase: Phase, team: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    reject(phase, team)
    monkeypatch.setattr(checking, "INLINE_BYTES", 0)
    reject(phase, team)
    first, second = Rejection.objects.order_by("pk")
    assert (first.errors, first.error_count) == (second.errors, second.error_count)


def test_a_check_that_takes_too_long_is_stopped_and_says_so(
    phase: Phase, team: Team, all_large: None, settings: Any
) -> None:
    settings.CHECK_SECONDS = 0.001
    with pytest.raises(FileRejected) as refused:
        send(phase, team)
    assert [error.code for error in refused.value.errors] == ["check_too_long"]
    assert not Submission.objects.exists()
    assert Rejection.objects.get().error_count == 1, "it counts among the rejected files: it took the most time"
    settings.CHECK_SECONDS = 60
    assert send(phase, team).item_count == 3, "and its place is free again"


def test_a_check_that_takes_too_much_memory_is_stopped_and_says_so(
    phase: Phase, team: Team, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    huge = b"[" + b'{"id": "q1", "output": {"answer": ""}},' * 480_000 + b"{}]"
    room = 16 * 1024 * 1024  # less than the file
    assert room < len(huge) < settings.UPLOAD_MAX_BYTES
    monkeypatch.setattr("scoring.checking.MEMORY_BYTES", _memory_of_a_check() + room)
    with pytest.raises(FileRejected) as refused:
        send(phase, team, huge)
    assert [error.code for error in refused.value.errors] == ["check_too_much_memory"]
    assert "메모리가 너무 많이 들어" in refused.value.errors[0].message("ko")
    assert not Submission.objects.exists()
    assert Rejection.objects.get().error_count == 1
    assert send(phase, team, prediction_bytes() + b" " * checking.INLINE_BYTES).item_count == 3, "checked apart too"


def _memory_of_a_check() -> int:
    """The address space of a process that has imported what a check needs and read nothing."""
    program = "import psutil, scoring.checking; print(psutil.Process().memory_info().vms)"
    return int(subprocess.run([sys.executable, "-c", program], capture_output=True, check=True).stdout)


def test_a_process_that_ends_without_an_answer_is_our_fault() -> None:
    with pytest.raises(CheckFailed):
        check_apart(prediction_bytes(), "rag-qa@1", b"no references", seconds=60)
    assert check_apart(prediction_bytes(), "rag-qa@1", reference_bytes(3), seconds=60).item_count == 3


def test_one_large_file_of_a_team_is_checked_at_a_time(phase: Phase, team: Team, all_large: None) -> None:
    other = TeamFactory.create(competition=phase.track.competition)
    with another_check_of(team):
        with pytest.raises(TeamCheckRunning) as refused:
            send(phase, team)
        assert send(phase, other).item_count == 3
    assert refused.value.retry_after is not None
    assert send(phase, team).item_count == 3


def test_small_files_need_no_place(phase: Phase, team: Team) -> None:
    with another_check_of(team):
        assert send(phase, team).item_count == 3


def test_no_more_large_files_are_in_hand_than_there_are_places(
    phase: Phase, team: Team, all_large: None, settings: Any
) -> None:
    for _place in range(settings.LARGE_CHECKS):
        assert checking._places.acquire(blocking=False)
    try:
        with pytest.raises(ChecksBusy):
            send(phase, team)
    finally:
        for _place in range(settings.LARGE_CHECKS):
            checking._places.release()
    assert send(phase, team).item_count == 3


def test_places_and_teams_are_free_again_after_each_check(
    phase: Phase, team: Team, all_large: None, settings: Any
) -> None:
    for number in range(settings.LARGE_CHECKS + 1):
        assert send(phase, team, prediction_bytes(mark=number)).item_count == 3
    with server(connection.settings_dict["NAME"]) as other:
        place = [checking._LOCKS, team.pk]
        assert other.execute("SELECT pg_try_advisory_lock(%s, %s)", place).fetchone() == (True,)


def test_a_large_request_is_refused_before_it_is_read_where_no_place_is_free(settings: Any) -> None:
    small = checking.INLINE_BYTES + FORM_BYTES
    checking.refuse_if_busy(small + 1)
    for _place in range(settings.LARGE_CHECKS):
        assert checking._places.acquire(blocking=False)
    try:
        checking.refuse_if_busy(small)
        with pytest.raises(ChecksBusy):
            checking.refuse_if_busy(small + 1)
    finally:
        for _place in range(settings.LARGE_CHECKS):
            checking._places.release()


@pytest.mark.django_db(transaction=True)
def test_large_files_are_checked_one_at_a_time(phase: Phase, all_large: None, monkeypatch: pytest.MonkeyPatch) -> None:
    teams = TeamFactory.create_batch(2, competition=phase.track.competition)
    reference, at_work, seen = phase.reference_versions.get(), [], []

    def check(*_arguments: Any, **_options: Any) -> None:
        at_work.append(1)
        seen.append(len(at_work))
        time.sleep(0.2)
        at_work.pop()

    monkeypatch.setattr("scoring.checking.check_apart", check)
    options = {"reference": reference, "recipe_id": phase.track.recipe}
    outcomes = at_once([lambda team=team: checking.checked(b" ", team=team, **options) for team in teams])

    assert outcomes == [None, None]
    assert seen == [1, 1]


def test_after_too_many_rejected_files_a_team_waits(phase: Phase, team: Team, few_rejections: int) -> None:
    now = timezone.now()
    for number in range(few_rejections):
        reject(phase, team, now=now + timedelta(seconds=number))
    with pytest.raises(TooManyRejections) as refused:
        send(phase, team, now=now + timedelta(seconds=10))
    pace = checking.WINDOW / few_rejections
    waits = pace - timedelta(seconds=10 - 2)  # since the newest
    known = {"count": few_rejections, "window": checking.WINDOW, "pace": pace, "wait": waits}
    assert refused.value.params == known
    said = text_of(refused.value)
    assert said.startswith(f"최근 10분 동안 반려된 파일이 {few_rejections}개여서 지금은 200초에 하나씩만 검사합니다.")
    assert "192초 뒤에 다시 올려" in said
    assert refused.value.retry_after == 192
    assert Rejection.objects.count() == few_rejections
    other = TeamFactory.create(competition=phase.track.competition)
    assert send(phase, other, now=now + timedelta(seconds=10)).pk
    assert send(phase, team, now=now + checking.WINDOW).pk, "the first is ten minutes old"


def wait_of(team: Team, user: Any, now: datetime) -> int:
    """The seconds that ``user`` is told to wait; 0: the file is checked."""
    try:
        checking.require_patience(team=team, user=user, address="", now=now)
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
    now = datetime(2026, 11, 20, 12, 10, tzinfo=UTC)
    for team in teams[:2]:
        checking.require_patience(team=team, user=leader_of(team), address=ADDRESS, now=now)
        checking.note_rejection(ADDRESS, now)
    who: dict[str, Any] = {"team": teams[2], "user": leader_of(teams[2])}
    for second, waits in ((1, 299), (300, None), (301, 299), (599, 1)):
        moment = now + timedelta(seconds=second)
        if waits is None:
            checking.require_patience(**who, address=ADDRESS, now=moment)
            continue
        with pytest.raises(TooManyRejections) as refused:
            checking.require_patience(**who, address=ADDRESS, now=moment)
        assert refused.value.retry_after == waits
    assert send(phase, teams[2], address="192.0.2.8").pk


def test_the_wait_of_an_address_ends_with_its_ten_minutes(phase: Phase, team: Team, settings: Any) -> None:
    cache.clear()
    settings.REJECTIONS_PER_ADDRESS = 1
    begun = datetime(2026, 11, 20, 12, 10, tzinfo=UTC)
    who: dict[str, Any] = {"team": team, "user": leader_of(team)}
    checking.require_patience(**who, address=ADDRESS, now=begun)
    checking.note_rejection(ADDRESS, begun)
    with pytest.raises(TooManyRejections) as refused:
        checking.require_patience(**who, address=ADDRESS, now=begun + timedelta(seconds=599))
    waits = {"pace": checking.WINDOW, "wait": timedelta(seconds=1)}
    assert refused.value.params == {"count": 1, "window": checking.WINDOW, **waits}
    for address, now in ((ADDRESS, begun + checking.WINDOW), ("", begun), ("192.0.2.8", begun)):
        checking.require_patience(**who, address=address, now=now)


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

    for name in ("get", "add", "incr", "set"):
        monkeypatch.setattr(type(cache._connections[cache._alias]), name, away)
    reject(phase, team, address=ADDRESS)
    assert send(phase, team, address=ADDRESS).pk


def test_a_stranger_learns_nothing_of_limits(phase: Phase, team: Team, few_rejections: int) -> None:
    for _file in range(few_rejections):
        reject(phase, team)
    with pytest.raises(Exception, match="not_team_member"):
        send(phase, team, user=UserFactory.create())


def test_a_check_that_crashes_blames_nobody_who_sends_a_file(
    phase: Phase, team: Team, all_large: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checking, "read_private", lambda _sha256: b"no references")
    with pytest.raises(CheckCrashed):
        send(phase, team)
    assert not Rejection.objects.exists()
