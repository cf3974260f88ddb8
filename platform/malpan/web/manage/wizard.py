"""What the pages of the set-up share: the row of steps and the checklist with links to the pages that fix its gaps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from malpan.competitions.checklist import Item, State, checklist
from malpan.competitions.checklist_facts import facts_of
from malpan.competitions.models import Competition
from malpan.competitions.permissions import Permission
from malpan.teams.selectors import competing_with_a_role
from malpan.web.manage.access import ManageAccess

PLACES: Final[dict[str, tuple[str | Promise, str | None]]] = {
    "texts": (_("글과 약관"), "manage_setup_texts"),
    "tracks": (_("트랙"), "manage_setup_tracks"),
    "phases": (_("단계"), "manage_phases"),
    "files": (_("정답과 자료"), "manage_setup_files"),
    "publish": (_("점검과 공개"), "manage_setup"),
    "roles": (_("역할"), "manage_roles"),
    "site": (_("사이트"), None),
}
_STEPS: Final = ("texts", "tracks", "phases", "files", "publish")
_WORST_FIRST: Final = (State.MISSING, State.WARN, State.NOTE, State.OK)


@dataclass(frozen=True, slots=True)
class Step:
    number: int
    label: str | Promise
    href: str
    is_current: bool
    gaps: int  # of the checklist, to fix on this page


@dataclass(frozen=True, slots=True)
class Group:
    """The items of one page, worst first, with its address."""

    label: str | Promise
    href: str | None
    items: list[Item]


def checklist_of(competition: Competition) -> list[Item]:
    return checklist(facts_of(competition, competing_with_a_role(competition).values()))


def steps_of(access: ManageAccess, current: str, items: Sequence[Item] | None = None) -> list[Step]:
    """The five steps; with ``items`` the checklist is not computed again."""
    gaps = [item.place for item in items or checklist_of(access.competition) if item.is_gap]
    return [
        Step(number, PLACES[key][0], access.url(str(PLACES[key][1])), key == current, gaps.count(key))
        for number, key in enumerate(_STEPS, start=1)
    ]


def groups_of(access: ManageAccess, items: list[Item]) -> list[Group]:
    """The checklist as the page shows it; links only to pages that the viewer may open."""
    groups = []
    for place, (label, name) in PLACES.items():
        needed = Permission.OWN if place == "roles" else Permission.MANAGE
        href = access.url(name) if name and access.may(needed) else None
        found = sorted((item for item in items if item.place == place), key=_severity_rank)
        groups += [Group(label, href, found)] if found else []
    return groups


def _severity_rank(item: Item) -> int:
    return _WORST_FIRST.index(item.state)
