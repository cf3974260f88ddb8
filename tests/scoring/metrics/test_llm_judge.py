"""The scores of an LLM judge, with one that answers at once: what is asked, what an answer is worth, what is told."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from scoring.judging.budget import MemoryLedger
from scoring.judging.parsing import Judgement
from scoring.metrics.base import MetricOptions
from scoring.metrics.llm_judge import JudgeFaithfulness, JudgeFluency, JudgeMetric, LlmJudge
from scoring.recipes.base import Layout, Pairs
from scoring.records import ScoreWarning

KINDS = (LlmJudge, JudgeFluency, JudgeFaithfulness)
LIMIT = 10


class Judge:
    """Says 4 of a candidate with a full stop, and of others what cannot be parsed. It reads ten characters."""

    spec = SimpleNamespace(max_chars=LIMIT)

    def __init__(self, roles: Sequence[str] = ("reference", "candidate")) -> None:
        self.roles = roles
        self.asked: list[Mapping[str, str]] = []
        self.ledgers: list[Any] = []

    def prompt(self, metric: str, built_in: str) -> Any:
        return SimpleNamespace(roles=self.roles, id=built_in)

    def describe(self, prompt: Any) -> dict[str, Any]:
        return {"prompt": prompt.id}

    def is_cut(self, text: str) -> bool:
        return len(text) > LIMIT

    def ask(
        self,
        prompt: Any,
        questions: Sequence[Mapping[str, str]],
        *,
        ledger: Any,
        tally: Any,
        each_turn: Any,
        turns: Any,
    ) -> Iterator[tuple[int, Judgement | None]]:
        self.asked += questions
        self.ledgers.append(ledger)
        for place in reversed(range(len(questions))):
            tally.requests += 1
            each_turn()
            yield place, Judgement(4, "이유") if "." in questions[place]["candidate"] else None


def metric_of(judge: Judge, kind: type[JudgeMetric] = LlmJudge, options: MetricOptions | None = None) -> JudgeMetric:
    return kind(SimpleNamespace(judge=judge), options)  # type: ignore[arg-type]


def told(judge: Judge, references: Sequence[Sequence[str]], candidates: Sequence[str], *values: float) -> Any:
    ids = [f"q{number}" for number in range(len(candidates))]
    return metric_of(judge).pair_warnings(ids, references, candidates, dict(zip(ids, values, strict=True)))


# --- values -----------------------------------------------------------------------------------------------------------
def test_a_value_is_a_fifth_of_the_score_and_0_where_there_is_none() -> None:
    judge = Judge()
    heard: list[tuple[int, int]] = []
    metric = metric_of(judge)
    values = metric.score_pairs(["가", "나", "다"], ["좋다.", " ", "글쎄"], lambda done, of: heard.append((done, of)))
    assert values == [0.8, 0.0, 0.0]
    assert judge.asked == [{"reference": "가", "candidate": "좋다."}, {"reference": "다", "candidate": "글쎄"}]
    assert metric.about()["requests"] == 2
    assert heard == [(1, 3), (2, 3)]


def test_a_blank_candidate_is_0_unasked_and_0_is_no_answer() -> None:
    assert (LlmJudge.value_unasked("가", " \n"), LlmJudge.value_unasked("가", "나")) == (0.0, None)
    assert [LlmJudge.is_answer(value) for value in (0.0, 0.2, 1.0)] == [False, True, True]


def test_requests_are_counted_in_the_ledger_it_is_given_or_in_its_own() -> None:
    judge, ledger = Judge(), MemoryLedger()
    metric_of(judge, options=MetricOptions(ledger=ledger)).score_pairs(["가"], ["나"])
    assert judge.ledgers == [ledger]
    metric_of(judge).score_pairs(["가"], ["나"])
    assert isinstance(judge.ledgers[1], MemoryLedger)
    assert judge.ledgers[1] is not ledger


@pytest.mark.parametrize("kind", KINDS)
def test_a_long_text_is_the_judges_to_cut(kind: type[JudgeMetric]) -> None:
    pairs = Pairs(("a",), (("가" * 12_000,),), ("나" * 12_000,))
    assert Layout(pairs.ids, {kind.name: pairs}).pairs[kind.name] is pairs


@pytest.mark.parametrize(
    ("kind", "rule", "prompt"),
    [
        (LlmJudge, "llm-judge@1", "rationale-1"),
        (JudgeFluency, "judge-fluency@1", "fluency-1"),
        (JudgeFaithfulness, "judge-faithfulness@1", "faithfulness-1"),
    ],
)
def test_the_signature_names_rule_scale_and_prompt(kind: type[JudgeMetric], rule: str, prompt: str) -> None:
    assert metric_of(Judge(), kind).signature() == {
        "metric": kind.name,
        "rule": rule,
        "scale": "score / 5; unparsable: 0",
        "prompt": prompt,
    }


# --- warnings ---------------------------------------------------------------------------------------------------------
def test_answers_that_could_not_be_parsed_are_named_and_blank_candidates_are_not() -> None:
    found = told(Judge(), [["가"]] * 4, ["글쎄", "좋다.", " ", "음"], 0.0, 0.8, 0.0, 0.0)
    assert found == [ScoreWarning("llm_judge_unparsable", {"count": 2, "items": "q0, q3"})]
    assert told(Judge(), [["가"]], ["좋다."], 1.0) == []


@pytest.mark.parametrize(("count", "end"), [(20, "q18, q19"), (21, "q18, q19 …")])
def test_no_more_than_twenty_are_named(count: int, end: str) -> None:
    [warning] = told(Judge(), [["가"]] * count, ["글쎄"] * count, *[0.0] * count)
    assert warning.params["count"] == count
    assert warning.params["items"].endswith(end)


def test_texts_that_the_judge_saw_in_part_are_counted_on_both_sides() -> None:
    long = "가" * (LIMIT + 1)
    references, candidates = [["나", long], ["나"], [long], ["나"]], ["나.", "나.", "나.", long]
    answers, sources = told(Judge(), references, candidates, 0.8, 0.8, 0.8, 0.8)
    assert answers == ScoreWarning("llm_judge_truncated", {"count": 1, "limit": LIMIT})
    assert sources == ScoreWarning("llm_judge_source_truncated", {"count": 2, "limit": LIMIT})


def test_a_source_that_is_not_sent_is_not_told() -> None:
    assert told(Judge(roles=("candidate",)), [["가" * 99]], ["좋다."], 0.8) == []
