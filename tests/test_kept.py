"""What the tests of a module share is what was made, whatever each of them does to it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from malpan.accounts.models import User
from malpan.core.storage import StoredFile, read_private, store_private
from malpan.teams.models import Team
from tests.factories import TeamFactory

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def made(kept: None) -> tuple[int, StoredFile]:
    return TeamFactory.create(name="함께 쓰는 팀").pk, store_private(b"shared")


@pytest.mark.parametrize("turn", ["first", "second"])
def test_every_test_finds_what_was_made_and_nothing_of_another(
    made: tuple[int, StoredFile], settings: Any, turn: str
) -> None:
    team, stored = made
    assert list(Team.objects.values_list("pk", "name")) == [(team, "함께 쓰는 팀")]
    assert User.objects.count() == 1
    [path] = [found for found in Path(settings.PRIVATE_ROOT).rglob("*") if found.is_file()]
    assert path.name == stored.sha256
    assert read_private(stored.sha256) == b"shared"

    Team.objects.update(name=turn)
    TeamFactory.create()
    store_private(turn.encode())
    path.unlink()
