"""A card for each metric: what it measures, its formula and source, what fools it, what was chosen for Korean.

A card is a Markdown file ``<name>.<language>.md`` in this folder: a title, a sentence that sums it up, then the
sections of ``HEADINGS``. Only files are read: the web process imports this.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from scoring.errors import Language
from scoring.metrics import METRICS
from scoring.recipes import RECIPES, Recipe, judged_versions

if TYPE_CHECKING:
    from scoring.metrics.base import Metric

HEADINGS: Final[dict[Language, tuple[str, ...]]] = {
    "ko": ("무엇을 재는가", "계산식", "출처", "값의 범위", "무엇에 속는가", "한국어 처리에서 선택한 것"),
    "en": ("What it measures", "Formula", "Source", "Range", "What fools it", "Choices made for Korean"),
}

GROUPS: Final = ("exact", "overlap", "meaning", "picture", "file")  # what the metrics judge, in the order of the index
_OF_NO_METRIC: Final = {"significance": "file"}

_FOLDER: Final = Path(__file__).parent
_CARD: Final = re.compile(r"# (?P<title>[^\n]+)\n\n(?P<summary>[^\n#][^\n]*)\n\n(?P<markdown>## .+)\Z", re.DOTALL)


class UnknownCard(LookupError):
    """No card has this name."""


@dataclass(frozen=True, slots=True)
class Card:
    """``markdown`` is the text under the title and its summary."""

    name: str
    title: str
    summary: str
    markdown: str


def cards_by_group() -> dict[str, tuple[str, ...]]:
    """The cards of each group of the index, by name."""
    group_of = {metric.card: metric.group for metric in METRICS.values() if _has_text(metric.card)} | _OF_NO_METRIC
    return {group: tuple(sorted(name for name in group_of if group_of[name] == group)) for group in GROUPS}


def card_names() -> tuple[str, ...]:
    """Every card, in the order of the index."""
    return tuple(name for names in cards_by_group().values() for name in names)


@cache
def load_card(name: str, language: Language = "ko") -> Card:
    """The card ``name`` in ``language``. Raises ``UnknownCard``."""
    if name not in card_names():
        raise UnknownCard(name)
    parts = _CARD.match((_FOLDER / f"{name}.{language}.md").read_text(encoding="utf-8"))
    if parts is None:
        raise ValueError(f"card {name}.{language} has no title, summary and sections")
    return Card(name, parts["title"], parts["summary"], parts["markdown"])


def card_for(score_name: str) -> str | None:
    """The card that explains a score or metric (``bleu_4``: ``bleu``), or ``None`` for a score of several metrics."""
    return _card_of_score(tuple(METRICS.entries.items())).get(score_name)


def scores_on_card(name: str) -> tuple[str, ...]:
    """The scores and metrics that the card ``name`` explains."""
    found = _card_of_score(tuple(METRICS.entries.items()))
    return tuple(score for score, card in found.items() if card == name)


@cache
def _card_of_score(metrics: tuple[tuple[str, type[Metric]], ...]) -> dict[str, str]:
    """The card of every score of ``metrics``; a card explains the score of its own name first, then the metrics in
    their order theirs.
    """
    cards = {name: name for name in card_names()}
    for name, kind in metrics:
        if _has_text(kind.card):
            cards = dict.fromkeys((name, *kind.score_names), kind.card) | cards
    return cards


def judge_metrics_of(name: str) -> list[str]:
    """The metrics computed by a judge that card ``name`` explains."""
    return [metric for metric, kind in METRICS.items() if kind.is_remote and kind.card == name]


def recipes_with(name: str) -> list[Recipe]:
    """The recipes that compute a metric or show a score of card ``name``, in their order; of what a judge adds to a
    recipe, those with the judge.
    """
    return [
        recipe
        for base in RECIPES.values()
        for recipe in (base, *(each for each in judged_versions(base) if name not in _cards_of(base)))
        if name in _cards_of(recipe)
    ]


def _cards_of(recipe: Recipe) -> set[str | None]:
    names = (*recipe.metrics, *recipe.optional_metrics, *(column.key for column in recipe.columns))
    return set(map(card_for, names))


@cache
def _has_text(card: str) -> bool:
    """Whether this folder has the card; a metric of a plug-in has none."""
    return (_FOLDER / f"{card}.ko.md").is_file()
