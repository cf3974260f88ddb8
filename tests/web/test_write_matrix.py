"""Who can change what: every unsafe method at every address of the site and the API, by every kind of viewer.

Each address is sent what makes a change there (``write_rules``: an address that is not there fails the test), and the
database says what changed, whatever the answer says. Whoever may has changed something, so the body is one that works;
whoever may not has changed nothing and, on the manage pages, is told so. Every change is taken back.

Left out is only what cannot differ: a method that a view declines before it looks at anything is asked by one viewer;
for the pages of the admin, which tell a POST from all else, DELETE stands for all else, asked by who may do everything.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from http.cookies import SimpleCookie
from typing import Final

import pytest
from django.core.cache import cache
from django.test import Client
from django.test.client import BOUNDARY, MULTIPART_CONTENT, encode_multipart
from django.urls import URLPattern
from django.utils import timezone

from malpan.competitions.models import CompetitionRole, Phase
from tests.web.matrix import NAMES, Changes, addresses, client_of, declines, raised_in, routes, taken_back
from tests.web.write_rules import ACCOUNTS, ADMIN_PAGES, MANAGE_PAGES, NOBODY, PAGES, TEAMS, Rule, of, rule_of
from tests.web.write_world import VIEWERS, WriteWorld, make_writable

pytestmark = pytest.mark.django_db

METHODS: Final = ("POST", "PUT", "PATCH", "DELETE")
INSIDERS: Final = ("viewer", "operator", "organiser", "owner", "superuser")
MANAGE: Final = "competitions/<slug:slug>/manage/"
NOT_OURS: Final = ("accounts/", "admin/", "language/")  # of Django and allauth: any method is taken as GET or POST
API: Final = "api/v1/"  # of its operations those that take a form: all are in tests/api/test_operation_matrix.py
OF_FORMS: Final = ("api-competition", "api-board", "api-submissions", "api-submission")
NOT_THERE: Final = ("api/", "openmetrics/")  # answer 404 to any method
ASKS_IN_VAIN: Final = "own team"  # the one who asks for what a view declines to all alike
ELSEWHERE: Final = "organiser elsewhere"
CONFIRMED: Final = encode_multipart(BOUNDARY, {"confirm": "on"})
LABELLED: Final = encode_multipart(BOUNDARY, {"label": "laptop"})
NAMED_IN_THE_BODY: Final = ("manage_references", "manage_rescoring_repeat", "manage_runs_retry")
CLOSED_AT_THE_END: Final = (
    *("submit", "api-submissions", "submissions_finals", "submission_withdraw"),
    *("team_merge_ask", "team_merge_accept"),
)


@dataclass(frozen=True)
class Place:
    """An address with what is sent there."""

    route: str
    pattern: URLPattern
    rule: Rule
    address: str
    body: bytes


@dataclass(frozen=True)
class Asked:
    status: int
    location: str
    changed: frozenset[str]  # tables
    error: str = ""  # what the view raised


def places(world: WriteWorld) -> list[Place]:
    found = []
    for route, pattern in routes():
        if route.startswith(API) and pattern.name not in OF_FORMS:
            continue
        rule = rule_of(route, pattern.name)
        assert rule is not None, f"nobody has said who may change something at {route}"
        address = addresses(route, world, of(rule.at, world))[0]
        body = encode_multipart(BOUNDARY, of(rule.body, world))
        found.append(Place(route, pattern, rule, address, body))
    return found


def ask(client: Client, changes: Changes, method: str, address: str, body: bytes) -> Asked:
    """The answer and what the request changed, which is taken back; the browser stays as it was."""
    cookies = client.cookies.output(header="", sep=";")
    with taken_back() as begun:
        response = client.generic(method, address, body, content_type=MULTIPART_CONTENT)
        if response.streaming:
            b"".join(response.streaming_content)
        changed = changes.now() if begun else frozenset()
    client.cookies = SimpleCookie(cookies)
    return Asked(response.status_code, response.headers.get("Location", ""), changed, raised_in(response))


def asked_by(viewer: str, found: list[Place]) -> Iterator[tuple[Place, str]]:
    for place, method in itertools.product(found, METHODS):
        if place.route.startswith("admin/") and method != "POST":
            asks = (method, viewer) == ("DELETE", "superuser")
        else:
            asks = viewer == ASKS_IN_VAIN or not declines(place.pattern.callback, method)
        if asks:
            yield place, method


def what_is_wrong(viewer: str, place: Place, method: str, asked: Asked) -> str:
    may = method == "POST" and viewer in place.rule.who
    if asked.status >= 500:
        return f"fails: {asked.error}"
    if asked.changed and not may:
        return f"changes {sorted(asked.changed)}"
    if may:
        return "" if asked.changed and asked.status < 400 else "changes nothing, though they may: does the body work?"
    return "" if is_refused(viewer, place, method, asked) else "is not refused"


def is_refused(viewer: str, place: Place, method: str, asked: Asked) -> bool:
    """Whether the answer says so, where it has to: a form that is shown again may hide that nobody asked who it is."""
    if place.route.startswith(NOT_OURS):
        return True
    if place.route in NOT_THERE:
        return asked.status == 404
    if method != "POST" or place.rule.who == NOBODY:
        return asked.status == 405
    if viewer == "anonymous":
        return asked.status in (401, 403, 404) or asked.location.startswith("/accounts/login/")
    if place.route.startswith(MANAGE):
        return asked.status == (403 if viewer in INSIDERS else 404)
    return True


@pytest.fixture(scope="module")
def world(kept: None) -> WriteWorld:
    """Nothing that a test does stays in it."""
    return make_writable()


@pytest.fixture(scope="module")
def found(world: WriteWorld) -> list[Place]:
    return places(world)


@pytest.mark.parametrize("viewer", VIEWERS)
def test_nobody_changes_what_is_not_theirs_to_change(world: WriteWorld, found: list[Place], viewer: str) -> None:
    cache.clear()  # who tried too often is refused for that
    client, changes, wrong = client_of(world, viewer), Changes(), []
    for place, method in asked_by(viewer, found):
        asked = ask(client, changes, method, place.address, place.body)
        if problem := what_is_wrong(viewer, place, method, asked):
            wrong.append(f"{method} {place.address} {asked.status}: {problem}")
    assert wrong == []
    assert changes.contents(changes.tables) == changes.before


def test_an_owner_elsewhere_changes_nothing_of_this_competition_through_their_own_manage_pages(
    world: WriteWorld, found: list[Place]
) -> None:
    """Every address that names something of this competition, or is sent it, under the slug of the other one."""
    CompetitionRole.objects.filter(competition__slug="elsewhere").update(role="owner")
    client, changes = client_of(world, ELSEWHERE), Changes()
    assert ask(client, changes, "POST", "/competitions/elsewhere/manage/setup/hide/", CONFIRMED).changed
    for place in found:
        names_something = NAMES.findall(place.route) != ["slug"]
        if not place.route.startswith(MANAGE) or place.rule.who == NOBODY:
            continue
        if not names_something and place.pattern.name not in NAMED_IN_THE_BODY:
            continue
        address = place.address.replace(f"/{world.competition.slug}/", "/elsewhere/", 1)
        asked = ask(client, changes, "POST", address, place.body)
        assert (address, asked.changed) == (address, frozenset())
        assert asked.status == 404 or not names_something, (address, asked.status)


def test_what_a_team_sends_after_the_end_changes_nothing(world: WriteWorld, found: list[Place]) -> None:
    Phase.objects.filter(starts_at__lt=timezone.now()).update(ends_at=timezone.now())
    cache.clear()
    for viewer in sorted(TEAMS):
        client, changes = client_of(world, viewer), Changes()
        assert ask(client, changes, "POST", "/tokens/", LABELLED).changed
        for place in (each for each in found if each.pattern.name in CLOSED_AT_THE_END):
            asked = ask(client, changes, "POST", place.address, place.body)
            changed = asked.changed - {"accounts_apitoken"}  # when it was last used
            assert (viewer, place.address, changed) == (viewer, place.address, frozenset())


def test_every_rule_is_of_an_address() -> None:
    names = {pattern.name or route for route, pattern in routes()}
    assert [name for name in (*PAGES, *ACCOUNTS, *MANAGE_PAGES, *ADMIN_PAGES) if name not in names] == []
