"""A store of pair values: what it knows is not computed again, and nothing it does can change a score."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from scoring.engine import score
from scoring.metrics import load_metric
from scoring.recipes import Layout, Pairs, get_recipe
from scoring.report import report_as_json
from scoring.running.pair_values import Pair
from scoring.running.run import run_metrics
from tests.scoring.fakes import STORE, FakeNeural
from tests.scoring.memory_store import MemoryPairValues
from tests.scoring.texts import answer_file

ITEMS = 40
REFERENCES = answer_file([(str(n), f"답{n}이 옳다. 규범에 따라 {n}번을 적는다.") for n in range(ITEMS)])

RAG = get_recipe("rag-qa@1")


@pytest.fixture(autouse=True)
def _nothing_asked_yet(fake_models: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FakeNeural, "asked", [])


def file_with(*, changed: int = 0, mark: str = "다시") -> Any:
    """A file of ``ITEMS`` answers, the first ``changed`` of them other than in the file without."""
    return answer_file([(str(n), f"답{n}이 옳다. {mark if n < changed else '처음'} 쓴 이유 {n}") for n in range(ITEMS)])


def report_of(predictions: Any, **options: Any) -> Any:
    return score("rag-qa@1", REFERENCES, predictions, store=STORE, **options)


def asked() -> dict[str, int]:
    """How many pairs each neural metric was asked since the last time."""
    counts = {name: sum(each[0] == name for each in FakeNeural.asked) for name in ("bleurt", "bertscore")}
    FakeNeural.asked.clear()
    return counts


def test_ten_changed_answers_cost_ten_pairs_and_the_scores_are_those_of_computing_all():
    store = MemoryPairValues()
    report_of(file_with(), pair_values=store)
    assert asked() == {"bleurt": ITEMS, "bertscore": ITEMS}
    again = report_of(file_with(changed=10), pair_values=store)
    assert asked() == {"bleurt": 10, "bertscore": 10}
    assert report_as_json(again) == report_as_json(report_of(file_with(changed=10)))


def test_values_of_another_metric_or_of_another_signature_are_not_taken(monkeypatch):
    store = MemoryPairValues()
    report_of(file_with(), pair_values=store)
    asked()
    monkeypatch.setattr(FakeNeural, "version", 2)
    report_of(file_with(), pair_values=store)
    assert asked() == {"bleurt": ITEMS, "bertscore": ITEMS}


def test_item_values_that_are_known_come_before_the_store():
    class Deaf(MemoryPairValues):
        def get(self, metric: str, signature: str, pairs: Sequence[Pair]) -> dict[Pair, float]:
            raise AssertionError(f"{metric} asks for {len(pairs)} pairs")

    first = report_of(file_with())
    known = {
        (metric, signature): {item.id: item.scores[RAG.score_name(metric)] for item in first.items}
        for metric, signature in first.metric_signatures.items()
    }
    assert report_of(file_with(), known=known, pair_values=Deaf()).scores == first.scores


def test_what_is_no_number_is_not_believed_and_computed():
    class Evil(MemoryPairValues):
        def get(self, metric: str, signature: str, pairs: Sequence[Pair]) -> dict[Pair, float]:
            return {pair: float("nan" if n % 2 else "inf") for n, pair in enumerate(pairs)} | {("x", "y"): 7.0}

    evil = report_of(file_with(), pair_values=Evil())
    assert asked() == {"bleurt": ITEMS, "bertscore": ITEMS}
    assert evil.scores == report_of(file_with()).scores


@pytest.mark.parametrize("broken", [float("nan"), float("inf"), float("-inf")])
def test_an_item_value_that_is_no_number_is_not_believed_and_computed(broken):
    first = report_of(file_with())
    asked()
    known = {
        (metric, signature): {item.id: item.scores[RAG.score_name(metric)] for item in first.items} | {"3": broken}
        for metric, signature in first.metric_signatures.items()
    }
    again = report_of(file_with(), known=known)
    assert asked() == {"bleurt": 1, "bertscore": 1}
    assert report_as_json(again) == report_as_json(first)


def test_rows_of_statistics_with_a_number_that_is_none_are_made_again():
    pairs = Pairs(("a", "b"), (("고양이가 잔다",), ("개가 달린다",)), ("고양이가 잔다", "개가 뛴다"))
    metric, prepared = load_metric("chrf"), Layout(pairs.ids, {"chrf": pairs})
    first = run_metrics({"chrf": metric}, prepared, {"chrf": "s"}, known={})
    rows = first.rows["chrf"]
    broken = {**rows, "b": (float("nan"), *rows["b"][1:])}
    assert run_metrics({"chrf": metric}, prepared, {"chrf": "s"}, known={("chrf", "s"): broken}) == first


def test_the_store_is_used_from_the_thread_that_scores_alone():
    import threading

    threads: list[tuple[str, str]] = []

    class Watched(MemoryPairValues):
        def get(self, metric: str, signature: str, pairs: Sequence[Pair]) -> dict[Pair, float]:
            threads.append((metric, threading.current_thread().name))
            return super().get(metric, signature, pairs)

        def put(self, metric: str, signature: str, values: Mapping[Pair, float]) -> None:
            threads.append((metric, threading.current_thread().name))
            super().put(metric, signature, values)

    report_of(file_with(), pair_values=Watched())
    assert [metric for metric, _ in threads] == ["bleurt", "bertscore", "rouge1_mecab"] * 2  # EM is cheaper than asking
    assert {name for _, name in threads} == {threading.current_thread().name}
