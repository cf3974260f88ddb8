"""Calls beside a running site: one that fails says so and takes nothing from the next, which has another process."""

from __future__ import annotations

import uuid

import pytest

from tests.system.stack import Stack

pytestmark = pytest.mark.services


def test_people_are_made_also_after_a_call_that_failed(stack: Stack) -> None:
    owner, organiser = (stack.call("tests.system.make_people", "log_in_somebody")["email"] for _ in range(2))
    for _process in range(3):
        slug = f"calls-{uuid.uuid4().hex[:8]}"
        assert stack.call("tests.system.make_stages", "prepare", slug, owner, organiser)
        with pytest.raises(AssertionError, match="no_such_function failed"):
            stack.call("tests.system.make_people", "no_such_function")
