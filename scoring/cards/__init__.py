"""A card for each metric: what it measures, its formula and source, what fools it, what was chosen for Korean.

A card is a Markdown file ``<name>.<language>.md`` in this folder: a title, a sentence that sums it up, then the
sections of ``HEADINGS``. Plain reading of files: the web process imports this.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from scoring.errors import Language
from scoring.recipes import RECIPES, Recipe

HEADINGS: Final[dict[Language, tuple[str, ...]]] = {
    "ko": ("무엇을 재는가", "계산식", "출처", "값의 범위", "무엇에 속는가", "한국어 처리에서 선택한 것"),
    "en": ("What it measures", "Formula", "Source", "Range", "What fools it", "Choices made for Korean"),
}

# Cards by what they look at, in the order of the index.
GROUPS: Final[dict[str, tuple[str, ...]]] = {
    "exact": ("exact_match", "accuracy", "classification", "mse"),
    "overlap": ("rouge", "bleu", "meteor", "meteor_synonym", "meteor_ko", "cider", "chrf"),
    "meaning": ("bertscore", "bleurt", "spice_ko"),
    "picture": ("clipscore",),
    "file": ("diversity", "significance"),
}

# Names of scores and of metrics that share a card of another name.
_ALIASES: Final[dict[str, str]] = {
    **dict.fromkeys(("rouge_1", "rouge_2", "rouge_l", "okt_rouge_1", "okt_rouge_2", "okt_rouge_l"), "rouge"),
    **dict.fromkeys(("bleu_1", "bleu_2", "bleu_3", "bleu_4"), "bleu"),
    **dict.fromkeys(("distinct_1", "distinct_2", "unique_captions", "length_ratio"), "diversity"),
    **dict.fromkeys(("refclipscore", "clip_cosine", "clip_truncated"), "clipscore"),
    **dict.fromkeys(("f1_micro", "f1_macro", "f1_weighted", "f1_samples"), "classification"),
    "squared_error": "mse",
}

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


def card_names() -> tuple[str, ...]:
    """Every card, in the order of the index."""
    return tuple(name for names in GROUPS.values() for name in names)


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
    """The card that explains a score or metric (``bleu_4``: ``bleu``), or ``None`` for a score made of several."""
    name = _ALIASES.get(score_name, score_name)
    return name if name in card_names() else None


def recipes_with(name: str) -> list[Recipe]:
    """The recipes that compute a metric or show a score of card ``name``, in their order."""
    return [recipe for recipe in RECIPES.values() if name in _cards_of(recipe)]


def _cards_of(recipe: Recipe) -> set[str | None]:
    names = (*recipe.metrics, *recipe.optional_metrics, *(column.key for column in recipe.columns))
    return set(map(card_for, names))
