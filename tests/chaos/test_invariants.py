"""The record of the moves of jobs: which attempts failed or were given back, and how long the next one took."""

from __future__ import annotations

import pytest

from tests.chaos.invariants import retries_of

LEASE = 4.0


def move(at: float, was: str, state: str, failures: int = 0, code: str = "", has_parts: bool = False) -> tuple:
    return at, was, state, 1, failures, code, at + LEASE, has_parts


def test_a_lost_attempt_is_counted_from_its_last_sign_of_life() -> None:
    moves = [
        move(0.0, "queued", "running"),
        move(2.0, "running", "running"),
        move(7.0, "running", "queued", 1, "worker_lost"),
        move(9.0, "queued", "running", 1),
        move(12.0, "running", "finished", 1),
    ]
    [retry] = retries_of(1, "run", moves)
    assert (retry.age, retry.wait, retry.lease_ends) == (5.0, 7.0, 6.0)


def test_an_attempt_that_was_given_back_waits_from_then() -> None:
    moves = [
        move(0.0, "queued", "running"),
        move(1.0, "running", "queued"),
        move(21.0, "queued", "running"),
        move(23.0, "running", "finished"),
    ]
    [retry] = retries_of(1, "run", moves)
    assert (retry.age, retry.wait) == (0.0, 20.0)


@pytest.mark.parametrize("failures", [0, 1])
def test_a_run_that_waits_for_its_parts_is_no_attempt_but_one_that_fails_is(failures: int) -> None:
    moves = [
        move(0.0, "queued", "running", has_parts=True),
        move(1.0, "running", "queued", failures, "model_missing" if failures else "", has_parts=True),
        move(60.0, "queued", "running", failures, has_parts=True),
    ]
    assert [retry.wait for retry in retries_of(1, "run", moves)] == [59.0] * failures
