"""Versions of a track's rubric: each is made anew and never changed."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from malpan.arena.models import Rubric
from malpan.competitions.models import Track

if TYPE_CHECKING:
    from malpan.accounts.models import User


def create_rubric(*, track: Track, actor: User, now: datetime | None = None, **values: Any) -> Rubric:
    """Make the next version of the rubric of ``track``.

    ``values``: ``title_ko``, ``title_en``, ``guideline_ko``, ``guideline_en``, ``criteria``, ``reasons`` (see
    ``Rubric``). Raises ``ManageNotFound`` and ``NotAllowed`` without the permission to manage, ``RubricInvalid``,
    ``RubricUnchanged`` if the newest version says the same.
    """
    raise NotImplementedError
