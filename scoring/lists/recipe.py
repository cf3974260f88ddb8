"""The rule of a call on lists: each metric reads whole texts, and no score is made of the others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from scoring.errors import Message
from scoring.figures import Figure
from scoring.recipes.base import Layout, Recipe, align, common_warnings, pair_up_all
from scoring.records import Items

RULE = "lists@1"


@dataclass(frozen=True)
class Lists(Recipe):
    """Texts as they are given, in NFC.

    The rule by which a metric gets its texts is that of the recipes of captions, whole texts of one or more references,
    and has its name: the signature of a metric, and with it its values, are those of such a recipe.
    """

    def input_rule(self, metric: str) -> str:
        return "caption@1"

    def prepare(self, references: Items, predictions: Items) -> Layout:
        pairs = pair_up_all((known.id, known.texts, given.text) for known, given in align(references, predictions))
        count = sum(map(len, pairs.references))
        return Layout(
            item_ids=pairs.ids,
            pairs=dict.fromkeys(self.metrics, pairs),
            coverage={"items": len(pairs), "references": count},
            warnings=tuple(common_warnings(predictions)),
        )

    def final_scores(self, means: Mapping[str, Figure]) -> dict[str, Figure]:
        return dict(means)


def recipe_of(metrics: Iterable[str]) -> Lists:
    """The rule of a call with these metrics."""
    title = Message("글의 목록", "Lists of texts")
    return Lists(
        id=RULE, name=title, metrics=tuple(metrics), columns=(), tie_breaks=(), question_types=(), rule_text=title
    )
