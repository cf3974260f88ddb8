"""What a judge is told after a practice judgement."""

from __future__ import annotations

from typing import Any, Final

from malpan.arena.models import Assignment, Campaign
from malpan.arena.own_practice import is_as_expected

WORST_SHARE: Final = 0.5  # of a scale: a bad output judged alone must stay below it


def feedback_of(assignment: Assignment, value: dict[str, Any]) -> tuple[bool, str]:
    """Whether the judgement of a calibration was as expected, and the explanation in the reader's language.

    As expected: what an organiser wrote, or of practice made by rule, the bad output was not chosen and is not tied
    with a good one; alone, it got less than half of the scale.
    """
    bad, explanation = assignment.bad_index or 0, assignment.item.explanation
    expected = assignment.item.expected or {}
    if "value" in expected:
        return is_as_expected(expected["value"], value), explanation
    if "choice" in value:
        return value["choice"] == ("second" if bad == 0 else "first"), explanation
    if "ranks" in value:
        return all(rank < value["ranks"][bad] for place, rank in enumerate(value["ranks"]) if place != bad), explanation
    if "scores" in value:
        return _share_of_scale(assignment.campaign, value["scores"]) < WORST_SHARE, explanation
    return value["score"] / 100 < WORST_SHARE, explanation


def _share_of_scale(campaign: Campaign, scores: dict[str, int]) -> float:
    """Where ``scores`` are between the lowest (0) and the highest (1), by the weights of the criteria."""
    rows = campaign.rubric.criteria
    parts = [row["weight"] * (scores[row["key"]] - row["low"]) / (row["high"] - row["low"]) for row in rows]
    return float(sum(parts) / sum(row["weight"] for row in rows))
