"""A competition to carry from one site to another, and the site it goes to."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from malpan.competitions.models import Competition
from tests import database
from tests.archive import full_competition, light_passphrase
from tests.submissions.conftest import collect_rings, phase, rings, run, team

__all__ = ["phase", "rings", "run", "team"]  # fixtures


@pytest.fixture(scope="module")
def made(kept: None) -> int:
    """The number of a competition with something of everything."""
    with pytest.MonkeyPatch.context() as patched:
        collect_rings(patched)
        return full_competition.make().pk


@pytest.fixture
def competition(made: int, db: None, rings: list[str]) -> Competition:
    """A competition with something of everything."""
    return Competition.objects.get(pk=made)


@pytest.fixture
def empty_site(tmp_path: Path, settings: Any) -> Callable[[], None]:
    """Forget everything: another database, another disk."""

    def forget() -> None:
        database.empty()  # the numbers go on: those of the new site are others
        settings.PRIVATE_ROOT = tmp_path / "other"

    return forget


@pytest.fixture
def passphrase(monkeypatch: pytest.MonkeyPatch) -> str:
    """A passphrase that locks at once. ``test_key_opens_by_its_passphrase_alone`` takes the seconds of a real one."""
    return light_passphrase.use(monkeypatch)
