"""The competitions that a person takes part in, for the first page: what is open, and what is left there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from django.utils import timezone

from malpan.accounts.models import User
from malpan.competitions.models import Competition, Phase
from malpan.submissions.quota import services as quota
from malpan.submissions.quota.ledger import QuotaStatus
from malpan.teams.models import Membership, Team
from malpan.web.presenters.periods import Period, period_of

QUOTAS_SHOWN: Final = 6  # each takes a query
PAST_SHOWN: Final = 5


@dataclass(frozen=True, slots=True)
class OpenPhase:
    """``quota`` is ``None`` beyond the first few."""

    phase: Phase
    quota: QuotaStatus | None


@dataclass(frozen=True, slots=True)
class OwnContest:
    competition: Competition
    team: Team
    period: Period
    open_phases: list[OpenPhase]


def own_contests(user: User) -> list[OwnContest]:
    """Running ones by nearest deadline, then upcoming ones, then the newest few of the past."""
    now = timezone.now()
    memberships = (
        Membership.objects.filter(user=user, competition__is_published=True)
        .select_related("team", "competition")
        .prefetch_related("competition__tracks__phases")
    )
    found = [(row, period_of(list(row.competition.tracks.all()), now)) for row in memberships]
    running = sorted((each for each in found if each[1].state == "running"), key=lambda each: str(each[1].ends_at))
    upcoming = [each for each in found if each[1].state == "upcoming"]
    past = sorted((each for each in found if each[1].state == "past"), key=lambda each: str(each[1].ends_at))
    room = QUOTAS_SHOWN
    contests = []
    for membership, period in [*running, *upcoming, *past[: -PAST_SHOWN - 1 : -1]]:
        phases = _open_phases(membership, room)
        room -= len(phases)
        contests.append(OwnContest(membership.competition, membership.team, period, phases))
    return contests


def _open_phases(membership: Membership, room: int) -> list[OpenPhase]:
    """The phases that take files now, with what the team has left in the first ``room`` of them."""
    now, team = timezone.now(), membership.team
    phases: list[OpenPhase] = []
    for track in membership.competition.tracks.all():
        for phase in track.phases.all():
            if phase.starts_at <= now < phase.ends_at and team.disqualified_at is None:
                phase.track = track
                left = quota.status(phase=phase, team=team, now=now) if len(phases) < room else None
                phases.append(OpenPhase(phase, left))
    return phases
