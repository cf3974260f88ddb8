"""What all manage pages share: who may enter, the competition, the menu."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any, Concatenate, ParamSpec, cast

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.functional import Promise

from malpan.competitions.errors import CompetitionNotFound, ManageNotFound
from malpan.competitions.models import Competition
from malpan.competitions.permissions import Permission, require
from malpan.competitions.selectors import get_competition
from malpan.core.database.room import no_room_at
from malpan.jobs.heartbeat import scorers
from malpan.submissions.overview_selectors import waiting_by_page
from malpan.web.manage.menu import MENU, Link
from malpan.web.pages.context import MemberRequest, members_only

P = ParamSpec("P")


@dataclass(frozen=True, slots=True)
class ManageAccess:
    """What the viewer may do on the manage pages of a competition, for one request."""

    competition: Competition
    permissions: frozenset[Permission]

    def may(self, permission: Permission) -> bool:
        return permission in self.permissions

    def url(self, name: str, *args: Any) -> str:
        """The address of a page of this competition."""
        return reverse(name, args=[self.competition.slug, *args])

    def context(self, entry: str) -> dict[str, Any]:
        """The context of ``manage/base.html``: ``entry`` is the current one of the menu."""
        return {
            "competition": self.competition,
            "access": self,
            "manage_tab": entry,
            "manage_menu": self._menu(),
            "can_manage": self.may(Permission.MANAGE),
            "can_operate": self.may(Permission.OPERATE),
            "scorers": scorers(),
            "database_is_full": no_room_at() is not None,
        }

    def _menu(self) -> list[tuple[str | Promise, list[Link]]]:
        """The sections of the menu with the links that the viewer may follow; empty ones are left out."""
        waiting = waiting_by_page(self.competition)
        found = (
            (
                section.label,
                [
                    Link(each.url_name, each.label, self.url(each.url_name), waiting.get(each.url_name, 0))
                    for each in section.entries
                    if self.may(each.permission)
                ],
            )
            for section in MENU
        )
        return [(label, links) for label, links in found if links]


ManageView = Callable[Concatenate[MemberRequest, ManageAccess, P], HttpResponse]


def manage_page(permission: Permission) -> Callable[[ManageView[P]], Callable[..., HttpResponse]]:
    """A view for people with ``permission`` in the competition of ``slug``; it gets its ``ManageAccess``.

    Visitors are sent to log in. Raises ``ManageNotFound`` and ``NotAllowed``.
    """

    def decorate(view: ManageView[P]) -> Callable[..., HttpResponse]:
        @wraps(view)
        def guarded(request: HttpRequest, slug: str, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
            member = cast("MemberRequest", request)
            try:
                competition = get_competition(slug, include_unpublished=True)
            except CompetitionNotFound:
                raise ManageNotFound from None  # as for one where the person has no role: nobody learns which exist
            held = require(member.user, competition, permission)
            return view(member, ManageAccess(competition, held), *args, **kwargs)

        return members_only(guarded)

    return decorate
