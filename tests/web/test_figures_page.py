"""The plots of a board with their tables and CSV files: what they say, and that boards say it too."""

from __future__ import annotations

import csv
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from malpan.competitions.models import Phase
from malpan.leaderboard.snapshots import publish_final_board
from malpan.submissions.models import Submission
from malpan.teams.models import Team
from tests.factories import TeamFactory, UserFactory, finished_submission, leader_of
from tests.web import html
from tests.web.conftest import SCORES, client_of


@pytest.fixture
def board(phase: Phase, team: Team) -> Phase:
    """Four teams and a baseline; the reader's own surpassed itself."""
    now = timezone.now()
    for hours, score, name in ((20, 0.4, "First"), (15, 0.3, "Second"), (5, 0.7, "Third"), (9, 0.95, "Plain")):
        other = TeamFactory.create(competition=team.competition, name=name, is_baseline=name == "Plain")
        finished_submission(phase, other, score, scores=SCORES, created_at=now - timedelta(hours=hours))
    for hours, score in ((12, 0.52), (2, 0.64)):
        finished_submission(phase, team, score, scores=SCORES, created_at=now - timedelta(hours=hours))
    return phase


def address(phase: Phase, rest: str = "") -> str:
    return f"/competitions/{phase.track.competition.slug}/figures/{rest}"


def page_of(phase: Phase, client: Client | None = None) -> html.Element:
    return html.parse((client or Client()).get(address(phase)).content.decode())


def rows_of(phase: Phase, name: str, client: Client | None = None) -> list[list[str]]:
    response = (client or Client()).get(address(phase, f"{name}.csv"))
    assert response["Content-Type"].startswith("text/csv")
    return list(csv.reader(response.content.decode("utf-8-sig").splitlines()))


def table_of(page: html.Element, name: str) -> list[list[str]]:
    [section] = [each for each in page.all("section") if each.attributes["aria-labelledby"] == f"{name}-head"]
    return [
        [cell.text for cell in row.children if isinstance(cell, html.Element)] for row in section.one("tbody").all("tr")
    ]


def test_the_lead_rises_with_what_is_on_the_board_and_the_csv_says_the_same(board: Phase) -> None:
    header, *rows = rows_of(board, "leading")
    assert header == ["submitted_at", "leading_score"]
    assert [float(row[1]) for row in rows] == [0.4, 0.7]  # neither the baseline nor what a team surpassed itself
    page = page_of(board)
    assert [line[1] for line in table_of(page, "leading")] == ["40.0000", "70.0000"]
    drawn = page.one("svg", "line")
    assert drawn.one("title").text == "선두 점수의 흐름"
    assert len(drawn.all("circle")) == 2
    assert html.problems(page) == []


def test_the_distribution_counts_every_team_once_and_marks_the_bin_of_the_reader(board: Phase, team: Team) -> None:
    _header, *rows = rows_of(board, "distribution")
    assert sum(int(row[2]) for row in rows) == 4
    for low, high, count in rows:
        inside = [score for score in (0.4, 0.3, 0.7, 0.64) if float(low) <= score < float(high) + 1e-9]
        assert int(count) <= len(inside)
    assert page_of(board).one("svg", "bars").all(css_class="plot-own") == []
    own = page_of(board, client_of(leader_of(team))).one("svg", "bars").all(css_class="plot-own")
    assert len(own) == 1


def test_after_the_publication_lines_lead_from_the_public_rank_to_the_final_one(board: Phase) -> None:
    Phase.objects.filter(pk=board.pk).update(
        starts_at=timezone.now() - timedelta(days=9), ends_at=timezone.now() - timedelta(hours=1)
    )
    board.refresh_from_db()
    assert Client().get(address(board, "movement.csv")).status_code == 404
    publish_final_board(phase=board, actor=UserFactory.create(is_superuser=True))
    header, *rows = rows_of(board, "movement")
    assert header == ["team", "public_rank", "final_rank", "public_score", "final_score"]
    assert [row[0] for row in rows] == ["Third", "Team One", "First", "Second"]
    page = page_of(board)
    assert len(page.one("svg", "slope").all("line")) == 4
    assert html.problems(page) == []


@pytest.mark.parametrize(("rules", "leads"), [({"board": "hidden"}, 0), ({"board": "frozen"}, 1)])
def test_nothing_is_told_that_the_board_does_not(board: Phase, rules: dict[str, Any], leads: int) -> None:
    frozen = {"frozen_at": timezone.now() - timedelta(hours=10)} if rules["board"] == "frozen" else {}
    Phase.objects.filter(pk=board.pk).update(**rules, **frozen)
    page = page_of(board)
    if not leads:
        assert page.all("svg", "plot") == []
        assert "아직 그릴 점수가 없습니다" in page.text
        return
    assert [float(row[1]) for row in rows_of(board, "leading")[1:]] == [0.4, 0.52]


def test_a_name_of_no_plot_is_not_found(board: Phase) -> None:
    assert Client().get(address(board, "everything.csv")).status_code == 404


def test_more_teams_cost_no_more_queries(board: Phase) -> None:
    counts = []
    for more in (0, 6):
        for _each in range(more):
            finished_submission(board, TeamFactory.create(competition=board.track.competition), 0.1, scores=SCORES)
        page_of(board)
        with CaptureQueriesContext(connection) as queries:
            page_of(board)
        counts.append(len(queries))
    assert counts[0] == counts[1] <= 20
    assert Submission.objects.count() == 12
