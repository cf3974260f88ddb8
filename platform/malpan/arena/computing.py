"""The arithmetic of a computation. What loads numpy is imported only inside functions: a web process only asks."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from malpan.arena.computations import Question, keep_answer, store
from malpan.arena.models import Computation
from malpan.arena.telling import found_words
from scoring.arena.scores_file import read_scores
from scoring.arena.votes import read_votes
from scoring.signature import canonical_json

Kind = Computation.Kind


def compute_answer(row: Computation) -> bytes:
    """The answer to ``row``, canonical JSON: a result file; for an effect ``{"before": {label: [rank, score]},
    "after": …}`` of two votes files; for a plan ``{"rows": […]}``; for metrics ``{"document", "scores"}``, the document
    of ``scoring.arena.meta`` and the scores file that it is of; for words what ``telling.found_words`` says.
    """
    if row.kind == Kind.WORDS:
        return found_words(row)
    given = bytes(row.given)
    if row.kind == Kind.RESULT:
        return result_bytes(given)
    asked = json.loads(given)
    if row.kind == Kind.META:
        return _meta(asked)
    if row.kind == Kind.EFFECT:
        return canonical_json({name: _placed(asked[name]) for name in ("before", "after")})
    return _plan(asked)


def compute_now(question: Question) -> bytes:
    """The answer to ``question``, computed in this process where it is not there."""
    row = store(question)
    if row.answered_at is not None:
        return bytes(row.answer)
    answer = compute_answer(row)
    keep_answer(row=row, answer=answer)
    return answer


def result_bytes(votes: bytes) -> bytes:
    """The result file of a votes file. Raises ``VotesInvalid``, and ``NoResult`` if no two systems are compared."""
    from scoring.arena.result import compute

    return compute(read_votes(votes)).bytes()


def _placed(votes: dict[str, Any]) -> dict[str, tuple[int, float]]:
    """Rank and score of each system that has a result."""
    rows = json.loads(result_bytes(canonical_json(votes)))["systems"]
    return {row["label"]: (row["rank"], row["score"]) for row in rows}


def _meta(asked: dict[str, Any]) -> bytes:
    from scoring.arena.meta import evaluate
    from scoring.arena.result import compute

    metrics = read_scores(canonical_json(asked["scores"])).metrics
    document = evaluate(compute(read_votes(canonical_json(asked["votes"]))), metrics)
    return canonical_json({"document": document, "scores": asked["scores"]})


def _plan(asked: dict[str, Any]) -> bytes:
    from scoring.arena.planner import plan_widths

    return canonical_json({"rows": [asdict(row) for row in plan_widths(**asked)]})
