"""Alignments: NLTK's greedy one, and the one with the most matches in the fewest chunks."""

import random
import time

import pytest

from scoring.matching.alignment import Alignment, align, greedy_alignment, greedy_counts, optimal_alignment
from scoring.matching.search import Match
from tests.scoring.taggers import IDENTITY_STEMMER, FakeWordNet


def exact(token):
    return (token,)


def in_groups(groups):
    return lambda token: tuple(number for number, group in enumerate(groups) if token in group)


def counts(alignment, stages):
    """What is compared: matches by stage, then chunks, fewer being better."""
    by_stage = [sum(match.stage == stage for match in alignment.matches) for stage in range(stages)]
    return (*by_stage, -alignment.chunks)


def best_by_trying_all(reference, candidate, stages):
    """The best counts of all alignments, by brute force."""
    keys = [([set(stage(t)) for t in reference], [set(stage(t)) for t in candidate]) for stage in stages]
    best = None

    def go_on(i, used, matches):
        nonlocal best
        if i == len(candidate):
            found = counts(Alignment(tuple(matches)), len(stages))
            best = found if best is None else max(best, found)
            return
        go_on(i + 1, used, matches)
        for j in set(range(len(reference))) - used:
            stage = next((n for n, (of_r, of_c) in enumerate(keys) if of_r[j] & of_c[i]), None)
            if stage is not None:
                go_on(i + 1, used | {j}, [*matches, Match(i, j, stage)])

    go_on(0, frozenset(), [])
    return best


def random_problem(source, longest):
    """Two lists over few words, and one to three stages over them."""
    words = "abcd" if source.random() < 0.5 else "abcdef"
    lists = [[source.choice(words) for _ in range(source.randint(0, longest))] for _ in range(2)]
    groups = [[word for word in words if source.random() < 0.35] for _ in range(3)]
    stems = {word: source.choice("xyzwv") for word in words}
    stages = [exact, lambda token: (stems[token],), in_groups(groups)]
    return *lists, source.choice([stages[:1], stages[:2], [exact, stages[2]], stages]), groups


def test_greedy_alignment_is_nltks_token_by_token():
    from nltk.translate.meteor_score import align_words

    source = random.Random(1)
    for _ in range(500):
        reference, candidate, _, groups = random_problem(source, 20)
        expected, _, _ = align_words(candidate, reference, stemmer=IDENTITY_STEMMER, wordnet=FakeWordNet(groups))
        found = greedy_alignment(reference, candidate, [exact, in_groups(groups)])
        assert [(match.candidate, match.reference) for match in found.matches] == expected


def test_counts_of_equal_tokens_are_those_of_the_greedy_alignment():
    source = random.Random(6)
    for _ in range(1_000):
        reference, candidate, _, _ = random_problem(source, 25)
        greedy = greedy_alignment(reference, candidate, [exact])
        assert greedy_counts(reference, candidate) == (len(greedy.matches), greedy.chunks)


def test_optimal_alignment_is_the_best_of_all_alignments():
    source = random.Random(2)
    better = 0
    for _ in range(600):
        reference, candidate, stages, _ = random_problem(source, 6)
        optimal = optimal_alignment(reference, candidate, stages)
        best = best_by_trying_all(reference, candidate, stages)
        assert optimal.proven
        assert counts(optimal, len(stages)) == best
        better += counts(greedy_alignment(reference, candidate, stages), len(stages)) < best
    assert better > 50


def test_an_unsettled_search_is_never_worse_than_greedy():
    source = random.Random(3)
    unproven = 0
    for _ in range(300):
        reference, candidate, stages, _ = random_problem(source, 40)
        optimal = optimal_alignment(reference, candidate, stages, width=2, budget=5)
        greedy = greedy_alignment(reference, candidate, stages)
        for alignment in (optimal, greedy):
            assert_matches_are_sound(alignment, reference, candidate, stages)
        assert counts(optimal, len(stages)) >= counts(greedy, len(stages))
        unproven += not optimal.proven
    assert unproven > 50


def assert_matches_are_sound(alignment, reference, candidate, stages):
    matches = alignment.matches
    assert list(matches) == sorted(matches)
    assert len({match.candidate for match in matches}) == len({match.reference for match in matches})
    assert len({match.candidate for match in matches}) == len(matches)
    for i, j, stage in matches:
        assert set(stages[stage](candidate[i])) & set(stages[stage](reference[j]))


def test_every_token_is_matched_once_and_only_with_one_that_shares_a_key():
    """Lists that the search settles in a moment; the test above has longer ones, where it gives up."""
    source = random.Random(4)
    for _ in range(200):
        reference, candidate, stages, _ = random_problem(source, 20)
        for alignment in (
            greedy_alignment(reference, candidate, stages),
            optimal_alignment(reference, candidate, stages),
        ):
            assert_matches_are_sound(alignment, reference, candidate, stages)


def test_an_exact_match_comes_before_more_matches_of_a_later_stage():
    """Giving up the one exact match would allow two by synonym; METEOR's first stage does not look ahead."""
    stages = [exact, in_groups(["ac", "ab"])]
    optimal = optimal_alignment(["a", "c"], ["b", "a"], stages)
    assert [(candidate, reference) for candidate, reference, _ in optimal.matches] == [(1, 0)]


def test_chunks_are_runs_in_both_lists():
    assert greedy_alignment("abcd", "abcd", [exact]).chunks == 1
    assert greedy_alignment("abcd", "abxcd", [exact]).chunks == 2
    assert greedy_alignment("abcd", "dcba", [exact]).chunks == 4
    assert greedy_alignment("abcd", "xyz", [exact]).chunks == 0


def test_empty_lists_have_an_empty_alignment():
    for method in ("greedy", "optimal"):
        for pair in (([], []), (["가"], []), ([], ["가"])):
            assert align(*pair, [exact], method).matches == ()


def test_unknown_method_and_ambiguous_first_stage_are_refused():
    with pytest.raises(ValueError, match="best"):
        align(["가"], ["가"], [exact], "best")
    with pytest.raises(ValueError, match="first stage"):
        optimal_alignment(["가"], ["가"], [lambda token: (token, 1)])


LONG = {
    "one word": lambda source: ["가"] * 5000,
    "two words": lambda source: [source.choice("가나") for _ in range(5000)],
    "forty words": lambda source: [f"w{source.randint(0, 39)}" for _ in range(5000)],
    "all different": lambda source: [f"w{n}" for n in source.sample(range(5000), 5000)],
}


@pytest.mark.parametrize("kind", LONG)
def test_5000_tokens_against_5000_take_bounded_time(kind):
    source = random.Random(5)
    reference, candidate = LONG[kind](source), LONG[kind](source)
    start = time.process_time()
    greedy = greedy_alignment(reference, candidate, [exact])
    assert time.process_time() - start < 1  # about 0.01 s
    start = time.process_time()
    optimal = optimal_alignment(reference, candidate, [exact])
    assert time.process_time() - start < 15  # about 1 s
    assert counts(optimal, 1) >= counts(greedy, 1)
