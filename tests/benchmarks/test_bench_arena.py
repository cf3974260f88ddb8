"""The benchmark of people's votes in its short form: its tables, and the figures of a few panels."""

from __future__ import annotations

import numpy as np

from tests.benchmarks import bench_arena

PANELS = ["--panels", "3", "--resamples", "50", "--votes", "800", "--rounds", "1", "--processes", "1"]


def test_all_tables_are_printed_and_strengths_are_those_of_choix(capsys):
    bench_arena.show(PANELS)
    printed = capsys.readouterr().out
    for word in ("strengths", "told apart", "5 judges", "random", "ranking", "rubric", "whole result"):
        assert word in printed
    assert float(printed.split("from choix: ")[1].split(";")[0]) < 1e-6
    apart = [
        line.split("|")[3]
        for line in printed.split("beside the package")[1].splitlines()
        if "|" in line and "e-" in line
    ]
    assert len(apart) == 3
    assert max(map(float, apart)) < 1e-9


def test_intervals_cover_the_truth_and_the_order_effect_is_recovered():
    """The long form, 500 panels, is in RESULTS.md; 30 panels have a standard error of about 1.5 points a kind."""
    found = [bench_arena.covered(bench_arena.replace(bench_arena.GOOD, resamples=100), seed) for seed in range(30)]
    assert 0.90 <= np.mean([hit for each in found for hit in each["strengths"]]) <= 0.99
    assert 0.91 <= np.mean([hit for each in found for hit in each["pairs"]]) <= 0.99
    assert abs(np.mean([each["order"] for each in found]) - bench_arena.ORDER) < 0.05
    assert sum(each["ranks held"] for each in found) >= 28
