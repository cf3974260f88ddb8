"""Who won stands on the first page, on the page of the contest and on its final board."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from malpan.competitions.models import Competition, Phase
from malpan.leaderboard.snapshots import publish_final_board
from malpan.stages.models import Stage, StageSnapshot
from malpan.teams.models import Team
from malpan.web.presenters.winners import winners_of
from tests.factories import PhaseFactory, TeamFactory, UserFactory, finished_submission, person_in
from tests.web import html

pytestmark = pytest.mark.django_db


@pytest.fixture
def phase() -> Phase:
    """Over, with five teams and a baseline that is better than all of them; its final board is published."""
    phase = PhaseFactory.create(ends_at=timezone.now() - timedelta(hours=1))
    names = ["기준", "금상", "은상", "동상", "넷째", "다섯째"]
    for place, name in enumerate(names):
        team = TeamFactory.create(competition=phase.track.competition, name=name, is_baseline=not place)
        finished_submission(phase, team, 0.9 - place / 10)
    publish_final_board(phase=phase, actor=person_in(phase.track.competition, "owner"))
    return Phase.objects.get(pk=phase.pk)


def names_in(page: html.Element) -> list[str]:
    return [winner.text for podium in page.all("ol", "podium") for winner in podium.all("span", "name")]


def page_of(address: str) -> html.Element:
    page = html.parse(Client().get(address).content.decode())
    assert html.problems(page) == []
    return page


def test_the_first_three_are_on_the_first_page_and_on_that_of_the_contest(phase: Phase) -> None:
    for address in ("/", f"/competitions/{phase.track.competition.slug}/"):
        page = page_of(address)
        assert names_in(page) == ["금상", "은상", "동상"]
        places = [each.attributes["class"] for each in page.one("ol", "podium").all("li")]
        assert places == ["place-1", "place-2", "place-3"]
        assert "/board/" in page.one("div", "winners").one("a").attributes["href"]


def test_nobody_has_won_before_the_final_board_is_published(phase: Phase) -> None:
    Phase.objects.filter(pk=phase.pk).update(final_published_at=None)
    assert names_in(page_of("/")) == []


def test_who_was_disqualified_after_the_publication_is_no_winner(phase: Phase) -> None:
    Team.objects.filter(name="금상").update(disqualified_at=timezone.now())
    assert names_in(page_of("/")) == ["은상", "동상"]


def test_winners_lead_to_their_papers_and_models(phase: Phase) -> None:
    Team.objects.filter(name="금상").update(paper_url="https://example.com/p", model_url="https://example.com/m")
    Team.objects.filter(name="동상").update(paper_url="https://example.com/q")
    for address in ("/", f"/competitions/{phase.track.competition.slug}/"):
        podium = page_of(address).one("ol", "podium")
        links = [(link.text, link.attributes["href"]) for link in podium.all("a")]
        assert links == [
            ("논문 : 금상", "https://example.com/p"),
            ("모델 : 금상", "https://example.com/m"),
            ("논문 : 동상", "https://example.com/q"),
        ]
        assert {link.attributes["rel"] for link in podium.all("a")} == {"nofollow ugc noreferrer"}


def test_while_names_are_blind_no_link_tells_who_a_winner_is(phase: Phase) -> None:
    Team.objects.filter(name="금상").update(paper_url="https://example.com/p")
    Competition.objects.update(has_blind_names=True)
    assert page_of("/").one("ol", "podium").all("a")  # the contest is over
    PhaseFactory.create(track=phase.track)
    assert not page_of(f"/competitions/{phase.track.competition.slug}/").one("ol", "podium").all("a")


def test_where_a_final_has_stages_their_combined_standing_decides(phase: Phase) -> None:
    """Until it is published nobody has won."""
    Stage.objects.create(track=phase.track, phase=phase, position=1, title_ko="1차", weight=100, source="board")
    assert names_in(page_of("/")) == []
    rows = [{"rank": 1, "team": "다섯째", "team_number": 6}, {"rank": None, "team": "금상", "team_number": 2}]
    StageSnapshot.objects.create(
        track=phase.track,
        number=1,
        rows=rows,
        rule={},
        sha256="0" * 64,
        published_by=UserFactory.create(),
        published_at=timezone.now(),
    )
    page = page_of("/")
    assert names_in(page) == ["다섯째"]
    assert "/stages/" in page.one("div", "winners").one("a").attributes["href"]


def test_many_past_contests_take_as_many_queries_as_one(phase: Phase, django_assert_num_queries: Any) -> None:
    competitions = [phase.track.competition]
    with django_assert_num_queries(5):
        winners_of(competitions)
    competitions += [PhaseFactory.create().track.competition for _number in range(5)]
    with django_assert_num_queries(5):
        assert len(winners_of(competitions)) == 1


def test_the_first_three_of_a_board_have_medals(phase: Phase) -> None:
    page = page_of(f"/competitions/{phase.track.competition.slug}/board/")
    medals = [each.text for each in page.one("table", "board").all("span", "medal")]
    assert medals == ["1", "2", "3"]
