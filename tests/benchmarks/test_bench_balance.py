"""What the table of the balance says, held on fewer items."""

from __future__ import annotations

import pytest

from tests.benchmarks.bench_balance import figures


@pytest.mark.parametrize("progress", [0.0, 0.3, 0.7])
def test_pairs_stay_exactly_even_when_a_team_is_out_a_judge_leaves_and_one_comes_late(progress: float) -> None:
    """20 items, nine pairs each: every pair of ten teams meets four times, before two judges each."""
    for seed in range(3):
        steps = figures(progress, seed, items=20)
        assert list(steps) == ["as designed", "a team is out", "then a judge leaves", "then one comes late"]
        assert [each.assignments for each in steps.values()] == [360, 288, 288, 288]
        for each in steps.values():
            assert (each.pairs, each.pair_assignments) == ((4, 4), (8, 8))
            assert each.first_by_pair <= 4
            assert each.first_by_system <= 3
