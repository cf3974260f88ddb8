"""What must hold of a file that was read, be it accepted or refused."""

from __future__ import annotations

import json
import math
from collections.abc import Collection
from dataclasses import replace
from typing import Final

from scoring import engine
from scoring.errors import MAX_ERRORS_KEPT, FileError, InvalidFile
from scoring.metrics.exact import exact_match
from scoring.recipes import get_recipe
from scoring.recipes.rag_qa import answer_part
from scoring.records import Items
from scoring.running.needs import needs_models
from tests.fuzz.files import REFERENCES, File, read
from tests.fuzz.sound import CANARIES, CAPTIONS

OF_THE_WHOLE: Final = frozenset(  # defects of a file that lie in no line
    {"empty_file", "blank_file", "too_many_bytes", "not_a_text_file", "utf16", "cp949", "count_differs", "no_items"}
    | {"no_answers", "no_reference_answers", "no_trait_scores_at_all", "no_reference_scores"}
    | {"no_known_id", "too_many_values", "other_task_file", "agreement_output"}
)


def outcome_of(file: File, found: Items | InvalidFile, *, has_okt: bool) -> str:
    """A word for what was ``found``. Raises ``AssertionError`` for what must not be. Captions are scored by their
    recipe only with ``has_okt``: the Java analyser takes seconds to start, and longer than reading for each text.
    """
    again = read(file)
    if isinstance(found, InvalidFile):
        assert isinstance(again, InvalidFile)
        check_errors(file.data, found, again, secrets=() if file.is_reference else CANARIES)
        return "rejected"
    assert found == again, "read differently the second time"
    check_score(file, found, has_okt=has_okt)
    return "accepted and scored"


def line_count(data: bytes) -> int:
    """The number of lines of a file, whatever ends them."""
    return 1 + data.count(b"\n") + data.count(b"\r")


def check_errors(data: bytes, invalid: InvalidFile, again: InvalidFile, secrets: Collection[str] = ()) -> None:
    """The errors are the same as ``again``. Each has a place, and a text in both languages that can be shown and holds
    nothing of ``secrets``.
    """
    assert (invalid.errors, invalid.total) == (again.errors, again.total), "another list of errors the second time"
    assert 0 < len(invalid.errors) <= min(invalid.total, MAX_ERRORS_KEPT)
    lines = line_count(data)
    for error in invalid.errors:
        assert error.line is not None or error.item_id is not None or error.code in OF_THE_WHOLE, error
        assert error.line is None or 1 <= error.line <= lines, error
        _check_words(error, secrets)


def _check_words(error: FileError, secrets: Collection[str]) -> None:
    for language in ("ko", "en"):
        assert error.message(language).strip()
        text = json.dumps(error.as_dict(language), ensure_ascii=False)
        text.encode()  # no half surrogate is left in it
        assert len(text) < 4_000, error
        assert not any(secret in text for secret in secrets), error


def check_score(file: File, found: Items, *, has_okt: bool) -> None:
    """What was accepted is laid out by its recipe, and has a finite score by a rule that needs no model."""
    references = found if file.is_reference else REFERENCES[file.recipe]
    answers = tuple(replace(answer, others=()) for answer in found.items)
    predictions = replace(found, items=answers)
    recipe = get_recipe(file.recipe)
    if needs_models(recipe) or (file.recipe == CAPTIONS and not has_okt):
        recipe.prepare(references, predictions)
        texts_of = {answer.id: answer.text for answer in references.items}
        scores = [exact_match(answer_part(texts_of[each.id]), answer_part(each.text)) for each in answers]
    else:
        report = engine.score(file.recipe, references, predictions)
        scores = [report.final_score, *report.scores.values()]
    assert all(map(math.isfinite, scores)), scores
