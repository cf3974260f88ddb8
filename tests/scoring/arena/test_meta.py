"""Which metric agreed with people, held against scipy and plain loops."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.stats import kendalltau

from scoring.arena import meta_items, meta_systems
from scoring.arena.comparable import NoResult
from scoring.arena.meta import document_bytes, evaluate
from scoring.arena.meta_scores import MetricScores
from scoring.arena.meta_warnings import warnings_of
from scoring.arena.result import compute
from scoring.arena.simulation import Panel, simulate
from scoring.arena.vote_records import PROTOCOLS, ArenaItem, Judge, System, Vote, Votes, VoteSettings
from scoring.arena.vote_values import points_of

STRENGTHS = (1.0, 0.5, 0.2, -0.2, -0.5, -1.0)
PANEL = Panel(STRENGTHS, ("good",) * 6, items=20, votes_per_judge=40, group=3, resamples=100)


def metric(votes: Votes, name: str, noise: float, *, seed: int = 0, decimals: int = 1) -> MetricScores:
    """A metric whose values are the strengths with noise, rounded so that there are ties."""
    random = np.random.default_rng(seed)
    items = {
        system.label: {each.label: round(strength + random.normal() * noise, decimals) for each in votes.items}
        for system, strength in zip(votes.systems, STRENGTHS, strict=False)
    }
    return MetricScores(name, {label: float(np.mean(list(of.values()))) for label, of in items.items()}, items)


def of(document: dict[str, Any], name: str) -> dict[str, Any]:
    (found,) = [row for row in document["metrics"] if row["name"] == name]
    return found


def verdicts_by_loop(votes: Votes) -> dict[tuple[str, str, str], int]:
    """People's verdict on each (item, one, other): 1 if ``one`` is better, 0, -1."""
    found: dict[tuple[str, str, str], int] = {}
    labels = sorted(each.label for each in votes.systems)
    for item, (one, other) in itertools.product(
        [each.label for each in votes.items], itertools.combinations(labels, 2)
    ):
        total, seen, points = 0, False, {one: [], other: []}
        for vote in votes.votes:
            if vote.kind != "real" or vote.item != item:
                continue
            if votes.protocol in ("rubric", "errors"):
                if vote.systems[0] in points:
                    points[vote.systems[0]].append(points_of(vote, votes.criteria))
            elif one in vote.systems and other in vote.systems:
                seen = True
                if votes.protocol == "pairwise":
                    preferred = {"first": vote.systems[0], "second": vote.systems[1]}.get(vote.value["choice"])
                    total += (preferred == one) - (preferred == other)
                else:
                    ranks = dict(zip(vote.systems, vote.value["ranks"], strict=True))
                    total += (ranks[one] < ranks[other]) - (ranks[one] > ranks[other])
        if points[one] and points[other]:
            seen = True
            gap = sum(points[one]) / len(points[one]) - sum(points[other]) / len(points[other])
            total = 0 if abs(gap) < 1e-9 else 1 if gap > 0 else -1
        if seen:
            found[item, one, other] = (total > 0) - (total < 0)
    return found


