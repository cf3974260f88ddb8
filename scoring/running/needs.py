"""Which models a score needs: those of its recipe, and a judge if the profile names one."""

from __future__ import annotations

from scoring.metrics import METRICS, is_neural
from scoring.models.profile import load_profile
from scoring.recipes import Recipe


def needs_models(recipe: Recipe) -> bool:
    """Whether a score by ``recipe`` needs neural models."""
    return any(map(is_neural, recipe.metrics))


def has_judge(recipe: Recipe, profile: str) -> bool:
    """Whether an optional metric of ``recipe`` asks a judge, and ``profile`` names one; an empty name is no profile."""
    asks = any(METRICS[name].is_remote for name in recipe.optional_metrics)
    return asks and bool(profile) and load_profile(profile).judge is not None
