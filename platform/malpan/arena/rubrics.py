"""Versions of a track's rubric: each is made anew and never changed."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from django.db import transaction
from django.utils import timezone

from malpan.arena.errors import RubricInvalid, RubricUnchanged
from malpan.arena.models import Rubric
from malpan.arena.models.campaign import TITLE_MAX
from malpan.arena.rubric_form import clean_criteria, clean_reasons
from malpan.competitions.locks import lock_track
from malpan.competitions.models import Track
from malpan.competitions.permissions import Permission, require
from malpan.core import audit
from malpan.core.text import MARKDOWN_MAX_CHARS, one_line

if TYPE_CHECKING:
    from malpan.accounts.models import User

CONTENT: Final = ("title_ko", "title_en", "guideline_ko", "guideline_en", "criteria", "reasons")


def create_rubric(*, track: Track, actor: User, now: datetime | None = None, **values: Any) -> Rubric:
    """Make the next version of the rubric of ``track``.

    ``values``: those of ``CONTENT`` (see ``Rubric``). Raises ``ManageNotFound`` and ``NotAllowed`` without the
    permission to manage, ``RubricInvalid``, ``RubricUnchanged`` if the newest version says the same.
    """
    require(actor, track.competition, Permission.MANAGE)
    content = _clean(values)
    with transaction.atomic():
        locked = lock_track(track.pk)
        last = Rubric.objects.filter(track=locked).order_by("-number").first()
        if last is not None and all(getattr(last, name) == content[name] for name in CONTENT):
            raise RubricUnchanged
        rubric = Rubric.objects.create(
            track=track,
            number=last.number + 1 if last else 1,
            created_by=actor,
            created_at=now or timezone.now(),
            **content,
        )
        facts = {"number": rubric.number, "criteria": len(rubric.criteria), "reasons": len(rubric.reasons)}
        audit.record(actor=actor, action="rubric.create", obj=rubric, after=facts)
    return rubric


def _clean(values: dict[str, Any]) -> dict[str, Any]:
    if unknown := set(values) - set(CONTENT):
        raise TypeError(f"a rubric has no {sorted(unknown)}")
    titles = {name: one_line(str(values.get(name) or "")) for name in ("title_ko", "title_en")}
    if not titles["title_ko"] or max(map(len, titles.values())) > TITLE_MAX:
        raise RubricInvalid("title", "title_ko")
    texts = {name: str(values.get(name) or "").strip() for name in ("guideline_ko", "guideline_en")}
    if not texts["guideline_ko"]:
        raise RubricInvalid("guideline", "guideline_ko")
    for name, text in texts.items():
        if len(text) > MARKDOWN_MAX_CHARS:
            raise RubricInvalid("guideline_long", name)
    rows = {"criteria": clean_criteria(values.get("criteria", [])), "reasons": clean_reasons(values.get("reasons", []))}
    return {**titles, **texts, **rows}
