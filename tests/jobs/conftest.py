"""A queue with toy work, and a broker that remembers what it was sent."""

from __future__ import annotations

import pytest

from malpan.jobs import registry
from tests.jobs.toys import Toy
from tests.submissions.conftest import collect_rings


@pytest.fixture
def rings(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    return collect_rings(monkeypatch)


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch, rings: list[str]) -> Toy:
    made = Toy()
    monkeypatch.setattr(registry, "_handlers", {"toy": made})
    return made
