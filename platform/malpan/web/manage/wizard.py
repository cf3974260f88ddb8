"""What the pages of the set-up share: the row of steps, each with how it stands by the checklist."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from django.http import HttpRequest, QueryDict
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from malpan.competitions import readiness
from malpan.competitions.checklist import Item
from malpan.teams.selectors import competing_with_a_role
from malpan.web.manage.access import ManageAccess

STEPS: Final[dict[str, tuple[str | Promise, str]]] = {
    "texts": (_("글과 약관"), "manage_setup_texts"),
    "tracks": (_("트랙"), "manage_setup_tracks"),
    "phases": (_("단계"), "manage_setup_phases"),
    "files": (_("정답과 자료"), "manage_setup_files"),
    "publish": (_("점검과 공개"), "manage_setup"),
}


def posted(request: HttpRequest) -> QueryDict | None:
    """What a form is filled with: the body of a POST, also an empty one."""
    return request.POST if request.method == "POST" else None


@dataclass(frozen=True, slots=True)
class Step:
    number: int
    label: str | Promise
    href: str
    is_current: bool
    gaps: int  # of the checklist, to be mended here


def steps_of(access: ManageAccess, current: str, items: Sequence[Item] | None = None) -> list[Step]:
    """The five steps; ``items`` spares gathering the checklist a second time."""
    if items is None:
        items = readiness.items_of(
            readiness.facts_of(access.competition, competing_with_a_role(access.competition).values())
        )
    gaps = [item.place for item in items if item.is_gap]
    return [
        Step(number, label, reverse(name, args=[access.competition.slug]), key == current, gaps.count(key))
        for number, (key, (label, name)) in enumerate(STEPS.items(), start=1)
    ]
