"""How many decimals the board writes, and the bar of the score that ranks."""

from __future__ import annotations

import csv
from typing import Any

import pytest
from django.test import Client

from malpan.submissions.models import ScoringRun
from tests.factories import TeamFactory, finished_submission
from tests.web import html
from tests.web.conftest import SCORES, Contest


def page_of(client: Client, address: str) -> html.Element:
    return html.parse(client.get(address).content.decode())


def main_of(page: html.Element) -> list[str]:
    return [
        next(word for word in cell.text.split() if word.replace(".", "").isdigit()) for cell in page.all("td", "main")
    ]


@pytest.fixture
def close(contest: Contest) -> Contest:
    """Another team is 0.00001 of a hundred below ``Team One``: four decimals do not tell it."""
    team = TeamFactory.create(competition=contest.competition, name="Close")
    finished_submission(contest.phase, team, 0.8222838, scores={**SCORES, "rouge_1": 0.7137036})
    return contest


def test_four_decimals_and_all_on_demand(contest: Contest, client: Client) -> None:
    page = page_of(client, contest.url("board/"))
    assert main_of(page) == ["93.0000", "82.2284", "50.0000"]
    every = page_of(client, contest.url("board/?digits=all"))
    assert main_of(every) == ["93.0000000", "82.2283946", "50.0000000"]
    link = page.one("p", "board-views").one("a", href=f"{contest.url('board/')}?digits=all")
    assert link.text == "점수의 모든 자리 보기"
    assert every.one("p", "board-views").one("a", href=contest.url("board/")).text == "점수를 짧게 보기"


def test_scores_that_differ_never_look_equal(close: Contest, client: Client) -> None:
    page = page_of(client, close.url("board/"))
    assert main_of(page) == ["93.00000", "82.22839", "82.22838", "50.00000"]
    gaps = [row.text for row in page.all("span", "standing")]
    assert any("−0.00001" in text for text in gaps)
    assert not any("0.00 " in f"{text} " for text in gaps)


def test_each_column_has_the_decimals_that_it_needs(close: Contest, client: Client) -> None:
    cells: dict[str, set[int]] = {}
    for cell in page_of(client, close.url("board/")).all("td", "figure"):
        if "main" not in cell.classes and cell.all(css_class="full"):
            text = cell.all(css_class="full")[0].text
            cells.setdefault(cell.attributes["data-label"], set()).add(len(text.partition(".")[2]))
    assert cells["ROUGE-1"] == {5}  # 71.37037 and 71.37036
    assert cells["BLEURT"] == {4}


def test_scores_equal_in_all_decimals_take_no_more(contest: Contest, client: Client) -> None:
    """As the values of a model are of the same text in two batches."""
    team = TeamFactory.create(competition=contest.competition, name="Twin")
    finished_submission(contest.phase, team, 0.8222839456 + 1e-11, scores=SCORES)
    assert main_of(page_of(client, contest.url("board/"))) == ["93.0000", "82.2284", "82.2284", "50.0000"]


def test_the_column_sorted_by_is_written_out_on_a_phone(close: Contest, client: Client) -> None:
    for query, decimals in (("?sort=rouge_1", 5), ("", 2)):
        page = page_of(client, close.url(f"board/{query}"))
        short = [
            cell.all(css_class="short")[0].text
            for cell in page.all("td", "figure")
            if cell.attributes.get("data-label") == "ROUGE-1"
        ]
        assert {len(text.partition(".")[2]) for text in short} == {decimals}


def test_a_track_with_few_decimals_has_no_link(contest: Contest, client: Client) -> None:
    contest.track.score_decimals = 3
    contest.track.save()
    page = page_of(client, contest.url("board/"))
    assert main_of(page) == ["93.000", "82.228", "50.000"]
    assert "모든 자리" not in page.text


def test_the_choice_stays_while_sorting_searching_and_paging(
    contest: Contest, client: Client, monkeypatch: Any
) -> None:
    monkeypatch.setattr("malpan.web.presenters.board.PAGE_ROWS", 2)
    monkeypatch.setattr("malpan.leaderboard.boards.PAGE_ROWS", 2)
    monkeypatch.setattr("malpan.web.presenters.board.SEARCHED_FROM", 1)
    page = page_of(client, contest.url("board/?digits=all&metrics=all"))
    links = [th.one("a").attributes["href"] for th in page.one("thead").all("th") if th.all("a")]
    assert links
    assert all("digits=all" in link and "metrics=all" in link for link in links)
    assert "digits=all" in page.one("nav", "paging").one("a").attributes["href"]
    assert page.one("form", "board-search").one("input", name="digits").attributes["value"] == "all"
    views = [link.attributes["href"] for link in page.one("p", "board-views").all("a")]
    assert views == [f"{contest.url('board/')}?metrics=all"]


def test_downloads_have_every_digit(close: Contest, client: Client) -> None:
    rows = csv.DictReader(client.get(close.url("board/?as=csv")).content.decode("utf-8-sig").splitlines())
    stored = {run.submission.team.name: run.final_score for run in ScoringRun.objects.exclude(final_score=None)}
    assert {row["team"]: float(row["final_score"]) for row in rows} == stored


def test_the_score_that_ranks_has_a_bar_as_long_as_it_is(contest: Contest, client: Client) -> None:
    page = page_of(client, contest.url("board/"))
    drawn = [bar.one("path").attributes["d"] for bar in page.all("svg", "score-bar")]
    assert drawn == ["M0 0h93.0v4H0z", "M0 0h82.2v4H0z", "M0 0h50.0v4H0z"]
    assert all(bar.attributes["aria-hidden"] == "true" for bar in page.all("svg", "score-bar"))
