"""Names of teams: which are allowed, and what others see of them: a number while names are blind."""

from __future__ import annotations

from typing import Final

from django.utils.translation import get_language
from django.utils.translation import gettext as _

from malpan.core.text import has_unseen, one_line
from malpan.teams.errors import TeamNameInvalid
from malpan.teams.models import Team

TEAM_NAME_MAX_CHARS: Final = 60


def clean_team_name(name: str) -> str:
    """``name`` as it is stored; raises ``TeamNameInvalid``."""
    clean = one_line(name)
    if not 0 < len(clean) <= TEAM_NAME_MAX_CHARS or has_unseen(clean):
        raise TeamNameInvalid(limit=TEAM_NAME_MAX_CHARS)
    return clean


def shown_name(team: Team, *, viewer_team: Team | None, is_blind: bool, sees_all: bool = False) -> str:
    """The name of ``team`` for a member of ``viewer_team`` or, where that is ``None``, a visitor. Pure.

    ``is_blind``: see ``competitions.selectors.is_blind``. The viewer's own team and baselines always have their names,
    and for an organiser (``sees_all``) every team has.
    """
    is_own = viewer_team is not None and viewer_team.pk == team.pk
    if not is_blind or sees_all or is_own or team.is_baseline:
        return team.name
    return blind_name(team.number)


def blind_name(number: int) -> str:
    """``참가팀 17``: the name of the team with this number while names are blind."""
    return _("참가팀 %(number)s") % {"number": number}


def public_note(team: Team) -> str:
    """Why the team was disqualified, in the reader's language: English if the reader uses it and there is one."""
    in_english = (get_language() or "ko").startswith("en") and team.disqualification_note_en
    return team.disqualification_note_en if in_english else team.disqualification_note_ko
