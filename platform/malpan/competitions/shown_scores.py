"""How a score is written: on the scale and with the decimals of its track. Pages and the API write it alike."""

from __future__ import annotations

from decimal import Decimal

from malpan.competitions.models import Track
from scoring.recipes import Column


def scaled_text(value: float | None, scale: int, decimals: int) -> str:
    """A score 0-1 as the track shows it: times ``scale``, with exactly ``decimals`` decimals; ``–`` for none."""
    return "–" if value is None else f"{value * scale:.{decimals}f}"


def signed_text(value: float, scale: int, decimals: int) -> str:
    """A difference of scores with its sign: ``+1.2345``; a true minus sign, and none at zero."""
    text = f"{value * scale:+.{decimals}f}".replace("-", "−")
    return text[1:] if not text.strip("+−0.") else text


def scale_of(column: Column, track: Track) -> int:
    return track.score_scale if column.is_scaled else 1


def decimals_of(column: Column, track: Track, step: Decimal | None = None) -> int:
    """How many decimals the pages of ``track`` write."""
    decimals = track.score_decimals if column.decimals is None else column.decimals
    return fewest_decimals(decimals, scale_of(column, track), step)


def step_text(step: Decimal, scale: int) -> str:
    """``step``, one of scores 0-1, on ``scale``: ``0.5``."""
    return f"{(step * scale).normalize():f}"


def fewest_decimals(decimals: int, scale: int, step: Decimal | None) -> int:
    """``decimals``, of scores rounded to ``step`` no more than the step has on ``scale``."""
    return decimals if step is None else min(decimals, len(step_text(step, scale).partition(".")[2]))


def final_text(value: float | None, track: Track, step: Decimal | None = None) -> str:
    """A final score as the pages of ``track`` show it; ``step`` is what it is rounded to, if it is."""
    decimals = fewest_decimals(track.score_decimals, track.score_scale, step)
    return scaled_text(value, track.score_scale, decimals)


def score_text(column: Column, value: float | None, track: Track, step: Decimal | None = None) -> str:
    """A score as the pages of ``track`` show it; ``step`` is what it is rounded to, if it is."""
    return scaled_text(value, scale_of(column, track), decimals_of(column, track, step))
