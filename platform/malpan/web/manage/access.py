"""What every page of the manage pages shares: who may enter, the competition, the menu."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any, Concatenate, ParamSpec, cast

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.functional import Promise

from malpan.competitions.models import Competition
from malpan.competitions.permissions import Permission, permissions_of, require
from malpan.competitions.selectors import get_competition
from malpan.web.pages.context import MemberRequest, members_only

P = ParamSpec("P")


@dataclass(frozen=True, slots=True)
class ManageTab:
    """An entry of the manage pages' menu; each module with a page of its own offers one as ``TAB``."""

    url_name: str
    label: str | Promise
    permission: Permission = Permission.VIEW


@dataclass(frozen=True, slots=True)
class ManageAccess:
    """One look at the manage pages of a competition: what the viewer may do there."""

    competition: Competition
    permissions: frozenset[Permission]

    def may(self, permission: Permission) -> bool:
        return permission in self.permissions

    def context(self, url_name: str) -> dict[str, Any]:
        """The context of ``manage/base.html``: ``url_name`` is the menu entry to mark."""
        from malpan.web.manage import TABS  # the modules of the manage pages import this one

        return {
            "competition": self.competition,
            "access": self,
            "manage_tab": url_name,
            "manage_tabs": [
                (tab.url_name, tab.label, reverse(tab.url_name, args=[self.competition.slug]))
                for tab in TABS
                if tab.permission in self.permissions
            ],
            "can_manage": self.may(Permission.MANAGE),
            "can_operate": self.may(Permission.OPERATE),
        }


ManageView = Callable[Concatenate[MemberRequest, ManageAccess, P], HttpResponse]


def manage_page(permission: Permission) -> Callable[[ManageView[P]], Callable[..., HttpResponse]]:
    """Let people with ``permission`` in the competition of ``slug`` into the view, which gets ``ManageAccess`` for it.

    Visitors are sent to log in. Raises ``CompetitionNotFound``, ``ManageNotFound`` and ``NotAllowed``.
    """

    def decorate(view: ManageView[P]) -> Callable[..., HttpResponse]:
        @wraps(view)
        def guarded(request: HttpRequest, slug: str, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
            member = cast("MemberRequest", request)
            competition = get_competition(slug, include_unpublished=True)
            require(member.user, competition, permission)
            return view(member, ManageAccess(competition, permissions_of(member.user, competition)), *args, **kwargs)

        return members_only(guarded)

    return decorate