def acc_eq_by_loop(verdicts: dict[tuple[str, str, str], int], given: MetricScores) -> tuple[float, float]:
    """The best accuracy over all thresholds and the lowest threshold that has it."""
    gaps = {key: round(given.items[key[1]][key[0]] - given.items[key[2]][key[0]], 8) for key in verdicts}
    best = (-1.0, 0.0)
    for threshold in sorted({0.0, *(abs(gap) for gap in gaps.values())}):
        by_item: dict[str, list[bool]] = {}
        for key, people in verdicts.items():
            says = 0 if abs(gaps[key]) <= threshold else 1 if gaps[key] > 0 else -1
            by_item.setdefault(key[0], []).append(says == people)
        accuracy = sum(sum(each) / len(each) for each in by_item.values()) / len(by_item)
        if accuracy > best[0] + 1e-10:
            best = (accuracy, threshold)
    return best


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_tau_is_scipys_and_accuracies_are_those_of_plain_loops_in_every_protocol(protocol):
    votes = simulate(replace(PANEL, protocol=protocol, votes_per_judge=80), 3)
    result = compute(votes)
    given = [metric(votes, "near", 0.5), metric(votes, "far", 3.0, seed=1)]
    document = evaluate(result, given)
    people = {row["label"]: row["score"] for row in result.document()["systems"]}
    apart = {frozenset((row["one"], row["other"])) for row in result.document()["pairs"] if row["adjusted_p"] <= 0.05}
    verdicts = verdicts_by_loop(votes)
    assert document["numbers"]["item_pairs"] == len(verdicts)
    for each in given:
        row, labels = of(document, each.name), sorted(people)
        tau = kendalltau([people[label] for label in labels], [each.systems[label] for label in labels]).statistic
        assert row["systems"]["tau"]["value"] == pytest.approx(tau, abs=1e-7)
        right = {
            frozenset(pair): (people[pair[0]] > people[pair[1]]) == (each.systems[pair[0]] > each.systems[pair[1]])
            for pair in itertools.combinations(labels, 2)
        }
        assert row["systems"]["accuracy"]["value"] == pytest.approx(np.mean(list(right.values())), abs=1e-7)
        decided = sum(right[pair] for pair in apart) / len(apart)
        assert row["systems"]["decided"] == pytest.approx(decided, abs=1e-7)
        accuracy, threshold = acc_eq_by_loop(verdicts, each)
        assert row["items"]["value"] == pytest.approx(accuracy, abs=1e-7)
        assert row["items"]["threshold"] == pytest.approx(threshold, abs=1e-7)
        assert row["items"]["low"] <= row["items"]["value"] <= row["items"]["high"]


def test_tau_b_and_accuracy_respect_ties_of_both_sides():
    people, given = [3.0, 2.0, 2.0, 1.0, 0.0, 0.0], [0.9, 0.7, 0.7, 0.7, 0.2, 0.3]
    pairs = _pairs(people)
    (found,) = meta_systems.agreements(pairs, np.asarray([given]), resamples=20, seed=1, level=0.05)
    assert found.tau.value == pytest.approx(kendalltau(people, given).statistic)
    same = [
        np.sign(people[i] - people[j]) == np.sign(given[i] - given[j]) for i, j in itertools.combinations(range(6), 2)
    ]
    assert found.accuracy.value == pytest.approx(np.mean(same))
    assert found.decided is None  # nothing was told apart


def _pairs(people: list[float]) -> meta_systems.SystemPairs:
    count = len(people)
    one, other = np.triu_indices(count, 1)
    scores = np.asarray(people)
    side = np.sign(scores[one] - scores[other])
    return meta_systems.SystemPairs(scores, np.eye(count) * 1e-6, one, other, side, np.zeros(len(one)))


def test_drawn_systems_are_weighted_as_scipy_counts_them():
    """A draw with a system twice is tau-b of the list that has it twice: a pair of equals is tied on both sides."""
    people, given, counts = [5.0, 4.0, 3.0, 2.0], [1.0, 3.0, 2.0, 0.5], [2, 0, 1, 1]
    pairs = _pairs(people)
    weights = np.asarray([counts[i] * counts[j] for i, j in zip(pairs.one, pairs.other, strict=True)], dtype=float)
    found = meta_systems._tau(pairs.side, pairs.signs(np.asarray([given])), weights[None])
    listed = [[values[at] for at, times in enumerate(counts) for _ in range(times)] for values in (people, given)]
    assert found[0, 0] == pytest.approx(kendalltau(*listed).statistic)


def test_a_permutation_of_systems_is_exact_and_symmetric():
    people, near, far = [5.0, 4.0, 3.0, 2.0, 1.0], [5.1, 4.2, 2.9, 2.1, 0.8], [1.0, 3.0, 2.0, 5.0, 4.0]
    pairs = _pairs(people)

    def z(values: list[float]) -> np.ndarray:
        return (np.asarray(values) - np.mean(values)) / np.std(values)

    gap = abs(kendalltau(people, near).statistic - kendalltau(people, far).statistic)
    drawn = []
    for swap in itertools.product((False, True), repeat=5):
        one, other = np.where(swap, z(far), z(near)), np.where(swap, z(near), z(far))
        drawn.append(abs(kendalltau(people, one).statistic - kendalltau(people, other).statistic) >= gap - 1e-9)
    ((_, _, difference, p),) = meta_systems.compare(pairs, np.asarray([near, far]), seed=1)
    ((_, _, back, p_back),) = meta_systems.compare(pairs, np.asarray([far, near]), seed=1)
    assert p == pytest.approx(np.mean(drawn)) == p_back
    assert difference == pytest.approx(gap) == -back


