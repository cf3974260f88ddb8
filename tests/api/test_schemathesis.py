"""Schemathesis over the whole document, with three roles: no answer is an error of ours, and each is one that the
document foresees.

No answer to a visitor or a participant has the canary of the reference answers.

The short form is a test. ``python -m tests.api.contract --minutes 10`` asks for ten minutes and says how many requests
were answered with what, and how often each operation was asked that is newer than the last released document.

Requests go to the WSGI application of the site; what each changed is taken back. Half of them name rows that are there
(``tests.api.contests``): others end at the address.
"""

from __future__ import annotations

import json
import logging
import os
import random
import time
from collections import Counter
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from typing import Any, Final

import pytest
import schemathesis
from django.core.signals import request_finished, request_started
from django.db import close_old_connections
from django.test import override_settings
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    allow_header_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
    unsupported_method,
)

from malpan.accounts.models import Scope
from malpan.accounts.services import create_api_token
from malpan.api.documents import document
from malpan.api.routes import api
from malpan.wsgi import application
from tests.api.contests import There, fitting, made_contests, owner_of, participant_of
from tests.api.release import newest
from tests.factories import CANARY
from tests.web.matrix import taken_back

pytestmark = pytest.mark.django_db

MINUTES: Final = "API_FUZZ_MINUTES"
REPORT: Final = "--- report ---"
SECONDS_IN_SHORT: Final = 15.0  # of requests; the rest of its time is loading
CHECKS: Final = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    allow_header_conformance,
    unsupported_method,
]
ROLES: Final = ("visitor", "participant", "owner")


@pytest.fixture(autouse=True)
def connection_kept():
    """No request closes the connection in whose transaction the test is: as Django's own test client does."""
    signals = (request_started, request_finished)
    for signal in signals:
        signal.disconnect(close_old_connections)
    yield
    for signal in signals:
        signal.connect(close_old_connections)


@pytest.fixture
def contests() -> list[There]:
    return made_contests()


@pytest.fixture
def tokens(contests: list[There]) -> dict[str, str]:
    """Of each role but the visitor."""
    people = {"participant": participant_of(contests), "owner": owner_of(contests)}
    return {name: create_api_token(user=each, label="t", scopes=list(Scope))[1] for name, each in people.items()}


def schema_of() -> Any:
    found = {**document(api), "servers": [{"url": "/"}]}
    loaded = schemathesis.openapi.from_dict(found)
    loaded.app = application
    return loaded


@override_settings(ALLOWED_HOSTS=["*"])
def test_no_request_is_answered_with_a_fault_or_with_what_the_document_does_not_foresee(contests, tokens, caplog):
    caplog.set_level(logging.CRITICAL)
    asking = Asking(tokens, contests)
    operations = [found.ok() for found in schema_of().get_all_operations()]
    ends_at = time.monotonic() + (60 * float(os.environ[MINUTES]) if MINUTES in os.environ else SECONDS_IN_SHORT)
    number = 0
    while number == 0 or (MINUTES in os.environ and time.monotonic() < ends_at):
        is_first = number == 0  # every operation is asked once, however slow the machine
        for operation in operations:
            for mode in GenerationMode.POSITIVE, GenerationMode.NEGATIVE:
                if time.monotonic() < ends_at or (is_first and mode is GenerationMode.POSITIVE):
                    asking.ask(operation, mode, number)
                number += 1
    assert {operation.label for operation in operations} == {label for label, _role, _status in asking.answers}
    assert all(status < 500 for *_rest, status in asking.answers)
    if MINUTES in os.environ:
        report(asking.answers)


@dataclass
class Asking:
    """Who asks what, and how often each operation answered each role with each status."""

    tokens: dict[str, str]
    contests: list[There]
    answers: Counter[tuple[str, str, int]] = field(default_factory=Counter)

    def ask(self, operation: Any, mode: GenerationMode, number: int) -> None:
        """Some requests of one operation, by all roles."""
        try:
            strategy = operation.as_strategy(generation_mode=mode)
        except Exception:  # an operation without anything to get wrong
            if mode is GenerationMode.NEGATIVE:
                return
            raise
        chance = random.Random(number)

        @seed(number)
        @settings(
            max_examples=10 if MINUTES in os.environ else 1,
            database=None,
            deadline=None,
            derandomize=False,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(case=strategy)
        def each(case: Any) -> None:
            for role in ROLES:
                if chance.random() < 0.5:
                    name_what_is_there(case, chance.choice(fitting(self.contests, operation.path)), chance)
                self._once(operation, case, role)

        with suppress(Unsatisfiable) if mode is GenerationMode.NEGATIVE else nullcontext():  # nothing to get wrong
            each()

    def _once(self, operation: Any, case: Any, role: str) -> None:
        headers = {"Authorization": f"Bearer {self.tokens[role]}"} if role in self.tokens else {}
        with taken_back():
            response = case.call(headers=headers, app=application)
        self.answers[operation.label, role, response.status_code] += 1
        case.validate_response(response, checks=CHECKS, headers=headers)
        if role != "owner":
            assert CANARY.encode() not in response.content, operation.label
        told = operation.definition.raw["responses"].get(str(response.status_code), {}).get("headers", {})
        assert "Retry-After" in told or "retry-after" not in response.headers, operation.label


def name_what_is_there(case: Any, there: There, chance: random.Random) -> None:
    """The address of ``case``, and what its body names, are rows of a contest."""
    if case.path_parameters:
        case.path_parameters = there.address(case.operation.path, case.path_parameters, chance)
    if isinstance(case.body, dict):
        case.body = there.body(case.body, chance)


def report(answers: Counter[tuple[str, str, int]]) -> None:
    """What was seen, as Markdown after ``REPORT``: a request that ended otherwise has ended the test."""
    labels = {label for label, *_rest in answers}
    released = json.loads(newest().read_text(encoding="utf-8"))["paths"]
    old = {f"{method.upper()} {path}" for path, methods in released.items() for method in methods}
    lines = [
        f"{answers.total():,} requests of {len(labels)} operations by {len(ROLES)} roles. "
        "5xx: 0. Statuses that the document does not foresee: 0. Canaries: 0.",
        "",
        *(f"- by {name}: {_counted(answers, place)}" for name, place in (("status", 2), ("role", 1))),
    ]
    for label in sorted(labels - old):
        own = Counter({key: count for key, count in answers.items() if key[0] == label})
        lines.append(f"- newer than the released document: {label}: {_counted(own, 2)}")
    print(f"\n{REPORT}", *lines, sep="\n")


def _counted(answers: Counter[tuple[str, str, int]], place: int) -> str:
    found: Counter[Any] = Counter()
    for key, count in answers.items():
        found[key[place]] += count
    return f"{found.total()} (" + ", ".join(f"{name}: {count}" for name, count in sorted(found.items())) + ")"
