"""The first places of public boards as Atom: each day that changed them, and nothing of what the board hides."""

from __future__ import annotations

from datetime import datetime, timedelta
from xml.etree import ElementTree

import pytest
from django.test import Client
from django.utils import timezone

from malpan.competitions.models import Competition, Phase
from malpan.core.times import KST, kst_day
from malpan.leaderboard.models import BoardSnapshot
from tests.factories import PhaseFactory
from tests.web import html
from tests.web.conftest import Contest

pytestmark = pytest.mark.django_db
ATOM = "{http://www.w3.org/2005/Atom}"
DAY = timedelta(days=1)
BASELINE = 9


@pytest.fixture
def phase() -> Phase:
    now = timezone.now()
    found: Phase = PhaseFactory.create(
        track__competition__slug="norms", starts_at=now - 9 * DAY, ends_at=now + 9 * DAY, track__title_ko="어문 규범"
    )
    return found


def keep(phase: Phase, days_ago: int, *teams: int) -> None:
    """A board of a past day with ``teams`` in this order; the first row is a baseline."""
    day = kst_day(timezone.now()) - days_ago * DAY
    ranks = {number: rank for rank, number in enumerate((each for each in teams if each != BASELINE), 1)}
    BoardSnapshot.objects.create(
        phase=phase,
        kind="day",
        day=day,
        number=100 - days_ago,
        recipe="rag-qa@1",
        rows=[
            {"rank": ranks.get(number), "team": f"{number} & <팀>", "team_number": number, "final_score": 0.5}
            for number in teams
        ],
        sha256=f"{days_ago:064}",
        published_at=datetime.combine(day + DAY, datetime.min.time(), tzinfo=KST) + timedelta(seconds=5),
    )


def told(client: Client) -> list[tuple[str, str]]:
    answer = client.get("/competitions/norms/board.atom", headers={"Accept-Language": "ko"})
    assert answer.headers["Content-Type"] == "application/atom+xml; charset=utf-8"
    entries = ElementTree.fromstring(answer.content).findall(f"{ATOM}entry")
    assert len({entry.findtext(f"{ATOM}id") for entry in entries}) == len(entries)
    return [(entry.findtext(f"{ATOM}title") or "", entry.findtext(f"{ATOM}summary") or "") for entry in entries]


def named(*teams: int) -> str:
    """As HTML."""
    return ", ".join(f"{place}위 {team} &amp; &lt;팀&gt;" for place, team in enumerate(teams, 1))


def test_a_day_is_told_where_the_first_places_changed(client: Client, phase: Phase) -> None:
    keep(phase, 5, BASELINE, 1, 2, 3, 4)
    keep(phase, 4, 1, BASELINE, 2, 3, 5, 4)  # behind the first three
    keep(phase, 3, 1, 3, BASELINE, 2)
    keep(phase, 2, 4, 1, 3)
    assert told(client) == [
        ("어문 규범 본선: 1위가 4 & <팀> 팀으로 바뀌었습니다", named(4, 1, 3)),
        ("어문 규범 본선: 앞자리의 순위가 바뀌었습니다", named(1, 3, 2)),
        ("어문 규범 본선: 1위가 1 & <팀> 팀으로 바뀌었습니다", named(1, 2, 3)),
    ]


def test_what_it_names_is_the_board_of_that_day(client: Client, phase: Phase) -> None:
    keep(phase, 1, 1)
    entry = ElementTree.fromstring(client.get("/competitions/norms/board.atom").content).find(f"{ATOM}entry")
    assert entry is not None
    link = entry.find(f"{ATOM}link")
    assert link is not None
    assert f"day={(kst_day(timezone.now()) - DAY).isoformat()}" in link.attrib["href"]


def test_a_board_without_kept_days_links_it_below_its_table_and_in_its_head(contest: Contest) -> None:
    page = html.parse(Client().get(contest.url("board/")).content.decode())
    assert not BoardSnapshot.objects.filter(kind="day").exists()
    below = [link.attributes["href"] for link in page.one("div", "board-paging").all("a")]
    in_head = page.one("head").all("link", rel="alternate", type="application/atom+xml")
    assert [link.attributes["href"] for link in in_head] == [contest.url("board.atom")]
    assert contest.url("board.atom") in below
    assert Client().get(contest.url("board.atom")).status_code == 200


def test_a_hidden_board_links_no_feed(contest: Contest) -> None:
    Phase.objects.update(board="hidden")
    assert "board.atom" not in Client().get(contest.url("board/")).content.decode()


def test_a_hidden_board_says_nothing(client: Client, phase: Phase) -> None:
    keep(phase, 2, 1, 2)
    Phase.objects.update(board="hidden")
    assert told(client) == []


def test_a_frozen_board_says_nothing_since_it_was_frozen(client: Client, phase: Phase) -> None:
    keep(phase, 4, 1, 2)
    keep(phase, 3, 2, 1)
    keep(phase, 2, 1, 2)
    Phase.objects.update(board="frozen", frozen_at=timezone.now() - 3 * DAY)
    assert len(told(client)) == 1
    Phase.objects.update(frozen_at=timezone.now() - 5 * DAY)
    assert told(client) == []
    Phase.objects.update(frozen_at=timezone.now() + DAY)  # not yet
    assert len(told(client)) == 3


def test_an_unpublished_competition_has_none(client: Client, phase: Phase) -> None:
    Competition.objects.update(is_published=False)
    assert client.get("/competitions/norms/board.atom").status_code == 404


def test_more_days_cost_no_more_queries(client: Client, phase: Phase, django_assert_max_num_queries) -> None:
    for days_ago in range(1, 9):
        keep(phase, days_ago, days_ago, days_ago + 1)
    with django_assert_max_num_queries(8):
        assert len(told(client)) == 8


def test_nothing_changes_while_nothing_happens(client: Client, phase: Phase) -> None:
    for path in ("board.atom", "notices.atom"):
        answer = client.get(f"/competitions/norms/{path}")
        updated = ElementTree.fromstring(answer.content).findtext(f"{ATOM}updated") or ""
        assert datetime.fromisoformat(updated) == phase.track.competition.created_at, path


def test_the_publication_of_a_final_board_is_told(client: Client, phase: Phase) -> None:
    keep(phase, 2, 1, 2)
    BoardSnapshot.objects.filter(kind="day").update(kind="final", day=None, number=1)
    assert told(client) == [], "the phase says when it is published"
    Phase.objects.update(final_published_at=timezone.now())
    keep(phase, 4, 2, 1)
    assert [title for title, _names in told(client)] == [
        "어문 규범 본선: 최종 순위표(1판)가 발표되었습니다",
        "어문 규범 본선: 1위가 2 & <팀> 팀으로 바뀌었습니다",
    ]
    assert told(client)[0][1] == named(1, 2)
