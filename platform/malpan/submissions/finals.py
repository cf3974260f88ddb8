"""Which submissions of a team count for the final board."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from django.db import transaction
from django.utils import timezone

from malpan.accounts.models import User
from malpan.competitions.locks import lock_phase
from malpan.competitions.models import Phase
from malpan.core import audit
from malpan.submissions.errors import FinalNotEligible, FinalsLocked, FinalsNotUsed, TooManyFinals
from malpan.submissions.models import FinalChoice, Submission
from malpan.teams.models import Team
from malpan.teams.selectors import require_member
from malpan.teams.services import lock_team


def choose_finals(
    *, team: Team, phase: Phase, submissions: Collection[Submission], actor: User, now: datetime | None = None
) -> list[Submission]:
    """Make ``submissions`` the final choice of ``team`` in ``phase``, instead of the earlier choice.

    If empty, the team's best on the public split counts. A submission that is still being scored may be chosen;
    otherwise one from the last minutes never could.

    Raises ``NotTeamMember``, ``FinalsNotUsed``, ``FinalsLocked`` from the end of the phase on, ``TooManyFinals`` and
    ``FinalNotEligible``.
    """
    require_member(actor, team)
    with transaction.atomic():
        lock_team(team)
        # locked while writing, so that the end and the limit cannot change meanwhile
        current = lock_phase(phase.pk)
        if current.finals_limit is None:
            raise FinalsNotUsed
        if current.is_over(now or timezone.now()) or current.final_published_at is not None:
            raise FinalsLocked(ends_at=current.ends_at)
        wanted = {submission.pk for submission in submissions}
        if len(wanted) > current.finals_limit:
            raise TooManyFinals(limit=current.finals_limit, count=len(wanted))
        eligible = Submission.objects.counting().filter(team=team, phase=current)
        if eligible.filter(pk__in=wanted).count() != len(wanted):
            raise FinalNotEligible
        return _write(team, current, wanted, actor, now or timezone.now())


def chosen_finals(team: Team, phase: Phase) -> list[Submission]:
    """The choice of ``team``, in the order of submission."""
    chosen = Submission.objects.filter(team=team, phase=phase, is_final_choice=True)
    return list(chosen.order_by("created_at", "pk"))


def mark_chosen(pks: Collection[int], now: datetime) -> None:
    """Make those of the submissions ``pks`` a final choice that are none."""
    fresh = list(Submission.objects.filter(pk__in=pks, is_final_choice=False).values_list("pk", flat=True))
    Submission.objects.filter(pk__in=fresh).update(is_final_choice=True)
    FinalChoice.objects.bulk_create([FinalChoice(submission_id=pk, chosen_at=now) for pk in fresh])


def unmark_chosen(pks: Collection[int], now: datetime) -> None:
    """Let none of the submissions ``pks`` be a final choice any longer."""
    Submission.objects.filter(pk__in=pks, is_final_choice=True).update(is_final_choice=False)
    FinalChoice.objects.filter(submission__in=pks, ended_at=None).update(ended_at=now)


def chosen_at(phase: Phase, moment: datetime, teams: Collection[int] | None = None) -> set[int]:
    """The primary keys of the submissions of ``phase`` that were final choices just before ``moment``."""
    choices = FinalChoice.objects.filter(submission__phase=phase, chosen_at__lt=moment)
    if teams is not None:
        choices = choices.filter(submission__team__in=teams)
    return set(choices.exclude(ended_at__lt=moment).values_list("submission_id", flat=True))


def _write(team: Team, phase: Phase, wanted: set[int], actor: User, now: datetime) -> list[Submission]:
    before = chosen_finals(team, phase)
    unmark_chosen({row.pk for row in before} - wanted, now)
    mark_chosen(wanted, now)
    after = chosen_finals(team, phase)
    if [row.pk for row in before] != [row.pk for row in after]:
        audit.record(
            actor=actor,
            action="team.choose_finals",
            obj=team,
            before={"phase": phase.pk, "submissions": [str(row.public_id) for row in before]},
            after={"phase": phase.pk, "submissions": [str(row.public_id) for row in after]},
        )
    return after
