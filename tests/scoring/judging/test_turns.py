"""Scorings that hold the same pair at once: the store is read again before a question, and the first value holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from scoring.judging import asking
from scoring.judging.budget import Limits, MemoryLedger, Reservation, Usage
from scoring.judging.demo import DemoJudge
from scoring.judging.errors import JudgeBudgetSpent, JudgeUnreachable
from scoring.metrics import MetricOptions
from scoring.running.pair_values import Pair
from tests.scoring.judging.test_asking import ITEMS, PREDICTIONS, report_of, values_of
from tests.scoring.judging.toys import demo_judge, profile_for
from tests.scoring.memory_store import MemoryPairValues
from tests.scoring.texts import answer_file


class Shared(MemoryPairValues):
    """A store with turns, at which another scoring is asking about ``others`` and answers with 0.2 in its time."""

    def __init__(self, others: int = 0, looks: int = 2) -> None:
        super().__init__()
        self.taken: set[Pair] = set()
        self.given_back: list[Pair] = []
        self.refused: dict[Pair, int] = {}
        self._others, self._looks = others, looks

    def take(self, metric: str, signature: str, pairs: Sequence[Pair], seconds: float) -> set[Pair]:
        assert seconds >= asking.LONGEST_PAUSE
        free = set()
        for pair in pairs:
            if pair in self.refused or len(self.refused) < self._others:
                self.refused[pair] = self.refused.get(pair, 0) + 1
                if self.refused[pair] > self._looks:
                    super().put(metric, signature, {pair: 0.2})
            else:
                free.add(pair)
        self.taken |= free
        return free

    def give_back(self, metric: str, signature: str, pairs: Sequence[Pair]) -> None:
        self.given_back += pairs
        self.taken -= set(pairs)


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "WAIT_SECONDS", 0.05)


def test_what_another_scoring_is_asking_is_waited_for_and_taken_over(judged: Path, server: DemoJudge) -> None:
    alone = values_of(report_of(judged))
    asked = server.stats.asked.total()
    store = Shared(others=7)
    values = values_of(report_of(judged, pair_values=store))
    assert server.stats.asked.total() - asked == ITEMS - 7
    assert sorted(store.refused.values()) == [3] * 7
    theirs = {text for _reference, text in store.refused}
    for item in PREDICTIONS.items:
        assert values[item.id] == (0.2 if item.text in theirs else alone[item.id])
    assert not store.given_back


def test_an_asker_that_gives_up_leaves_its_questions_to_the_others(judged: Path, server: DemoJudge) -> None:
    """Whoever waited asks itself as soon as it is its turn."""

    class Freed(Shared):
        def take(self, metric: str, signature: str, pairs: Sequence[Pair], seconds: float) -> set[Pair]:
            if sum(self.refused.values()) >= 10:
                self._others, self.refused = 0, {}
            return super().take(metric, signature, pairs, seconds)

    report_of(judged, pair_values=Freed(others=5, looks=10**6))
    assert sorted(server.stats.answered.values()) == [1] * ITEMS


def test_a_value_that_came_since_the_task_was_built_is_not_asked_for(judged: Path, server: DemoJudge) -> None:
    """Read again before each question, also in a store without turns."""

    class Late(MemoryPairValues):
        looks = 0

        def get(self, metric: str, signature: str, pairs: Sequence[Pair]) -> dict[Pair, float]:
            self.looks += 1
            if self.looks > 1:
                self.put(metric, signature, {pair: 0.4 for pair in pairs if pair[1].endswith("1")})
            return super().get(metric, signature, pairs)

    values = values_of(report_of(judged, pair_values=Late()))
    late = [item.id for item in PREDICTIONS.items if item.text.endswith("1")]
    assert len(late) == 3
    assert [values[item] for item in late] == [0.4] * 3
    assert server.stats.asked.total() == ITEMS - 3


def test_where_two_have_an_answer_both_use_the_first_that_was_stored(judged: Path) -> None:
    class FirstHolds(MemoryPairValues):
        def put(self, metric: str, signature: str, values: Mapping[Pair, float]) -> None:
            known = self.get(metric, signature, list(values))
            super().put(metric, signature, {pair: known.get(pair, 0.2) for pair in values})  # another one's 0.2

    store = FirstHolds()
    first = report_of(judged, pair_values=store)
    assert set(values_of(first).values()) == {0.2}
    assert values_of(report_of(judged, pair_values=store)) == values_of(first)
    assert first.scores["llm_judge"] == pytest.approx(0.2)


def test_an_outage_gives_back_what_was_taken_and_has_no_value(tmp_path: Path) -> None:
    store = Shared()
    with demo_judge(faults=("error",), rate=0.3, most=99, seed=4) as server:
        with pytest.raises(JudgeUnreachable):
            report_of(profile_for(tmp_path / "p.toml", server.url, retries=0), pair_values=store)
        assert 0 < len(store) == len(server.stats.answered) < ITEMS
    assert len(store.taken) == len(store)  # those with a value
    assert store.given_back
    assert len(store.given_back) == len(set(store.given_back))


def test_a_spent_budget_gives_back_what_was_taken(judged: Path, server: DemoJudge) -> None:
    class Small(MemoryLedger):
        def reserve(self, limits: Limits, tokens: int) -> Reservation | None:
            return super().reserve(Limits(requests=5), tokens)

    store, ledger = Shared(), Small()
    with pytest.raises(JudgeBudgetSpent):
        report_of(judged, pair_values=store, options=MetricOptions(ledger=ledger))
    assert (server.stats.asked.total(), len(store), len(store.taken)) == (5, 5, 5)
    assert ledger.usage() == Usage(5, server.stats.tokens)


def test_a_blank_text_is_neither_asked_about_nor_stored(judged: Path, server: DemoJudge) -> None:
    store: Any = Shared()
    blank = answer_file(
        [(item.id, " \n" if number < 3 else item.text) for number, item in enumerate(PREDICTIONS.items)]
    )
    report = report_of(judged, blank, pair_values=store)
    assert [values_of(report)[f"e{number}"] for number in range(3)] == [0.0] * 3
    assert server.stats.asked.total() == len(store) == len(store.taken) == ITEMS - 3
    assert not [each for each in report.warnings if each.code == "llm_judge_unparsable"]
