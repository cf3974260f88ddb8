"""Scored essays for the tests: files, and the published rule written once more, with nothing of the instrument."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

TRAITS = ("content", "organization", "expression")
ESSAY = "학교 급식에는 가까운 곳에서 나는 채소를 써야 한다. 신선하고, 나르는 데 드는 기름도 적기 때문이다."


def traits(*scores: Any, rationale: str = "까닭") -> dict[str, Any]:
    """The answer of a model; one score stands for all traits."""
    given = scores * 3 if len(scores) == 1 else scores
    return {name: {"score": score, "rationale": rationale} for name, score in zip(TRAITS, given, strict=True)}


def reference(number: int, scores: Sequence[float] = (3, 3, 3), average: float | None = None) -> dict[str, Any]:
    known = dict(zip(TRAITS, scores, strict=True))
    mean = round(sum(scores) / 3, 3) if average is None else average
    return {
        "id": f"e{number}",
        "document_id": f"doc-{number}",
        "prompt_num": f"Q{number % 2 + 1}",
        "prompt": "급식에 지역 농산물을 써야 하는가?",
        "essay": ESSAY,
        "score": {**known, "average": mean},
    }


def dumped(rows: Sequence[Any], *, as_lines: bool = False) -> bytes:
    if as_lines:
        return "\n".join(json.dumps(row, ensure_ascii=False) for row in rows).encode()
    return json.dumps(rows, ensure_ascii=False, indent=1).encode()


# --- the rule of the notices, written for the tests -------------------------------------------------------------------
def extracted(output: str) -> str | None:
    """The first object, by the count of braces."""
    text = output.strip().replace("```json", "").replace("```", "")
    begin = text.find("{")
    if begin < 0:
        return None
    opened = 0
    for place in range(begin, len(text)):
        opened += (text[place] == "{") - (text[place] == "}")
        if not opened:
            return text[begin : place + 1]
    return None


def parsed(output: str) -> list[float] | None:
    """The three scores, not rounded."""
    found = extracted(output)
    try:
        value = json.loads(found) if found else {}
    except (ValueError, RecursionError):
        return None
    if not all(isinstance(value.get(name), dict) and "score" in value[name] for name in TRAITS):
        return None
    try:
        scores = [float(value[name]["score"]) for name in TRAITS]
        [math.floor(score + 0.5) for score in scores]
    except (TypeError, ValueError, OverflowError):
        return None
    return scores


def prediction(scores: Sequence[float] | None) -> float:
    return 0.0 if scores is None else float(np.mean([math.floor(score + 0.5) for score in scores]))


def rmse(predicted: Sequence[float], average: Sequence[float]) -> float:
    return float(np.sqrt(np.mean((np.array(predicted) - np.array(average)) ** 2))) if predicted else 0.0


def spearman_of(spearmanr: Callable[..., Any]) -> Callable[[Sequence[float], Sequence[float]], float]:
    """The published rule around scipy's ``spearmanr``."""

    def value(predicted: Sequence[float], average: Sequence[float]) -> float:
        if len(predicted) < 2:
            return 0.0
        found = float(spearmanr(predicted, average)[0])
        return 0.0 if math.isnan(found) else found

    return value
