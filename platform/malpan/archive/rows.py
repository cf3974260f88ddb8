"""Converts a row of a table to a line of an archive, and back: this site's primary keys to the archive's numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any, Final
from uuid import UUID

from django.conf import settings
from django.db.models import Field, JSONField
from django.utils.duration import duration_string

from malpan.archive.format import Table, points_at_person, target_of
from malpan.core import audit

YEARS: Final = (1970, 2999)  # the first and the last
PERSON: Final = settings.AUTH_USER_MODEL.lower()
_LISTS: Final = frozenset(  # the other JSON is objects
    {
        *("prize_places", "public_ids", "errors", "warnings", "file_warnings", "rows", "composite", "components"),
        *("criteria", "reasons", "masked_words", "systems", "practice", "barred_at_opening"),
    }
)
_UNLINKED: Final = ("arena.campaignjudge", "arena.assignment", "arena.judgement")  # an entry does not say who judged
Renumber = Callable[[str, int], int]  # label of a model (or PERSON) and a number of it; KeyError if unknown


def encoded(table: Table, row: Mapping[str, Any], number: int, renumber: Renumber) -> dict[str, Any]:
    """A row, given by column name, as in the archive."""
    line: dict[str, Any] = {"id": number}
    if table.label == "core.auditentry":
        actor, person = audit.leaving(row["object_type"], row["actor_id"], row["person_id"])
        row = {**row, "actor_id": actor, "person_id": person}
    for field in table.fields():
        value = row[field.attname]
        line[field.name] = _encoded_value(field, value, renumber)
    if table.label == "submissions.rescorebatch":
        line["selection"] = _renumbered_selection(line["selection"], renumber)
    if table.label == "core.auditentry":
        line["object_id"] = _encoded_object(line["object_type"], line["object_id"], renumber)
    return line


def decoded(table: Table, line: Mapping[str, Any], renumber: Renumber) -> dict[str, Any]:
    """A line as columns of the model, without ``later`` ones.

    Raises ``KeyError`` for a missing number or column, ``ValidationError``, ``TypeError`` or ``ValueError`` for a value
    that no form of this site would take. A column that the archive does not have keeps its default.
    """
    fields = {field.name: field for field in table.fields()}
    values = {}
    for name, value in line.items():
        if name != "id" and name not in table.later:
            field = fields[name]
            values[field.attname] = _decoded_value(field, value, renumber)
    if table.label == "core.auditentry":
        values["object_id"] = _decoded_object(values["object_type"], values["object_id"], renumber)
        for side in {"before", "after"} & values.keys():  # an archive of an older version may name people there
            values[side] = audit.without_people(values["object_type"], values[side])
    return values


def decoded_later(table: Table, line: Mapping[str, Any], renumber: Renumber) -> dict[str, Any]:
    """The columns of ``line`` that refer to rows further down, if they are set."""
    fields = {field.name: field for field in table.fields()}
    values = {
        fields[name].attname: _decoded_value(fields[name], line[name], renumber)
        for name in table.later
        if line.get(name)
    }
    if table.label == "submissions.rescorebatch" and "selection" in values:
        values["selection"] = _renumbered_selection(values["selection"], renumber)
    return values


def _encoded_value(field: Field[Any, Any], value: Any, renumber: Renumber) -> Any:
    if value is None or isinstance(field, JSONField):
        return value
    if points_at_person(field):
        return renumber(PERSON, value)
    if (target := target_of(field)) is not None:
        return renumber(target.label, value)
    if isinstance(value, datetime | date):
        return value.isoformat()
    if isinstance(value, timedelta):
        return duration_string(value)
    return str(value) if isinstance(value, UUID | Decimal) else value


def _decoded_value(field: Field[Any, Any], value: Any, renumber: Renumber) -> Any:
    if isinstance(field, JSONField):
        return _decoded_json(field, value)
    if value is None:
        return value
    if points_at_person(field):
        return renumber(PERSON, value)
    if (target := target_of(field)) is not None:
        return renumber(target.label, value)
    decoded_value = field.to_python(value)
    field.run_validators(decoded_value)
    if _cannot_be_shown(decoded_value) or not _is_choice(field, decoded_value):
        raise ValueError
    return decoded_value


def _decoded_json(field: JSONField[Any, Any], value: Any) -> Any:
    """A list where this site writes lists, an object where it writes objects; scores are numbers."""
    if value is None and field.null:
        return value
    is_sound = isinstance(value, list if field.name in _LISTS else dict)
    if is_sound and field.name == "scores":
        is_sound = all(map(_is_number, value.values()))
    if not is_sound:
        raise ValueError
    return value


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _cannot_be_shown(value: Any) -> bool:
    """Whether the database would take ``value``, and pages would then fail: what Python cannot read again as a moment
    of another time zone, a number that is none or infinite.
    """
    if isinstance(value, date):
        return not YEARS[0] <= value.year <= YEARS[1]
    return isinstance(value, float) and not math.isfinite(value)


def _is_choice(field: Field[Any, Any], value: Any) -> bool:
    return not field.flatchoices or value in field.empty_values or value in dict(field.flatchoices)


def _renumbered_selection(selection: Mapping[str, Any], renumber: Renumber) -> dict[str, Any]:
    """The selection of a rescoring batch (``rescoring.batches.Selection``) with renumbered teams and submissions."""
    changed = dict(selection)
    for name, label in (("teams", "teams.team"), ("submissions", "submissions.submission")):
        if name in changed:
            changed[name] = [renumber(label, number) for number in changed[name]]
    if "excluded" in changed:
        excluded = changed["excluded"].items()
        changed["excluded"] = {str(renumber("submissions.submission", int(key))): why for key, why in excluded}
    return changed


def _encoded_object(object_type: str, object_id: str, renumber: Renumber) -> str:
    """The object of an audit entry: ``#12`` is a number of the archive, ``~17`` that of a row that no longer exists, or
    that must not be told apart.
    """
    if not object_id.isdecimal():
        return object_id
    if object_type in _UNLINKED:
        return f"~{object_id}"
    try:
        return f"#{renumber(object_type, int(object_id))}"
    except KeyError:
        return f"~{object_id}"  # a number of the original site, which must not refer to another row elsewhere


def _decoded_object(object_type: str, object_id: str, renumber: Renumber) -> str:
    if not object_id.startswith("#"):
        return f"~{object_id}" if object_id.isdecimal() else object_id
    return str(renumber(object_type, int(object_id[1:])))
