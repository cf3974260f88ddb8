"""The only row of a query: found without putting rows in an order, and never one of two."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from malpan.competitions.models import Competition
from malpan.core.rows import only
from tests.factories import CompetitionFactory

pytestmark = pytest.mark.django_db


def test_it_is_the_row_or_none_and_takes_one_query_without_an_order() -> None:
    there = CompetitionFactory.create(slug="there")
    with CaptureQueriesContext(connection) as queries:
        assert only(Competition.objects.filter(slug="there")) == there
        assert only(Competition.objects.filter(slug="nowhere")) is None
        assert only(Competition.objects.filter(slug="there").values_list("slug", flat=True)) == "there"
    assert [("ORDER BY" in query["sql"], "there" in query["sql"]) for query in queries] == [
        (False, True), (False, False), (False, True)
    ]  # fmt: skip


def test_of_two_it_is_neither() -> None:
    CompetitionFactory.create_batch(2)
    with pytest.raises(Competition.MultipleObjectsReturned):
        only(Competition.objects.all())
