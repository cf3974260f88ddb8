"""The simulation of a team that climbs the public score."""

from __future__ import annotations

from decimal import Decimal
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from malpan.submissions.hill_climbing import Climber, Rule, gain

CLIMBER = Climber(submissions=200, items=200)
STEP = Decimal("0.02")


def test_without_a_rule_the_public_score_rises_and_the_private_does_not():
    found = gain(CLIMBER, Rule(), repetitions=10)
    assert found.public > 0.1
    assert found.shown == pytest.approx(found.public)
    assert abs(found.private) < 0.03


def test_the_ladder_leaves_less_than_rounding_and_rounding_less_than_nothing():
    none, step, ladder = (
        gain(CLIMBER, rule, repetitions=10).public for rule in (Rule(), Rule(STEP), Rule(STEP, is_ladder=True))
    )
    assert ladder < step < none / 2


def test_a_score_that_is_shown_is_a_multiple_of_the_step():
    found = gain(CLIMBER, Rule(STEP, is_ladder=True), repetitions=1)
    assert round(found.shown / 0.02, 6) % 1 == 0


def test_the_same_seed_gives_the_same_table():
    assert table() == table()
    assert len(table().splitlines()) == 2 + 3


def table(**options):
    out = StringIO()
    call_command("hill_climbing", submissions=50, items=50, teams=2, step=[STEP], stdout=out, **options)
    return out.getvalue()


@pytest.mark.parametrize("wrong", [{"changed": 0}, {"changed": 101}, {"accuracy": 1}, {"step": [Decimal(1)]}])
def test_senseless_numbers_are_refused(wrong):
    options = {"submissions": 50, "items": 50, "teams": 2, "step": [STEP], **wrong}
    with pytest.raises(CommandError):
        call_command("hill_climbing", **options)
