"""The only way to write the audit log. It records facts about rows, never the content of a file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

from django.contrib.auth import get_user_model
from django.db import models
from django.db.models import F, QuerySet

from malpan.core.models import AuditEntry

if TYPE_CHECKING:
    from malpan.accounts.models import User

SECRETS: Final = ("password", "split_seed", "seed")  # columns whose content is never logged
WITHHELD: Final = "***"
_PERSONAL: Final = {  # facts that could say who somebody is: an entry can never be changed, so they never enter it
    "accounts.user": ("email", "name"),
    "arena.campaignjudge": ("email", "institution"),
    "competitions.competitionrole": ("email",),
    "competitions.question": ("title", "body"),
    "submissions.submission": ("file_name", "memo"),
    "teams.invitation": ("email",),
}
_JUDGED: Final = "arena.judgement"
_WHO_JUDGES: Final = ("arena.campaignjudge", _JUDGED)
Who = TypeVar("Who")
# to the owning row
_UPWARDS: Final = (
    *("track", "phase", "team", "submission", "run", "batch", "source", "stage", "table", "sureness"),
    *("campaign", "judge", "assignment", "one"),
)


def record(
    *,
    actor: User | None,
    action: str,
    obj: models.Model,
    before: Mapping[str, Any] | None = None,
    after: Mapping[str, Any] | None = None,
    person: User | None = None,
) -> AuditEntry:
    """Record that ``actor`` (``None``: the system itself) did ``action`` (``<object>.<verb>``) to ``obj``.

    ``person``: whom it is about, if that is neither ``obj`` nor its ``user``. Call it in the transaction of the change,
    so that neither exists without the other.
    """
    return AuditEntry.objects.create(
        actor=actor,
        person=person or _person_of(obj),
        action=action,
        object_type=obj._meta.label_lower,
        object_id=str(obj.pk),
        competition_pk=competition_pk_of(obj),
        before=without_people(obj._meta.label_lower, before or {}),
        after=without_people(obj._meta.label_lower, after or {}),
    )


def without_people(object_type: str, facts: Mapping[str, Any]) -> dict[str, Any]:
    """``facts`` about a row of ``object_type`` without what says who somebody is."""
    personal = _PERSONAL.get(object_type, ())
    return {name: WITHHELD if name in personal and value else value for name, value in facts.items()}


def leaving(object_type: str, actor: Who, person: Who) -> tuple[Who | None, Who | None]:
    """Who acted, and whom it was about, as an entry about ``object_type`` says it outside the site, in an export or an
    archive: who judged in a human evaluation stays on its pages.
    """
    if object_type not in _WHO_JUDGES:
        return actor, person
    return (None if object_type == _JUDGED or actor == person else actor), None


def named(entries: QuerySet[AuditEntry], column: str) -> QuerySet[AuditEntry]:
    """Those of ``entries`` whose ``actor`` or ``person`` leaves the site (``leaving``)."""
    if column == "person":
        return entries.exclude(object_type__in=_WHO_JUDGES)
    return entries.exclude(object_type=_JUDGED).exclude(object_type__in=_WHO_JUDGES, actor=F("person"))


def _person_of(obj: models.Model) -> User | None:
    found = obj if isinstance(obj, get_user_model()) else getattr(obj, "user", None)
    return cast("User | None", found)


def competition_pk_of(obj: models.Model) -> int | None:
    """The primary key of the competition of ``obj``, found through the relations in ``_UPWARDS``."""
    if obj._meta.label_lower == "competitions.competition":
        return int(obj.pk)
    direct = getattr(obj, "competition_id", None)
    if direct is not None:
        return int(direct)
    for name in _UPWARDS:
        above = getattr(obj, name, None)
        if isinstance(above, models.Model):
            return competition_pk_of(above)
    return None


def snapshot(obj: models.Model, *, leave_out: Iterable[str] = ()) -> dict[str, Any]:
    """The stored columns of ``obj`` by name, for ``before`` and ``after``, without ``SECRETS`` and ``leave_out``."""
    hidden = {*SECRETS, *leave_out}
    return {
        field.attname: field.value_from_object(obj) for field in obj._meta.concrete_fields if field.name not in hidden
    }


def changed(before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """``before`` and ``after`` with only the columns that differ."""
    names = [name for name in after if before.get(name) != after[name]]
    return {name: before.get(name) for name in names}, {name: after[name] for name in names}
