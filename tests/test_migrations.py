"""What a migration may do to the tables: programs of the version before write to them during an upgrade."""

from __future__ import annotations

import pytest
from django.db.migrations import AddField, AlterField, DeleteModel, RemoveField, RenameField, RenameModel
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.operations.base import Operation
from django.db.models import NOT_PROVIDED

TAKES_AWAY = (RemoveField, RenameField, DeleteModel, RenameModel)


def later() -> list[tuple[str, str, Operation]]:
    """(migration, app, operation) of every operation that came after an app's first migration."""
    known = MigrationLoader(None).disk_migrations
    return [
        (name, app, operation)
        for (app, name), migration in sorted(known.items(), key=lambda each: each[0])
        if migration.__module__.startswith("malpan.") and not migration.initial and not name.startswith("0001")
        for operation in migration.operations
    ]


def added_later() -> list[tuple[str, str, AddField]]:
    """(migration, app, operation) of every column that came after an app's first migration."""
    return [(name, app, operation) for name, app, operation in later() if isinstance(operation, AddField)]


def test_columns_are_added_later() -> None:
    assert ("accounts", "scopes") in {(app, operation.name) for _name, app, operation in added_later()}


@pytest.mark.parametrize(
    ("name", "app", "operation"),
    added_later(),
    ids=lambda each: getattr(each, "name", each),
)
def test_a_program_of_the_version_before_may_write_a_row_without_the_new_column(
    name: str, app: str, operation: AddField
) -> None:
    """It is nullable, or the database has a default of it by the newest migration (deploy/OPERATIONS.md)."""
    state = MigrationLoader(None).project_state().models[app, operation.model_name_lower]
    field = state.fields[operation.name]
    assert field.null or field.many_to_many or field.db_default is not NOT_PROVIDED, f"{app}.{name}"


def test_nothing_is_taken_away_that_a_program_of_the_version_before_reads_or_writes() -> None:
    assert [(app, name) for name, app, operation in later() if isinstance(operation, TAKES_AWAY)] == []


@pytest.mark.parametrize(("name", "app", "operation"), later(), ids=lambda each: getattr(each, "name", each))
def test_a_column_that_could_be_null_may_still(name: str, app: str, operation: Operation) -> None:
    """Programs of the version before leave it empty."""
    if not isinstance(operation, AlterField) or operation.field.null:
        return
    loader = MigrationLoader(None)
    before = loader.project_state((app, name), at_end=False).models[app, operation.model_name_lower]
    assert not before.fields[operation.name].null, f"{app}.{name}"
