"""The answers of a judge: JSON by a schema, read strictly. What is not exactly that is unparsable, never guessed at."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

Task = Literal["score", "choice"]
Choice = Literal["first", "second", "tie"]

LOWEST: Final = 1
HIGHEST: Final = 5
CHOICES: Final[tuple[Choice, ...]] = ("first", "second", "tie")
_KEYS: Final[Mapping[Task, str]] = {"score": "score", "choice": "choice"}
_ALLOWED: Final[Mapping[Task, Sequence[Any]]] = {"score": tuple(range(LOWEST, HIGHEST + 1)), "choice": CHOICES}


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a judge said: a whole number from 1 to 5, or which of two texts is better, and why."""

    decision: int | Choice
    reason: str


class Unparsable(ValueError):
    """The answer is not what the schema demands."""


def schema(task: Task) -> dict[str, Any]:
    """The JSON schema of an answer: the reason first, so that the decision follows from it. Only what servers support
    alike is used.
    """
    kind = "integer" if task == "score" else "string"
    return {
        "type": "object",
        "properties": {
            "reason": {"type": "string"},
            _KEYS[task]: {"type": kind, "enum": list(_ALLOWED[task])},
        },
        "required": ["reason", _KEYS[task]],
        "additionalProperties": False,
    }


def parse(content: Any, task: Task) -> Judgement:
    """The judgement in the text of an answer (parser version 1). Raises ``Unparsable``.

    White space may be around the object; nothing else may. Booleans, 4.0 and "4" are no scores, a key twice is none.
    """
    if not isinstance(content, str):
        raise Unparsable("no text")
    try:
        found = json.loads(content, object_pairs_hook=_without_duplicates)
    except (ValueError, RecursionError) as error:
        raise Unparsable("no JSON") from error
    key = _KEYS[task]
    if not isinstance(found, dict) or found.keys() != {"reason", key} or not isinstance(found["reason"], str):
        raise Unparsable("other keys than the schema's")
    decision = found[key]
    if type(decision) not in (int, str) or decision not in _ALLOWED[task]:
        raise Unparsable("a decision that the schema does not allow")
    return Judgement(decision, found["reason"])


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise Unparsable("a key twice")
    return found
