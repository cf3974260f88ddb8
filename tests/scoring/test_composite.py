"""Composite scores against plain loops and scipy's average ranks, and the properties that a ranking must have."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.stats import rankdata

from scoring.composite import Component, composites

CONTEST = (Component("rmse", 45, higher_is_better=False), Component("spearman", 45), Component("judge", 10))
VALUES = st.sampled_from([0.0, 0.25, 0.25 + 4e-9, 0.5, 0.5 + 6e-9, 0.75, 1.0, -0.3])
SCORES = st.fixed_dictionaries({}, optional={"rmse": VALUES, "spearman": VALUES, "judge": VALUES})
BOARDS = st.dictionaries(st.integers(0, 30), SCORES, min_size=1, max_size=8)
at_any_pace = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])  # others may load the machine


def by_loops(entries: Mapping[int, Mapping[str, float]], components: Sequence[Component]) -> dict[int, float]:
    """The formula by counting who is better and who is equal, one pair at a time."""
    total, weights = dict.fromkeys(entries, 0.0), 0.0
    for component in components:
        if not any(component.score in scores for scores in entries.values()):
            continue
        weights += component.weight
        for key in entries:
            better = equal = 0
            for other in entries:
                mine, theirs = entries[key].get(component.score), entries[other].get(component.score)
                if mine is None or theirs is None:
                    better += mine is None and theirs is not None
                    equal += mine is None and theirs is None
                    continue
                gain = round(theirs, 8) - round(mine, 8)
                better += (gain > 0) if component.higher_is_better else (gain < 0)
                equal += gain == 0
            rank, count = better + (equal + 1) / 2, len(entries)
            total[key] += component.weight * ((count - rank) / (count - 1) if count > 1 else 1.0)
    return {key: value / weights if weights else 0.0 for key, value in total.items()}


@at_any_pace
@given(BOARDS)
def test_it_is_what_counting_pair_by_pair_gives(entries: dict[int, dict[str, float]]) -> None:
    found = composites(entries, CONTEST)
    expected = by_loops(entries, CONTEST)
    assert {key: found[key].value for key in entries} == pytest.approx(expected, abs=1e-12)


def test_ranks_are_those_of_scipy_on_large_boards() -> None:
    chance = random.Random(14)
    worst = 0.0
    for count in (1, 2, 50, 2000):
        entries = {
            key: {"rmse": chance.choice([chance.random(), 0.5]), "spearman": round(chance.uniform(-1, 1), 2)}
            for key in range(count)
        }
        found = composites(entries, CONTEST[:2])
        for place, sign in ((0, 1), (1, -1)):
            score = CONTEST[place].score
            ranks = rankdata([sign * entries[key][score] for key in entries], method="average")
            worst = max(worst, *(abs(found[key].parts[place].rank - ranks[key]) for key in entries))
    assert worst == 0.0


def test_the_weights_of_the_contest_by_hand() -> None:
    entries = {
        "a": {"rmse": 0.50, "spearman": 0.60, "judge": 0.2},
        "b": {"rmse": 0.50, "spearman": 0.70, "judge": 0.9},
        "c": {"rmse": 0.80, "spearman": 0.10, "judge": 0.5},
    }
    found = composites(entries, CONTEST)
    assert [part.rank for part in found["a"].parts] == [1.5, 2.0, 3.0]
    assert [part.normalised for part in found["a"].parts] == [0.75, 0.5, 0.0]
    assert found["a"].value == pytest.approx((45 * 0.75 + 45 * 0.5) / 100)
    assert found["b"].value == pytest.approx((45 * 0.75 + 45 + 10) / 100)
    assert found["c"].value == pytest.approx(10 * 0.5 / 100)


@at_any_pace
@given(BOARDS, st.randoms(use_true_random=False))
def test_the_order_of_the_teams_changes_nothing(entries: dict[int, dict[str, float]], chance: Any) -> None:
    shuffled = list(entries.items())
    chance.shuffle(shuffled)
    assert composites(dict(shuffled), CONTEST) == composites(entries, CONTEST)


@at_any_pace
@given(BOARDS)
def test_a_dominated_team_never_passes_the_one_that_dominates_it(entries: dict[int, dict[str, float]]) -> None:
    found = composites(entries, CONTEST)
    for one, mine in entries.items():
        for other, theirs in entries.items():
            if all(_is_as_good(mine.get(c.score), theirs.get(c.score), c) for c in CONTEST):
                assert found[one].value >= found[other].value - 1e-12


def _is_as_good(mine: float | None, theirs: float | None, component: Component) -> bool:
    if mine is None or theirs is None:
        return theirs is None
    return mine >= theirs if component.higher_is_better else mine <= theirs


@at_any_pace
@given(BOARDS, st.dictionaries(st.integers(100, 130), SCORES, max_size=4))
def test_baselines_change_nobody_and_have_what_they_would_have_alone(
    entries: dict[int, dict[str, float]], baselines: dict[int, dict[str, float]]
) -> None:
    found = composites({**entries, **baselines}, CONTEST, unranked=baselines.keys())
    assert {key: found[key] for key in entries} == composites(entries, CONTEST)
    counted = [component for component in CONTEST if any(component.score in scores for scores in entries.values())]
    for key, scores in baselines.items():
        alone = composites({**entries, key: scores}, counted)[key] if counted else None
        assert (found[key] == alone) if alone else (found[key].value == 0.0)


@at_any_pace
@given(BOARDS)
def test_values_and_ranks_stay_within_their_bounds(entries: dict[int, dict[str, float]]) -> None:
    for each in composites(entries, CONTEST).values():
        assert 0 <= each.value <= 1
        assert all(1 <= part.rank <= len(entries) and 0 <= part.normalised <= 1 for part in each.parts)


def test_differences_below_eight_decimals_and_no_value_are_ranked_as_said() -> None:
    found = composites({1: {"spearman": 0.5}, 2: {"spearman": 0.5 + 4e-9}, 3: {}, 4: {"spearman": math.nan}}, CONTEST)
    assert [found[key].parts[0].rank for key in (1, 2, 3, 4)] == [1.5, 1.5, 3.5, 3.5]
    assert [part.score for part in found[1].parts] == ["spearman"], "nobody has the others"
    assert composites({1: {}}, CONTEST)[1].value == 0.0


@pytest.mark.parametrize(
    "components",
    [
        (),
        (Component("a", 1), Component("a", 2)),
        *((Component("b", 1), Component("a", weight)) for weight in (0, -1, math.nan, math.inf)),
    ],
)
def test_unsound_components_are_refused(components: tuple[Component, ...]) -> None:
    with pytest.raises(ValueError, match="composite"):
        composites({1: {"a": 1.0, "b": 1.0}}, components)


def test_weights_are_shares_of_their_sum_however_small() -> None:
    entries = {1: {"a": 1.0, "b": 0.0}, 2: {"a": 0.0, "b": 1.0}}
    found = composites(entries, (Component("a", 0.75), Component("b", 0.25)))
    assert (found[1].value, found[2].value) == (0.75, 0.25)


def test_a_single_team_has_the_whole() -> None:
    assert composites({7: {"rmse": 9.0}}, CONTEST)[7].value == 1.0
