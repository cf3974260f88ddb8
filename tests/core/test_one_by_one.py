"""What the clock orders for many rows: one that fails is left out and logged, and stops no other."""

from __future__ import annotations

import pytest
from django.db import DataError, OperationalError, connection
from psycopg.errors import DiskFull

from malpan.core.one_by_one import one_by_one

pytestmark = pytest.mark.django_db


def failing_with(error: Exception):
    def do(row: int) -> int:
        if row == 2:
            raise error
        return row * 10

    return do


@pytest.mark.parametrize("error", [DataError("bad"), ValueError("a text of a person"), OperationalError("lock")])
def test_one_that_fails_is_left_out_and_told_of(caplog, error):
    assert one_by_one([1, 2, 3], failing_with(error), "the toys") == [10, 30]
    (record,) = caplog.records
    assert record.getMessage() == "one of the toys failed: 2"
    assert record.exc_info[1] is error


def test_a_row_that_is_no_number_is_not_quoted(caplog):
    def do(_row: str) -> None:
        raise ValueError

    assert one_by_one(["a text of a person"], do, "the toys") == []
    assert caplog.messages == ["one of the toys failed: "]


def test_a_database_that_is_full_or_away_ends_it(monkeypatch):
    full = OperationalError("no room")
    full.__cause__ = DiskFull("no room")
    with pytest.raises(OperationalError, match="no room"):
        one_by_one([1, 2, 3], failing_with(full), "the toys")
    monkeypatch.setattr(connection, "is_usable", lambda: False)
    with pytest.raises(OperationalError, match="gone"):
        one_by_one([1, 2, 3], failing_with(OperationalError("gone")), "the toys")
