"""The planner: what it says of a number of judgements is what panels of that size give."""

from __future__ import annotations

import numpy as np
import pytest

from scoring.arena.planner import plan_widths
from scoring.arena.simulation import Panel, simulate, spread_strengths
from scoring.arena.vote_records import Protocol


def test_more_judgements_make_intervals_narrower_about_as_the_root_and_separate_more_pairs() -> None:
    rows = plan_widths(5, 0.6, 0.2, 0.0, 10, [40, 160], repetitions=4)
    assert [row.judgements for row in rows] == [360, 1440]  # a tenth are controls and repeats
    assert rows[0].width / rows[1].width == pytest.approx(2, rel=0.4)
    assert rows[1].separated > rows[0].separated


@pytest.mark.parametrize("protocol", ["ranking", "rubric", "errors"])
def test_every_protocol_gets_narrower_intervals_with_more_judgements(protocol: Protocol) -> None:
    rows = plan_widths(5, 0.6, 0.2, 0.0, 8, [30, 120], protocol=protocol, group=3, repetitions=3)
    assert rows[0].judgements == 8 * (30 - 2 * 2)
    assert rows[0].width / rows[1].width == pytest.approx(2, rel=0.5)
    assert rows[1].separated >= rows[0].separated


def test_ranking_more_outputs_at_once_says_more_with_as_many_judgements() -> None:
    [pair], [four] = (plan_widths(6, 0.6, 0.2, 0.0, 8, [60], protocol=name) for name in ("pairwise", "ranking"))
    assert four.width < 0.7 * pair.width


def test_the_width_is_that_of_four_standard_errors_found_by_repeating_the_panel() -> None:
    """A plain witness: the spread of the point shares' logits over independent panels."""
    systems, judges, votes = 4, 12, 100
    row = plan_widths(systems, 0.0, 0.0, 0.0, judges, [votes], repetitions=4)[0]
    strengths = spread_strengths(systems, 1.0)
    panel = Panel(tuple(0.0 for _ in strengths), ("good",) * judges, votes_per_judge=votes, tie_rate=0.0)
    found = []
    for seed in range(30):
        won, shown = np.zeros(systems), np.zeros(systems)
        for vote in simulate(panel, 1000 + seed).real():
            first, second = (int(label[1:]) - 1 for label in vote.systems)
            winner = first if vote.value["choice"] == "first" else second
            won[winner] += 1
            shown[[first, second]] += 1
        share = won / shown
        # each is compared with the mean of the others, which is minus its own strength over n - 1
        found.append(np.log(share / (1 - share)) * (systems - 1) / systems)
    error = float(np.std(found, ddof=1))
    assert row.width == pytest.approx(4 * error, rel=0.35)


def test_the_same_question_gets_the_same_answer() -> None:
    one, other = (plan_widths(3, 0.5, 0.1, 0.2, 4, [20], repetitions=2) for _ in range(2))
    assert one == other


def test_one_system_is_nothing_to_compare() -> None:
    with pytest.raises(ValueError, match="1 systems"):
        plan_widths(1, 0.5, 0.1, 0.0, 4, [20])


def test_so_few_judgements_that_no_error_shows_have_no_width() -> None:
    [row] = plan_widths(2, 0.5, 0.0, 0.0, 1, [1], items=1, repetitions=2)
    assert (row.judgements, row.width, row.separated) == (1, None, 0)