def test_metrics_are_compared_on_items_as_by_a_sign_test_of_their_differences():
    """Of two metrics, one is right where the other is wrong on n items: p is that of n equal coins."""
    pairs = _item_pairs([1] * 6)
    right, wrong = np.ones(6), np.zeros(6)
    ((one, other, difference, p),) = meta_items.compare(pairs, [right, wrong], seed=3)
    assert (one, other) == (0, 1)
    assert difference == pytest.approx(1.0)
    assert p == pytest.approx(2 / 2**6, abs=0.006)
    assert meta_items.compare(pairs, [right, right], seed=3)[0][2:] == (0.0, 1.0)
    assert meta_items.compare(pairs, [right, np.full(6, np.nan)], seed=3)[0][2:] == (0.0, 1.0)


def _item_pairs(sides: list[int]) -> meta_items.ItemPairs:
    count = len(sides)
    zeros = np.zeros(count, dtype=np.intp)
    items = tuple(f"I{number}" for number in range(count))
    return meta_items.ItemPairs(("S1", "S2"), items, np.arange(count), zeros, zeros + 1, np.asarray(sides))


def test_the_threshold_makes_ties_where_people_made_them():
    pairs = _item_pairs([1, 1, 0, 0, -1, 0])
    given = np.asarray([0.9, 0.8, 0.1, -0.1, -0.7, 0.05])
    found = meta_items.accuracy(pairs, given, resamples=50, seed=1, level=0.05)
    assert found is not None
    assert (found.value, found.threshold, found.ties) == (1.0, 0.1, 0.5)
    assert meta_items.accuracy(pairs, np.full(6, np.nan), resamples=50, seed=1, level=0.05) is None
    assert meta_items.tie_share(pairs) == 0.5


def test_every_item_weighs_the_same_however_many_pairs_it_has():
    pairs = replace(_item_pairs([1, 1, 1, -1]), item=np.asarray([0, 0, 0, 1]), items=("A", "B"))
    found = meta_items.accuracy(pairs, np.asarray([1.0, 1.0, 1.0, 1.0]), resamples=10, seed=1, level=0.05)
    assert found is not None
    assert found.value == 0.5
    assert (found.pairs, found.items) == (4, 2)


def test_votes_that_outweigh_each_other_are_a_tie_and_excluded_ones_do_not_count():
    votes = _votes(["first", "second", "first"])
    assert meta_items.item_pairs(votes, ["S1", "S2"]).side.tolist() == [1]
    two = replace(votes, votes=votes.votes[:2])
    assert meta_items.item_pairs(two, ["S1", "S2"]).side.tolist() == [0]
    assert len(meta_items.item_pairs(two, ["S1", "S3"])) == 0
    control = replace(votes, votes=(*votes.votes[:1], replace(votes.votes[1], kind="control", bad=0)))
    assert meta_items.item_pairs(control, ["S1", "S2"]).side.tolist() == [1]


def _votes(choices: list[str]) -> Votes:
    return Votes(
        campaign={"competition": "c", "track": "t", "number": 1, "title": "x"},
        protocol="pairwise",
        systems=(System("S1"), System("S2")),
        items=(ArenaItem("I1"),),
        judges=(Judge("J1"),),
        votes=tuple(
            Vote(number, "J1", "I1", ("S1", "S2"), {"choice": choice, "reasons": []})
            for number, choice in enumerate(choices, start=1)
        ),
        settings=VoteSettings(resamples=100),
    )


def test_a_better_metric_leads_and_one_that_is_worse_on_items_does_not():
    votes = simulate(replace(PANEL, items=60, votes_per_judge=120), 5)
    document = evaluate(compute(votes), [metric(votes, "near", 0.2), metric(votes, "far", 6.0, seed=1)])
    assert of(document, "near")["items"]["leads"]
    assert not of(document, "far")["items"]["leads"]
    (compared,) = document["comparisons"]["items"]
    assert {compared["one"], compared["other"]} == {"near", "far"}
    assert compared["adjusted_p"] < 0.01
    assert document["metrics"][0]["name"] == "near"
    ties = document["numbers"]["tie_share"]
    assert document["numbers"]["chance"] == pytest.approx(max(ties, (1 - ties) / 2), abs=1e-7)


