"""``manage.py up`` refuses a database whose tables are of another version, before anything is served."""

from __future__ import annotations

import pytest
from django.core.management import CommandError
from django.db import connection

from malpan.local.management.commands.up import _require_own_columns
from malpan.local.schema import differing_columns

pytestmark = pytest.mark.django_db


def test_a_database_of_this_version_has_the_columns_of_all_models() -> None:
    assert differing_columns() == []
    _require_own_columns()


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ("ALTER TABLE competitions_competition DROP COLUMN is_demo", "competitions_competition.is_demo"),
        ("ALTER TABLE competitions_phase ADD COLUMN other integer NOT NULL DEFAULT 1", "competitions_phase.other"),
        ("ALTER TABLE leaderboard_boardsnapshot RENAME TO other", "leaderboard_boardsnapshot.components"),
    ],
)
def test_a_column_that_only_one_of_both_has_is_named_with_what_to_do(change: str, named: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(change)
    assert named in differing_columns()
    with pytest.raises(CommandError, match="새 데이터베이스로 시작하십시오") as refused:
        _require_own_columns()
    assert "The database was made by another version (columns that differ: " in str(refused.value)
