"""Runs of tokens, and how many of them other texts have: as counters say it, in linear time."""

import random
import time
from collections import Counter

import pytest

from scoring.metrics.ngrams import clipped_matches, closest_length, ngrams


def by_counters(grams, others):
    """The textbook's clipping: the intersection with the union of the others' counts."""
    most = Counter()
    for other in others:
        most |= Counter(other)
    return (Counter(grams) & most).total()


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_matches_are_those_of_counters(n):
    source = random.Random(n)
    clipped = 0
    for _ in range(400):
        words = source.choice(["abcdefghijklmnop", "abc", "a"])
        texts = [[source.choice(words) for _ in range(source.randint(0, 25))] for _ in range(source.randint(1, 5))]
        grams, *others = (ngrams(text, n) for text in texts)
        expected = by_counters(grams, others)
        assert clipped_matches(grams, others) == expected
        clipped += 0 < expected < sum(gram in {one for other in others for one in other} for gram in grams)
    assert clipped > 20


def test_matches_in_long_texts_take_linear_time():
    source = random.Random(1)
    grams, other = ([source.randint(0, 20_000) for _ in range(200_000)] for _ in range(2))
    start = time.process_time()
    assert clipped_matches(grams, [other]) == by_counters(grams, [other])
    assert time.process_time() - start < 5  # about 0.2 s; looking through the list for each would take minutes


def test_runs_are_in_order_and_one_token_is_itself():
    tokens = ("가", "나", "다")
    assert ngrams(tokens, 1) == tokens
    assert ngrams(tokens, 2) == [("가", "나"), ("나", "다")]
    assert ngrams(tokens, 4) == []


def test_of_two_lengths_as_near_the_shorter():
    assert closest_length([5, 3], 4) == 3
    assert closest_length([9, 5], 4) == 5


def test_the_nearest_length_may_be_the_longer():
    assert closest_length([3, 8], 7) == 8


def test_without_others_nothing_matches():
    assert clipped_matches("가나가", []) == 0
