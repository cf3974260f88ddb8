"""A scoring worker that stands still: what a participant, an organiser, an operator and a load balancer are told."""

from __future__ import annotations

import pytest

from tests.system.dead_scorer import SIGNS, table, watch
from tests.system.stack import Stack

pytestmark = pytest.mark.services


def test_every_place_says_that_nobody_scores_and_stops_saying_it(stack: Stack) -> None:
    places = watch(stack, "dead")
    assert [place for place in places if not place.holds] == []
    told = [row.split(" | ")[0].removeprefix("| ") for row in table(places).splitlines()[2:]]
    assert told == list(SIGNS), "each has a row"
