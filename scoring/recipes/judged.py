"""Recipes of texts with an LLM judge beside their scores: ``rag-qa@1+fluency+faithfulness``.

Such a recipe is another one, with its parts after the ``+``, and never a recipe without a judge that changed: it has
the scores, the final score and the tie-breaks of the recipe before the first ``+``, and columns for reference that rank
nobody. Every text recipe can have them, also one of a plug-in.

What the judge is shown of an item (``JUDGED``):

* *fluency*: the answer, or the caption, and nothing else.
* *faithfulness*: the same, and the source, which is the ``input`` of the references (question, context, dialogue) and
  the reference answers; of a caption the reference captions alone, as a judge of texts sees no picture.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Final

from scoring.errors import Message
from scoring.figures import Figure
from scoring.metrics import METRICS
from scoring.recipes.base import (
    NO_SCORES,
    Aggregate,
    Column,
    ItemValues,
    Layout,
    Pairs,
    Recipe,
    pair_up,
)
from scoring.recipes.columns import reference_column
from scoring.records import Item, Items, ScoreWarning
from scoring.text.inputs import written_out

MARK: Final = "+"
FAITHFULNESS: Final = "judge_faithfulness"
RUBRICS: Final[Mapping[str, str]] = {"fluency": "judge_fluency", "faithfulness": FAITHFULNESS}  # in the order of ids
JUDGED: Final[Mapping[str, str]] = {"judge_fluency": "judged-alone@1", FAITHFULNESS: "judged-with-source@1"}
JUDGED_FORMS: Final = ("answers", "captions")

_COLUMNS: Final[Mapping[str, Column]] = {
    "fluency": reference_column("judge_fluency", "유창성(LLM 심사)", "Fluency (LLM judge)"),
    "faithfulness": reference_column(FAITHFULNESS, "충실성(LLM 심사)", "Faithfulness (LLM judge)"),
}


class NotJudged(ValueError):
    """A recipe cannot have these rubrics: its answers are no texts, or no rubric is called so."""


@dataclass(frozen=True)
class Judged(Recipe):
    """``base`` with a judge that answers ``rubrics``; whatever is not the judge's is as ``base`` says."""

    base: Recipe = field(kw_only=True)
    rubrics: tuple[str, ...] = field(kw_only=True)

    @property
    def file_shape(self) -> tuple[object, ...]:
        return self.base.file_shape

    @property
    def reads_input(self) -> bool:
        return self.base.reads_input or "faithfulness" in self.rubrics

    def input_rule(self, metric: str) -> str:
        return JUDGED[metric] if metric in self.judges else self.base.input_rule(metric)

    @property
    def judges(self) -> tuple[str, ...]:
        """The metrics by a judge that ``base`` does not have."""
        return tuple(RUBRICS[name] for name in self.rubrics)

    def prepare(self, references: Items, predictions: Items) -> Layout:
        layout = self.base.prepare(references, predictions)
        given = predictions.by_id()
        items = [(item, given[item.id].text if item.id in given else "") for item in references.items]
        read = [(item, text) for item, text in items if self.base.is_free_text(item)]
        return replace(layout, pairs={**layout.pairs, **{name: self._pairs(name, read) for name in self.judges}})

    def _pairs(self, metric: str, items: Iterable[tuple[Item, str]]) -> Pairs:
        has_source = metric == FAITHFULNESS
        return pair_up((item.id, source_of(item, self.answer_form) if has_source else "", text) for item, text in items)

    def is_free_text(self, reference: Item) -> bool:
        return self.base.is_free_text(reference)

    def file_warnings(self, references: Items | None, predictions: Items | None) -> list[ScoreWarning]:
        return self.base.file_warnings(references, predictions)

    def final_scores(self, means: Mapping[str, Figure]) -> dict[str, Figure]:
        judged = {name: means[name] for name in self.judges if name in means}
        return {**self.base.final_scores({name: means[name] for name in means if name not in judged}), **judged}

    def aggregate(
        self, layout: Layout, values: Mapping[str, ItemValues], corpus: Mapping[str, float] = NO_SCORES
    ) -> Aggregate:
        found, scores = self.base.aggregate(layout, values, corpus), dict[str, float]()
        for metric in self.judges:
            if metric in values and self.counts(layout, metric):
                rows = [(value,) for value in layout.item_values(metric, values[metric]).values()]
                scores |= METRICS[metric].aggregate(rows)
        return replace(found, scores={**found.scores, **scores})

    def further_columns(self, scores: Mapping[str, float]) -> tuple[Column, ...]:
        return self.base.further_columns(scores)

    def score_name(self, metric: str) -> str:
        return metric if metric in self.judges else self.base.score_name(metric)

    def counts(self, layout: Layout, metric: str) -> bool:
        """Without a text to judge there is no mean."""
        return bool(len(layout.pairs[metric])) if metric in self.judges else self.base.counts(layout, metric)

    def has_empty_alternative(self, reference: Item) -> bool:
        return self.base.has_empty_alternative(reference)


def takes_a_judge(recipe: Recipe) -> bool:
    """Whether a judge may read the answers of ``recipe``, which has none yet."""
    names = {*recipe.metrics, *recipe.optional_metrics, *(column.key for column in recipe.columns)}
    return recipe.answer_form in JUDGED_FORMS and names.isdisjoint(RUBRICS.values())


def judged_id(recipe_id: str, rubrics: Iterable[str]) -> str:
    """The id of ``recipe_id`` with these rubrics, whatever their order; without any it is ``recipe_id`` itself."""
    given = set(rubrics)
    return MARK.join((recipe_id, *(name for name in RUBRICS if name in given)))


def parts_of(recipe_id: str) -> tuple[str, tuple[str, ...]]:
    """The id of the recipe without a judge, and the names after it."""
    base, *rubrics = recipe_id.split(MARK)
    return base, tuple(rubrics)


def judged(base: Recipe, rubrics: Sequence[str]) -> Recipe:
    """``base`` with a judge that answers ``rubrics``, which are in the order of ``RUBRICS``. Raises ``NotJudged``."""
    if not takes_a_judge(base) or list(rubrics) != [name for name in RUBRICS if name in rubrics]:
        raise NotJudged(judged_id(base.id, rubrics))
    columns = [_COLUMNS[name] for name in rubrics]
    names = Message(*(", ".join(column.label(language) for column in columns) for language in ("ko", "en")))
    own: dict[str, Any] = {each.name: getattr(base, each.name) for each in fields(Recipe)}
    own |= {
        "id": MARK.join((base.id, *rubrics)),
        "name": Message(f"{base.name.ko} · {names.ko}", f"{base.name.en} · {names.en}"),
        "columns": (*base.columns, *columns),
        "rule_text": Message(
            f"{base.rule_text.ko} 모델 프로필에 심사 모델([judge])이 있으면 {names.ko}을(를) 참고로 함께 보이며, "
            "순위에는 쓰지 않습니다.",
            f"{base.rule_text.en} Where the model profile has a judge, {names.en} is shown beside it and ranks nobody.",
        ),
        "optional_metrics": (*base.optional_metrics, *(RUBRICS[name] for name in rubrics)),
    }
    return Judged(**own, base=base, rubrics=tuple(rubrics))


def source_of(reference: Item, answer_form: str) -> str:
    """What an answer must be faithful to: the question with its sources and the accepted answers, or the captions."""
    known = "\n".join(dict.fromkeys(reference.texts))
    if answer_form == "captions":
        return known
    asked = written_out(reference.input)
    return f"[질문과 자료]\n{asked}\n\n[정답]\n{known}" if asked else f"[정답]\n{known}"
