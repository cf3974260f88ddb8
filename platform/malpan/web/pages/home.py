"""The first page: competitions running, upcoming and past."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol, cast

from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from malpan.competitions.models import Competition, CompetitionRole
from malpan.competitions.roles import competitions_of
from malpan.competitions.selectors import published_competitions
from malpan.competitions.setup import may_create
from malpan.stages.awarded import listed_awards
from malpan.stages.models import Award
from malpan.teams.models import Team
from malpan.web.presenters.own_contests import own_contests
from malpan.web.presenters.winners import TrackWinners, winners_of


class Dated(Protocol):
    """What ``published_competitions`` adds to a competition."""

    starts_at: datetime | None
    ends_at: datetime | None


@dataclass(frozen=True, slots=True)
class Card:
    competition: Competition
    starts_at: datetime | None
    ends_at: datetime | None
    team_count: int
    won: list[TrackWinners]
    awards: list[Award]


@require_safe
def home_page(request: HttpRequest) -> HttpResponse:
    found = published_competitions()
    counts = _team_counts()
    won, awards = winners_of(found.past), _awards(found.past)
    groups = {name: _cards(getattr(found, name), counts, won, awards) for name in ("running", "upcoming", "past")}
    context = {"competitions": groups} | _manage_context(request)
    if request.user.is_authenticated:
        context["own_contests"] = own_contests(request.user)
    return render(request, "pages/home.html", context)


def _manage_context(request: HttpRequest) -> dict[str, Any]:
    """The competitions that the viewer manages, hidden ones too, and whether to offer a new one. Empty for visitors.

    An administrator manages all of them.
    """
    if not request.user.is_authenticated:
        return {}
    roles = competitions_of(request.user)
    rows = Competition.objects.all()
    if not request.user.is_superuser:
        rows = rows.filter(pk__in=roles)
    run = [(row, CompetitionRole.Role(roles[row.pk]).label if row.pk in roles else _("관리자")) for row in rows]
    return {"run_by_me": run, "may_create": may_create(request.user)}


def _team_counts() -> dict[int, int]:
    """Teams of each competition, baselines left out."""
    rows = Team.objects.filter(is_baseline=False).values_list("competition").annotate(Count("pk"))
    return dict(rows.order_by())


def _awards(competitions: Iterable[Competition]) -> dict[int, list[Award]]:
    """What was given, by the key of the competition."""
    found: dict[int, list[Award]] = {}
    for award in listed_awards(competitions):
        found.setdefault(award.competition_id, []).append(award)
    return found


def _cards(
    competitions: Iterable[Competition],
    counts: dict[int, int],
    won: dict[int, list[TrackWinners]],
    awards: dict[int, list[Award]],
) -> list[Card]:
    return [
        _card(row, cast("Dated", row), counts.get(row.pk, 0), won.get(row.pk, []), awards.get(row.pk, []))
        for row in competitions
    ]


def _card(
    competition: Competition, dates: Dated, team_count: int, won: list[TrackWinners], awards: list[Award]
) -> Card:
    return Card(competition, dates.starts_at, dates.ends_at, team_count, won, awards)
