"""Scores of essays as AI 말평 2026 reads and rounds them (글쓰기 채점 능력 평가).

The rule, as the organisers published it in July and August 2026:

* A raw model text is stripped, the marks of code fences (three backticks, with or without ``json``) are removed, the
  first object is found by counting braces from the first ``{`` on, braces inside strings included, and ``json.loads``
  reads it. All three traits must be objects with a ``score``. Anything else is a parse failure.
* Each trait is rounded half up, ``floor(x + 0.5)``; the prediction is the mean of the three. That of a parse failure
  is 0, and it counts.

Not published is what becomes of a score that is no plain number. Here it is what ``float(score)`` and ``floor`` do: a
number in a text counts ("4"), ``true`` is 1, nothing limits a score to 1-5; what they refuse (null, a word, NaN,
infinity, also beyond ``LARGEST_NUMBER``) is a parse failure.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final

from scoring.text.answers import LARGEST_NUMBER

TRAITS: Final = ("content", "organization", "expression")
LOWEST: Final = 1
HIGHEST: Final = 5
FAILED: Final = 0.0  # the prediction of an answer that cannot be read
RULE: Final = "essay-output@1"  # name and version of all of the above

_BRACE: Final = re.compile("[{}]")


@dataclass(frozen=True, slots=True)
class TraitScore:
    """What an answer says of one trait; ``score`` is not rounded yet."""

    score: float
    rationale: str = ""


Traits = Mapping[str, TraitScore]  # by trait, all three


def read_output(text: str) -> Traits | None:
    """The traits in the raw text of a model; ``None`` for a parse failure."""
    found = _first_object(text.strip().replace("```json", "").replace("```", ""))
    if found is None:
        return None
    try:
        return _traits(json.loads(found))
    except (ValueError, RecursionError):
        return None


def answer_of(text: str) -> Traits | None:
    """The traits in the text of an ``Item``: the JSON of the traits, or of a raw model text; none in an empty one."""
    value = json.loads(text or "null")
    return read_output(value) if isinstance(value, str) else _traits(value)


def text_of(traits: Traits | None) -> str:
    """``traits`` as JSON that ``answer_of`` reads; ``null`` for a parse failure."""
    return compact(None if traits is None else {name: asdict(trait) for name, trait in traits.items()})


def compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def rounded(score: float) -> int:
    """``score`` rounded half up."""
    return math.floor(score + 0.5)


def predicted_trait(traits: Traits | None, trait: str) -> float:
    """The prediction of one trait: rounded, 0 for a parse failure."""
    return FAILED if traits is None else float(rounded(traits[trait].score))


def predicted_average(traits: Traits | None) -> float:
    """The prediction of an essay: the mean of its rounded traits, 0 for a parse failure."""
    return FAILED if traits is None else sum(rounded(traits[trait].score) for trait in TRAITS) / len(TRAITS)


def _first_object(text: str) -> str | None:
    """The text from the first ``{`` to the ``}`` that closes it, by the count of braces alone."""
    start, depth = text.find("{"), 0
    for brace in _BRACE.finditer(text, max(start, 0)):
        depth += 1 if brace[0] == "{" else -1
        if depth == 0:
            return text[start : brace.end()]
    return None


def _traits(value: Any) -> Traits | None:
    if not isinstance(value, dict):
        return None
    found: dict[str, TraitScore] = {}
    for trait in TRAITS:
        part = value.get(trait)
        if not isinstance(part, dict) or "score" not in part or (score := _number(part["score"])) is None:
            return None
        rationale = part.get("rationale")
        found[trait] = TraitScore(score, rationale if isinstance(rationale, str) else "")
    return found


def _number(value: Any) -> float | None:
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if abs(number) <= LARGEST_NUMBER else None  # NaN is not
