"""What every metric has from its base class: its names, what it needs, the order of its values, and its scores."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from scoring.errors import Message
from scoring.metrics.base import CorpusMetric, LexicalMetric, Metric, MetricOptions, RemoteMetric, RowMetric, Summable

Heard = list[tuple[int, int]]


class Letters(LexicalMetric):
    """The letters of the candidate: a metric that declares nothing."""

    name = "letters"
    label = Message("글자", "Letters")
    rule = "letters@1"

    def parameters(self) -> dict[str, Any]:
        return {"of": "candidate"}

    def value(self, reference: Any, candidate: Any) -> float:
        return float(len(candidate))


class Words(Letters):
    """Its words: a metric that reads what no tokenizer of ours gives."""

    name = "words"
    card = "letters"
    score_names = ("words_1", "words_2")
    reads = "of a plug-in"


class Sizes(RowMetric):
    """Its letters, and those of all references."""

    name = "sizes"
    label = Message("크기", "Sizes")
    rule = "sizes@1"

    def row(self, references: Sequence[Any], candidate: Any) -> tuple[float, ...]:
        return float(len(candidate)), float(sum(map(len, references)))


class Remote(RemoteMetric):
    """A server that answers the last question first; a blank candidate is not asked about."""

    name = "remote"
    label = Message("원격", "Remote")
    rule = "remote@1"
    asked: tuple[Sequence[str], Sequence[str]] = ((), ())

    @classmethod
    def value_unasked(cls, reference: str, candidate: str) -> float | None:
        return None if candidate else 0.0

    def values(
        self, references: Sequence[str], candidates: Sequence[str], each_turn: Callable[[], None], turns: Any = None
    ) -> Iterator[tuple[int, float]]:
        self.asked = (references, candidates)
        each_turn()
        for place in reversed(range(len(candidates))):
            yield place, float(candidates[place])
            each_turn()


def listener(heard: Heard) -> Callable[[int, int], None]:
    return lambda done, total: heard.append((done, total))


# --- what it declares -------------------------------------------------------------------------------------------------
def test_a_metric_has_the_card_of_its_own_name_unless_it_names_one() -> None:
    class Named(Letters):
        name = "named"
        card = "of another"

    class Others(Named):
        name = "others"

    assert (Letters.card, Named.card, Others.card) == ("letters", "of another", "others")


def test_what_a_metric_does_not_declare_is_what_most_metrics_are() -> None:
    """A plug-in may name nothing but itself: its scores are means of values that rank by more."""
    kind: type[Metric] = Letters
    assert (kind.reads_whole, kind.needs_media, kind.needs_synonyms, kind.is_remote) == (False,) * 4
    assert (kind.is_cheap, kind.needs_corpus, kind.higher_is_better, kind.has_item_values) == (False, False, True, True)
    assert (Sizes.has_item_values, Sizes.is_resampled, Remote.is_remote) == (False, True, True)
    assert Remote.is_answer(0.0)


def test_its_card_and_its_scores_are_called_as_it_is_unless_it_names_them() -> None:
    assert (Letters.card, Letters.score_names) == ("letters", ("letters",))
    assert (Words.card, Words.score_names) == ("letters", ("words_1", "words_2"))
    assert (type("Again", (Words,), {}).score_names) == ("words_1", "words_2")
    assert (type("Other", (Words,), {"name": "other"}).score_names) == ("other",)


def test_what_no_class_takes_is_no_option_of_a_metric() -> None:
    with pytest.raises(TypeError):
        type("Odd", (Letters,), {}, colour="red")


def test_its_options_are_those_it_is_given() -> None:
    options = MetricOptions(media=Path("frames"))
    assert Letters(None, options).options is options
    assert Letters().options == MetricOptions()


@pytest.mark.parametrize(
    ("needs", "model", "media", "is_configured"),
    [
        ({}, None, None, True),
        ({"model": "clip"}, None, None, False),
        ({"model": "clip"}, "of the profile", None, True),
        ({"model": "clip", "needs_media": True}, "of the profile", None, False),
        ({"model": "clip", "needs_media": True}, "of the profile", "frames", True),
        ({"needs_media": True}, None, "frames", True),
    ],
)
def test_it_can_run_where_the_profile_has_its_model_and_there_are_its_frames(
    needs: dict[str, Any], model: str | None, media: str | None, is_configured: bool
) -> None:
    kind, store = type("Needy", (Letters,), needs), SimpleNamespace(profile=SimpleNamespace(clip=model))
    options = MetricOptions(media=None if media is None else Path(media))
    assert kind.is_configured(store, options) is is_configured  # type: ignore[attr-defined]


def test_without_models_none_is_configured() -> None:
    assert not type("Needy", (Letters,), {"model": "clip"}).is_configured(None, MetricOptions())  # type: ignore[attr-defined]
    assert Letters.is_configured(None, MetricOptions())


def test_its_signature_names_a_tokenizer_if_it_reads_tokens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scoring.metrics.base.tokenizer_signature", lambda name: f"that of {name}")
    assert Letters().signature() == {"metric": "letters", "rule": "letters@1", "of": "candidate"}
    assert Words().signature()["tokenizer"] == "that of of a plug-in"


def test_a_pair_costs_as_much_as_four_tokens_of_a_model() -> None:
    assert Letters.cost([["가"], ["나"], ["다"]], ["가", "나", "다"]) == 12


# --- its values -------------------------------------------------------------------------------------------------------
def test_it_reads_the_text_itself_or_the_tokens_of_the_run() -> None:
    assert Letters().score_pairs([""], ["가나 다"], tokenize=str.split) == [4.0]
    assert Words().score_pairs([""], ["가나 다"], tokenize=str.split) == [2.0]


def test_without_tokens_of_a_run_it_makes_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scoring.metrics.base.remembering", lambda name: list)
    assert Words().score_pairs([""], ["가나 다"]) == [4.0]


def test_values_and_rows_stand_in_the_order_of_the_items_and_each_is_told() -> None:
    heard: Heard = []
    assert Letters().score_pairs(["", ""], ["가", "나다"], listener(heard)) == [1.0, 2.0]
    assert Sizes().statistics(["b", "a"], [["가", "나"], ["다"]], ["라마", ""], listener(heard)) == [(2, 2), (0, 1)]
    assert heard == [(1, 2), (2, 2)] * 2
    assert Sizes().statistics(["a"], [["가"]], ["나"]) == [(1, 1)]


def test_only_what_has_no_value_is_asked_and_each_answer_is_told() -> None:
    metric, heard = Remote(), list[tuple[int, int]]()
    assert metric.score_pairs(["가", "나", "다"], ["0.2", "", "0.4"], listener(heard)) == [0.2, 0.0, 0.4]
    assert metric.asked == (["가", "다"], ["0.2", "0.4"])
    assert heard == [(1, 3), (2, 3), (3, 3)]
    assert metric.score_pairs(["가"], ["0.6"]) == [0.6]


# --- its scores -------------------------------------------------------------------------------------------------------
def test_a_score_is_the_exact_mean_of_the_values_and_0_without_any() -> None:
    rows = [(0.1,)] * 10
    assert Letters.sums(rows) == [1.0, 10]
    assert Letters.aggregate(rows) == {"letters": 0.1}
    assert Words.aggregate([(3.0,), (4.0,)]) == {"words_1": 3.5}
    assert Words.aggregate([]) == {"words_1": 0.0, "words_2": 0.0}


def test_rows_that_are_no_values_are_summed_by_column() -> None:
    rows = [(1.0, 2.0), (3.0, 5.0)]
    assert Sizes.sums(rows) == [4.0, 7.0]
    assert Sizes.summable(rows, rows[:1]) == Summable((rows, rows[:1]))
    assert issubclass(Sizes, CorpusMetric)
