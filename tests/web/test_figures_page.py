"""The plots of a board with their tables and CSV files: what they say, and that boards say it too."""

from __future__ import annotations

import csv
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from malpan.competitions.models import Phase
from malpan.leaderboard.snapshots import publish_final_board
from malpan.leaderboard.sureness import computing
from malpan.submissions.models import Submission
from malpan.teams.models import Team
from tests.factories import (
    CompetitionFactory,
    PhaseFactory,
    TeamFactory,
    UserFactory,
    finished_submission,
    leader_of,
)
from tests.leaderboard.sureness_world import RECIPE, compute, teams_with
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


def test_two_metrics_are_drawn_against_each_other_and_can_be_chosen(board: Phase, team: Team) -> None:
    client = client_of(leader_of(team))
    page = page_of(board, client)
    drawn = page.one("svg", "scatter")
    assert len(drawn.all("circle")) == 4  # every team once, no baseline
    assert len(drawn.all("circle", "plot-here")) == 1
    form = next(form for form in page.all("form") if form.attributes.get("action") == "#metrics-head")
    fields = {select.attributes["name"]: select for select in form.all("select")}
    keys = [option.attributes["value"] for option in fields["x"].all("option")]
    assert {"final_score", *SCORES} >= set(keys)
    asked = {"x": keys[-1], "y": "final_score"}
    [chosen] = [
        option.attributes["value"]
        for option in html.parse(client.get(address(board), asked).content.decode())
        .one("select", id="metrics-x")
        .all("option")
        if "selected" in option.attributes
    ]
    assert chosen == keys[-1]
    lines = client.get(address(board, "metrics.csv"), asked).content.decode("utf-8-sig").splitlines()
    assert lines[0] == f"team,{keys[-1]},final_score"
    assert len(lines) == 5


@pytest.fixture
def resampled(db: None, monkeypatch: pytest.MonkeyPatch) -> Phase:
    """Three teams with the values of forty items, and their board as a worker computed it."""
    monkeypatch.setattr(computing, "TRIALS", 200)
    phase: Phase = PhaseFactory.create(track__recipe=RECIPE, track__competition=CompetitionFactory.create())
    teams_with(phase, [0.9, 0.5, 0.4])
    compute(phase)
    return phase


def test_a_matrix_says_on_how_many_items_a_team_beat_another(resampled: Phase) -> None:
    page = page_of(resampled)
    drawn = page.one("svg", "matrix")
    assert len(drawn.all("rect")) == 6
    header, *rows = rows_of(resampled, "wins")
    assert header == ["team", "other", "wins", "ties", "losses"]
    assert all(sum(int(number) for number in row[2:]) == 40 for row in rows)
    first = next(row for row in rows if row[0] == rows[0][0])
    assert int(first[2]) > int(first[4])
    assert table_of(page, "wins")[0][2] == f"{first[2]}–{first[4]}"
    assert html.problems(page) == []


def test_a_rounded_board_tells_nothing_of_items(resampled: Phase) -> None:
    Phase.objects.update(score_step=Decimal("0.01"))
    assert page_of(resampled).all("svg", "matrix") == []
    assert Client().get(address(resampled, "wins.csv")).status_code == 404


@pytest.mark.parametrize(("opened", "is_told"), [("open", True), ("binned", False), ("closed", False)])
def test_items_are_public_after_the_end_where_the_organiser_opened_them(
    resampled: Phase, opened: str, is_told: bool
) -> None:
    Phase.objects.update(item_scores=opened)
    assert Client().get(address(resampled, "difficulty.csv")).status_code == 404
    now = timezone.now()
    Phase.objects.update(starts_at=now - timedelta(days=9), ends_at=now - timedelta(hours=1))
    resampled.refresh_from_db()
    publish_final_board(phase=resampled, actor=UserFactory.create(is_superuser=True))
    compute(resampled)
    for name in ("difficulty", "correlation"):
        assert Client().get(address(resampled, f"{name}.csv")).status_code == (200 if is_told else 404)
    if is_told:
        page = page_of(resampled)
        means = [float(row[1]) for row in rows_of(resampled, "difficulty")[1:]]
        assert len(means) == 40
        assert means == sorted(means)
        assert [float(line[1]) for line in table_of(page, "difficulty")] == pytest.approx(means, abs=5e-5)
        assert html.problems(page) == []
