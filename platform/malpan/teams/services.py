"""Writes of teams. Invitations are in ``invitations``, requests to merge in ``merging``."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from django.db import IntegrityError, transaction
from django.db.models import Max, ProtectedError, QuerySet
from django.utils import timezone

from malpan.accounts.models import User
from malpan.accounts.selectors import person_by_email
from malpan.competitions import permissions, terms
from malpan.competitions.locks import lock_competition
from malpan.competitions.permissions import Permission
from malpan.core import audit
from malpan.core.constraints import violated_constraint
from malpan.core.errors import DomainError
from malpan.core.locks import Level, lock_rows
from malpan.core.text import one_line
from malpan.teams.errors import (
    AlreadyInTeam,
    CompetitionOver,
    DisqualificationNoteInvalid,
    LastMemberCannotLeave,
    LeaderCannotLeave,
    NotTeamMember,
    ProgramStays,
    TeamDisqualified,
    TeamInUse,
    TeamNameFinal,
    TeamNameTaken,
)
from malpan.teams.models import Membership, Team
from malpan.teams.naming import clean_team_name
from malpan.teams.selectors import has_final_board, is_disqualified, last_end, require_leader, require_member

if TYPE_CHECKING:
    from malpan.competitions.models import Competition

NOTE_MAX_CHARS: Final = 300
MODEL_FIELDS: Final = ("model_name", "model_size", "model_url", "paper_url")


def create_team(
    *,
    competition: Competition,
    name: str,
    leader: User,
    is_baseline: bool = False,
    is_program: bool = False,
    actor: User | None = None,
) -> Team:
    """Make a team of ``competition`` led by ``leader``, with the next number.

    ``actor``: the organiser who makes it for somebody; then the leader is asked for the terms when submitting.
    ``is_program``: as in ``mark_program``.

    Raises ``TermsNotAccepted``, ``TeamNameInvalid``, ``TeamNameTaken`` or, if the leader already has a team there,
    ``AlreadyInTeam``. The database's constraints decide between parallel requests.
    """
    clean_name = clean_team_name(name)
    if actor is None and not is_baseline:
        terms.require_accepted(leader, competition)
    try:
        with transaction.atomic():
            number = next_team_number(lock_competition(competition.pk))
            team = Team.objects.create(
                competition=competition, name=clean_name, number=number, is_baseline=is_baseline, is_program=is_program
            )
            Membership.objects.create(team=team, user=leader, competition=competition, role=Membership.Role.LEADER)
            after = {"name": clean_name, "number": number, "leader": leader.pk}
            if is_program:
                after["is_program"] = True
            audit.record(actor=actor or leader, action="team.create", obj=team, after=after, person=leader)
    except IntegrityError as error:
        raise team_refusal(error, clean_name) from error
    return team


def create_team_for(*, competition: Competition, name: str, email: str, actor: User, is_baseline: bool = False) -> Team:
    """Make a team led by the person with the account ``email``. For organisers (MANAGE).

    Raises ``PersonNotFound`` and what ``create_team`` raises; the leader is asked for the terms when submitting.
    """
    permissions.require(actor, competition, Permission.MANAGE)
    leader = person_by_email(email)
    return create_team(competition=competition, name=name, leader=leader, is_baseline=is_baseline, actor=actor)


def next_team_number(competition: Competition) -> int:
    """The number after the highest one. Final only while the competition's row is locked."""
    return (Team.objects.filter(competition=competition).aggregate(highest=Max("number"))["highest"] or 0) + 1


def rename_team(*, team: Team, name: str, actor: User, now: datetime | None = None) -> Team:
    """Give a team another name: by its leader, or by an organiser (MANAGE), who may do so at any time.

    Raises ``NotTeamLeader``, ``TeamNameInvalid``, ``TeamNameTaken`` and, for the leader, ``CompetitionOver``,
    ``TeamDisqualified`` or ``TeamNameFinal``.
    """
    clean_name = clean_team_name(name)
    try:
        with transaction.atomic():
            locked = lock_team(team)
            if not _require_authority(locked, actor):
                _require_changeable(locked, now)
                if has_final_board(locked.competition):
                    raise TeamNameFinal
            before, locked.name = locked.name, clean_name
            locked.save(update_fields=["name", "name_look"])
            audit.record(
                actor=actor, action="team.rename", obj=locked, before={"name": before}, after={"name": clean_name}
            )
    except IntegrityError as error:
        raise team_refusal(error, clean_name) from error
    return locked


