"""What the clock does for many rows, with one that it fails with: the others are done all the same, and it is done when
it can be.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.contrib.sessions.models import Session
from django.core.management import CommandError, call_command
from django.db import DataError
from django.utils import timezone

from malpan.competitions.models import Phase
from malpan.core.temporary import remove_left
from malpan.leaderboard import day_boards, days, standings
from malpan.leaderboard.models import BoardSnapshot, BoardSureness, DayRanks, Standing, StandingMark
from malpan.leaderboard.sureness import queueing
from malpan.leaderboard.tasks import compute_standings
from malpan.notifications.models import Letter
from malpan.operation import incidents
from malpan.operation.models import Incident
from malpan.privacy import redoing, retention
from malpan.teams import telling
from tests.factories import PhaseFactory, TeamFactory, UserFactory, finished_submission, leader_of
from tests.leaderboard.test_days import MIDNIGHT, NIGHT

pytestmark = pytest.mark.django_db

Breaks = Callable[[Any, str, Callable[..., bool]], None]


@pytest.fixture
def breaks(monkeypatch: pytest.MonkeyPatch) -> Breaks:
    """Has a function fail where ``is_bad`` of its first argument."""

    def breaks(module: Any, name: str, is_bad: Callable[..., bool]) -> None:
        sound = getattr(module, name)

        def broken(first: Any, *others: Any, **named: Any) -> Any:
            if is_bad(first):
                raise DataError("bad")
            return sound(first, *others, **named)

        monkeypatch.setattr(module, name, broken)

    return breaks


@pytest.fixture
def phases() -> list[Phase]:
    """Two, of two competitions; the first is the bad one."""
    found = []
    for _ in range(2):
        phase = PhaseFactory.create(
            starts_at=MIDNIGHT - timedelta(days=3),
            ends_at=MIDNIGHT + timedelta(days=3, hours=1),
            track__competition__is_published=True,
        )
        finished_submission(
            phase,
            TeamFactory.create(competition=phase.track.competition),
            0.5,
            created_at=MIDNIGHT - timedelta(hours=9),
        )
        found.append(phase)
    return found


def test_standings(phases: list[Phase], breaks: Breaks, monkeypatch: pytest.MonkeyPatch) -> None:
    bad, good = phases
    breaks(standings, "recompute", lambda phase: phase == bad)
    compute_standings()
    assert [row.phase for row in Standing.objects.all()] == [good]
    assert {mark.phase for mark in StandingMark.objects.all()} == {bad}, "for the next time"
    assert BoardSureness.objects.filter(phase=good).exists(), "what follows in the task is done"
    monkeypatch.undo()
    compute_standings()
    assert not StandingMark.objects.exists()


def test_steps_of_the_boards(phases: list[Phase], monkeypatch: pytest.MonkeyPatch) -> None:
    def fails() -> None:
        raise DataError("bad")

    monkeypatch.setattr(days, "keep_ranks", fails)
    compute_standings()
    assert BoardSureness.objects.count() == 2


def test_ranks_and_boards_of_a_day(phases: list[Phase], breaks: Breaks) -> None:
    bad, good = phases
    standings.refresh_all()
    breaks(days, "_note", lambda phase: phase == bad)
    days.keep_ranks(NIGHT)
    assert [row.phase for row in DayRanks.objects.all()] == [good]
    breaks(day_boards, "recipe_of", lambda track: track == bad.track)
    assert day_boards.keep_day_boards(NIGHT) == 1
    assert BoardSnapshot.objects.get().phase == good


def test_sureness(phases: list[Phase], breaks: Breaks) -> None:
    bad, good = phases
    standings.refresh_all()
    breaks(queueing, "_queue", lambda phase: phase == bad)
    assert queueing.queue_due() == 1
    assert BoardSureness.objects.get().phase == good


def test_word_of_phases_and_notices(phases: list[Phase], breaks: Breaks) -> None:
    now = timezone.now()
    bad, good = phases
    for phase in phases:
        Phase.objects.filter(pk=phase.pk).update(starts_at=now - timedelta(minutes=1), ends_at=now + timedelta(days=9))
    breaks(telling.letters, "people_of", lambda competition: competition == bad.track.competition_id)
    assert telling.tell_due() == 1
    assert {letter.person for letter in Letter.objects.all()} == {leader_of(good.track.competition.teams.get())}
    breaks(telling, "_tell_notices", lambda _past: True)
    assert telling.tell_due() == 0  # and nothing is raised


def test_alarms(monkeypatch: pytest.MonkeyPatch, breaks: Breaks) -> None:
    now = timezone.now()
    for subject in ("bad", "good"):
        Incident.objects.create(event="disk_low", subject=subject, text_ko="", text_en="", began_at=now, seen_at=now)
    seen = {("disk_low", each): Incident(text_ko="새것", is_urgent=False, seen_at=now) for each in ("bad", "good")}
    monkeypatch.setattr(incidents, "_seen", lambda _now: seen)
    monkeypatch.setattr(Incident.objects, "bulk_create", lambda *_all, **_named: None)
    breaks(incidents, "_go_on", lambda incident: incident.subject == "bad")
    incidents.follow(now)
    assert Incident.objects.get(subject="good").text_ko == "새것"


def test_personal_data(monkeypatch: pytest.MonkeyPatch) -> None:
    """A kind that cannot be removed is not counted, the others are, and who runs the command is told of it."""
    session = Session.objects.create(session_key="x", session_data="", expire_date=timezone.now() - timedelta(days=1))
    monkeypatch.setitem(retention._KINDS, "unconfirmed_accounts", lambda _now: 1 / 0)
    out = StringIO()
    with pytest.raises(CommandError, match=r"unconfirmed_accounts\. Run it again"):
        call_command("retention", "--yes", stdout=out)
    assert not Session.objects.filter(pk=session.pk).exists()
    assert "expired_sessions: 1" in out.getvalue()


def test_people_to_erase_again(monkeypatch: pytest.MonkeyPatch) -> None:
    people = [UserFactory.create() for _ in range(2)]
    monkeypatch.setattr(redoing, "records", lambda: [None])
    monkeypatch.setattr(redoing, "_unreadable", lambda _there: [])
    monkeypatch.setattr(redoing, "_people_of", lambda _there: [(each, None) for each in people])
    monkeypatch.setattr(redoing, "_erased_again", lambda person, _record: person == people[1] or 1 / 0)
    assert redoing.redo().people == [people[1].pk]


def test_files_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that may not be removed keeps no other."""
    bad, good = tmp_path / "bad", tmp_path / "good"
    for each in (bad, good):
        (each / "inner").mkdir(parents=True)

    def removed(path: Path) -> None:
        if path == bad:
            raise PermissionError(path)
        path.rename(path.with_suffix(".gone"))

    monkeypatch.setattr(shutil, "rmtree", removed)
    assert remove_left([bad, good], older_than=timedelta(seconds=-1)) == 1
    assert bad.exists()
    assert not good.exists()
