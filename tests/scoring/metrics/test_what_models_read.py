"""What BERTScore, BLEURT and fluency give their models to read, and what they tell of it, without any model."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from scoring.metrics.base import MetricOptions
from scoring.metrics.bertscore import BertScore
from scoring.metrics.bleurt import Bleurt
from scoring.metrics.fluency import Fluency
from scoring.models.limits import Cut

Heard = list[tuple[int, int]]
Pair = tuple[str, str]
LONG = "가" * 600


def store_with(**parts: Any) -> Any:
    return SimpleNamespace(describe_model=lambda role: {"weights_sha256": f"that of {role}"}, **parts)


class TestBertScore:
    @pytest.fixture
    def given(self, monkeypatch: pytest.MonkeyPatch) -> list[set[Pair]]:
        """The sets of pairs that are computed; of each pair the value is the length of the candidate."""
        given: list[set[Pair]] = []

        def score_pairs(_encoder: Any, pairs: set[Pair], report: Callable[[float], None]) -> dict[Pair, float]:
            given.append(pairs)
            for share in (0.25, 0.5, 1.0):
                report(share)
            return {pair: float(len(pair[1])) for pair in pairs}

        monkeypatch.setattr("scoring.models.greedy.score_pairs", score_pairs)
        return given

    def test_each_text_is_read_once_with_its_two_special_tokens(self) -> None:
        references = [["가나 다"], ["가나 다", "라"]]
        assert BertScore.cost(references, ["라", "마바"]) == (3 + 2) + (1 + 2) + (2 + 2)

    @pytest.mark.parametrize(("letters", "tokens"), [(509, 511), (510, 512), (511, 512), (5_000, 512)])
    def test_no_more_is_read_of_a_text_than_the_model_takes(self, letters: int, tokens: int) -> None:
        assert BertScore.cost([["가" * letters]], ["가" * letters]) == tokens

    def test_values_stand_in_the_order_of_the_pairs_and_equal_ones_are_computed_once(
        self, given: list[set[Pair]]
    ) -> None:
        metric = BertScore(store_with(bertscore=None))
        assert metric.score_pairs(["가", "나", "가"], ["다라", "마", "다라"]) == [2, 1, 2]
        assert given == [{("가", "다라"), ("나", "마")}]

    def test_the_end_is_told_once_when_all_is_computed(self, given: list[set[Pair]]) -> None:
        heard: Heard = []
        metric = BertScore(store_with(bertscore=None))
        metric.score_pairs(["가"] * 4, ["나"] * 4, lambda done, of: heard.append((done, of)))
        assert heard == [(1, 4), (2, 4), (3, 4), (4, 4)]
        assert len(given) == 1

    def test_without_pairs_nothing_is_asked_of_a_model(self, given: list[set[Pair]]) -> None:
        assert BertScore(SimpleNamespace()).score_pairs([], []) == []  # type: ignore[arg-type]  # it has no model
        assert given == []

    def test_each_side_of_a_pair_is_told_whether_it_was_cut(self) -> None:
        def cut(texts: Collection[str]) -> set[str]:
            return {text for text in texts if len(text) > 510}

        metric = BertScore(store_with(bertscore_tokenizer=SimpleNamespace(cut=cut)))
        assert metric.cut(["가", LONG, "가", LONG], ["나", "나", LONG, LONG]) == [
            Cut(False, False), Cut(reference=True, candidate=False), Cut(reference=False, candidate=True),
            Cut(True, True),
        ]  # fmt: skip

    def test_its_signature_says_that_it_is_plain_f1(self) -> None:
        """Papers give values with idf weights or rescaled by a baseline, which are other numbers."""
        signature = BertScore(store_with()).signature()
        assert (signature["value"], signature["idf"], signature["rescale"]) == ("f1", False, False)
        assert signature["weights_sha256"] == "that of bertscore"


class Scorer:
    """In the place of a BLEURT: of each pair the value is the length of the candidate."""

    def __init__(self) -> None:
        self.given: list[Sequence[Pair]] = []

    def score(self, pairs: Sequence[Pair], on_done: Callable[[int], None]) -> dict[Pair, float]:
        self.given.append(pairs)
        for done in range(1, len(pairs) + 1):
            on_done(done)
        return {pair: float(len(pair[1])) for pair in pairs}


class TestBleurt:
    @pytest.fixture
    def scorer(self) -> Scorer:
        return Scorer()

    @pytest.fixture
    def metric(self, scorer: Scorer) -> Bleurt:
        return Bleurt(store_with(bleurt=scorer))

    def test_each_pair_is_read_once_as_one_text_with_three_special_tokens(self) -> None:
        references = [["가나 다"], ["가나 다", "라"], ["가나 다"]]
        assert Bleurt.cost(references, ["마바", "마바", "마바"]) == (3 + 2 + 3) + (1 + 2 + 3)

    @pytest.mark.parametrize(("letters", "tokens"), [(408, 511), (409, 512), (410, 512), (5_000, 512)])
    def test_no_more_is_read_of_a_pair_than_the_model_takes(self, letters: int, tokens: int) -> None:
        assert Bleurt.cost([["가" * letters]], ["나" * 100]) == tokens

    def test_the_longest_pairs_come_first_in_whatever_order_they_are_given(
        self, metric: Bleurt, scorer: Scorer
    ) -> None:
        """A batch that the device has no memory for must fail at once, and a shuffled file score the same to the bit.

        Three pairs are of seven letters: these are in the order of their texts.
        """
        pairs = [("가", "나" * 9), ("나" * 2, "가" * 5), ("나" * 5, "가" * 2), ("나" * 6, "가"), ("가" * 3, "나" * 3)]
        for given in (pairs, pairs[::-1], sorted(pairs), [*pairs, *pairs]):
            references, candidates = zip(*given, strict=True)
            assert metric.score_pairs(references, candidates) == list(map(len, candidates))
        assert scorer.given == [pairs] * 4

    def test_progress_counts_equal_pairs_though_they_are_computed_once(self, metric: Bleurt, scorer: Scorer) -> None:
        heard: Heard = []
        metric.score_pairs(["가", "나", "다"] * 2, ["라"] * 6, lambda done, of: heard.append((done, of)))
        assert heard == [(2, 6), (4, 6), (6, 6)]
        assert len(scorer.given) == 1

    def test_without_pairs_nothing_is_asked_of_a_model(self) -> None:
        assert Bleurt(SimpleNamespace()).score_pairs([], []) == []  # type: ignore[arg-type]  # it has no model


class TestFluency:
    @pytest.fixture
    def store(self) -> Any:
        """Its model says of a text minus the number of its letters; a letter is a token."""

        def score(texts: Sequence[str], on_done: Callable[[int], None]) -> dict[str, float]:
            for done in range(1, len(set(texts)) + 1):
                on_done(done)
            return {text: -float(len(text)) for text in texts}

        tokenizer = SimpleNamespace(encode_all=lambda texts: [range(len(text) + 2) for text in texts])
        return SimpleNamespace(
            masked=SimpleNamespace(score=score),
            bertscore_tokenizer=tokenizer,
            text_limit=lambda role: {"bertscore": 512}[role],
            describe_model=lambda role: {"weights_sha256": f"that of {role}", "num_layers": 9},
        )

    def test_each_caption_is_read_once_for_each_of_its_pieces(self) -> None:
        assert Fluency.cost([[""]] * 3, ["가나 다", "라", "가나 다"]) == 3 * 5 + 1 * 3

    @pytest.mark.parametrize(("letters", "read"), [(125, 125), (126, 126), (127, 126), (5_000, 126)])
    def test_no_more_is_read_of_a_caption_than_128_tokens(self, letters: int, read: int) -> None:
        assert Fluency.cost([[""]], ["가" * letters]) == read * (read + 2)

    def test_values_stand_in_the_order_of_the_captions_whatever_the_references(self, store: Any) -> None:
        assert Fluency(store).score_pairs(["가", "나", ""], ["다라", "마", "다라"]) == [-2, -1, -2]

    def test_progress_counts_equal_captions_though_they_are_computed_once(self, store: Any) -> None:
        heard: Heard = []
        Fluency(store).score_pairs([""] * 3, ["다라", "마", "다라"], lambda done, of: heard.append((done, of)))
        assert heard == [(1, 3), (3, 3)]

    def test_without_captions_nothing_is_asked_of_a_model(self) -> None:
        assert Fluency(SimpleNamespace()).score_pairs([], []) == []  # type: ignore[arg-type]  # it has no model

    def test_a_caption_is_told_if_it_is_longer_than_is_read(self, store: Any) -> None:
        captions = ["가" * 126, "가" * 127, "가" * 126]
        assert Fluency(store).cut(captions[::-1], captions) == [Cut(False, False), Cut(False, True), Cut(False, False)]

    def test_a_model_that_reads_less_reads_less(self, store: Any) -> None:
        assert Fluency(store).max_length() == 128
        store.text_limit = {"bertscore": 64}.get
        assert Fluency(store).max_length() == 64
        assert Fluency(store).cut([""] * 2, ["가" * 62, "가" * 63]) == [Cut(False, False), Cut(False, True)]

    def test_its_signature_names_no_layer_as_all_count(self, store: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "scoring.models.masked", SimpleNamespace(VERSION=7))  # imports torch
        assert Fluency(store).signature() == {
            "metric": "fluency", "rule": "masked-pll@1", "version": 7, "weights_sha256": "that of bertscore",
            "max_length": 128,
        }  # fmt: skip

    @pytest.mark.parametrize(
        ("model", "has_head", "is_configured"), [("bert", True, True), ("bert", False, False), (None, True, False)]
    )
    def test_it_needs_a_model_with_a_head(self, model: str | None, has_head: bool, is_configured: bool) -> None:
        store: Any = SimpleNamespace(profile=SimpleNamespace(bertscore=model), has_masked_head=has_head)
        assert Fluency.is_configured(store, MetricOptions()) is is_configured
        assert not Fluency.is_configured(None, MetricOptions())