def describe_model(*, team: Team, actor: User, **fields: str) -> Team:
    """Set what boards say of the team's model (``MODEL_FIELDS``, checked by their form): by its leader, or by an
    organiser (MANAGE), also after the end. Raises ``NotTeamLeader`` and ``TeamDisqualified``.
    """
    with transaction.atomic():
        locked = lock_team(team)
        if not _require_authority(locked, actor) and is_disqualified(locked):
            raise TeamDisqualified
        changed = {name: fields[name] for name in MODEL_FIELDS if fields[name] != getattr(locked, name)}
        if changed:
            _set(locked, changed, actor=actor, action="team.describe_model")
    return locked


def mark_baseline(*, team: Team, is_baseline: bool, actor: User) -> Team:
    """Set whether ``team`` is on the board for comparison only, without a rank. For organisers (MANAGE)."""
    permissions.require(actor, team.competition, Permission.MANAGE)
    with transaction.atomic():
        locked = lock_team(team)
        if locked.is_baseline != is_baseline:
            _set(locked, {"is_baseline": is_baseline}, actor=actor, action="team.mark_baseline")
    return locked


def mark_program(*, team: Team, is_program: bool, actor: User) -> Team:
    """Set whether who takes part is a program, as boards say then: by its leader, who is its owner, or by an organiser
    (MANAGE), also after the end.

    Raises ``NotTeamLeader``, ``TeamDisqualified``, and ``ProgramStays`` where a leader takes it back after the first
    submission.
    """
    with transaction.atomic():
        locked = lock_team(team)
        is_organiser = _require_authority(locked, actor)
        if not is_organiser and is_disqualified(locked):
            raise TeamDisqualified
        if locked.is_program != is_program:
            if not is_program and not is_organiser and locked.submissions.exists():
                raise ProgramStays
            _set(locked, {"is_program": is_program}, actor=actor, action="team.mark_program")
    return locked


def remove_team(*, team: Team, actor: User) -> None:
    """Delete a team without submissions, with its memberships. For organisers (MANAGE).

    Raises ``TeamInUse``.
    """
    permissions.require(actor, team.competition, Permission.MANAGE)
    try:
        with transaction.atomic():
            _remove_team(lock_team(team), actor)
    except LastMemberCannotLeave:
        raise TeamInUse from None


def leave_team(*, team: Team, user: User, now: datetime | None = None) -> None:
    """Remove ``user`` from ``team``. A team whose only member leaves is deleted, unless it has submitted files.

    Raises ``NotTeamMember``, ``CompetitionOver``, ``TeamDisqualified``, ``LeaderCannotLeave`` (others are in the team)
    or ``LastMemberCannotLeave``.
    """
    with transaction.atomic():
        locked = lock_team(team)
        membership = require_member(user, locked)
        _require_changeable(locked, now)
        if locked.memberships.count() == 1:
            _remove_team(locked, user)
        elif membership.role == Membership.Role.LEADER:
            raise LeaderCannotLeave
        else:
            membership.delete()
            audit.record(actor=user, action="team.leave", obj=locked, before={"user": user.pk}, person=user)


def remove_member(*, team: Team, user: User, actor: User, now: datetime | None = None) -> None:
    """Remove ``user`` from ``team``: by its leader, or by an organiser (MANAGE), who may also for a disqualified team.

    Raises ``NotTeamLeader``, ``NotTeamMember``, ``CompetitionOver``, ``TeamDisqualified`` and, for the leader,
    ``LeaderCannotLeave``.
    """
    with transaction.atomic():
        locked = lock_team(team)
        by_organiser = _require_authority(locked, actor)
        membership = require_member(user, locked)
        _require_changeable(locked, now, even_disqualified=by_organiser)
        if membership.role == Membership.Role.LEADER:
            raise LeaderCannotLeave
        membership.delete()
        before = {"user": user.pk}
        audit.record(actor=actor, action="team.remove_member", obj=locked, before=before, person=user)


def hand_over(*, team: Team, to: User, actor: User) -> None:
    """Make the member ``to`` the leader: by the current leader, or by an organiser (MANAGE).

    Raises ``NotTeamLeader`` and, if ``to`` is not in the team or has closed their account, ``NotTeamMember``.
    """
    with transaction.atomic():
        locked = lock_team(team)
        _require_authority(locked, actor)
        successor = require_member(to, locked)
        if not successor.user.is_active:
            raise NotTeamMember
        leader = locked.memberships.get(role=Membership.Role.LEADER)
        if successor.pk == leader.pk:
            return
        locked.memberships.filter(pk=leader.pk).update(role=Membership.Role.MEMBER)
        locked.memberships.filter(pk=successor.pk).update(role=Membership.Role.LEADER)
        audit.record(
            actor=actor,
            action="team.hand_over",
            obj=locked,
            before={"leader": leader.user_id},
            after={"leader": to.pk},
            person=to,
        )


