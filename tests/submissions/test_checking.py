"""Checking uploads so that nobody keeps the others waiting: apart, a few at a time, and not without end."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import connection

from malpan.competitions.models import Phase
from malpan.core.uploads import FORM_BYTES
from malpan.submissions import checking
from malpan.submissions.errors import (
    CheckCrashed,
    ChecksBusy,
    FileRejected,
    TeamCheckRunning,
)
from malpan.submissions.models import Rejection, Submission
from malpan.teams.models import Team
from scoring.checking import CheckFailed, check_apart
from scoring.errors import InvalidFile
from tests.database import server
from tests.factories import TeamFactory, file_bytes, prediction_bytes, reference_bytes, rows
from tests.submissions.conftest import send
from tests.threads import at_once

pytestmark = pytest.mark.django_db
BAD = file_bytes([*rows(2), {"id": "q3", "output": {"answer": 7}}])


@pytest.fixture
def all_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checking, "INLINE_BYTES", 0)


@contextmanager
def another_check_of(team: Team) -> Iterator[None]:
    """Another process checks a large file of the team."""
    with server(connection.settings_dict["NAME"]) as other:
        other.execute("SELECT pg_advisory_lock(%s, %s)", [checking._LOCKS, team.pk])
        yield
        other.execute("SELECT pg_advisory_unlock(%s, %s)", [checking._LOCKS, team.pk])  # its end would take a moment


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


def test_a_check_that_crashes_blames_nobody_who_sends_a_file(
    phase: Phase, team: Team, all_large: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checking, "read_private", lambda _sha256: b"no references")
    with pytest.raises(CheckCrashed):
        send(phase, team)
    assert not Rejection.objects.exists()


def empty_objects(count: int) -> bytes:
    """The most work for a byte that is known: each lacks everything."""
    return b"[" + b",".join([b"{}"] * count) + b"]"


@pytest.mark.parametrize(
    "data",
    [empty_objects(87_000), b"{}\n" * 87_000, b"[" + b"1," * 100_000 + b"1]", b"{}" * 100_000],
    ids=["objects", "lines", "numbers", "objects in a row"],
)
def test_few_bytes_of_many_items_are_checked_apart(
    phase: Phase, team: Team, data: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert len(data) <= checking.INLINE_BYTES
    monkeypatch.setattr("scoring.checking.check_apart", lambda *_arguments, **_options: "apart")
    options: dict[str, Any] = {"reference": phase.reference_versions.get(), "recipe_id": phase.track.recipe}
    assert checking.checked(data, team=team, **options) == "apart"


def test_a_file_for_very_many_references_is_checked_apart(
    phase: Phase, team: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("scoring.checking.check_apart", lambda *_arguments, **_options: "apart")
    reference = phase.reference_versions.get()
    options: dict[str, Any] = {"reference": reference, "recipe_id": phase.track.recipe}
    reference.item_count = checking.INLINE_PARTS
    assert checking.checked(prediction_bytes(), team=team, **options) != "apart"
    reference.item_count += 1
    assert checking.checked(prediction_bytes(), team=team, **options) == "apart"


@pytest.mark.parametrize(
    "data",
    [empty_objects(checking.INLINE_PARTS), b"{}\n" * checking.INLINE_PARTS],
    ids=["objects", "lines"],
)
def test_the_worst_file_that_is_checked_at_once_takes_little(phase: Phase, team: Team, data: bytes) -> None:
    """A quarter of a second on a machine that does nothing else: here other tests run beside."""
    began = time.process_time()
    with pytest.raises(InvalidFile):
        checking.checked(data, team=team, reference=phase.reference_versions.get(), recipe_id=phase.track.recipe)
    assert time.process_time() - began < 1
