"""How sure the ranks of a board are: intervals against plain loops, tests against ``compare``, bands by their rule."""

import random
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import rankdata

from scoring.composite import Component, composites
from scoring.recipes import get_recipe
from scoring.records import ItemScores
from scoring.significance import board as board_module
from scoring.significance.board import Entrant, NotOneBoard, Places, bands_of, board_sureness
from scoring.significance.comparison import compare
from scoring.significance.composed import composites_of, shared_places, swapped_composites
from scoring.significance.resampling import SEED, bootstrap_weights, holm
from scoring.significance.rows import AdditiveRows
from tests.scoring.significance.test_comparison import captions, contest, report_of

TRIALS = 400


def entrants(reports):
    ordered = sorted(reports, key=lambda report: -report.final_score)
    return [Entrant(str(number), report) for number, report in enumerate(ordered)]


def resampled(report, weights):
    """The final score of the items as often as drawn, by the recipe's own path for one file."""
    items = [replace(item, id=f"{item.id}-{copy}") for item, times in zip(report.items, weights, strict=True)
             for copy in range(int(times))]  # fmt: skip
    return report_of(report.recipe, items).final_score


def test_the_intervals_are_those_of_every_file_drawn_and_ranked_by_hand():
    """Against a loop that scores each drawn file anew and counts the better ones."""
    reports = sorted((contest(seed, 12, 0.3 + seed / 10) for seed in range(4)), key=lambda each: -each.final_score)
    ordered = [replace(each, items=tuple(sorted(each.items, key=lambda item: item.id))) for each in reports]
    found = board_sureness(entrants(reports), trials=TRIALS)

    draws = np.concatenate(list(bootstrap_weights(12, TRIALS, SEED, cells=12)))
    values = np.array([[resampled(report, weights) for report in ordered] for weights in draws])
    for at, sure in enumerate(found.entrants):
        low, high = np.percentile(values[:, at], (2.5, 97.5))
        interval = sure.intervals["final_score"]
        assert (interval.low, interval.high) == pytest.approx((low, high), abs=1e-12)
        rounded = values.round(8)
        best = 1 + (rounded > rounded[:, [at]]).sum(axis=1)
        worst = (rounded >= rounded[:, [at]]).sum(axis=1)
        assert sure.places.best == sorted(best)[int(0.025 * (TRIALS - 1))]
        assert sure.places.worst == sorted(worst)[-1 - int(0.025 * (TRIALS - 1))]


@pytest.mark.parametrize("make", [contest, captions])
def test_a_pair_has_the_p_value_that_compare_gives_it(make):
    reports = [make(seed, 60, 0.45 + seed / 60) for seed in range(5)]
    given = entrants(reports)
    found = board_sureness(given, trials=2000)

    by_compare = {
        (one, other): compare(given[one].report, given[other].report, trials=2000).lines[0].result.p
        for one in range(5)
        for other in range(one + 1, 5)
    }
    adjusted = dict(zip(by_compare, holm(list(by_compare.values())), strict=True))
    assert found.pairs == 10
    for low, sure in enumerate(found.entrants[1:], 1):
        assert sure.above_p == pytest.approx(adjusted[low - 1, low], rel=1e-12)
    assert {int(sure.name): sure.band for sure in found.entrants} == bands_of(range(5), adjusted, 0.05)


def test_identical_outputs_have_p_1_and_one_band():
    report = contest(1, 50)
    found = board_sureness([Entrant("a", report), Entrant("b", report)], trials=TRIALS)
    assert [each.above_p for each in found.entrants] == [None, 1.0]
    assert [each.band for each in found.entrants] == [1, 1]
    assert [(each.places.best, each.places.worst) for each in found.entrants] == [(1, 2), (1, 2)]


def test_forty_results_can_be_told_apart_though_ten_thousand_trials_know_no_small_p():
    """With 780 pairs, 1 / 10,001 is corrected to 0.08: only the bound tells a certain difference."""
    same = [contest(seed, 300, 0.5) for seed in range(39)]
    found = board_sureness(entrants([contest(99, 300, 0.95), *same]), trials=500)
    assert found.pairs == 780
    assert [each.band for each in found.entrants] == [1, *[2] * 39]