def test_an_error_counts_the_other_way_round():
    votes = simulate(PANEL, 3)
    result, score = compute(votes), metric(votes, "score", 0.5)
    error = MetricScores(
        "error",
        {label: -value for label, value in score.systems.items()},
        {label: {item: -value for item, value in of.items()} for label, of in score.items.items()},
        higher_is_better=False,
    )
    one, other = (evaluate(result, [each])["metrics"][0] for each in (score, error))
    assert one["systems"] == other["systems"]
    assert one["items"] == other["items"]
    assert (one["higher_is_better"], other["higher_is_better"]) == (True, False)


def test_corrected_comparisons_are_holms():
    votes = simulate(PANEL, 3)
    names = ("a", "b", "c")
    given = [
        metric(votes, name, noise, seed=at) for at, (name, noise) in enumerate(zip(names, (0.2, 1, 5), strict=True))
    ]
    for rows in evaluate(compute(votes), given)["comparisons"].values():
        assert len(rows) == 3
        smallest = min(rows, key=lambda row: row["p"])
        assert smallest["adjusted_p"] == pytest.approx(min(1.0, 3 * smallest["p"]), abs=1e-7)
        assert all(row["adjusted_p"] >= row["p"] for row in rows)


def test_what_cannot_be_judged_is_named():
    votes = simulate(PANEL, 3)
    full = metric(votes, "full", 0.5)
    partial = replace(full, name="partial", systems={k: v for k, v in full.systems.items() if k != "S02"})
    constant = replace(full, name="constant", systems=dict.fromkeys(full.systems, 0.5))
    corpus = replace(full, name="corpus", items={})
    document = evaluate(compute(votes), [full, partial, constant, corpus])
    assert document["skipped"] == [
        {"name": "constant", "reason": "constant"},
        {"name": "partial", "reason": "missing"},
    ]
    assert of(document, "corpus")["items"] is None
    assert of(document, "full")["items"] is not None
    assert document["warnings"] == ["few_items"]
    assert warnings_of(document) == ["narrow_systems", "few_items"]


def test_few_systems_have_no_interval_over_systems():
    votes = simulate(replace(PANEL, strengths=STRENGTHS[:4]), 3)
    document = evaluate(compute(votes), [metric(votes, "near", 0.2)])
    tau = document["metrics"][0]["systems"]["tau"]
    assert tau["systems"] is None
    assert tau["votes"]["low"] <= tau["value"] <= tau["votes"]["high"]
    assert "few_systems" in document["warnings"]
    with pytest.raises(NoResult):
        evaluate(compute(votes), [MetricScores("one", {"S01": 0.5})])


@pytest.mark.parametrize(("systems", "expected"), [(5, []), (6, ["narrow_systems"]), (9, ["narrow_systems"]), (10, [])])
def test_below_ten_systems_readers_are_told_that_intervals_are_narrow(systems, expected):
    assert warnings_of({"numbers": {"systems": systems}, "warnings": []}) == expected


def test_the_same_input_gives_the_same_bytes_and_other_scores_another_signature():
    votes = simulate(PANEL, 3)
    result = compute(votes)
    given = [metric(votes, "near", 0.5), metric(votes, "far", 3.0, seed=1)]
    first = evaluate(result, given)
    assert document_bytes(first) == document_bytes(evaluate(compute(votes), given[::-1]))
    assert json.loads(document_bytes(first)) == first
    other = evaluate(result, [given[0], metric(votes, "far", 3.0, seed=2)])
    assert other["signature_hash"] != first["signature_hash"]


def test_no_figure_names_a_system_or_an_item():
    votes = simulate(PANEL, 3)
    text = document_bytes(evaluate(compute(votes), [metric(votes, "near", 0.5)])).decode()
    assert not any(
        f'"{label}"' in text for label in [*(s.label for s in votes.systems), *(i.label for i in votes.items)]
    )
    assert "System" not in text
