"""The search for a team by name on 순위표."""

from __future__ import annotations

import copy
from datetime import timedelta
from typing import Any
from urllib.parse import quote

import pytest
from django.test import Client
from django.utils import timezone

from malpan.competitions.models import Competition, Phase
from malpan.leaderboard import boards
from malpan.leaderboard.snapshots import publish_final_board
from malpan.web.presenters import board as presenter
from tests.factories import PhaseFactory, TeamFactory, finished_submission, leader_of, person_in
from tests.web import html
from tests.web.conftest import client_of
from tests.web.test_board_page import teams_of

pytestmark = pytest.mark.django_db
WORDS = ("한글", "누리", "Gaon")


def fill(phase: Phase, count: int, start: int = 0) -> None:
    for number in range(start, start + count):
        team = TeamFactory.create(competition=phase.track.competition, name=f"{WORDS[number % 3]} {number:03d}")
        finished_submission(phase, team, 0.9 - number / 1000)


@pytest.fixture(scope="module")
def made(kept: None) -> Phase:
    """51 teams, of three words each 17, the best first; a baseline is the second row."""
    phase = PhaseFactory.create()
    fill(phase, 51)
    baseline = TeamFactory.create(competition=phase.track.competition, name="기준", is_baseline=True)
    finished_submission(phase, baseline, 0.8995)
    return phase


@pytest.fixture
def phase(made: Phase) -> Phase:
    return copy.deepcopy(made)


def page_of(phase: Phase, query: str, client: Client | None = None) -> html.Element:
    response = (client or Client()).get(f"/competitions/{phase.track.competition.slug}/board/{query}")
    assert response.status_code == 200
    page = html.parse(response.content.decode())
    assert html.problems(page) == []
    return page


def ranks_of(page: html.Element) -> list[str]:
    rows = page.one("table", "board").all("tbody")[-1]
    return [cell.text.split()[-1] for cell in rows.all("td", "rank")]


def test_teams_are_found_by_a_part_of_their_names_with_their_rank_of_the_whole_board(phase: Phase) -> None:
    page = page_of(phase, f"?q={quote('누리 0')}")
    assert teams_of(page) == [f"누리 {number:03d}" for number in range(1, 51, 3)]
    assert ranks_of(page) == [str(number + 1) for number in range(1, 51, 3)]
    assert "52줄 가운데 17줄" in page.one("form", "board-search").text
    assert "바로 위와" not in page.one("table", "board").text  # the row above is another team's
    assert "바로 위와" in page_of(phase, "").one("table", "board").text


@pytest.mark.parametrize("query", ["gaon002", "ＧＡＯＮ 002", "  aon 002 "])
def test_case_spaces_and_wide_letters_are_one(phase: Phase, query: str) -> None:
    assert teams_of(page_of(phase, f"?q={quote(query)}")) == ["Gaon 002"]


def test_a_search_that_finds_every_row_is_not_taken_for_the_board(phase: Phase) -> None:
    """Rendered rows are remembered by what they show, and these have no team above."""
    few = PhaseFactory.create()
    fill(few, 50)
    board, found = page_of(few, ""), page_of(few, "?q=0")
    assert teams_of(board) == teams_of(found)
    assert board.one("table", "board").text.count("바로 위와") == 49
    assert "바로 위와" not in found.one("table", "board").text
    assert page_of(few, "?q=%20").one("table", "board").text.count("바로 위와") == 49


def test_a_search_keeps_the_order_and_its_links_keep_the_search(phase: Phase) -> None:
    page = page_of(phase, f"?sort=submitted&order=desc&q={quote('한글')}")
    assert teams_of(page)[0] == "한글 048"
    assert ranks_of(page)[0] == "49"
    assert all(quote("한글") in th.one("a").attributes["href"] for th in page.all("th") if th.all("a"))
    hidden = {each.attributes["name"]: each.attributes["value"] for each in page.all("input") if
              each.attributes.get("type") == "hidden" and each.attributes["name"] in ("sort", "order")}  # fmt: skip
    assert hidden == {"sort": "submitted", "order": "desc"}


def test_what_is_found_has_pages(phase: Phase, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (boards, presenter):
        monkeypatch.setattr(module, "PAGE_ROWS", 10)
    second = page_of(phase, f"?q={quote('누리')}&page=2")
    assert teams_of(second) == [f"누리 {number:03d}" for number in range(31, 51, 3)]
    assert second.one("nav", "paging").one("a").attributes["href"].endswith(f"?q={quote('누리')}&page=1")
    response = Client().get(f"/competitions/{phase.track.competition.slug}/board/?q={quote('누리')}&page=9")
    assert response.status_code == 302
    assert response["Location"].endswith(f"?q={quote('누리')}&page=2")


def test_nothing_found_says_so_and_leads_back(phase: Phase) -> None:
    page = page_of(phase, "?q=%00%3Cb%3E")
    empty = page.one("div", "empty")
    assert "글자가 든 팀이 없습니다" in empty.text
    assert empty.one("a").attributes["href"].endswith("/board/")


def test_a_short_board_offers_no_search(phase: Phase) -> None:
    few = PhaseFactory.create()
    fill(few, 49)
    assert page_of(few, "").all("form", "board-search") == []
    fill(few, 1, start=49)
    assert len(page_of(few, "").all("form", "board-search")) == 1


def test_blind_teams_are_not_found_by_their_names(phase: Phase) -> None:
    Competition.objects.update(has_blind_names=True)
    team = phase.track.competition.teams.get(name="누리 001")
    assert "글자가 든 팀이 없습니다" in page_of(phase, f"?q={quote('누리')}").one("div", "empty").text
    assert teams_of(page_of(phase, f"?q={quote(f'참가팀 {team.number}')}"))[0] == f"참가팀 {team.number}"
    own = page_of(phase, f"?q={quote('누리')}", client_of(leader_of(team)))
    assert teams_of(own) == ["누리 001"]


def test_a_hidden_board_finds_nothing(phase: Phase) -> None:
    Phase.objects.update(board="hidden")
    page = page_of(phase, f"?q={quote('누리')}")
    assert page.all("table") == []
    assert "누리 0" not in page.text


def test_a_published_board_is_searched_as_it_was_published(phase: Phase) -> None:
    Phase.objects.update(ends_at=timezone.now() - timedelta(seconds=1))
    publish_final_board(phase=Phase.objects.get(), actor=person_in(phase.track.competition, "owner"))
    phase.track.competition.teams.filter(name="누리 001").update(name="새 이름")
    page = page_of(phase, f"?q={quote('누리 001')}")
    assert (teams_of(page), ranks_of(page)) == (["누리 001"], ["2"])
    assert page_of(phase, f"?q={quote('새 이름')}").all("table", "board") == []


def test_a_search_takes_as_many_queries_on_a_longer_board(phase: Phase, django_assert_num_queries: Any) -> None:
    def search() -> None:
        page_of(phase, f"?q={quote('누리')}")

    search()
    with django_assert_num_queries(5):
        search()
    fill(phase, 51, start=51)
    search()
    with django_assert_num_queries(5):
        search()
