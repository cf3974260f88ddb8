"""The benchmark of the queue shows what it is there to show: who waits less in the fair order, and that it is real."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from malpan.submissions.models import ScoringRun, Submission
from tests.benchmarks.bench_queue import RATE, simulated
from tests.benchmarks.queue_loads import (
    CONTEST_TOKENS,
    HUGE_TOKENS,
    Load,
    Row,
    Upload,
    Wait,
    flood,
    row_of,
    rush,
    table,
)
from tests.benchmarks.queue_orders import FAIR, ORDERS
from tests.paths import ROOT
from tests.system.new_site import new_site


def by_order(rows: Sequence[Row]) -> dict[str, Row]:
    return {row.order: row for row in rows}


@pytest.mark.django_db
def test_the_fair_order_brings_teams_their_first_score_sooner_and_keeps_nobody_behind_a_huge_file() -> None:
    rows = by_order(simulated([rush(8, 3, 6)], workers=(1,)))

    assert list(rows) == list(ORDERS)
    fair, listed, one_line = rows[FAIR], rows["first come, batch behind"], rows["first come, one line"]
    assert fair.first[0] < listed.first[0] / 2
    assert fair.small[1] < listed.small[1] / 2
    assert listed.team[0] < one_line.team[0], "rescoring before everybody"
    assert not ScoringRun.objects.exists(), "a simulation leaves nothing behind"
    assert not Submission.objects.exists()


@pytest.mark.django_db
def test_a_flood_of_one_team_costs_the_others_little_in_the_fair_order() -> None:
    rows = by_order(simulated([flood(5, 20, 0)], workers=(1,)))

    assert rows[FAIR].worst < rows["first come, batch behind"].worst / 2
    assert rows[FAIR].worst <= 6 * (CONTEST_TOKENS / RATE) * 1.3, "the run at work, one of the flood, and the others"


@pytest.mark.django_db
def test_two_workers_share_the_queue() -> None:
    one, two = simulated([flood(5, 20, 0)], workers=(1, 2))[1::3]

    assert (one.order, one.workers, two.workers) == ("first come, batch behind", 1, 2)
    assert one.worst * 0.4 < two.worst < one.worst * 0.6


@pytest.mark.services
def test_real_workers_are_measured_in_a_table(short_path: Path) -> None:
    """Who waits less there is for the benchmark to say: beside other tests a second of real workers says little."""
    options = ["--quick", "--speed-up", "120", "--site", new_site(short_path)]
    done = subprocess.run(
        [sys.executable, "-m", "tests.benchmarks", "queue", *options],
        cwd=ROOT, capture_output=True, text=True, timeout=240, check=False,
    )  # fmt: skip

    assert done.returncode == 0, done.stderr
    measured = [
        [float(cell) for cell in line.split("|")[4:-1]]
        for line in done.stdout.partition("measured")[2].splitlines()
        if re.search(r"\| (first come, batch behind|fair) \|", line)
    ]
    assert len(measured) == 2, done.stdout
    assert all(0 < cell < 240 * 120 for row in measured for cell in row), done.stdout


def test_figures_are_of_the_waits() -> None:
    uploads = [Upload(0, 0, CONTEST_TOKENS), Upload(5, 1, 10), Upload(6, 0, CONTEST_TOKENS), Upload(7, 2, 10)]
    load = Load("three", uploads, 0, odd=2)
    waits = [Wait(upload, seconds) for upload, seconds in zip(uploads, (10, 2, 30, 99), strict=True)]

    row = row_of(load, 1, FAIR, waits)

    assert (row.first, row.team, row.small, row.worst, row.odd) == ((6, 10), (11, 20), (2, 2), 30, (99, 99))
    assert table([row]).splitlines()[-1] == (
        "| three | 1 | fair | 6.0 | 10.0 | 11.0 | 20.0 | 2.0 | 2.0 | 30.0 | 99.0 | 99.0 |"
    )


def test_the_load_is_what_it_says() -> None:
    load = rush(40, 5, 400)

    assert len(load.uploads) == 200
    assert {sum(upload.team == team for upload in load.uploads) for team in range(40)} == {5}
    assert [upload.at for upload in load.uploads] == sorted(upload.at for upload in load.uploads)
    assert load.uploads[-1].at <= 60
    assert sum(upload.cost == HUGE_TOKENS for upload in load.uploads) == 1
    assert 20 < sum(upload.cost < CONTEST_TOKENS / 2 for upload in load.uploads) < 60
