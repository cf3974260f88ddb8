"""How a score is written: on the scale and with the decimals of its track. Pages and the API write it alike."""

from __future__ import annotations

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


def score_text(column: Column, value: float | None, track: Track) -> str:
    """A score as the pages of ``track`` show it."""
    decimals = track.score_decimals if column.decimals is None else column.decimals
    return scaled_text(value, scale_of(column, track), decimals)
