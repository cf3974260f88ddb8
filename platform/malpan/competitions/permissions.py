"""The permissions of a competition's roles. A role is per competition; a superuser may do everything.

=============  =====  =========  ========  ======
permission     owner  organiser  operator  viewer
=============  =====  =========  ========  ======
view             x        x         x        x     the manage pages: runs, submissions, warnings, audit log
view_hidden      x        x         x        x     scores of the private split, hidden boards, unpublished competitions
operate          x        x         x              retry and cancel runs, start and cancel rescoring
manage           x        x                        set-up, teams, quota, notices, questions, apply rescoring, publish
view_answers     x        x                        reference answers (side by side, for organisers only)
own              x                                 roles, export with references
=============  =====  =========  ========  ======
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Final

from django.contrib.auth.models import AnonymousUser

from malpan.accounts.models import User
from malpan.competitions.errors import ManageNotFound, NotAllowed
from malpan.competitions.models import CompetitionRole
from malpan.core.database.prepared import Prepared

if TYPE_CHECKING:
    from malpan.competitions.models import Competition


class Permission(StrEnum):
    VIEW = "view"
    VIEW_HIDDEN = "view_hidden"
    OPERATE = "operate"
    MANAGE = "manage"
    VIEW_ANSWERS = "view_answers"
    OWN = "own"


_VIEWER: Final = frozenset({Permission.VIEW, Permission.VIEW_HIDDEN})
_OPERATOR: Final = _VIEWER | {Permission.OPERATE}
_ORGANISER: Final = _OPERATOR | {Permission.MANAGE, Permission.VIEW_ANSWERS}

_ROLE: Final = Prepared(
    lambda user, competition: CompetitionRole.objects.filter(user=user, competition=competition), int, int
)
PERMISSIONS: Final[dict[str, frozenset[Permission]]] = {
    CompetitionRole.Role.OWNER: frozenset(Permission),
    CompetitionRole.Role.ORGANISER: _ORGANISER,
    CompetitionRole.Role.OPERATOR: _OPERATOR,
    CompetitionRole.Role.VIEWER: _VIEWER,
}


def permissions_of(user: User | AnonymousUser, competition: Competition) -> frozenset[Permission]:
    """The permissions of ``user`` in ``competition``; empty without a role. At most one query."""
    if not user.is_authenticated or not user.is_active:
        return frozenset()
    if user.is_superuser:
        return frozenset(Permission)
    held = _ROLE.only(user.pk, competition.pk)
    return PERMISSIONS.get(held.role if held else "", frozenset())


def may(user: User | AnonymousUser, competition: Competition, permission: Permission) -> bool:
    """Whether ``user`` has ``permission`` in ``competition``."""
    return permission in permissions_of(user, competition)


def require(user: User | AnonymousUser, competition: Competition, permission: Permission) -> frozenset[Permission]:
    """The permissions of ``user`` in ``competition``, ``permission`` among them. At most one query.

    Raises ``ManageNotFound`` for people without any role, to whom these pages do not exist, else ``NotAllowed``.
    """
    held = permissions_of(user, competition)
    if not held:
        raise ManageNotFound
    if permission not in held:
        raise NotAllowed(permission=str(permission))
    return held
