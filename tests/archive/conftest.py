"""A competition to carry from one site to another, and the site it goes to."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from malpan.competitions.models import Competition
from tests import database
from tests.archive import full_competition
from tests.submissions.conftest import phase, rings, run, team

__all__ = ["phase", "rings", "run", "team"]  # fixtures


@pytest.fixture
def competition(rings: list[str]) -> Competition:
    """A competition with something of everything."""
    return full_competition.make()


@pytest.fixture
def empty_site(tmp_path: Path, settings: Any) -> Callable[[], None]:
    """Forget everything: another database, another disk."""

    def forget() -> None:
        database.empty()  # the numbers go on: those of the new site are others
        settings.PRIVATE_ROOT = tmp_path / "other"

    return forget
