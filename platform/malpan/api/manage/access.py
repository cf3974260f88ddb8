"""Who may do what in a competition, and which rows of it an address names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from malpan.accounts.models import Scope
from malpan.api.frame import ApiRequest, Operations
from malpan.api.once import allowed
from malpan.competitions.errors import CompetitionNotFound, ManageNotFound
from malpan.competitions.models import Competition, Phase, Track
from malpan.competitions.permissions import Permission, require
from malpan.competitions.selectors import get_competition, get_track, phase_of

MANAGE: Final = "/competitions/{slug:slug}/manage"


def managed(request: ApiRequest, slug: str, permission: Permission) -> Competition:
    """The competition, in which the caller has ``permission``. Raises ``ManageNotFound`` and ``NotAllowed``."""
    try:
        competition = get_competition(slug, include_unpublished=True)
    except CompetitionNotFound:
        raise ManageNotFound from None  # as for one where the person has no role: nobody learns which exist
    require(request.auth.person, competition, permission)
    allowed(request)
    return competition


def managed_track(request: ApiRequest, slug: str, track: str, permission: Permission = Permission.MANAGE) -> Track:
    """Raises as ``managed``, and ``TrackNotFound``."""
    return get_track(managed(request, slug, permission), track)


def managed_phase(request: ApiRequest, slug: str, pk: int, permission: Permission = Permission.MANAGE) -> Phase:
    """Raises as ``managed``, and ``AddressNotFound``."""
    return phase_of(managed(request, slug, permission), pk)


class ManageOperations(Operations):
    """Operations that take a token for organising."""

    def _operation(self, *arguments: Any, **options: Any) -> Callable[[Any], Any]:
        return super()._operation(*arguments, **{"scope": Scope.ORGANISE, "asks_role": True, **options})
