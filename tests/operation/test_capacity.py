"""The simulation of a contest's uploads, where its answer is known otherwise."""

from __future__ import annotations

import io
import random
from datetime import timedelta
from itertools import pairwise

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from malpan.operation.capacity import (
    Contest,
    Upload,
    busiest_hour,
    percentile,
    uploads_of,
    waits_of,
    workers_needed,
)
from tests.factories import ScoringRunFactory


def test_the_uploads_are_those_of_the_contest() -> None:
    contest = Contest()
    uploads = uploads_of(contest, [10.0])
    assert uploads == uploads_of(contest, [10.0])
    assert len(uploads) == 3642
    assert {upload.team for upload in uploads} <= set(range(280))
    assert sum(upload.at >= 28 * 86400 for upload in uploads) == 1821
    assert all(before.at <= after.at for before, after in pairwise(uploads))
    by_night = sum(upload.at % 86400 < 9 * 3600 for upload in uploads if upload.at < 28 * 86400) / 1821
    assert by_night == pytest.approx(0.2 * 9 / (0.2 * 9 + 15), abs=0.03)
    last, first = (sum(start <= u.at < start + 3 * 3600 for u in uploads) for start in (29.875 * 86400, 28.5 * 86400))
    assert last > 1.5 * first


def test_one_after_the_other_waits_as_long_as_those_before_it() -> None:
    uploads = [Upload(0.0, team, 10.0) for team in range(4)]
    assert sorted(waits_of(uploads, 1)) == [10, 20, 30, 40]
    assert sorted(waits_of(uploads, 3)) == [10, 10, 10, 20]
    assert waits_of(uploads, 9) == [10] * 4


def test_teams_take_turns_as_in_the_queue_of_the_site() -> None:
    flood = [Upload(0.0, 0, 10.0) for _file in range(100)]
    waits = waits_of([*flood, Upload(1.0, 1, 10.0)], 1)
    assert waits[1] == 19 or waits[2] == 29  # the other team's: behind one or two of the hundred


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_of_equal_files_the_order_changes_whose_wait_is_long_not_the_sum(workers: int) -> None:
    chance = random.Random(7)
    moments = sorted(chance.uniform(0, 1000) for _upload in range(300))
    uploads = [Upload(at, chance.randrange(20), 12.0) for at in moments]
    free, expected = [0.0] * workers, 0.0
    for at in moments:  # first come, first served
        free[0] = max(free[0], at) + 12.0
        expected += free[0] - at
        free.sort()
    assert sum(waits_of(uploads, workers)) == pytest.approx(expected)


def test_random_uploads_wait_as_long_as_queueing_theory_says() -> None:
    """Poisson arrivals, equal files, one process at 70 %: Pollaczek and Khinchine's mean (M/D/1)."""
    chance = random.Random(11)
    moment, uploads = 0.0, []
    for number in range(60_000):
        moment += chance.expovariate(0.07)
        uploads.append(Upload(moment, number, 10.0))
    waits = waits_of(uploads, 1)
    expected = 10 + 0.7 * 10 / (2 * (1 - 0.7))
    assert sum(waits) / len(waits) == pytest.approx(expected, rel=0.05)


@pytest.mark.parametrize("target", [30.0, 300.0])
def test_the_answer_is_enough_and_one_fewer_is_not(target: float) -> None:
    uploads = uploads_of(Contest(teams=50, submissions=2000, days=3, late_days=1), [20.0, 25.0])
    workers = workers_needed(uploads, target)
    assert percentile(waits_of(uploads, workers), 95) <= target
    assert workers == 1 or percentile(waits_of(uploads, workers - 1), 95) > target
    assert workers >= busiest_hour(uploads)[1] * 0.5


def test_a_target_shorter_than_the_scoring_itself_has_no_answer() -> None:
    with pytest.raises(ValueError, match="scoring alone"):
        workers_needed([Upload(0.0, 0, 100.0)], 60)


@pytest.mark.parametrize(("percent", "value"), [(50, 2), (95, 4), (75, 3), (0, 1)])
def test_a_percentile_is_one_of_the_values(percent: float, value: float) -> None:
    assert percentile([4, 1, 3, 2], percent) == value


@pytest.mark.django_db
def test_the_command_takes_what_the_site_measured_itself() -> None:
    with pytest.raises(CommandError, match="--seconds"):
        call_command("capacity")
    end = timezone.now()
    for seconds in (40, 44):
        ScoringRunFactory.create(
            state="finished", final_score=0.5, started_at=end - timedelta(seconds=seconds), finished_at=end
        )
    out = io.StringIO()
    call_command("capacity", times=[1], target=[0.5, 10], stdout=out)
    first, *_, hopeless, sound = out.getvalue().splitlines()
    assert "median 40.0 s, mean 42.0 s, 95 % 44.0 s, longest 44.0 s (2)" in first
    assert hopeless.endswith("| 0.5 min | – | – | – | – |")
    assert sound.startswith("| 3,642 | 280 |")
