"""A large composite board: right to the last rank by scipy. Prints what it takes; nothing is asserted of times:

MEASURED_TEAMS=500 python -m pytest -s -n 0 tests/leaderboard/test_composite_size.py
"""

from __future__ import annotations

import os
import random
import time
from datetime import timedelta

import pytest
from django.utils import timezone
from scipy.stats import rankdata

from malpan.competitions.models import Phase
from malpan.leaderboard import standings
from malpan.leaderboard.models import Standing
from malpan.leaderboard.selectors import board
from malpan.submissions.models import ScoringRun, Submission
from malpan.teams.models import Team
from tests import database
from tests.composite_boards import WEIGHTS, install, values
from tests.factories import PhaseFactory, UserFactory, current_version, finished_submission

pytestmark = pytest.mark.django_db

TEAMS, EACH = int(os.environ.get("MEASURED_TEAMS", "120")), 4


@pytest.fixture
def phase(monkeypatch: pytest.MonkeyPatch) -> Phase:
    """Teams with four submissions each, of which the latest counts."""
    phase = PhaseFactory.create(track__recipe=install(monkeypatch), counting=Phase.Counting.LATEST)
    chance, user, version = random.Random(500), UserFactory.create(), current_version(phase)
    numbered = [Team(competition=phase.track.competition, number=n, name=f"팀 {n}") for n in range(TEAMS)]
    rows = [
        Submission(
            phase=phase, team=team, submitted_by=user, file_name="a.json", file_sha256="0" * 64, file_size=1,
            item_count=1, created_at=timezone.now() - timedelta(seconds=chance.randrange(90_000)),
        )
        for team in Team.objects.bulk_create(numbered)
        for _again in range(EACH)
    ]  # fmt: skip
    runs = [
        ScoringRun(
            submission=row, reference_version=version, recipe=phase.track.recipe, profile="demo", state="finished",
            queued_at=row.created_at, finished_at=timezone.now(), final_score=0.5, signature_hash="s",
            scores=values(round(chance.random(), 2), round(chance.random(), 2), chance.random()),
        )
        for row in Submission.objects.bulk_create(rows)
    ]  # fmt: skip
    for run in ScoringRun.objects.bulk_create(runs):
        run.submission.live_run = run
    Submission.objects.bulk_update([run.submission for run in runs], ["live_run"])
    database.count_rows()
    return phase


def by_scipy(phase: Phase) -> dict[int, float]:
    latest: dict[int, Submission] = {}
    for row in Submission.objects.filter(phase=phase).select_related("live_run").order_by("created_at", "pk"):
        latest[row.team_id] = row
    total = dict.fromkeys(latest, 0.0)
    for name, (weight, is_up) in WEIGHTS.items():
        signed = [(-1 if is_up else 1) * row.live_run.scores[name] for row in latest.values() if row.live_run]
        for team, rank in zip(latest, rankdata(signed), strict=True):
            total[team] += weight / 100 * (len(latest) - rank) / (len(latest) - 1)
    return total


def test_many_teams_are_ranked_as_scipy_says(phase: Phase) -> None:
    began = time.perf_counter()
    standings.refresh(phase)
    whole = time.perf_counter() - began
    one_more = []
    for number in range(3):
        team = Team.objects.filter(competition=phase.track.competition)[number]
        leader = Submission.objects.filter(team=team).earliest("pk").submitted_by
        finished_submission(phase, team, 0.5, scores=values(0.0, 1.0, 1.0), submitted_by=leader)
        began = time.perf_counter()
        standings.refresh(phase)
        one_more.append(time.perf_counter() - began)
    rows = board(phase).rows
    assert [row.rank for row in rows] == list(range(1, TEAMS + 1))
    assert {row.team_id: row.composite and row.composite.value for row in rows} == pytest.approx(
        by_scipy(phase), abs=1e-12
    )
    assert Standing.objects.filter(phase=phase).count() == TEAMS
    print(f"{TEAMS} teams: {whole:.2f} s in all, {min(one_more):.2f} to {max(one_more):.2f} s with one submission more")
