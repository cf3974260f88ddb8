"""Teams of baselines for which organisers submit themselves: they need no account of their own and nobody in them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import IntegrityError, transaction

from malpan.accounts.models import User
from malpan.competitions import permissions
from malpan.competitions.locks import lock_competition
from malpan.competitions.permissions import Permission
from malpan.core import audit
from malpan.teams.models import Team
from malpan.teams.naming import clean_team_name
from malpan.teams.services import next_team_number, team_refusal

if TYPE_CHECKING:
    from malpan.competitions.models import Competition


def baseline_named(*, competition: Competition, name: str, actor: User) -> Team:
    """The baseline of ``competition`` with this name; made, with nobody in it, if there is none. For organisers
    (MANAGE).

    Raises ``TeamNameInvalid``, and ``TeamNameTaken`` where a team that competes has the name.
    """
    permissions.require(actor, competition, Permission.MANAGE)
    clean_name = clean_team_name(name)
    known = Team.objects.filter(competition=competition, name=clean_name, is_baseline=True).first()
    if known is not None:
        return known
    try:
        with transaction.atomic():
            number = next_team_number(lock_competition(competition.pk))
            team = Team.objects.create(competition=competition, name=clean_name, number=number, is_baseline=True)
            after = {"name": clean_name, "number": number, "is_baseline": True}
            audit.record(actor=actor, action="team.create", obj=team, after=after)
    except IntegrityError as error:
        raise team_refusal(error, clean_name) from error
    return team


def may_submit_for(user: User, team: Team) -> bool:
    """Whether ``user`` may submit for ``team`` without being in it: an organiser (MANAGE) for a baseline."""
    return team.is_baseline and permissions.may(user, team.competition, Permission.MANAGE)
