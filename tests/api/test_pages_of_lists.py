"""Every list that may grow is answered by pages: held over the OpenAPI document."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.urls import reverse
from django.utils import timezone

from malpan.accounts.models import Scope
from malpan.accounts.services import create_api_token
from malpan.api.documents import document
from malpan.api.routes import api
from malpan.core.times import kst_day
from malpan.submissions.quota import services as quota
from tests.api.conftest import Api
from tests.api.whole_lists import WHOLE
from tests.factories import CompetitionFactory, PhaseFactory, UserFactory, finished_submission

MOST = 100


def readers() -> Iterator[dict[str, Any]]:
    """The operations that only read and answer JSON."""
    for methods in document(api)["paths"].values():
        if "get" in methods and "application/json" in methods["get"]["responses"]["200"].get("content", {}):
            yield methods["get"]


def has_list(schema: Any, seen: frozenset[str] = frozenset()) -> bool:
    """Whether a value of ``schema`` may have a list anywhere, but a pair of numbers."""
    if not isinstance(schema, dict):
        return False
    if (name := schema.get("$ref", "")) in seen:
        return False
    if name:
        return has_list(document(api)["components"]["schemas"][name.rpartition("/")[2]], seen | {name})
    if schema.get("type") == "array" and schema.get("maxItems", MOST + 1) > MOST:
        return True
    parts = [*schema.get("anyOf", []), *schema.get("properties", {}).values(), schema.get("additionalProperties")]
    return any(has_list(each, seen) for each in parts)


def pages(operation: dict[str, Any]) -> dict[str, Any]:
    return {each["name"]: each["schema"] for each in operation["parameters"] if each["name"] in ("page", "page_size")}


def answered(operation: dict[str, Any]) -> Any:
    return operation["responses"]["200"]["content"]["application/json"]["schema"]


def test_a_list_has_pages_of_a_bounded_size_or_a_reason():
    listing = {each["operationId"]: pages(each) for each in readers() if has_list(answered(each))}
    assert len(listing) > 60
    without = {name for name, found in listing.items() if set(found) != {"page", "page_size"}}
    assert without == WHOLE.keys()
    for name in listing.keys() - without:
        size = listing[name]["page_size"]
        assert (name, size["minimum"], size["maximum"]) == (name, 1, MOST)
        assert (name, 1 <= size["default"] <= MOST) == (name, True)
        assert (name, listing[name]["page"]["default"]) == (name, 1)


@pytest.mark.django_db
def test_a_list_that_is_the_answer_itself_names_its_next_page_in_a_header(phase, team):
    staff = UserFactory.create(is_superuser=True)
    for slots in (1, 2, 3):
        quota.grant(phase=phase, team=team, slots=slots, day=kst_day(timezone.now()), reason="장애", actor=staff)
    client = Api().client
    client.defaults["HTTP_AUTHORIZATION"] = f"Bearer {create_api_token(user=staff, label='t', scopes=list(Scope))[1]}"
    address = reverse("getTeamLedger", args=[phase.track.competition.slug, phase.pk, team.number])
    first = client.get(f"{address}?page_size=2")
    assert [each["slots"] for each in first.json()] == [1, 2]
    following, relation = first["Link"].split("; ")
    assert relation == 'rel="next"'
    last = client.get(f"{address}?{urlsplit(following.strip('<>')).query}")
    assert [each["slots"] for each in last.json()] == [3]
    assert "Link" not in last


@pytest.mark.django_db
def test_the_history_has_a_hundred_entries_a_page_unless_another_number_is_asked_for(api, phase, team):
    for _number in range(3):
        finished_submission(phase, team, 0.5)
    whole = api.client.get(api.address("api-submissions")).json()
    assert (len(whole["history"]), whole["count"], whole["next"]) == (3, 3, None)
    part = api.client.get(f"{api.address('api-submissions')}?page_size=2").json()
    assert (len(part["history"]), part["count"]) == (2, 3)
    assert "page=2" in part["next"]


@pytest.mark.django_db
def test_past_competitions_come_by_pages():
    over, day = timezone.now() - timedelta(days=1), timedelta(days=1)
    for _number in range(3):
        PhaseFactory.create(track__competition=CompetitionFactory.create(), starts_at=over - day, ends_at=over)
    found = Api().client.get(f"{reverse('api-competitions')}?page_size=2").json()
    assert (len(found["past"]), found["count"]) == (2, 3)
    rest = Api().client.get(f"{reverse('api-competitions')}?page_size=2&page=2").json()
    assert (len(rest["past"]), rest["next"]) == (1, None)
