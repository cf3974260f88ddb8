"""The roles of a competition: appoint, change, dismiss. One owner who can log in always remains."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import IntegrityError, transaction

from malpan.accounts.models import User
from malpan.accounts.selectors import person_by_email
from malpan.competitions.errors import LastOwner, RoleAlreadyHeld, RoleNotFound
from malpan.competitions.models import CompetitionRole
from malpan.core import audit
from malpan.core.constraints import violated_constraint

if TYPE_CHECKING:
    from malpan.competitions.models import Competition

OWNER = CompetitionRole.Role.OWNER


def appoint_by_email(*, competition: Competition, email: str, role: str, actor: User | None) -> CompetitionRole:
    """Give the person with the account ``email`` a role. Raises ``PersonNotFound`` and ``RoleAlreadyHeld``."""
    return appoint(competition=competition, user=person_by_email(email), role=role, actor=actor)


def appoint(*, competition: Competition, user: User, role: str, actor: User | None) -> CompetitionRole:
    """Give ``user`` a role in ``competition``. Raises ``RoleAlreadyHeld``, also if two people appoint at once."""
    try:
        with transaction.atomic():
            held = CompetitionRole.objects.create(
                competition=competition, user=user, role=CompetitionRole.Role(role).value
            )
            audit.record(actor=actor, action="role.appoint", obj=held, after=_facts(held))
    except IntegrityError as error:
        if violated_constraint(error) == "one_role_per_competition":
            raise RoleAlreadyHeld from None
        raise
    return held


def change(*, held: CompetitionRole, role: str, actor: User | None) -> CompetitionRole:
    """Give the holder another role. Raises ``LastOwner`` if no owner would be left, and ``RoleNotFound``."""
    with transaction.atomic():
        locked = _locked(held)
        before = _facts(locked)
        if role != OWNER:
            _keep_an_owner(locked)
        locked.role = CompetitionRole.Role(role).value
        locked.save(update_fields=["role"])
        if before != _facts(locked):
            audit.record(actor=actor, action="role.change", obj=locked, before=before, after=_facts(locked))
    return locked


def dismiss(*, held: CompetitionRole, actor: User | None) -> None:
    """Remove the role. Raises ``LastOwner`` if no owner would be left, and ``RoleNotFound``."""
    with transaction.atomic():
        locked = _locked(held)
        _keep_an_owner(locked)
        audit.record(actor=actor, action="role.dismiss", obj=locked, before=_facts(locked))
        locked.delete()


def roles_of(competition: Competition) -> list[CompetitionRole]:
    """Everybody with a role, owners first, then in the order of appointment. One query."""
    order = {role: place for place, role in enumerate(CompetitionRole.Role.values)}
    rows = CompetitionRole.objects.filter(competition=competition).select_related("user")
    return sorted(rows, key=lambda row: (order[row.role], row.created_at, row.pk))


def competitions_of(user: User) -> dict[int, str]:
    """The competitions in which ``user`` has a role: role by primary key of the competition. One query."""
    return dict(CompetitionRole.objects.filter(user=user).values_list("competition_id", "role"))


def role_of(competition: Competition, pk: int) -> CompetitionRole:
    """The role with primary key ``pk`` in ``competition``; raises ``RoleNotFound``."""
    held = CompetitionRole.objects.filter(competition=competition, pk=pk).select_related("user").first()
    if held is None:
        raise RoleNotFound
    return held


def _locked(held: CompetitionRole) -> CompetitionRole:
    """The row, locked together with all owners' rows, so that two owners cannot demote each other at once."""
    owners = CompetitionRole.objects.filter(competition_id=held.competition_id, role=OWNER)
    list(owners.select_for_update().order_by("pk"))
    locked = CompetitionRole.objects.select_for_update(of=("self",)).select_related("user").filter(pk=held.pk).first()
    if locked is None:
        raise RoleNotFound
    return locked


def _keep_an_owner(locked: CompetitionRole) -> None:
    others = CompetitionRole.objects.filter(competition_id=locked.competition_id, role=OWNER, user__is_active=True)
    if locked.role == OWNER and not others.exclude(pk=locked.pk).exists():
        raise LastOwner


def _facts(held: CompetitionRole) -> dict[str, object]:
    return {"role": held.role}
