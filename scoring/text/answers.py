"""Parses the text of an answer: accepted alternatives, labels, or a number."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any, Final

from scoring.errors import ScoringError

ALTERNATIVE_SEPARATOR: Final = "#"
SHORT: Final = "단답형"  # the question type of answers that are a word or a few
MAX_LABELS: Final = 200
MAX_NUMBER_CHARS: Final = 100
LARGEST_NUMBER: Final = 1e100  # its square, and the sum of many, are still finite

_DECIMAL: Final = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_TRUE: Final[frozenset[str | bool]] = frozenset({True, "True", "true"})
_FALSE: Final[frozenset[str | bool]] = frozenset({False, "False", "false"})


class UnreadableAnswer(ScoringError):
    """An answer does not have the form that its recipe needs. ``code`` and ``params`` are those of a ``FileError``.

    Contains nothing of the text itself: it may be a reference.
    """

    def __init__(self, code: str, **params: Any) -> None:
        self.code = code
        self.params = params
        super().__init__(code)


def alternatives_of(text: str) -> list[str]:
    """The answers that a reference accepts, separated by ``#``, without surrounding white space; some may be empty."""
    return [alternative.strip() for alternative in text.split(ALTERNATIVE_SEPARATOR)]


def labels_of(text: str) -> frozenset[str]:
    """The labels of a label text, without surrounding white space.

    ``text`` is a JSON list of strings (the labels), a JSON object from labels to truth values (the labels that are
    ``true``, ``"True"`` or ``"true"``: 감정 분석 2023), or else the text itself is one label, also if it is empty.
    Raises ``UnreadableAnswer`` with code ``bad_label_list`` or ``too_many_labels``.
    """
    stripped = text.strip()
    if not stripped.startswith(("[", "{")):
        return frozenset({stripped})
    labels = frozenset(label.strip() for label in _listed(_decoded(stripped)))
    if len(labels) > MAX_LABELS:
        raise UnreadableAnswer("too_many_labels", limit=MAX_LABELS)
    return labels


def label_text(labels: Iterable[str]) -> str:
    """A set of labels as text that ``labels_of`` reads: a sorted JSON list."""
    return json.dumps(sorted(labels), ensure_ascii=False)


def number_of(text: str) -> float:
    """``text`` as a number: decimal ASCII digits, optionally with sign, point and exponent.

    Raises ``UnreadableAnswer`` with code ``not_decimal`` or ``number_out_of_range`` (beyond ``LARGEST_NUMBER``).
    """
    stripped = text.strip()
    if len(stripped) > MAX_NUMBER_CHARS or not _DECIMAL.fullmatch(stripped):
        raise UnreadableAnswer("not_decimal")
    number = float(stripped)
    if abs(number) > LARGEST_NUMBER:
        raise UnreadableAnswer("number_out_of_range", limit=f"{LARGEST_NUMBER:g}")
    return number


def _decoded(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise UnreadableAnswer("bad_label_list") from None


def _listed(value: Any) -> list[str]:
    """The labels of a decoded list or object."""
    if isinstance(value, dict) and all(map(is_truth_value, value.values())):
        return [label for label, truth in value.items() if is_true(truth)]
    if isinstance(value, list) and all(isinstance(label, str) for label in value):
        return value
    raise UnreadableAnswer("bad_label_list")


def is_truth_value(value: object) -> bool:
    """Whether ``value`` says of a label that an item has it, or that it does not."""
    return isinstance(value, (str, bool)) and value in _TRUE | _FALSE


def is_true(value: object) -> bool:
    """Whether a truth value says that an item has the label."""
    return value in _TRUE
