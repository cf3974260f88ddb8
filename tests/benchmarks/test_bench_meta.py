"""The benchmark of the meta-evaluation in its short form."""

from __future__ import annotations

from tests.benchmarks import bench_meta


def test_all_tables_are_printed(capsys):
    bench_meta.show(["--panels", "2", "--truth", "60", "--processes", "1"])
    printed = capsys.readouterr().out
    for word in ("over systems", "over votes", "acc_eq", "meta-evaluation"):
        assert word in printed


def test_intervals_over_systems_and_votes_hold_what_they_are_of():
    """The long form is in RESULTS.md; 30 panels have a standard error of about 4 points."""
    found = [each for seed in range(30) if (each := bench_meta.of_systems(10, seed))]
    for name in ("tau", "accuracy"):
        figures = [each[name] for each in found]
        means = [sum(each["value"][at] for each in figures) / len(figures) for at in range(3)]
        over_systems = [_holds(each["systems"], means) for each in figures]
        over_votes = [_holds(each["votes"], each["truth"]) for each in figures]
        assert sum(map(sum, over_systems)) / (3 * len(figures)) > 0.85
        assert sum(map(sum, over_votes)) / (3 * len(figures)) > 0.85


def _holds(intervals, truth):
    return [low <= t + 1e-9 and t - 1e-9 <= high for (low, high), t in zip(intervals, truth, strict=True)]
