"""Schemathesis over the whole document, with three roles: no answer is an error of ours, and each is one that the
document foresees.

The short form is a test. ``API_FUZZ_MINUTES=10 pytest -s tests/api/test_schemathesis.py`` asks for ten minutes and
prints how many requests were answered with what.

Requests go to the WSGI application of the site; what each changed is taken back. Half of them name rows that are there:
others end at the address.
"""

from __future__ import annotations

import logging
import os
import time
from collections import Counter
from contextlib import nullcontext, suppress
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
from malpan.competitions.models import CompetitionRole
from malpan.competitions.roles import appoint
from malpan.core.storage import store_private
from malpan.notifications.models import Endpoint, Letter
from malpan.wsgi import application
from tests.factories import (
    PhaseFactory,
    TeamFactory,
    UserFactory,
    finished_submission,
    leader_of,
    prediction_bytes,
    publish,
)
from tests.web.matrix import taken_back

pytestmark = pytest.mark.django_db

MINUTES: Final = "API_FUZZ_MINUTES"
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
SHARED: Final = 900_001  # a primary key of rows of several tables, which none gives by itself


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
def world():
    """A running phase with a scored submission, and who asks."""
    phase = PhaseFactory.create(pk=SHARED, daily_limit=500)
    publish(phase)
    competition = phase.track.competition
    team = TeamFactory.create(competition=competition)
    submission = finished_submission(phase, team, 0.5, file_sha256=store_private(prediction_bytes()).sha256)
    owner = UserFactory.create()
    appoint(competition=competition, user=owner, role=CompetitionRole.Role.OWNER, actor=None)
    people = {"participant": leader_of(team), "owner": owner}
    tokens = {name: create_api_token(user=each, label="t", scopes=list(Scope))[1] for name, each in people.items()}
    webhook = Endpoint.objects.create(
        pk=phase.pk, person=people["participant"], url="https://hooks.example.com/", events=["scored"]
    )
    Letter.objects.create(pk=phase.pk, person=people["participant"], endpoint=webhook, event="scored", key="k")
    there = {
        "slug": competition.slug,
        "track": phase.track.slug,
        "public_id": str(submission.public_id),
        "pk": phase.pk,
        "delivery_pk": phase.pk,
        "number": team.number,
    }
    return tokens, there


def schema_of() -> Any:
    found = {**document(api), "servers": [{"url": "/"}]}
    loaded = schemathesis.openapi.from_dict(found)
    loaded.app = application
    return loaded


@override_settings(ALLOWED_HOSTS=["*"])
def test_no_request_is_answered_with_a_fault_or_with_what_the_document_does_not_foresee(world, caplog):
    caplog.set_level(logging.CRITICAL)
    tokens, there = world
    answers: Counter[tuple[str, str, int]] = Counter()
    loaded = schema_of()
    operations = [found.ok() for found in loaded.get_all_operations()]
    ends_at = time.monotonic() + (60 * float(os.environ[MINUTES]) if MINUTES in os.environ else SECONDS_IN_SHORT)
    number = 0
    while number == 0 or (MINUTES in os.environ and time.monotonic() < ends_at):
        is_first = number == 0  # every operation is asked once, however slow the machine
        for operation in operations:
            for mode in GenerationMode.POSITIVE, GenerationMode.NEGATIVE:
                if time.monotonic() < ends_at or (is_first and mode is GenerationMode.POSITIVE):
                    _ask(operation, mode, number, tokens, there, answers)
                number += 1
    assert {operation.label for operation in operations} == {label for label, _role, _status in answers}
    if MINUTES in os.environ:
        report(answers)


def _ask(
    operation: Any,
    mode: GenerationMode,
    number: int,
    tokens: dict[str, str],
    there: dict[str, Any],
    answers: Counter[tuple[str, str, int]],
) -> None:
    """Some requests of one operation, by all roles."""
    examples = 10 if MINUTES in os.environ else 1
    try:
        strategy = operation.as_strategy(generation_mode=mode)
    except Exception:  # an operation without anything to get wrong
        if mode is GenerationMode.NEGATIVE:
            return
        raise

    @seed(number)
    @settings(
        max_examples=examples,
        database=None,
        deadline=None,
        derandomize=False,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=strategy)
    def ask(case: Any) -> None:
        for turn, role in enumerate(ROLES):
            if (number + turn) % 2 and case.path_parameters:
                case.path_parameters = {name: there.get(name, value) for name, value in case.path_parameters.items()}
            headers = {"Authorization": f"Bearer {tokens[role]}"} if role in tokens else {}
            with taken_back():
                response = case.call(headers=headers, app=application)
            answers[operation.label, role, response.status_code] += 1
            case.validate_response(response, checks=CHECKS, headers=headers)

    with suppress(Unsatisfiable) if mode is GenerationMode.NEGATIVE else nullcontext():  # nothing to get wrong
        ask()


def report(answers: Counter[tuple[str, str, int]]) -> None:
    total = answers.total()
    print(f"\n{total} requests of {len({label for label, *_rest in answers})} operations by {len(ROLES)} roles")
    for status in sorted({status for *_rest, status in answers}):
        print(status, sum(count for (*_rest, found), count in answers.items() if found == status))
    print("5xx", sum(count for (*_rest, status), count in answers.items() if status >= 500))
