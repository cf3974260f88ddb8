"""Queries whose SQL is written once a process.

Django writes the SQL of a query anew each time it is asked. For one of three tables and a dozen subqueries that takes
several times as long as its answer, and every page of a contest asks such ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Final, Generic, TypeVar

from django.db import connection
from django.db.models import Field, Model, QuerySet

Row = TypeVar("Row", bound=Model)
Reader = Callable[[Any], Any]

# where the SQL has the value that is asked for: no row and no constant of a query is like these
_PLACES: Final[Mapping[type, Any]] = {int: -(2**60) - 1, str: "\ue000asked\ue000"}


@dataclass(frozen=True, slots=True)
class _Part:
    """One table of a query: the path of foreign keys that leads to it, and its columns in the rows."""

    path: tuple[str, ...]
    model: type[Model]
    names: Sequence[str]
    columns: slice


@dataclass(frozen=True, slots=True)
class _Written:
    """A query in SQL. ``readers``: of the columns that Python reads differently from the database, by their index."""

    sql: str
    parameters: Sequence[Any]
    parts: Sequence[_Part]
    facts: Sequence[str]
    readers: Sequence[tuple[int, Reader]]


class Prepared(Generic[Row]):
    """``build(value)`` for any value: its rows, with their annotations and the rows of its ``select_related``.

    ``kind``: the type of the value, which may stand in the query wherever the database takes a parameter; what else the
    query has must be constant. Foreign keys that are followed must not be null.
    """

    def __init__(self, build: Callable[[Any], QuerySet[Row, Any]], kind: type[int | str]) -> None:
        self._build = build
        self._place = _PLACES[kind]

    def __call__(self, value: int | str) -> list[Row]:
        """The rows for ``value``, in their order. One query."""
        written = self._written
        return [self._row(written, each) for each in _rows(written, self._place, value)]

    @cached_property
    def _written(self) -> _Written:
        rows = self._build(self._place)
        parts: list[_Part] = list(_parts((), rows.model, rows.query.select_related or {}, 0))
        facts = list(rows.query.annotation_select)
        names = ["__".join((*part.path, name)) for part in parts for name in part.names]
        fields = [field for part in parts for field in part.model._meta.concrete_fields]
        fields += [expression.output_field for expression in rows.query.annotation_select.values()]
        query = rows.select_related(None).values_list(*names, *facts).query
        sql, parameters = query.sql_with_params()
        return _Written(sql, parameters, parts, facts, list(_readers(fields)))

    def _row(self, written: _Written, values: Sequence[Any]) -> Row:
        found: dict[tuple[str, ...], Any] = {}
        for part in written.parts:  # whom a foreign key leads to comes after who has it
            made = part.model.from_db(connection.alias, part.names, values[part.columns])
            found[part.path] = made
            if part.path:
                setattr(found[part.path[:-1]], part.path[-1], made)
        row: Row = found[()]
        vars(row).update(zip(written.facts, values[-len(written.facts) :], strict=True) if written.facts else ())
        return row


def _rows(written: _Written, place: Any, value: Any) -> Iterator[Sequence[Any]]:
    with connection.cursor() as cursor:
        cursor.execute(written.sql, [value if each == place else each for each in written.parameters])
        rows = cursor.fetchall()
    for row in rows:
        values = list(row)
        for index, read in written.readers:
            values[index] = read(values[index])
        yield values


def _parts(path: tuple[str, ...], model: type[Model], related: Any, start: int) -> Iterator[_Part]:
    """The tables of a query from ``model`` on, whose columns begin at ``start``."""
    names = [field.attname for field in model._meta.concrete_fields]
    yield _Part(path, model, names, slice(start, start + len(names)))
    end = start + len(names)
    for name, further in dict(related).items():
        other: Any = model._meta.get_field(name).related_model
        for part in _parts((*path, name), other, further, end):
            yield part
            end = part.columns.stop


def _readers(fields: Sequence[Field[Any, Any]]) -> Iterator[tuple[int, Reader]]:
    for index, field in enumerate(fields):
        if hasattr(field, "from_db_value"):
            yield index, partial(field.from_db_value, expression=None, connection=connection)
