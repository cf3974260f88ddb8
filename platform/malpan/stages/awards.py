"""The list of awards of a competition: add, change, move, remove, show to everybody and take back.

Every change is in the audit log with what it was before, so one of a published award is known to whoever asks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import TYPE_CHECKING, Any, Final

from django.db import transaction
from django.db.models import F, Max
from django.utils import timezone

from malpan.competitions.locks import lock_competition
from malpan.competitions.models import Competition, Track
from malpan.competitions.permissions import Permission, require
from malpan.core import audit
from malpan.core.text import without_unseen
from malpan.stages import letters
from malpan.stages.award_errors import (
    AwardHasNumber,
    AwardInvalid,
    AwardToDisqualified,
    NothingToAward,
    TooManyAwards,
)
from malpan.stages.awarded import award_of, awardable_teams, awardable_tracks, awards_of, basis_of, track_of
from malpan.stages.models import Award
from malpan.teams.models import Team

if TYPE_CHECKING:
    from malpan.accounts.models import User

AWARDS_MAX: Final = 100
TEXTS: Final = ("title_ko", "title_en", "prize_ko", "prize_en")
VALUES: Final = (*TEXTS, "team", "track", "awarded_on")
_UNLOGGED: Final = ("updated_at",)


def create_awards(*, competition: Competition, actor: User, rows: Sequence[Mapping[str, Any]]) -> list[Award]:
    """Add an award for each of ``rows``, which have the values of ``VALUES``, at the end of the list; all or none.

    Raises ``ManageNotFound`` and ``NotAllowed`` without the permission to manage, ``NoFinalResult``, ``AwardInvalid``,
    ``AwardToDisqualified`` and ``TooManyAwards``.
    """
    require(actor, competition, Permission.MANAGE)
    awardable_tracks(competition)
    made = []
    with transaction.atomic():
        locked = lock_competition(competition.pk)
        before = awards_of(locked).count()
        if before + len(rows) > AWARDS_MAX:
            raise TooManyAwards(limit=AWARDS_MAX)
        for position, values in enumerate(rows, before + 1):
            award = Award(competition=locked, position=position)
            _set(award, {"team": None, "title_ko": "", "awarded_on": None, **values})
            award.save()
            audit.record(actor=actor, action="award.create", obj=award, after=_facts(award))
            made.append(award)
    return made


def create_award(*, competition: Competition, actor: User, **values: Any) -> Award:
    """Add one award. Raises as ``create_awards``."""
    return create_awards(competition=competition, actor=actor, rows=[values])[0]


def update_award(*, award: Award, actor: User, **values: Any) -> Award:
    """Change ``values`` of ``VALUES``; of a published award everybody sees them at once.

    Raises ``ManageNotFound``, ``NotAllowed``, ``AwardNotFound``, ``AwardInvalid``, ``AwardToDisqualified`` and, for
    another team, ``AwardHasNumber``.
    """
    require(actor, award.competition, Permission.MANAGE)
    with transaction.atomic():
        fresh = _locked(award)
        before, team = _facts(fresh), fresh.team_id
        _set(fresh, values)
        if fresh.number and fresh.team_id != team:
            raise AwardHasNumber(number=fresh.number)
        before, after = audit.changed(before, _facts(fresh))
        if after:
            fresh.save()
            audit.record(actor=actor, action="award.update", obj=fresh, before=before, after=after)
    return fresh


def move_award(*, award: Award, actor: User, position: int) -> Award:
    """Put an award to another place of the list. Raises ``ManageNotFound``, ``NotAllowed``, ``AwardNotFound`` and
    ``AwardInvalid``.
    """
    require(actor, award.competition, Permission.MANAGE)
    with transaction.atomic():
        fresh = _locked(award)
        order = list(awards_of(fresh.competition).values_list("pk", flat=True))
        if not 1 <= position <= len(order):
            raise AwardInvalid("position")
        before = fresh.position
        order.remove(fresh.pk)
        order.insert(position - 1, fresh.pk)
        for place, pk in enumerate(order, 1):
            Award.objects.filter(pk=pk).exclude(position=place).update(position=place)
        fresh.position = position
        if before != position:
            audit.record(
                actor=actor,
                action="award.move",
                obj=fresh,
                before={"position": before},
                after={"position": position},
            )
    return fresh


def remove_award(*, award: Award, actor: User, now: datetime | None = None) -> None:
    """Take an award from the list: one that has a number is kept as revoked, so that nobody gets its number again.

    Raises ``ManageNotFound``, ``NotAllowed`` and ``AwardNotFound``.
    """
    require(actor, award.competition, Permission.MANAGE)
    with transaction.atomic():
        fresh = _locked(award)
        before, position = _facts(fresh), fresh.position
        if fresh.number:
            fresh.revoked_at, fresh.position, fresh.published_at = now or timezone.now(), None, None
            fresh.save()
            before, after = audit.changed(before, _facts(fresh))
            audit.record(actor=actor, action="award.revoke", obj=fresh, before=before, after=after)
        else:
            audit.record(actor=actor, action="award.remove", obj=fresh, before=before)
            fresh.delete()
        later = Award.objects.filter(competition=award.competition_id, position__gt=position)
        later.update(position=F("position") - 1)


def publish_awards(*, competition: Competition, actor: User, now: datetime | None = None) -> list[Award]:
    """Show the whole list to everybody, and tell the members of the teams what they did not see before, which is
    returned. Each gets its number once.

    Raises ``ManageNotFound``, ``NotAllowed``, ``NothingToAward`` and ``AwardToDisqualified``.
    """
    require(actor, competition, Permission.MANAGE)
    moment = now or timezone.now()
    with transaction.atomic():
        locked = lock_competition(competition.pk)
        rows = list(awards_of(locked))
        new = [award for award in rows if award.published_at is None]
        if not new:
            raise NothingToAward
        _refuse_disqualified([award.team for award in rows])
        for award in new:
            award.published_at = moment
            if not award.number:
                award.year, award.serial = award.awarded_on.year, _next_serial(locked, award.awarded_on.year)
            award.save()
        facts = {"awards": [award.number for award in new]}
        audit.record(actor=actor, action="competition.publish_awards", obj=locked, after=facts)
        letters.tell_awarded(new)
    return new


def withdraw_awards(*, competition: Competition, actor: User) -> None:
    """Hide every award again; the numbers stay. Raises ``ManageNotFound``, ``NotAllowed`` and ``NothingToAward``."""
    require(actor, competition, Permission.MANAGE)
    with transaction.atomic():
        locked = lock_competition(competition.pk)
        shown = [award for award in awards_of(locked) if award.published_at is not None]
        if not shown:
            raise NothingToAward
        Award.objects.filter(pk__in=[award.pk for award in shown]).update(published_at=None)
        facts = {"awards": [award.number for award in shown]}
        audit.record(actor=actor, action="competition.withdraw_awards", obj=locked, before=facts)


def _locked(award: Award) -> Award:
    """The award as it is now, while nobody else changes the list."""
    return award_of(lock_competition(award.competition_id), award.pk)


def _facts(award: Award) -> dict[str, Any]:
    return audit.snapshot(award, leave_out=_UNLOGGED)


def _next_serial(competition: Competition, year: int) -> int:
    rows = Award.objects.filter(competition=competition, year=year)
    return (rows.aggregate(last=Max("serial"))["last"] or 0) + 1


def _set(award: Award, values: Mapping[str, Any]) -> None:
    for name, value in values.items():
        if name not in VALUES:
            raise TypeError(f"an award has no value {name}")
        if name == "track":
            _set_basis(award, value)
        elif name == "team":
            _set_team(award, value)
        else:
            setattr(award, name, without_unseen(value) if name in TEXTS else value)
    if not award.title_ko or len(award.title_ko) > 60:
        raise AwardInvalid("title", "title_ko")
    for name in TEXTS[1:]:
        if len(getattr(award, name)) > 120:
            raise AwardInvalid("text", name)
    if not isinstance(award.awarded_on, date) or not 2000 <= award.awarded_on.year <= 2999:
        raise AwardInvalid("awarded_on")


def _set_team(award: Award, team: Team | None) -> None:
    if team is None or team.competition_id != award.competition_id:
        raise AwardInvalid("team")
    found = awardable_teams(award.competition).filter(pk=team.pk).first()
    if found is None:
        raise AwardInvalid("team")
    _refuse_disqualified([found])
    award.team = found


def _set_basis(award: Award, track: Track | None) -> None:
    """Of an award that rests on a result of ``track`` already, that result stays: it is the one that was decided by."""
    if track is not None and track.competition_id != award.competition_id:
        raise AwardInvalid("track")
    if track is None:
        award.stage_snapshot = award.board_snapshot = None
    elif track_of(award) != track:
        for name, snapshot in basis_of(track).items():
            setattr(award, name, snapshot)


def _refuse_disqualified(teams: Sequence[Team]) -> None:
    out = sorted({team.name for team in teams if team.disqualified_at is not None})
    if out:
        raise AwardToDisqualified(teams=", ".join(out))
