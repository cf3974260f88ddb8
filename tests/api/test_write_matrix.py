"""Who can change what by the API: every operation that is not a GET, by every kind of person with a token.

Each is sent what makes a change (``participant_rules``, ``organiser_rules``: an operation that is not there fails the
test), and the database says what changed, whatever the answer says. Whoever may has changed something, so the body is
one that works; whoever may not has changed nothing and is told so. Every change is taken back.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import pytest
from django.core.cache import cache
from django.test import Client
from django.test.client import BOUNDARY, MULTIPART_CONTENT, encode_multipart
from django.utils import timezone

from malpan.api.documents import document
from malpan.api.routes import api
from malpan.competitions.models import Phase
from tests.api import organiser_rules, participant_rules
from tests.api.operations import Operation, operations
from tests.web.matrix import Changes, raised_in, taken_back
from tests.web.write_rules import NOBODY, TEAMS, Rule, of
from tests.web.write_world import VIEWERS, WriteWorld, make_writable

pytestmark = pytest.mark.django_db
RULES: Final[Mapping[str, Rule]] = participant_rules.RULES | organiser_rules.RULES
NO_BODY: Final = ""
JSON: Final = "application/json"
# what is wrong with a file is kept for its team; a worker is asked to compute the other, which is not there yet
RECORDED_REFUSALS: Final = ("checkFile", "planPanel")
SO_ALREADY: Final = ("acceptTerms",)  # answers what is: these terms are accepted
CLOSED_AT_THE_END: Final = (
    *("submit", "checkFile", "chooseFinals", "withdrawSubmission", "leaveTeam", "removeMember"),
    *("askMerge", "acceptMerge"),
)


@dataclass(frozen=True)
class Place:
    """An operation at an address, with what is sent there."""

    operation: Operation
    rule: Rule
    address: str
    media_type: str
    body: bytes

    @property
    def name(self) -> str:
        return self.operation.name


@dataclass(frozen=True)
class Asked:
    status: int
    content: str
    changed: frozenset[str]  # tables
    error: str = ""  # what the view raised


def places(world: WriteWorld) -> list[Place]:
    found = []
    usual = {"slug": world.competition.slug, "track": "norms", "public_id": world.submissions["own.after"].public_id}
    for operation in operations():
        if operation.method == "GET":
            continue
        rule = RULES.get(operation.name)
        assert rule is not None, f"nobody has said who may change something by {operation.name}"
        address = operation.path.format(**{**usual, **of(rule.at, world)})
        found.append(Place(operation, rule, address, *_body(operation, of(rule.body, world))))
    return found


def _body(operation: Operation, values: Mapping[str, Any]) -> tuple[str, bytes]:
    if operation.media_type == NO_BODY:
        assert not values, operation.name
        return "application/octet-stream", b""
    if operation.media_type == JSON:
        return JSON, json.dumps(values).encode()
    return MULTIPART_CONTENT, encode_multipart(BOUNDARY, values)


def ask(client: Client, changes: Changes, place: Place) -> Asked:
    """The answer and what the request changed, which is taken back."""
    with taken_back() as begun:
        answer = client.generic(place.operation.method, place.address, place.body, content_type=place.media_type)
        content = b"".join(answer.streaming_content) if answer.streaming else answer.content
        changed = changes.now() if begun else frozenset()
    shown = content[:300].decode(errors="replace")
    return Asked(answer.status_code, shown, changed, raised_in(answer))


def client_of(world: WriteWorld, viewer: str) -> Client:
    """A program with the viewer's token for everything; of nobody without one."""
    token = world.tokens.get(viewer)
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    return Client(headers=headers, raise_request_exception=False)


def what_is_wrong(viewer: str, place: Place, asked: Asked) -> str:
    may = viewer in place.rule.who
    if asked.status >= 500:
        return f"fails: {asked.error}"
    if str(asked.status) not in place.operation.statuses:
        return "answers what the document does not say"
    if asked.changed and not may:
        return f"changes {sorted(asked.changed)}"
    if may:
        works = asked.changed and (asked.status < 400 or place.name in RECORDED_REFUSALS)
        return "" if works else f"changes nothing, though they may: does the body work? {asked.content}"
    return "" if is_refused(viewer, place, asked) else "is not refused"


