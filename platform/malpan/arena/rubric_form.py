"""The form of a rubric's criteria and reasons: what organisers wrote, checked and made plain. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from malpan.arena.errors import RubricInvalid
from malpan.core.text import one_line, without_unseen

CRITERIA_MAX: Final = 12
REASONS_MAX: Final = 12
LABEL_MAX: Final = 120
ANCHOR_MAX: Final = 500
SCALE: Final = (0, 100)
WEIGHT: Final = (1, 100)
_KEY: Final = re.compile(r"[a-z][a-z0-9_]{0,39}")


def clean_criteria(given: Any) -> list[dict[str, Any]]:
    """The criteria as ``Rubric`` has them. Raises ``RubricInvalid``."""
    rows = _rows(given, "criteria", CRITERIA_MAX)
    return [_criterion(row, place) for place, row in enumerate(rows, start=1)]


def clean_reasons(given: Any) -> list[dict[str, Any]]:
    """The reasons as ``Rubric`` has them. Raises ``RubricInvalid``."""
    rows = _rows(given, "reasons", REASONS_MAX)
    return [{"key": row["key"], **_labels(row, "reasons")} for row in rows]


def _rows(given: Any, field: str, most: int) -> Sequence[Mapping[str, Any]]:
    """The rows of ``field``, each with a key of its own."""
    if not isinstance(given, list | tuple):
        raise RubricInvalid(f"{field}_form", field, place=1)
    if len(given) > most:
        raise RubricInvalid(f"{field}_many", field)
    seen: set[str] = set()
    for place, row in enumerate(given, start=1):
        if not isinstance(row, Mapping):
            raise RubricInvalid(f"{field}_form", field, place=place)
        key = row.get("key")
        if not isinstance(key, str) or not _KEY.fullmatch(key):
            raise RubricInvalid("key", field, key=without_unseen(str(key or ""))[:40], place=place)
        if key in seen:
            raise RubricInvalid("key_twice", field, key=key, place=place)
        seen.add(key)
    return given


def _criterion(row: Mapping[str, Any], place: int) -> dict[str, Any]:
    key = str(row["key"])
    low, high, weight = row.get("low", ""), row.get("high", ""), row.get("weight")
    if not (_is_whole(low, SCALE) and _is_whole(high, SCALE) and low < high):
        raise RubricInvalid("scale", "criteria", key=key, place=place)
    if not _is_whole(weight, WEIGHT):
        raise RubricInvalid("weight", "criteria", key=key, place=place)
    anchors = _anchors(row.get("anchors") or {}, key, (low, high))
    return {"key": key, **_labels(row, "criteria"), "low": low, "high": high, "weight": weight, "anchors": anchors}


def _labels(row: Mapping[str, Any], field: str) -> dict[str, str]:
    labels = {name: one_line(str(row.get(name) or "")) for name in ("label_ko", "label_en")}
    if not labels["label_ko"] or max(map(len, labels.values())) > LABEL_MAX:
        raise RubricInvalid("label", field, key=str(row["key"]))
    return labels


def _anchors(given: Any, key: str, scale: tuple[Any, Any]) -> dict[str, dict[str, str]]:
    """The texts at points of the scale, by the point as text, in its order."""
    if not isinstance(given, Mapping):
        raise RubricInvalid("anchor", "criteria", key=key)
    found: dict[int, dict[str, str]] = {}
    for point, texts in given.items():
        if not (str(point).isdecimal() and len(str(point)) <= 3 and scale[0] <= int(point) <= scale[1]):
            raise RubricInvalid("anchor", "criteria", key=key)
        if not isinstance(texts, Mapping):
            raise RubricInvalid("anchor", "criteria", key=key)
        words = {language: one_line(str(texts.get(language) or "")) for language in ("ko", "en")}
        if max(map(len, words.values())) > ANCHOR_MAX:
            raise RubricInvalid("anchor", "criteria", key=key)
        if any(words.values()):
            found[int(point)] = words
    return {str(point): found[point] for point in sorted(found)}


def _is_whole(value: Any, limits: tuple[int, int]) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and limits[0] <= value <= limits[1]
