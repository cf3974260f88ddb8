"""Checking of a predictions file before it is scored, and reading its answers: here, or in a process of its own.

A file of many megabytes takes seconds to read, and Python runs one thread at a time: in a web server everybody else
would wait. A process of its own runs beside it, at lower priority and within limits of time and memory; whatever a
hostile file does to it, the caller gets an answer.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from dataclasses import asdict, dataclass, field
from typing import Any, BinaryIO, Final, Literal

from scoring.errors import FileError, InvalidFile, ScoringError
from scoring.reading import read_offered, read_predictions, read_references
from scoring.reading.shown import question_text
from scoring.recipes import Recipe, get_recipe
from scoring.records import Items
from scoring.running.costs import expected_tokens

MEMORY_BYTES: Final = 4 * 1024**3  # of address space; a file of 20 MB takes less than 1 GB
NICENESS: Final = 10
QUESTION_CHARS: Final = 600  # of what an item asks, beside its answer


@dataclass(frozen=True, slots=True)
class Checked:
    """What is known of a sound file. ``cost`` is the estimated cost of its scoring in model tokens.

    ``warnings`` are those of its score that are known already, as ``{code, params}``.
    """

    format: str
    item_count: int
    normalized_count: int
    cost: int
    warnings: list[dict[str, Any]] = field(default_factory=list)


class CheckFailed(ScoringError):
    """The process ended without an answer, through no fault of the file. The text is what it printed last."""


def check(data: bytes, recipe: Recipe, references: Items) -> Checked:
    """Check ``data`` in this process. Raises ``InvalidFile``."""
    predictions = read_predictions(data, recipe, references)
    return Checked(
        format=predictions.format,
        item_count=len(predictions.items),
        normalized_count=len(predictions.normalized_ids),
        cost=expected_tokens(recipe, references, predictions),
        warnings=[asdict(warning) for warning in recipe.file_warnings(None, predictions)],
    )


def answers(data: bytes, recipe: Recipe, references: Items | None) -> list[tuple[str, str, str]]:
    """The id of each item of ``data`` (``read_offered``), its answer, and what the file itself says it asks, up to
    ``QUESTION_CHARS``; in this process. Raises ``InvalidFile``.
    """
    found = read_offered(data, recipe, references, keeps_input=True).items
    return [(item.id, item.text, question_text(item, recipe.answer_form)[:QUESTION_CHARS]) for item in found]


def check_apart(data: bytes, recipe_id: str, references: bytes, *, seconds: float) -> Checked:
    """Check ``data`` in a process of its own; ``references`` is a published reference file.

    Raises ``InvalidFile``, also after ``seconds`` or where the memory is too small: then the file is not what it should
    be. Raises ``CheckFailed`` where the process ends without an answer.
    """
    return Checked(**_done_apart("check", data, recipe_id, references, seconds))


def answers_apart(
    data: bytes, recipe_id: str, references: bytes | None, *, seconds: float
) -> list[tuple[str, str, str]]:
    """``answers`` in a process of its own. Raises as ``check_apart``."""
    found = _done_apart("answers", data, recipe_id, references, seconds)["answers"]
    return [(item_id, text, question) for item_id, text, question in found]


def _done_apart(
    task: Literal["check", "answers"], data: bytes, recipe_id: str, references: bytes | None, seconds: float
) -> dict[str, Any]:
    too_long = InvalidFile([FileError("check_too_long", {"seconds": seconds})])
    length = None if references is None else len(references)
    head = {"task": task, "recipe": recipe_id, "references": length, "seconds": seconds, "memory": MEMORY_BYTES}
    message = json.dumps(head).encode() + b"\n" + (references or b"") + data
    try:
        done = subprocess.run(
            [sys.executable, "-m", "scoring.checking"], input=message, capture_output=True, timeout=seconds, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise too_long from error
    if done.returncode != 0:
        raise CheckFailed(done.stderr[-2000:].decode(errors="replace"))
    answer: dict[str, Any] = json.loads(done.stdout)
    if answer.get("stopped"):
        raise InvalidFile([FileError("check_too_much_memory")])
    if "errors" in answer:
        raise InvalidFile([FileError(**each) for each in answer["errors"]], answer["total"])
    return answer


def main(stream: BinaryIO) -> dict[str, Any]:
    """Answer one request of ``check_apart`` or ``answers_apart``."""
    os.nice(NICENESS)
    head = json.loads(stream.readline())
    limit = int(head["seconds"]) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))  # where the caller is no longer there to stop it
    resource.setrlimit(resource.RLIMIT_AS, (head["memory"],) * 2)
    recipe = get_recipe(head["recipe"])
    references = None
    if head["references"] is not None:
        references = read_references(stream.read(head["references"]), recipe, is_published=True)
    try:
        if head["task"] == "answers":
            return {"answers": answers(stream.read(), recipe, references)}
        assert references is not None
        return asdict(check(stream.read(), recipe, references))
    except MemoryError:
        return {"stopped": True}
    except InvalidFile as error:
        return {"errors": [asdict(each) for each in error.errors], "total": error.total}


if __name__ == "__main__":
    sys.stdout.write(json.dumps(main(sys.stdin.buffer)))