def is_refused(viewer: str, place: Place, asked: Asked) -> bool:
    if viewer == "anonymous":
        return asked.status == 401
    if place.rule.who == NOBODY or place.name in SO_ALREADY:
        return True  # changes nothing for anybody: who may see it is in test_operation_matrix
    if place.operation.scope == "organise":
        return asked.status in (403, 404)
    return asked.status in (403, 404, 409)


@pytest.fixture(scope="module")
def world(kept: None) -> WriteWorld:
    """Nothing that a test does stays in it."""
    return make_writable()


@pytest.fixture(scope="module")
def found(world: WriteWorld) -> list[Place]:
    return places(world)


@pytest.mark.parametrize("viewer", VIEWERS)
def test_nobody_changes_what_is_not_theirs_to_change(world: WriteWorld, found: list[Place], viewer: str) -> None:
    cache.clear()
    client, changes, wrong = client_of(world, viewer), Changes(), []
    for place in found:
        asked = ask(client, changes, place)
        if problem := what_is_wrong(viewer, place, asked):
            wrong.append(f"{place.name} {asked.status}: {problem}")
    assert wrong == []
    assert changes.contents(changes.tables) == changes.before


def test_what_is_sent_again_under_its_key_is_answered_alike_and_changes_nothing_more(
    world: WriteWorld, found: list[Place]
) -> None:
    """Also: no operation takes its locks out of order where all of it is one transaction."""
    cache.clear()
    changes, seen = Changes(), set()
    for place in found:
        if place.operation.method != "POST" or place.name in (*RECORDED_REFUSALS, "submit") or not place.rule.who:
            continue
        client = client_of(world, max(place.rule.who, key=("superuser", "owner").count))
        answers = []
        with taken_back():
            for _time in range(2):
                changes.touched()
                headers = {"Idempotency-Key": "again"}
                answers.append(client.generic("POST", place.address, place.body, place.media_type, headers=headers))
            touched = changes.touched()
        first, again = answers
        if "Idempotency-Replayed" not in again:
            continue
        seen.add(place.name)
        assert (place.name, first.status_code < 400, touched) == (place.name, True, []), raised_in(first)
        assert (again.status_code, again.content) == (first.status_code, first.content), place.name
    done_once = {name for name in RULES if is_once(name)}
    assert done_once - seen == set()


def is_once(name: str) -> bool:
    """Whether the document says that it takes a key."""
    documented = (each for methods in document(api)["paths"].values() for each in methods.values())
    operation = next(each for each in documented if each["operationId"] == name)
    return name != "submit" and any(each["name"] == "Idempotency-Key" for each in operation["parameters"])


def test_what_a_team_sends_after_the_end_changes_nothing(world: WriteWorld, found: list[Place]) -> None:
    cache.clear()
    named = [place for place in found if place.name in CLOSED_AT_THE_END]
    assert len(named) == len(CLOSED_AT_THE_END)
    Phase.objects.update(ends_at=timezone.now())
    for viewer in sorted(TEAMS):
        client, changes = client_of(world, viewer), Changes()
        for place in named:
            asked = ask(client, changes, place)
            assert (viewer, place.name, asked.changed) == (viewer, place.name, frozenset())
            assert asked.status >= 400, (viewer, place.name)


def test_every_rule_is_of_an_operation() -> None:
    names = {each.name for each in operations() if each.method != "GET"}
    assert sorted(RULES.keys() - names) == []
    assert participant_rules.RULES.keys().isdisjoint(organiser_rules.RULES)


def test_what_a_participant_does_is_among_the_rules_of_participants() -> None:
    of_participants = {each.name for each in operations() if each.method != "GET" and each.scope == "submit"}
    assert participant_rules.RULES.keys() == of_participants