def test_the_bound_is_above_the_exact_p_value():
    """Every item differs by the same: all ten signs agree in 2 of 1,024 swaps, and 2 exp(-10² / 20) is 0.0135."""
    scores = {"bleurt": 0.5, "bertscore": 0.5, "rouge_1": 0.5}
    sides = [
        report_of("rag-qa@1", [ItemScores(f"q-{n}", {"exact_match": value, **scores}) for n in range(10)])
        for value in (1.0, 0.0)
    ]
    (_first, second) = board_sureness(entrants(sides), trials=100).entrants
    assert 2 / 1024 < second.above_p <= 2 * np.exp(-5) * 1.001


def test_a_band_is_what_does_not_differ_from_its_first():
    """b and c differ, but both belong to a's band; d, which c does not beat, begins the next as a beats it."""
    adjusted = {(0, 1): 0.3, (0, 2): 0.06, (0, 3): 0.05, (1, 2): 0.01, (1, 3): 0.01, (2, 3): 0.9}
    assert bands_of(range(4), adjusted, 0.05) == {0: 1, 1: 1, 2: 1, 3: 2}


def test_a_baseline_has_an_interval_and_takes_no_rank():
    reports = entrants([contest(seed, 40) for seed in range(3)])
    alone = board_sureness(reports, trials=TRIALS)
    middle = [reports[0], Entrant("base", contest(9, 40), is_ranked=False), *reports[1:]]
    found = board_sureness(middle, trials=TRIALS)
    base = found.entrants[1]
    assert base.intervals["final_score"].low < base.intervals["final_score"].high
    assert (base.places, base.band, base.above_p) == (None, None, None)
    assert [each for each in found.entrants if each.name != "base"] == list(alone.entrants)


def test_results_beyond_the_hundredth_have_intervals_and_no_band(monkeypatch):
    monkeypatch.setattr(board_module, "TESTED", 2)
    found = board_sureness(entrants([contest(seed, 20) for seed in range(4)]), trials=50)
    assert [each.band is not None for each in found.entrants] == [True, True, False, False]
    assert all(each.places and each.intervals for each in found.entrants)
    assert found.pairs == 1


def test_more_results_than_are_drawn_at_once_give_the_same(monkeypatch):
    given = entrants([contest(seed, 30) for seed in range(5)])
    whole = board_sureness(given, trials=200)
    monkeypatch.setattr(board_module, "_DRAWN_NUMBERS", 1)
    assert board_sureness(given, trials=200) == whole


# --- composites -------------------------------------------------------------------------------------------------------
COMPONENTS = (Component("a", 45), Component("b", 55, higher_is_better=False))


def test_places_are_those_of_scipy():
    values = np.random.default_rng(1).integers(0, 4, (50, 7)).astype(float)
    best, worst = shared_places(values)
    assert (best == rankdata(values, method="min", axis=1)).all()
    assert (worst == rankdata(values, method="max", axis=1)).all()


def test_composites_are_those_of_the_board_in_every_draw():
    values = np.random.default_rng(2).integers(0, 5, (2, 30, 6)).astype(float)
    found = composites_of(values, COMPONENTS)
    for trial in range(30):
        entries = {at: {"a": values[0, trial, at], "b": values[1, trial, at]} for at in range(6)}
        expected = composites(entries, COMPONENTS)
        assert found[trial].tolist() == pytest.approx([expected[at].value for at in range(6)])


def test_a_swapped_pair_is_ranked_among_the_others_as_they_are():
    rng = np.random.default_rng(3)
    field = rng.integers(0, 5, (2, 6)).astype(float)
    one, other = rng.integers(0, 5, (2, 2, 40)).astype(float)
    found = swapped_composites(field, COMPONENTS, (1, 4), one, other)
    for trial in range(40):
        swapped = field.copy()
        swapped[:, 1], swapped[:, 4] = one[:, trial], other[:, trial]
        expected = composites({at: {"a": swapped[0, at], "b": swapped[1, at]} for at in range(6)}, COMPONENTS)
        assert found[trial] == pytest.approx(expected[1].value - expected[4].value)


def test_two_results_swapped_are_first_and_second():
    """A composite of two is 1 or 0 in each component; of equal values the half."""
    field = np.zeros((2, 2))
    one, other = np.asarray([[3.0, 2.0, 1.0], [5.0, 5.0, 5.0]]), np.asarray([[1.0, 2.0, 2.0], [4.0, 5.0, 6.0]])
    ahead = swapped_composites(field, COMPONENTS, (0, 1), one, other)
    assert ahead.tolist() == pytest.approx([0.45 - 0.55, 0.0, -0.45 + 0.55])


