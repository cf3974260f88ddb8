"""The board as files: a CSV of all its rows, and the address of its JSON."""

from __future__ import annotations

import csv
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from malpan.competitions.models import Phase
from malpan.core import limits
from malpan.leaderboard.snapshots import publish_final_board
from malpan.teams.models import Team
from tests.factories import finished_submission, person_in
from tests.web import html
from tests.web.conftest import SCORES, Contest


@pytest.fixture
def pages_of_two(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("malpan.web.presenters.board.PAGE_ROWS", 2)
    monkeypatch.setattr("malpan.leaderboard.boards.PAGE_ROWS", 2)


def page_of(client: Client, address: str) -> html.Element:
    return html.parse(client.get(address).content.decode())


def links_of(page: html.Element) -> dict[str, str]:
    return {link.text: link.attributes["href"] for link in page.one("div", "board-paging").all("a")}


def teams_in(client: Client, address: str) -> list[str]:
    text = client.get(address).content.decode("utf-8-sig")
    return [row["team"] for row in csv.DictReader(text.splitlines())]


@pytest.mark.parametrize("page", ["", "?page=2"])
def test_the_csv_has_every_page_from_any(contest: Contest, client: Client, pages_of_two: None, page: str) -> None:
    shown = page_of(client, contest.url(f"board/{page}"))
    link = links_of(shown)["표 전체를 CSV로"]
    assert "page" not in link
    assert teams_in(client, contest.url(f"board/{link}")) == ["Better", "Team One", "Baseline"]
    assert "CSV에는 모든 쪽이 있고, JSON은 2줄씩입니다" in shown.one("div", "board-paging").text


def test_the_csv_is_in_the_order_and_of_the_search_of_the_page(
    contest: Contest, client: Client, pages_of_two: None
) -> None:
    link = links_of(page_of(client, contest.url("board/?sort=submissions&order=asc&q=e&page=1")))["표 전체를 CSV로"]
    assert teams_in(client, contest.url(f"board/{link}"))[-1] == "Team One"
    assert teams_in(client, contest.url("board/?q=better&as=csv")) == ["Better"]


def test_all_of_a_board_in_one_page_needs_no_note(contest: Contest, client: Client) -> None:
    assert "CSV에는 모든 쪽이" not in page_of(client, contest.url("board/")).text


def test_a_csv_takes_as_few_queries_as_the_page(
    contest: Contest, client: Client, django_assert_max_num_queries: Any
) -> None:
    client.get(contest.url("board/?as=csv"))
    with django_assert_max_num_queries(6):
        client.get(contest.url("board/?as=csv"))


def test_an_address_has_so_many_csvs_a_minute_and_pages_without_end(
    contest: Contest, client: Client, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits.time, "time", lambda: 1_800_000_020.0)  # 20 seconds into a minute
    settings.BOARD_DOWNLOADS_PER_ADDRESS = 1
    address = contest.url("board/?as=csv")
    assert client.get(address)["RateLimit"] == '"board";r=0;t=40'
    refused = client.get(address)
    assert (refused.status_code, refused["Retry-After"]) == (429, "40")
    assert client.get(contest.url("board/")).status_code == 200
    assert Client(REMOTE_ADDR="203.0.113.9").get(address).status_code == 200


def test_the_json_of_the_board_shown_is_a_click_away(contest: Contest, client: Client) -> None:
    for query in ("", "?q=better"):
        body = client.get(links_of(page_of(client, contest.url(f"board/{query}")))["JSON"]).json()
        assert body["rows"][0]["team"] == "Better"
        assert body["row_count"] == (1 if query else 3)


def test_the_json_of_a_final_board_is_of_that_publication(phase: Phase, team: Team, client: Client) -> None:
    competition = phase.track.competition
    finished_submission(phase, team, 0.5, scores=SCORES)
    Phase.objects.update(ends_at=timezone.now())
    publish_final_board(phase=Phase.objects.get(), actor=person_in(competition, "owner"))
    shown = page_of(client, f"/competitions/{competition.slug}/board/")
    assert client.get(links_of(shown)["JSON"]).json()["final"]["rows"]
