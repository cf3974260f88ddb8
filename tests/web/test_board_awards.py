"""The titles of awards beside the teams on the final board: from the publication on, at once, and only there."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from malpan.competitions.models import Competition, Phase
from malpan.stages.awarded import awards_of_team
from malpan.stages.awards import remove_award, update_award, withdraw_awards
from malpan.stages.models import Award
from malpan.teams.services import disqualify_team
from tests.factories import PhaseFactory, leader_of
from tests.stages.conftest import Contest, make_contest
from tests.web import html
from tests.web.conftest import client_of
from tests.web.test_awards import give, publish


@pytest.fixture(scope="module")
def made_contest(kept: None) -> Contest:
    return make_contest()


@pytest.fixture
def contest(db: None, made_contest: Contest) -> Contest:
    return copy.deepcopy(made_contest)


@pytest.fixture
def award(contest: Contest) -> Award:
    return give(contest)


def address(contest: Contest, query: str = "") -> str:
    return f"/competitions/{contest.competition.slug}/board/{query}"


def board(contest: Contest, query: str = "", client: Client | None = None, language: str = "ko") -> html.Element:
    answer = (client or Client()).get(address(contest, query), headers={"Accept-Language": language})
    assert answer.status_code == 200
    return html.parse(answer.content.decode())


def titles(page: html.Element) -> dict[str, list[str]]:
    """The titles that stand beside each team that has one."""
    rows = [row for row in page.one("table", "board").all("tr") if row.all(css_class="team-name")]
    found = {row.one(css_class="team-name").text: [each.text for each in row.all(css_class="award")] for row in rows}
    return {name: each for name, each in found.items() if each}


def test_they_stand_beside_the_teams_while_they_are_published(contest: Contest, award: Award) -> None:
    give(contest, title_ko="특별상")
    give(contest, 3, title_ko="장려상", title_en="")
    first, third = award.team.name, contest.teams[3].name
    assert titles(board(contest)) == {}
    publish(contest)
    page = board(contest)
    assert html.problems(page) == []
    assert titles(page) == {first: ["대상", "특별상"], third: ["장려상"]}
    assert titles(board(contest, language="en")) == {first: ["Grand Prize", "Grand Prize"], third: ["장려상"]}
    update_award(award=award, actor=contest.writer, title_ko="최우수상")
    assert titles(board(contest)) == {first: ["최우수상", "특별상"], third: ["장려상"]}
    remove_award(award=award, actor=contest.writer)
    assert titles(board(contest)) == {first: ["특별상"], third: ["장려상"]}
    withdraw_awards(competition=contest.competition, actor=contest.writer)
    assert titles(board(contest)) == {}


@pytest.mark.parametrize("change", ["published", "withdrawn", "revoked", "renamed"])
def test_who_has_the_page_already_gets_it_anew(contest: Contest, award: Award, change: str) -> None:
    """With the ETag of before, and again with that of the new page."""
    if change != "published":
        publish(contest)
    before = Client().get(address(contest))
    assert Client().get(address(contest), headers={"If-None-Match": before["ETag"]}).status_code == 304
    if change == "published":
        publish(contest)
    elif change == "withdrawn":
        withdraw_awards(competition=contest.competition, actor=contest.writer)
    elif change == "revoked":
        remove_award(award=award, actor=contest.writer)
    else:
        update_award(award=award, actor=contest.writer, title_ko="최우수상")
    after = Client().get(address(contest), headers={"If-None-Match": before["ETag"]})
    assert after.status_code == 200
    assert after["ETag"] != before["ETag"]
    expected = {"published": ["대상"], "renamed": ["최우수상"]}
    found = {award.team.name: expected[change]} if change in expected else {}
    assert titles(html.parse(after.content.decode())) == found


def test_the_pinned_row_of_the_own_team_has_them_too(contest: Contest, award: Award) -> None:
    publish(contest)
    page = board(contest, f"?q={contest.teams[2].name}", client_of(leader_of(award.team)))
    assert [each.text for each in page.one("tbody", "pinned").all(css_class="award")] == ["대상"]


def test_no_other_board_has_them(contest: Contest, award: Award) -> None:
    contest.republish_board()
    publish(contest)
    assert titles(board(contest)) == {award.team.name: ["대상"]}
    for query in ("?snapshot=1", "?view=public"):
        assert titles(board(contest, query)) == {}


def test_data_of_the_board_is_as_before(contest: Contest, award: Award) -> None:
    track = contest.track
    api = f"/api/v1/competitions/{contest.competition.slug}/tracks/{track.slug}/board/"
    asked: list[tuple[str, dict[str, Any]]] = [(address(contest), {"as": "csv"}), (api, {})]
    before = [Client().get(place, query).content for place, query in asked]
    publish(contest)
    assert [Client().get(place, query).content for place, query in asked] == before
    assert "team_number" not in json.dumps(json.loads(before[1])["rows"])


def test_a_team_that_was_disqualified_since_has_none(contest: Contest, award: Award) -> None:
    publish(contest)
    disqualify_team(team=award.team, actor=contest.writer, note_ko="사유")
    assert titles(board(contest)) == {}


@pytest.mark.parametrize(
    "place",
    [
        "/",
        "/competitions/{slug}/",
        "/competitions/{slug}/board/",
        "/api/v1/competitions/{slug}/awards/",
    ],
)
def test_while_names_are_blind_no_list_names_who_was_awarded(contest: Contest, award: Award, place: str) -> None:
    where = place.format(slug=contest.competition.slug)
    title = "으뜸 글월 상"
    update_award(award=award, actor=contest.writer, title_ko=title)
    publish(contest)
    Competition.objects.filter(pk=contest.competition.pk).update(has_blind_names=True)
    assert title in Client().get(where, follow=True).content.decode()
    PhaseFactory.create(track=contest.phase.track, slug="next")  # is open
    assert title not in Client().get(where, follow=True).content.decode()
    assert list(awards_of_team(award.team)) == [award]  # they know their own name


def test_while_names_are_blind_no_row_tells_whose_it_is(contest: Contest, award: Award) -> None:
    publish(contest)
    Competition.objects.filter(pk=contest.competition.pk).update(has_blind_names=True)
    assert titles(board(contest)) == {award.team.name: ["대상"]}, "no phase is open"
    other: Phase = PhaseFactory.create(track__competition=contest.competition)
    assert titles(board(contest, f"?track={contest.track.slug}&phase={contest.phase.slug}")) == {}
    other.delete()
    assert titles(board(contest)) == {award.team.name: ["대상"]}


def test_they_cost_no_query_for_each_row(contest: Contest, award: Award) -> None:
    counts = []
    for step in (lambda: None, lambda: publish(contest), lambda: _publish_more(contest)):
        step()
        board(contest)
        with CaptureQueriesContext(connection) as queries:
            board(contest)
        counts.append(len(queries))
    assert counts[0] == counts[1] == counts[2]


def _publish_more(contest: Contest) -> None:
    for number in (2, 3, 4, 5):
        give(contest, number, title_ko=f"상 {number}")
    publish(contest)
