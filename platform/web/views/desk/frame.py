"""What every page of the organiser's desk shares: who may enter, the competition, the menu."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any, Concatenate, ParamSpec, cast

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.functional import Promise

from accounts.permissions import Permission, permissions_of, require
from competitions.models import Competition
from competitions.selectors import get_competition
from web.views.shared import MemberRequest, members_only

P = ParamSpec("P")


@dataclass(frozen=True, slots=True)
class DeskTab:
    """An entry of the desk's menu; each module of the desk that has a page of its own offers one as ``TAB``."""

    url_name: str
    label: str | Promise
    permission: Permission = Permission.VIEW_DESK


@dataclass(frozen=True, slots=True)
class Desk:
    """One look at the desk of a competition: what the viewer may do there."""

    competition: Competition
    permissions: frozenset[Permission]

    def may(self, permission: Permission) -> bool:
        return permission in self.permissions

    def context(self, url_name: str) -> dict[str, Any]:
        """The context of ``desk/base.html``: ``url_name`` is the menu entry to mark."""
        from web.views.desk import TABS  # the modules of the desk import this one

        return {
            "competition": self.competition,
            "desk": self,
            "desk_tab": url_name,
            "desk_tabs": [
                (tab.url_name, tab.label, reverse(tab.url_name, args=[self.competition.slug]))
                for tab in TABS
                if tab.permission in self.permissions
            ],
            "can_manage": self.may(Permission.MANAGE),
            "can_operate": self.may(Permission.OPERATE),
        }


DeskView = Callable[Concatenate[MemberRequest, Desk, P], HttpResponse]


def desk_page(permission: Permission) -> Callable[[DeskView[P]], Callable[..., HttpResponse]]:
    """Let people with ``permission`` in the competition of ``slug`` into the view, which gets a ``Desk`` in its place.

    Visitors are sent to log in. Raises ``CompetitionNotFound``, ``DeskNotFound`` and ``NotAllowed``.
    """

    def decorate(view: DeskView[P]) -> Callable[..., HttpResponse]:
        @wraps(view)
        def guarded(request: HttpRequest, slug: str, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
            member = cast("MemberRequest", request)
            competition = get_competition(slug, include_unpublished=True)
            require(member.user, competition, permission)
            return view(member, Desk(competition, permissions_of(member.user, competition)), *args, **kwargs)

        return members_only(guarded)

    return decorate
