"""What the board says of how sure its ranks are, as the organiser chose, on the page and in the API."""

from __future__ import annotations

import csv
from decimal import Decimal

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import translation

from malpan.competitions.models import Competition, Phase
from malpan.leaderboard.models import BoardSureness
from malpan.leaderboard.selectors import board
from malpan.leaderboard.sureness import computing
from malpan.teams.models import Team
from tests.factories import PhaseFactory
from tests.leaderboard.sureness_world import RECIPE, compute, teams_with
from tests.web import html

pytestmark = pytest.mark.django_db


@pytest.fixture
def phase(monkeypatch: pytest.MonkeyPatch) -> Phase:
    """Three teams of which the last two are tied."""
    monkeypatch.setattr(computing, "TRIALS", 500)
    phase: Phase = PhaseFactory.create(track__recipe=RECIPE, track__competition__is_published=True)
    teams_with(phase, [0.9, 0.5, 0.5])
    compute(phase)
    return phase


def page_of(phase: Phase) -> html.Element:
    return html.parse(Client().get(f"/competitions/{phase.track.competition.slug}/board/").content.decode())


def ranks_of(page: html.Element) -> list[str]:
    return [" ".join(cell.text.split()) for cell in page.all("td", "rank")]


def choose(phase: Phase, ties: str) -> html.Element:
    Phase.objects.filter(pk=phase.pk).update(ties=ties)
    return page_of(phase)


def test_the_official_rank_stands_first_and_ties_are_marked(phase: Phase) -> None:
    page = choose(phase, Phase.Ties.BAND)
    first, second, third = ranks_of(page)
    assert (first, "≈" in first) == ("순위 1 순위의 95% 구간 1위", False)
    assert second.startswith("순위 2 ≈2")
    assert "2위와 통계적으로 동률" in third
    assert third.startswith("순위 3 ≈2")
    assert "2–3위" in third
    told = page.one("section", "board-sureness").text
    assert "문항 40개를 500번" in told
    assert "시드 20261120" in told


def test_ranks_are_shared_where_the_organiser_wants_that_and_the_official_one_stays(phase: Phase) -> None:
    page = choose(phase, Phase.Ties.SHARED)
    assert [text.split(" 순위의")[0] for text in ranks_of(page)] == ["순위 1", "순위 2= 공식 2위", "순위 2= 공식 3위"]


def test_nothing_is_said_of_ties_where_the_organiser_wants_that(phase: Phase) -> None:
    page = choose(phase, Phase.Ties.NONE)
    assert not any("≈" in text or "=" in text for text in ranks_of(page))
    assert "동률이라는" not in page.one("section", "board-sureness").text
    assert "2–3위" in ranks_of(page)[2]


def test_each_main_score_has_its_interval_and_the_plot_has_every_team(phase: Phase) -> None:
    page = page_of(phase)
    intervals = [cell.one(css_class="interval").text for cell in page.all("td", "main")]
    assert all("95% 구간" in text and "–" in text for text in intervals)
    plots = page.all("svg", "forest")
    assert ["narrow" in plot.classes for plot in plots] == [False, True], "one of them for phones"
    for plot in plots:
        assert len(plot.all("circle")) == 3
        assert plot.one("title").text == "점수의 95% 구간"


def test_of_a_long_board_it_is_said_up_to_where_there_are_intervals(
    phase: Phase, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "줄까지만 냅니다" not in page_of(phase).text
    monkeypatch.setattr("malpan.web.presenters.sureness.ROWS", 2)
    assert "순위 앞의 2줄까지만 냅니다" in page_of(phase).one("section", "board-sureness").text


@pytest.mark.parametrize(("items", "is_told"), [(29, True), (30, False)])
def test_of_few_items_it_is_said_that_they_tell_little_apart(phase: Phase, items: int, is_told: bool) -> None:
    BoardSureness.objects.filter(phase=phase).update(items=items)
    told = page_of(phase).one("section", "board-sureness").text
    assert (f"문항이 {items}개뿐이라" in told) == is_told
    assert "구간이 겹치지 않아도 동률일 수 있고" in told


def test_an_english_reader_reads_it_in_english(phase: Phase) -> None:
    with translation.override("en"):
        client = Client(HTTP_ACCEPT_LANGUAGE="en")
        page = client.get(f"/competitions/{phase.track.competition.slug}/board/", headers={"accept-language": "en"})
    assert "How sure the ranks are" in page.content.decode()


def test_a_board_of_rounded_scores_says_why_it_has_none(phase: Phase) -> None:
    Phase.objects.filter(pk=phase.pk).update(score_step=Decimal("0.01"))
    BoardSureness.objects.update(computed_at=None)
    compute(phase)
    page = page_of(phase)
    assert "반올림하는 단계" in page.one("section", "board-sureness").text
    assert "누구나 다시 계산할 수 있습니다" not in page.text
    assert page.all(css_class="interval") == []


def test_the_api_has_intervals_bands_and_how_they_were_computed(phase: Phase) -> None:
    body = Client().get(reverse("api-board", args=[phase.track.competition.slug, phase.track.slug])).json()
    assert [row["rank"] for row in body["rows"]] == [1, 2, 3]
    assert [row["tied_rank"] for row in body["rows"]] == [1, 2, 2]
    assert [row["tie_band"] for row in body["rows"]] == [1, 2, 2]
    low, high = body["rows"][0]["intervals"]["final_score"]
    assert low <= body["rows"][0]["final_score"] <= high
    assert body["rows"][1]["rank_interval"] == [2, 3]
    sure = body["sureness"]
    assert (sure["trials"], sure["seed"], sure["pairs"], sure["reason"]) == (500, computing.SEED, 3, None)
    assert body["phase"]["ties"] == "band"


def test_the_page_is_a_csv_file_with_every_digit_and_the_intervals(phase: Phase) -> None:
    address = f"/competitions/{phase.track.competition.slug}/board/"
    answer = Client().get(address, {"as": "csv"})
    assert answer["Content-Type"].startswith("text/csv")
    header, *lines = csv.reader(answer.content.decode("utf-8-sig").splitlines())
    rows = [dict(zip(header, line, strict=True)) for line in lines]
    shown = board(phase).rows
    assert [(row["rank"], row["tied_rank"]) for row in rows] == [("1", "1"), ("2", "2"), ("3", "2")]
    assert [float(row["final_score"]) for row in rows] == [row.final_score for row in shown]
    assert [(float(row["interval_low"]), float(row["interval_high"])) for row in rows] == [
        row.sureness.scores["final_score"] for row in shown if row.sureness
    ]
    assert any("as=csv" in link.attributes.get("href", "") for link in page_of(phase).all("a"))


@pytest.mark.parametrize("hides", [True, False])
def test_the_csv_file_of_a_hidden_board_is_empty_and_of_a_blind_one_without_names(phase: Phase, hides: bool) -> None:
    if hides:
        Phase.objects.update(board=Phase.Board.HIDDEN)
    else:
        Competition.objects.update(has_blind_names=True)
    text = Client().get(f"/competitions/{phase.track.competition.slug}/board/", {"as": "csv"}).content.decode()
    names = list(Team.objects.values_list("name", flat=True))
    assert not any(name in text for name in names)
    assert len(text.splitlines()) == (1 if hides else 4)
