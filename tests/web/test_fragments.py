"""Parts of pages: rendered once for equal content, anew for anything else."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.cache import caches
from django.test import Client
from django.utils import translation

from malpan.teams.models import Team
from malpan.web import fragments
from tests.web.conftest import Contest

MARKS = "pages/board_marks.html"


@pytest.fixture(autouse=True)
def _nothing_kept() -> None:
    caches["fragments"].clear()


def test_equal_content_is_rendered_once_in_each_language() -> None:
    asked: list[str] = []

    def context() -> dict[str, Any]:
        asked.append(translation.get_language() or "")
        return {"marks": [{"text": "<b>목표</b>", "note": ""}], "columns_across": 3}

    for language in ("ko", "ko", "en", "ko"):
        with translation.override(language):
            assert "&lt;b&gt;목표" in fragments.remembered(MARKS, ("content", 1), context)
    assert asked == ["ko", "en"]
    fragments.remembered(MARKS, ("content", 2), context)
    assert len(asked) == 3


@pytest.mark.django_db
def test_a_board_shows_at_once_what_changed(contest: Contest, client: Client) -> None:
    address = contest.url("board/")
    assert "Team One" in client.get(address).content.decode()
    Team.objects.filter(name="Team One").update(name="다른 이름")
    page = client.get(address).content.decode()
    assert "다른 이름" in page
    assert "Team One" not in page
    contest.track.score_scale = 1
    contest.track.score_decimals = 4
    contest.track.save()
    assert "0.9300" in client.get(address).content.decode()
