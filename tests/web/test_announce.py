"""``manage.py announce``: what it says of the demo where its scoring takes long."""

from __future__ import annotations

from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command

from malpan.web.management.commands import announce
from tests.clocks import stop_in
from tests.factories import CompetitionFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def waiting(monkeypatch: pytest.MonkeyPatch, settings: Any) -> list[int]:
    """How many runs wait at every look; the last number stays."""
    settings.LOAD_DEMO = False
    CompetitionFactory.create(is_demo=True)
    counts: list[int] = []
    monkeypatch.setattr(announce, "_is_up", lambda _url: True)
    monkeypatch.setattr(announce, "_POLL_SECONDS", 0.02)
    stop_in(announce, monkeypatch)
    monkeypatch.setattr(announce, "_waiting_runs", lambda: counts.pop(0) if len(counts) > 1 else counts[0])
    return counts


def said(patience: float) -> str:
    out = StringIO()
    call_command("announce", patience=patience, stdout=out)
    return out.getvalue()


def test_a_demo_that_stands_still_is_told_after_the_address_and_is_no_error(waiting: list[int]) -> None:
    waiting += [7, 5]
    text = said(0.1)
    assert text.index("말판이 열렸습니다") < text.index("데모 제출 5건은 아직 채점하지 못했습니다")
    assert "5 demo submissions are not scored yet" in text


def test_a_demo_that_goes_on_is_waited_for_beyond_the_patience(waiting: list[int]) -> None:
    waiting += [*range(30, 0, -1), 0]  # 0.6 seconds at least
    text = said(0.4)
    assert "아직 채점하지" not in text
    assert not waiting[1:], "it looked until all was scored"
