"""The spread of repeated scoring in words: under a board of composites and on the preview of a rescoring."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _

from malpan.competitions.models import Track
from malpan.leaderboard.closeness import close_neighbours
from malpan.leaderboard.selectors import Board
from malpan.submissions.rescoring.spreads import spreads_of
from malpan.web.presenters import scores
from scoring.recipes import Recipe


def spread_context(found: Board) -> dict[str, Any]:
    """What is said under ``found`` where a composite ranks and one of its parts differed between repetitions.

    Repetitions are of the public scores, so a final board of other items has nothing of them.
    """
    is_of_other_items = found.is_final and found.phase.public_percent is not None
    if not found.components or found.signature_hash is None or is_of_other_items:
        return {}
    measured = spreads_of(found.phase, [found.signature_hash])
    spreads = {part.score: measured[part.score] for part in found.components if part.score in measured}
    if not spreads:
        return {}
    before = () if found.row_before is None else (found.row_before,)
    pairs = close_neighbours((*before, *found.rows), spreads) if found.view.is_of_neighbours else []
    return {"spread_text": spread_text(spreads, found.recipe, found.phase.track), "close_pairs": pairs}


def spread_text(spreads: Mapping[str, float], recipe: Recipe, track: Track) -> str:
    """``LLM 심사 0.012``: the scores with their spreads, in the order of their columns."""
    columns = [column for column in recipe.columns if column.key in spreads]
    return ", ".join(
        f"{column.label(scores.language())} {scores.score_text(column, spreads[column.key], track)}"
        for column in columns
    )


def preview_note(spreads: Mapping[str, float], recipe: Recipe, track: Track) -> str:
    """What is not counted as a change by a rescoring; empty where nothing was repeated."""
    text = spread_text(spreads, recipe, track)
    if not text:
        return ""
    return _("같은 파일을 다시 채점했을 때의 반복 폭 안에 드는 차이는 바뀐 것으로 세지 않습니다(%(spreads)s).") % {
        "spreads": text
    }