def test_a_board_of_composites_has_intervals_of_composites_and_bands():
    parts = (Component("exact_match", 50), Component("rouge_1", 50))
    reports = [contest(seed, 200, skill) for seed, skill in enumerate((0.9, 0.5, 0.5, 0.1))]
    found = board_sureness([Entrant(str(at), each) for at, each in enumerate(reports)], components=parts, trials=2000)
    assert [each.band for each in found.entrants] == [1, 2, 2, 2]  # swapped, the last is no further behind than by luck
    assert found.entrants[0].intervals["composite"].high == 1.0
    assert (found.entrants[0].places.best, found.entrants[3].places.worst) == (1, 4)
    assert found.components == parts


# --- what is refused --------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("other", "what"),
    [
        (lambda report: captions(1), "recipe"),
        (lambda report: replace(report, signature={**report.signature, "references": {"sha256": "0"}}), "references"),
        (lambda report: replace(report, signature_hash="other"), "signature"),
        (lambda report: replace(report, items=report.items[1:]), "items"),
    ],
)
def test_results_that_were_not_scored_alike_are_refused_by_number(other, what):
    report = contest(1)
    with pytest.raises(NotOneBoard) as caught:
        board_sureness([Entrant("a", report), Entrant("b", report), Entrant("c", other(report))], trials=10)
    assert (caught.value.number, caught.value.what) == (3, what)
    assert "3번째" in caught.value.message()
    assert "Result 3" in caught.value.message("en")


def test_a_score_that_does_not_follow_from_its_items_has_neither_interval_nor_rank():
    """Of a file that was changed, or of a rule that reads more than the items."""
    sound, changed = contest(1, 30), contest(2, 30)
    changed = replace(changed, final_score=0.9, scores={**changed.scores, "final_score": 0.9})
    found = board_sureness([Entrant("a", changed), Entrant("b", sound)], trials=50)
    assert found.reason == "items_disagree"
    assert all(each.places is None and each.band is None for each in found.entrants)
    assert "final_score" not in found.entrants[0].intervals
    assert "final_score" in found.entrants[1].intervals
    assert "exact_match" in found.entrants[0].intervals


def test_what_would_not_fit_in_memory_is_not_begun(monkeypatch):
    monkeypatch.setattr(board_module, "MOST_NUMBERS", 10)
    found = board_sureness(entrants([contest(1, 30), contest(2, 30)]), trials=50)
    assert found.reason == "too_large"
    assert all(not each.intervals and each.places is None for each in found.entrants)


def test_what_just_fits_is_computed(monkeypatch):
    """Half a gigabyte of numbers: of all results, items and columns."""
    assert board_module.MOST_NUMBERS * np.dtype(float).itemsize == 512 * 2**20
    reports = [contest(1, 30), contest(2, 30)]
    width = AdditiveRows(get_recipe(reports[0].recipe), reports, lambda *_: None).width
    for numbers, reason in ((width * 60, None), (width * 60 - 1, "too_large")):
        monkeypatch.setattr(board_module, "MOST_NUMBERS", numbers)
        found = board_sureness(entrants(reports), trials=50)
        assert found.reason == reason
        assert all(bool(each.intervals) == (reason is None) for each in found.entrants)


@pytest.mark.parametrize(("first_in", "best", "worst"), [(24, 2, 2), (25, 1, 2), (975, 1, 2), (976, 1, 1)])
def test_an_interval_of_ranks_leaves_out_a_fortieth_on_either_side(first_in, best, worst):
    """Of 1,000 draws a rank in 24 of them is outside, one in 25 inside: the 25th from either end, none between two."""
    values = np.tile([[0.5, 0.9]], (1000, 1))
    values[:first_in, 1] = 0.1
    assert board_module._places(values)[0] == Places(best, worst)


def test_false_separations_of_a_null_board_are_rare():
    """60 boards of 6 equal results: with the level 0.05, 9 or more separated ones have a probability under 1 %."""
    source = random.Random(5)
    wrong = 0
    for _board in range(60):
        reports = [contest(source.random(), 60) for _ in range(6)]
        found = board_sureness(entrants(reports), trials=400)
        wrong += any(each.band != 1 for each in found.entrants)
    assert wrong < 9


def test_the_recipe_of_the_result_is_named():
    assert board_sureness(entrants([contest(1)]), trials=10).recipe == get_recipe("rag-qa@1").id
