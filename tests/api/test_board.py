"""The board of the API: by pages, with the address of the next, and not sent again while nothing changed."""

from datetime import timedelta
from unittest import mock

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from malpan.accounts.services import create_api_token
from malpan.leaderboard import boards
from malpan.leaderboard.snapshots import publish_final_board
from malpan.submissions.integrity.receipts import issue_receipt
from scoring.signature import json_sha256
from tests.factories import PhaseFactory, TeamFactory, UserFactory, finished_submission, leader_of, publish

pytestmark = pytest.mark.django_db


@pytest.fixture
def phase():
    phase = PhaseFactory.create()
    publish(phase)
    return phase


@pytest.fixture
def teams(phase):
    """Seven, the first is the best."""
    made = [TeamFactory.create(competition=phase.track.competition, name=f"말모이 {number}") for number in range(7)]
    for number, team in enumerate(made):
        finished_submission(phase, team, 0.9 - number / 10)
    return made


@pytest.fixture(autouse=True)
def _small_pages():
    with mock.patch.object(boards, "PAGE_ROWS", 3), mock.patch("malpan.api.boards.PAGE_ROWS", 3):
        yield


def address(phase):
    return reverse("api-board", args=[phase.track.competition.slug, phase.track.slug])


def pages(client, place):
    while place:
        page = client.get(place).json()
        yield page
        place = page["next"]


def test_following_next_from_the_first_page_gives_every_row_once(phase, teams):
    found = list(pages(Client(), address(phase)))

    assert [[row["team"] for row in page["rows"]] for page in found] == [
        ["말모이 0", "말모이 1", "말모이 2"],
        ["말모이 3", "말모이 4", "말모이 5"],
        ["말모이 6"],
    ]
    assert [row["rank"] for page in found for row in page["rows"]] == [1, 2, 3, 4, 5, 6, 7]
    assert {page["row_count"] for page in found} == {7}
    assert found[0]["next"] == f"http://testserver{address(phase)}?page=2"


@pytest.mark.parametrize("page", ["0", "-1", "x", "", "1e9", "９"])
def test_what_is_no_page_is_the_first_or_has_no_rows(phase, teams, page):
    body = Client().get(address(phase), {"page": page}).json()
    assert len(body["rows"]) in (0, 3)
    assert (body["next"] is None) == (body["rows"] == [])


def test_own_row_is_there_on_every_page(phase, teams):
    token = create_api_token(user=leader_of(teams[6]), label="t")[1]
    body = Client(headers={"Authorization": f"Bearer {token}"}).get(address(phase)).json()
    assert [row["is_own"] for row in body["rows"]] == [False, False, False]
    assert (body["own_row"]["team"], body["own_row"]["rank"]) == ("말모이 6", 7)
    assert Client().get(address(phase)).json()["own_row"] is None


def test_pages_of_the_final_board_together_are_what_was_sealed(phase, teams):
    phase.starts_at, phase.ends_at = timezone.now() - timedelta(days=9), timezone.now() - timedelta(hours=1)
    phase.save()
    publish_final_board(phase=phase, actor=UserFactory.create(is_superuser=True))

    finals = [page["final"] for page in pages(Client(), address(phase))]

    assert [len(final["rows"]) for final in finals] == [3, 3, 1]
    assert json_sha256([row for final in finals for row in final["rows"]]) == finals[0]["sha256"]


def test_hangul_is_sent_as_it_is(phase, teams):
    assert "말모이 0" in Client().get(address(phase)).content.decode()


@pytest.mark.parametrize("place", ["api-board", "board", "chain"])
def test_what_has_not_changed_is_not_sent_again(phase, teams, place):
    slug = phase.track.competition.slug
    where = address(phase) if place == "api-board" else reverse(place, args=[slug])
    first = Client().get(where)
    again = Client().get(where, headers={"If-None-Match": first["ETag"]})
    assert (first.status_code, again.status_code, again.content) == (200, 304, b"")

    row = finished_submission(phase, teams[6], 0.95)
    issue_receipt(submission=row)  # in the chain

    assert Client().get(where, headers={"If-None-Match": first["ETag"]}).status_code == 200


def test_a_board_with_a_token_is_kept_nowhere(phase, teams):
    token = create_api_token(user=leader_of(teams[0]), label="t")[1]
    answer = Client(headers={"Authorization": f"Bearer {token}"}).get(address(phase))
    assert "ETag" not in answer.headers
    assert "no-store" in answer["Cache-Control"]
