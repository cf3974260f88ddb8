"""Teams of baselines for which organisers submit themselves: they need no account of their own and nobody in them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import IntegrityError, transaction

from malpan.accounts.models import User
from malpan.competitions import permissions
from malpan.competitions.locks import lock_competition
from malpan.competitions.permissions import Permission
from malpan.core import audit
from malpan.teams.errors import TeamNameTaken
from malpan.teams.looks import look
from malpan.teams.models import Team
from malpan.teams.naming import clean_team_name
from malpan.teams.services import next_team_number, team_refusal

if TYPE_CHECKING:
    from malpan.competitions.models import Competition


def baseline_named(*, competition: Competition, name: str) -> Team:
    """The baseline of ``competition`` with this name or, if there is none, a team that is not in the database yet:
    ``make_baseline`` makes it, with its first file.

    Raises ``TeamNameInvalid``, and ``TeamNameTaken`` where another team has the name or one that looks like it.
    """
    clean_name = clean_team_name(name)
    teams = Team.objects.filter(competition=competition)
    known = teams.filter(name=clean_name, is_baseline=True).first()
    if known is None and teams.filter(name_look=look(clean_name)).exists():
        raise TeamNameTaken(name=clean_name)
    return known or Team(competition=competition, name=clean_name, is_baseline=True)


def make_baseline(team: Team, *, actor: User) -> None:
    """Make ``team`` of ``baseline_named``, with the next number and nobody in it, in the transaction that takes its
    first file. Locks the competition. Raises ``TeamNameTaken``: somebody had the name meanwhile.
    """
    try:
        with transaction.atomic():
            team.number = next_team_number(lock_competition(team.competition_id))
            team.save(force_insert=True)
    except IntegrityError as error:
        raise team_refusal(error, team.name) from error
    after = {"name": team.name, "number": team.number, "is_baseline": True}
    audit.record(actor=actor, action="team.create", obj=team, after=after)


def may_submit_for(user: User, team: Team) -> bool:
    """Whether ``user`` may submit for ``team`` without being in it: an organiser (MANAGE) for a baseline."""
    return team.is_baseline and permissions.may(user, team.competition, Permission.MANAGE)
