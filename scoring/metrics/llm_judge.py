"""Scores that an LLM gives by a rubric: rationale quality, fluency and faithfulness.

The judge of the profile reads a versioned prompt and the fenced texts of an item, and answers with a whole number from
1 to 5 by a JSON schema (``scoring.judging``). The value is a fifth of it: 0.2, 0.4, 0.6, 0.8 or 1. An answer that stays
unparsable after two more tries has the value 0, as a parse failure has in the contest's own rule; its items are named
in a warning. 0 therefore never means a judgement, and another scoring asks for such an item again: what a store
keeps of it, it keeps for the same scoring only (``is_answer``). A blank candidate is not sent, and has 0 as well. What
is no answer of the protocol, or none at all, is no value but an outage (``scoring.judging.asking``).

The contest's judge and its prompt are not published: these values are no reproduction of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Final

from scoring.errors import Message, quoted
from scoring.judging.asking import Tally, TurnsOf
from scoring.judging.budget import MemoryLedger
from scoring.judging.judge import value_of
from scoring.metrics.base import MetricOptions, RemoteMetric
from scoring.models.profile import JUDGE
from scoring.models.store import ModelStore, require
from scoring.records import ScoreWarning

VERSION: Final = 1  # raised whenever a change here could change a value
NAMED_ITEMS: Final = 20  # in a warning

_NOT_CONFIGURED: Final = Message(
    "프로필에 심사 모델([judge])이 없어 LLM 심사 점수를 계산하지 않았습니다. 다른 점수에는 영향이 없습니다.",
    "Scores by an LLM judge were not computed: the profile has no [judge]. The other scores are not affected.",
)
_UNPARSABLE: Final = Message(
    "심사 모델의 답을 해석할 수 없어 0점으로 둔 문항이 {count}개 있습니다: {items}. 평균에 그대로 들어갑니다.",
    "The judge's answers for {count} items could not be parsed; they count as 0 in the mean: {items}.",
)
_TRUNCATED: Final = Message(
    "글이 길어 심사 모델이 앞부분 {limit}자만 읽은 문항이 {count}개 있습니다.",
    "The judge read only the first {limit} characters of the texts of {count} items.",
)
_SOURCE_TRUNCATED: Final = Message(
    "과제나 원자료가 길어 심사 모델이 그 앞부분 {limit}자만 읽은 문항이 {count}개 있습니다.",
    "The judge read only the first {limit} characters of the task or source of {count} items.",
)


class JudgeMetric(RemoteMetric):
    """A score by the judge of the profile; the server is first asked when the signature is made."""

    group = "meaning"
    model = JUDGE
    reads_whole = True  # ``max_chars`` of the profile limits what is sent
    built_in_prompt: ClassVar[str]  # with its version; ``[judge.prompts]`` of a profile may name another

    def __init__(self, store: ModelStore | None = None, options: MetricOptions | None = None) -> None:
        super().__init__(store, options)
        self._judge = require(store, self.name).judge
        self._prompt = self._judge.prompt(self.name, self.built_in_prompt)
        self._ledger = self.options.ledger or MemoryLedger()
        self._tally = Tally()

    def parameters(self) -> dict[str, Any]:
        return {"scale": "score / 5; unparsable: 0", **self._judge.describe(self._prompt)}

    @classmethod
    def is_answer(cls, value: float) -> bool:
        return value > 0.0

    @classmethod
    def value_unasked(cls, reference: str, candidate: str) -> float | None:
        return None if candidate.strip() else 0.0

    def values(
        self,
        references: Sequence[str],
        candidates: Sequence[str],
        each_turn: Callable[[], None],
        turns: TurnsOf | None = None,
    ) -> Iterator[tuple[int, float]]:
        """Each value as the judge answers. Raises the errors of ``scoring.judging``."""
        questions = [
            {"reference": texts[0], "candidate": texts[1]} for texts in zip(references, candidates, strict=True)
        ]
        answers = self._judge.ask(
            self._prompt, questions, ledger=self._ledger, tally=self._tally, each_turn=each_turn, turns=turns
        )
        yield from ((place, value_of(judgement)) for place, judgement in answers)

    def pair_warnings(
        self,
        ids: Sequence[str],
        references: Sequence[Sequence[str]],
        candidates: Sequence[str],
        values: Mapping[str, float],
    ) -> list[ScoreWarning]:
        """Which answers of the judge could not be parsed, and how many texts it saw only in part."""
        given = dict(zip(ids, candidates, strict=True))
        failed = [item for item, text in given.items() if text.strip() and values[item] == 0.0]
        sources = references if "reference" in self._prompt.roles else ()
        cut = {
            "truncated": sum(self._judge.is_cut(text) for text in given.values()),
            "source_truncated": sum(any(map(self._judge.is_cut, of_item)) for of_item in sources),
        }
        named = ", ".join(map(quoted, failed[:NAMED_ITEMS])) + (" …" if len(failed) > NAMED_ITEMS else "")
        warnings = [ScoreWarning(f"{self.name}_unparsable", {"count": len(failed), "items": named})] if failed else []
        limit = self._judge.spec.max_chars
        counted = [(f"{self.name}_{what}", count) for what, count in cut.items() if count]
        return [*warnings, *(ScoreWarning(code, {"count": count, "limit": limit}) for code, count in counted)]

    def about(self) -> dict[str, Any]:
        """Requests, tokens and repetitions of this computation."""
        return self._tally.as_dict()


def _texts_of(name: str) -> dict[str, Message]:
    return {
        f"{name}_not_configured": _NOT_CONFIGURED,
        f"{name}_unparsable": _UNPARSABLE,
        f"{name}_truncated": _TRUNCATED,
        f"{name}_source_truncated": _SOURCE_TRUNCATED,
    }


class LlmJudge(JudgeMetric):
    """Quality of rationales: the reference is the task and the essay, the candidate the reasons given for scores."""

    name = "llm_judge"
    label = Message("LLM 심사", "LLM judge")
    rule = f"llm-judge@{VERSION}"
    built_in_prompt = "rationale-1"
    not_configured = "llm_judge_not_configured"
    warning_texts = _texts_of(name)


class JudgeFluency(JudgeMetric):
    """Whether the sentences of the candidate are natural; the reference is not sent."""

    name = "judge_fluency"
    label = Message("유창성(LLM 심사)", "Fluency (LLM judge)")
    rule = f"judge-fluency@{VERSION}"
    built_in_prompt = "fluency-1"
    not_configured = "judge_fluency_not_configured"
    warning_texts = _texts_of(name)


class JudgeFaithfulness(JudgeMetric):
    """How faithful the candidate is to the source, which is the reference."""

    name = "judge_faithfulness"
    label = Message("충실성(LLM 심사)", "Faithfulness (LLM judge)")
    rule = f"judge-faithfulness@{VERSION}"
    built_in_prompt = "faithfulness-1"
    not_configured = "judge_faithfulness_not_configured"
    warning_texts = _texts_of(name)
