"""글쓰기 채점 능력 평가 (AI 말평 2026): a model reads an argumentative essay and returns three scores with reasons.

The organisers rank by RMSE (45), Spearman (45) and an LLM judge (10), each as a rank among all teams; the rule by which
an answer is read and rounded is in ``scoring.text.essays``. A single file has no composite: its final score is a form
of the RMSE.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from scoring.composite import Component
from scoring.errors import Message, quoted
from scoring.figures import Figure, at_most
from scoring.metrics.essay_agreement import root_mean_square
from scoring.metrics.essay_rank import spearman
from scoring.recipes.base import (
    NO_SCORES,
    Aggregate,
    Column,
    ItemValues,
    Layout,
    Pairs,
    Recipe,
    align,
    common_warnings,
    pair_up,
)
from scoring.recipes.columns import reference_column
from scoring.records import Item, Items, ScoreWarning
from scoring.text.essays import HIGHEST, RULE, TRAITS, Traits, answer_of, predicted_average, text_of

NAMED_ITEMS: Final = 5
NOTHING_PARSED: Final = "nothing_parsed"  # the warning of a file without an answer that could be read
MAX_PROMPTS: Final = 30  # with more, or with longer names, prompts are no groups
MAX_PROMPT_CHARS: Final = 40
MIN_ESSAYS: Final = 5  # of a prompt: the error of a single essay would tell its reference
ROUNDING: Final = 0.05  # of an average that is the mean of its traits; the published ones are within 0.007

_PER_PROMPT: Final = (("rmse", "RMSE"), ("spearman", "Spearman"))
JUDGE: Final = "llm_judge"
JUDGED: Final = "essay-rationales@1"  # name and version of what a judge is shown
_METRICS: Final = ("essay_error", "essay_rank", "essay_agreement", "essay_rationales")


@dataclass(frozen=True)
class EssayScoring(Recipe):
    """Final = 1 - RMSE / 5, at least 0: a single file has no composite."""

    def input_rule(self, metric: str) -> str:
        return JUDGED if metric == JUDGE else RULE

    def prepare(self, references: Items, predictions: Items) -> Layout:
        items = align(references, predictions)
        answers = {given.id: answer_of(given.text) for _, given in items}
        pairs = pair_up((known.id, known.text, text_of(answers[known.id])) for known, _ in items)
        failed = [item for item, answer in answers.items() if answer is None]
        return Layout(
            item_ids=pairs.ids,
            pairs={**dict.fromkeys(self.metrics, pairs), JUDGE: judged_pairs(items, answers)},
            coverage={"items": len(items), "answered": len(items) - len(failed)},
            warnings=(*self.file_warnings(references, predictions), *common_warnings(predictions)),
        )

    def file_warnings(self, references: Items | None, predictions: Items | None) -> list[ScoreWarning]:
        given = () if predictions is None else predictions.items
        failed = [item.id for item in given if answer_of(item.text) is None]
        return [*_failures(failed, len(given)), *_averages(() if references is None else references.items)]

    def final_scores(self, means: Mapping[str, Figure]) -> dict[str, Figure]:
        return {"final_score": 1 - at_most(means["rmse"] / HIGHEST, 1.0), **means}

    def aggregate(
        self, layout: Layout, values: Mapping[str, ItemValues], corpus: Mapping[str, float] = NO_SCORES
    ) -> Aggregate:
        """With the scores of each prompt, which have no columns: ``rmse_prompt_<prompt_num>`` and so on."""
        found = super().aggregate(layout, values, corpus)
        return replace(found, scores={**found.scores, **prompt_scores(layout.pairs[self.metrics[0]])})

    def further_columns(self, scores: Mapping[str, float]) -> tuple[Column, ...]:
        return tuple(
            _beside(_plain(key, f"{label}({prompt})", f"{label} ({prompt})", lower=name == "rmse"))
            for name, label in _PER_PROMPT
            for key in scores
            if (prompt := key.removeprefix(f"{name}_prompt_")) != key
        )


def judged_pairs(items: Iterable[tuple[Item, Item]], answers: Mapping[str, Traits | None]) -> Pairs:
    """What an LLM judge reads of each item: the task and the essay, and the reasons given by trait.

    It reads no score, neither those of people nor those of the answer. An answer without a reason has an empty text.
    """
    return pair_up((known.id, _task_of(known), _reasons_of(answers[known.id])) for known, _ in items)


def _task_of(reference: Item) -> str:
    """The writing task, where the references have it, and the essay; none in a predictions file that is checked without
    references, where it takes their place.
    """
    known = json.loads(reference.text)
    task, essay = reference.input.get("prompt"), known.get("essay", "") if isinstance(known, dict) else ""
    return f"[과제]\n{task}\n\n[글]\n{essay}" if task else f"[글]\n{essay}"


def _reasons_of(traits: Traits | None) -> str:
    given = {} if traits is None else {name: traits[name].rationale.strip() for name in TRAITS}
    lines = [f"{_TRAIT_NAMES[name][0]}: {reason}" for name, reason in given.items() if reason]
    return "\n\n".join(lines)


def prompt_scores(pairs: Pairs) -> dict[str, float]:
    """RMSE and Spearman of the essays of each ``prompt_num``, in its order, of those with ``MIN_ESSAYS``.

    None for more than ``MAX_PROMPTS`` prompts.
    """
    groups: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for texts, candidate in zip(pairs.references, pairs.candidates, strict=True):
        known = json.loads(texts[0])
        if "prompt_num" in known:
            groups[known["prompt_num"]].append((known["average"], predicted_average(answer_of(candidate))))
    if len(groups) > MAX_PROMPTS or any(len(prompt) > MAX_PROMPT_CHARS for prompt in groups):
        return {}
    found: dict[str, float] = {}
    for prompt in sorted(groups, key=lambda name: (len(name), name)):
        if len(groups[prompt]) < MIN_ESSAYS:
            continue
        averages, predicted = ([row[side] for row in groups[prompt]] for side in (0, 1))
        errors = [b - a for a, b in groups[prompt]]
        found |= {f"rmse_prompt_{prompt}": root_mean_square(errors)}
        found |= {f"spearman_prompt_{prompt}": spearman(averages, predicted)}
    return found


def _failures(items: Sequence[str], total: int) -> list[ScoreWarning]:
    """The warning that names answers, of ``total``, which could not be read."""
    if not items:
        return []
    named = ", ".join(map(quoted, items[:NAMED_ITEMS])) + (" …" if len(items) > NAMED_ITEMS else "")
    code = NOTHING_PARSED if len(items) == total else "parse_failed"
    return [ScoreWarning(code, {"count": len(items), "items": named})]


def _averages(references: Iterable[Item]) -> list[ScoreWarning]:
    """The warning of references whose average is not that of their traits."""
    known = [scores for item in references if "average" in (scores := json.loads(item.text))]
    far = sum(abs(sum(each[name] for name in TRAITS) / len(TRAITS) - each["average"]) > ROUNDING for each in known)
    return [ScoreWarning("averages_differ", {"count": far})] if far else []


def _plain(key: str, korean: str, english: str, *, lower: bool = False, decimals: int | None = None) -> Column:
    return Column(key, Message(korean, english), is_scaled=False, higher_is_better=not lower, decimals=decimals)


def _beside(column: Column) -> Column:
    return replace(column, group="reference")


_TRAIT_NAMES: Final = {
    "content": ("내용", "content"),
    "organization": ("조직", "organization"),
    "expression": ("표현", "expression"),
}
_OF_TRAITS: Final = tuple(
    _beside(_plain(f"{score}_{trait}", f"{label}({korean})", f"{label} ({english})", lower=score == "rmse"))
    for score, label in (("rmse", "RMSE"), ("spearman", "Spearman"), ("kappa", "QWK"))
    for trait, (korean, english) in _TRAIT_NAMES.items()
)

RECIPES: Final = (
    EssayScoring(
        id="essay-scoring@1",
        name=Message("글쓰기 채점", "Essay scoring"),
        metrics=_METRICS,
        columns=(
            Column("final_score", Message("1 − RMSE/5", "1 − RMSE/5"), is_main=True),
            _plain("rmse", "RMSE(낮을수록 좋음)", "RMSE (lower is better)", lower=True),
            _plain("spearman", "Spearman", "Spearman"),
            _plain("parse_failures", "읽지 못한 답", "Parse failures", lower=True, decimals=0),
            Column(JUDGE, Message("LLM 심사", "LLM judge")),
            *_OF_TRAITS,
            _beside(_plain("mae", "MAE", "MAE", lower=True)),
            _beside(_plain("kappa", "QWK(평균)", "QWK (average)")),
            reference_column("bias", "치우침", "Bias", is_scaled=False, has_direction=False),
            reference_column("integer_share", "정수 점수 비율", "Integer scores", has_direction=False),
            reference_column(
                "rationale_length", "근거 길이(자)", "Rationale length", is_scaled=False, has_direction=False
            ),
            reference_column("rationale_quotes", "글을 인용한 근거", "Rationales that quote", has_direction=False),
            reference_column("rationale_hangul", "근거의 한글 비율", "Hangul in rationales", has_direction=False),
        ),
        tie_breaks=("spearman",),
        question_types=(),
        rule_text=Message(
            "한 파일의 점수 = 1 − RMSE ÷ 5(0보다 작으면 0). 영역(내용, 조직, 표현)마다 점수를 floor(x + 0.5)로 "
            "반올림하고 셋을 평균한 값이 예측이며, 정답은 자료의 average 그대로입니다. 읽지 못한 답은 예측값 0으로 "
            "평균에 남습니다. 팀의 순위를 정하는 종합 점수는 다른 팀이 있어야 정해지므로 파일 하나에는 없습니다.",
            "Score of one file = 1 − RMSE / 5, at least 0. Each trait (content, organization, expression) is rounded "
            "as floor(x + 0.5), the prediction is the mean of the three, the reference is the average as it stands in "
            "the data. An answer that cannot be read is the prediction 0 and stays in the mean. Teams are ordered by a "
            "composite of ranks, which needs other teams: a single file has none.",
        ),
        answer_form="essays",
        optional_metrics=(JUDGE,),
        composite=(
            Component("rmse", 45, higher_is_better=False),
            Component("spearman", 45),
            Component("llm_judge", 10),
        ),
    ),
)
