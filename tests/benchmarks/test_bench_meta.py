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
    targets = [sum(each["tau"][at] for each in found) / len(found) for at in range(3)]
    over_systems = [low <= t <= high for each in found for (low, high), t in zip(each["systems"], targets, strict=True)]
    over_votes = [
        low <= t <= high for each in found for (low, high), t in zip(each["votes"], each["truth"], strict=True)
    ]
    assert sum(over_systems) / len(over_systems) > 0.85
    assert sum(over_votes) / len(over_votes) > 0.85
