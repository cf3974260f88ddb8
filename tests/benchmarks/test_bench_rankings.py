"""The benchmark of rankings in its short form, and its arithmetic."""

from __future__ import annotations

import numpy as np

from tests.benchmarks import bench_rankings
from tests.benchmarks.bench_rankings import PANELS, row_of


def test_a_line_for_each_number_of_judges(capsys, monkeypatch):
    small = {name: bench_rankings.replace(panel, votes_per_judge=10) for name, panel in PANELS.items()}
    monkeypatch.setattr(bench_rankings, "PANELS", small)
    bench_rankings.show(["--panels", "2", "--resamples", "20", "--processes", "1"])
    lines = [line for line in capsys.readouterr().out.splitlines() if " judges, " in line]
    assert [line.split()[1] for line in lines] == ["5", "8", "20"]


def test_what_holds_the_mean_is_counted_of_scores_and_of_differences_apart():
    """Of two panels the mean is 0: every second score misses it, and no difference does."""
    figures = np.tile([-1.0, -2.0, 2.0], (55, 1))
    figures[:10:2] = [-1.0, -2.0, -0.5]
    assert row_of([figures, -figures[:, [0, 2, 1]]]) == ["50.0 %", "100.0 %", "2.75"]