def disqualify_team(*, team: Team, actor: User, note_ko: str, note_en: str = "", now: datetime | None = None) -> Team:
    """Remove a team from the boards and stop it from submitting. The note is public. For organisers (MANAGE).

    For a team that is already disqualified the note changes and the moment stays. For a merged team it applies to its
    submissions in phases that were over by then. Raises ``DisqualificationNoteInvalid``.
    """
    permissions.require(actor, team.competition, Permission.MANAGE)
    notes = {"disqualification_note_ko": one_line(note_ko), "disqualification_note_en": one_line(note_en)}
    if not notes["disqualification_note_ko"] or max(map(len, notes.values())) > NOTE_MAX_CHARS:
        raise DisqualificationNoteInvalid(limit=NOTE_MAX_CHARS)
    with transaction.atomic():
        locked = lock_team(team)
        changes = notes | {"disqualified_at": locked.disqualified_at or now or timezone.now()}
        _set(locked, changes, actor=actor, action="team.disqualify")
    return locked


def reinstate_team(*, team: Team, actor: User, reason: str = "") -> Team:
    """Undo a disqualification and delete its public note. ``reason`` is for the audit log. For organisers (MANAGE).

    Reinstating a team in good standing is harmless.
    """
    permissions.require(actor, team.competition, Permission.MANAGE)
    with transaction.atomic():
        locked = lock_team(team)
        if locked.disqualified_at is not None:
            changes = {"disqualified_at": None, "disqualification_note_ko": "", "disqualification_note_en": ""}
            _set(locked, changes, actor=actor, action="team.reinstate", reason=one_line(reason)[:NOTE_MAX_CHARS])
    return locked


def lock_team(team: Team) -> Team:
    """The team's current row, locked until the transaction ends. Raises ``NotTeamMember`` if it is gone."""
    locked = lock_rows(Team.objects.filter(pk=team.pk), Level.TEAM).first()
    if locked is None:  # its last member has left
        raise NotTeamMember
    return locked


def lock_teams(teams: QuerySet[Team]) -> list[Team]:
    """The current rows of ``teams``, locked until the transaction ends; their uploads wait."""
    return list(lock_rows(teams, Level.TEAM))


def team_refusal(error: IntegrityError, name: str) -> DomainError | IntegrityError:
    """The ``DomainError`` for a violated constraint of a team, or ``error`` itself."""
    return {
        "team_name_unique_in_competition": TeamNameTaken(name=name),
        "one_team_per_person_per_competition": AlreadyInTeam(),
    }.get(violated_constraint(error) or "", error)


def _require_authority(team: Team, actor: User) -> bool:
    """Raise ``NotTeamLeader`` unless ``actor`` leads the team or manages the competition; true for the latter."""
    if permissions.may(actor, team.competition, Permission.MANAGE):
        return True
    require_leader(actor, team)
    return False


def _require_changeable(team: Team, now: datetime | None, *, even_disqualified: bool = False) -> None:
    """Raise if members can no longer change: after the end of the last phase, or while the team is disqualified."""
    ended_at = last_end(team.competition)
    if ended_at is not None and ended_at <= (now or timezone.now()):
        raise CompetitionOver(ended_at=ended_at)
    if is_disqualified(team) and not even_disqualified:
        raise TeamDisqualified


def _remove_team(team: Team, actor: User) -> None:
    """Delete a team that has only members and invitations. Raises ``LastMemberCannotLeave``."""
    lock_rows(Team.objects.all(), Level.TEAM, no_key=False).get(pk=team.pk)  # no other row can refer to it meanwhile
    audit.record(actor=actor, action="team.remove", obj=team, before=audit.snapshot(team))
    try:
        team.delete()
    except ProtectedError:  # submissions, rejected files, a ledger, teams that were merged into it
        raise LastMemberCannotLeave from None


def _set(team: Team, changes: dict[str, Any], *, actor: User, action: str, reason: str = "") -> None:
    before = {name: getattr(team, name) for name in changes}
    for name, value in changes.items():
        setattr(team, name, value)
    team.save(update_fields=list(changes))
    after = changes | ({"reason": reason} if reason else {})
    audit.record(actor=actor, action=action, obj=team, before=before, after=after)
