"""Queries whose SQL is written once a process.

Django writes the SQL of a query anew each time it is asked. For one of three tables and a dozen subqueries that takes
several times as long as its answer, and every page of a contest asks such ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Final, Generic, TypeVar
from uuid import UUID

from django.db import connection
from django.db.models import Field, ForeignKey, Model, QuerySet

Row = TypeVar("Row", bound=Model)
Reader = Callable[[Any], Any]

# where the SQL has the value that is asked for: no row and no constant of a query is like these. By its number among
# the values
_PLACES: Final[Mapping[type, Callable[[int], Any]]] = {
    int: lambda number: -(2**60) - 1 - number,
    str: lambda number: f"\ue000asked{number}\ue000",
    UUID: lambda number: UUID(int=2**128 - 1 - number),
}


def _placed(kinds: Sequence[type[int | str | UUID]]) -> list[Any]:
    """A place for each value, by the types of the values."""
    return [_PLACES[kind](number) for number, kind in enumerate(kinds)]


def _asked(parameters: Sequence[Any], places: Sequence[Any]) -> dict[int, int]:
    """Which of the values a parameter is, by the index of the parameter."""
    return {at: places.index(each) for at, each in enumerate(parameters) if each in places}


@dataclass(frozen=True, slots=True)
class _Part:
    """One table of a query: the path of foreign keys that leads to it, the last of them, its columns in the rows, and
    which of these is its primary key.
    """

    path: tuple[str, ...]
    field: ForeignKey[Any, Any] | None
    model: type[Model]
    names: Sequence[str]
    columns: slice
    key: int


@dataclass(frozen=True, slots=True)
class _Written:
    """A query in SQL. ``asked``: which of the values a parameter is, by the index of the parameter. ``readers``: of the
    columns that Python reads differently from the database, by their index.
    """

    sql: str
    parameters: Sequence[Any]
    asked: Mapping[int, int]
    parts: Sequence[_Part]
    facts: Sequence[str]
    readers: Sequence[tuple[int, Reader]]


class Prepared(Generic[Row]):
    """``build(*values)`` for any values: its rows, with their annotations and the rows of its ``select_related``.

    ``kinds``: the types of the values, which may stand in the query wherever the database takes a parameter; what else
    the query has must be constant.
    """

    def __init__(self, build: Callable[..., QuerySet[Row, Any]], *kinds: type[int | str | UUID]) -> None:
        self._build = build
        self._places = _placed(kinds)

    def __call__(self, *values: int | str | UUID) -> list[Row]:
        """The rows for ``values``, in their order. One query."""
        assert len(values) == len(self._places), values
        written = self._written
        return [self._row(written, each) for each in _rows(written, values)]

    def only(self, *values: int | str | UUID) -> Row | None:
        """The row for ``values``, of which a constraint allows no second one; ``None`` if there is none. One query."""
        rows = self(*values)
        assert len(rows) < 2, f"{len(rows)} rows where there may be one"
        return rows[0] if rows else None

    @cached_property
    def _written(self) -> _Written:
        rows = self._build(*self._places)
        parts: list[_Part] = list(_parts((), None, rows.model, rows.query.select_related or {}, 0))
        facts = list(rows.query.annotation_select)
        names = ["__".join((*part.path, name)) for part in parts for name in part.names]
        fields = [field for part in parts for field in part.model._meta.concrete_fields]
        fields += [expression.output_field for expression in rows.query.annotation_select.values()]
        query = rows.select_related(None).values_list(*names, *facts).query
        sql, parameters = query.sql_with_params()
        return _Written(sql, parameters, _asked(parameters, self._places), parts, facts, list(_readers(fields)))

    def _row(self, written: _Written, values: Sequence[Any]) -> Row:
        found: dict[tuple[str, ...], Any] = {}
        for part in written.parts:  # whom a foreign key leads to comes after who has it
            owner = found[part.path[:-1]] if part.path else None
            is_there = values[part.key] is not None  # else its key is null, or that of who would have it
            made = part.model.from_db(connection.alias, part.names, values[part.columns]) if is_there else None
            found[part.path] = made
            if owner is not None and part.field is not None:
                part.field.set_cached_value(owner, made)
                if made is not None and part.field.unique:
                    part.field.remote_field.set_cached_value(made, owner)
        row: Row = found[()]
        vars(row).update(zip(written.facts, values[-len(written.facts) :], strict=True) if written.facts else ())
        return row


class PreparedCount:
    """``build(*values).count()`` for any values, of the kinds that ``Prepared`` takes."""

    def __init__(self, build: Callable[..., QuerySet[Any, Any]], *kinds: type[int | str | UUID]) -> None:
        self._build = build
        self._places = _placed(kinds)

    def __call__(self, *values: int | str | UUID) -> int:
        """How many rows there are for ``values``. One query."""
        assert len(values) == len(self._places), values
        sql, parameters, asked = self._written
        ((found,),) = _executed(sql, parameters, asked, values)
        return int(found)

    @cached_property
    def _written(self) -> tuple[str, Sequence[Any], Mapping[int, int]]:
        rows = self._build(*self._places)
        sql, parameters = rows.order_by().values("pk").query.sql_with_params()
        counted = f"SELECT COUNT(*) FROM ({sql}) AS counted"  # noqa: S608 - Django wrote it
        return counted, parameters, _asked(parameters, self._places)


def _executed(sql: str, parameters: Sequence[Any], asked: Mapping[int, int], values: Sequence[Any]) -> list[Any]:
    given = list(parameters)
    for at, number in asked.items():
        given[at] = values[number]
    with connection.cursor() as cursor:
        cursor.execute(sql, given)
        return cursor.fetchall()


def _rows(written: _Written, values: Sequence[Any]) -> Iterator[Sequence[Any]]:
    for row in _executed(written.sql, written.parameters, written.asked, values):
        found = list(row)
        for index, read in written.readers:
            found[index] = read(found[index])
        yield found


def _parts(path: tuple[str, ...], field: Any, model: type[Model], related: Any, start: int) -> Iterator[_Part]:
    """The tables of a query from ``model`` on, to which ``field`` led, whose columns begin at ``start``."""
    fields = model._meta.concrete_fields
    names = [each.attname for each in fields]
    end = start + len(names)
    assert model._meta.pk is not None
    yield _Part(path, field, model, names, slice(start, end), start + fields.index(model._meta.pk))
    for name, further in dict(related).items():
        followed: Any = model._meta.get_field(name)
        for part in _parts((*path, name), followed, followed.related_model, further, end):
            yield part
            end = part.columns.stop


def _readers(fields: Sequence[Field[Any, Any]]) -> Iterator[tuple[int, Reader]]:
    for index, field in enumerate(fields):
        if hasattr(field, "from_db_value"):
            yield index, partial(field.from_db_value, expression=None, connection=connection)
