"""Reference answers in memory: parsed once per process and version, used only for validation and scoring.

Nothing here is rendered, logged or sent anywhere; a caller must not put an ``Items`` of references into an error,
a log line, a task argument or a template.
"""

from __future__ import annotations

from functools import lru_cache

from malpan.competitions.errors import RecipeNotInstalled, UnknownTrackRecipe
from malpan.competitions.models import ReferenceVersion, Track
from malpan.core.storage import read_private
from scoring.reading import read_references
from scoring.recipes import Recipe, UnknownRecipe, get_recipe
from scoring.records import Items

_KEPT_VERSIONS = 4


def recipe_of(track: Track) -> Recipe:
    """The recipe of a track; raises ``RecipeNotInstalled`` if it does not exist here any more."""
    try:
        return recipe_named(track.recipe)
    except UnknownTrackRecipe as error:
        raise RecipeNotInstalled(recipe=track.recipe) from error


def recipe_named(recipe_id: str) -> Recipe:
    """The recipe called ``recipe_id`` (``rag-qa@1``); raises ``UnknownTrackRecipe``."""
    try:
        return get_recipe(recipe_id)
    except UnknownRecipe:
        raise UnknownTrackRecipe(recipe=recipe_id) from None


def load_references(version: ReferenceVersion, recipe_id: str) -> Items:
    """The parsed reference answers of ``version``. They were checked at the upload, so defects that only later versions
    refuse do not stop the scoring. Raises the faults of ``core.storage.open_private``.
    """
    return _parsed(version.file_sha256, recipe_id)


@lru_cache(maxsize=_KEPT_VERSIONS)
def _parsed(sha256: str, recipe_id: str) -> Items:
    return read_references(read_private(sha256), recipe_named(recipe_id), is_published=True)
