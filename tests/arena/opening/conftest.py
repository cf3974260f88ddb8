"""A campaign before it is opened, and opened."""

from __future__ import annotations

import pytest

from malpan.arena.models import Assignment, Campaign
from tests.arena.conftest import World, make_world


@pytest.fixture
def world() -> World:
    """Of each test: one of them commits."""
    return make_world()


@pytest.fixture
def opened(world: World) -> Campaign:
    return world.opened(masked_words=["뜻풀이"])


def rows_of(campaign: Campaign) -> list[Assignment]:
    rows = Assignment.objects.filter(campaign=campaign).select_related("judge", "item", "repeats")
    return list(rows.order_by("judge__design_label", "position"))
