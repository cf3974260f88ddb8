"""A demo judge, a profile that names it, and the toy recipe."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from scoring.judging.demo import DemoJudge
from scoring.recipes import RECIPES
from tests.scoring.judging.toys import TOY, demo_judge, profile_for


@pytest.fixture
def server() -> Iterator[DemoJudge]:
    with demo_judge() as running:
        yield running


@pytest.fixture
def judged(tmp_path: Path, server: DemoJudge) -> Path:
    return profile_for(tmp_path / "judged.toml", server.url)


@pytest.fixture(autouse=True)
def _toy_recipe(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(RECIPES.entries, TOY.id, TOY)
