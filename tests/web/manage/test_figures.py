"""The manage pages' page of items and metrics: how hard each item is, which metrics agree, of which board."""

from __future__ import annotations

import csv
from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from malpan.competitions.models import Phase
from malpan.leaderboard.snapshots import publish_final_board
from malpan.leaderboard.sureness import computing
from scoring.recipes import get_recipe
from tests.factories import PhaseFactory, ReferenceVersionFactory, TeamFactory, UserFactory, person_in
from tests.leaderboard.sureness_world import RECIPE, compute, report_of, scored
from tests.web import html
from tests.web.conftest import client_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def phase(monkeypatch: pytest.MonkeyPatch) -> Phase:
    """Two teams with a public split of forty items and a private one of thirty, as a worker looked into them."""
    monkeypatch.setattr(computing, "TRIALS", 200)
    phase: Phase = PhaseFactory.create(track__recipe=RECIPE)
    ReferenceVersionFactory.create(phase=phase, is_current=True, public_ids=["q0"])
    for seed, skill in enumerate((0.9, 0.5)):
        team = TeamFactory.create(competition=phase.track.competition)
        scored(phase, team, report_of(seed, skill), report_of(seed, skill, items=30, name="p"))
    compute(phase)
    return phase


def address(phase: Phase, rest: str = "") -> str:
    return f"/competitions/{phase.track.competition.slug}/manage/figures/{rest}"


def client_in(phase: Phase, role: str) -> Client:
    return client_of(person_in(phase.track.competition, role))


def items_in(client: Client, phase: Phase, **query: str) -> list[str]:
    response = client.get(address(phase, "difficulty.csv"), query)
    assert response.status_code == 200
    return [row[0] for row in csv.reader(response.content.decode("utf-8-sig").splitlines())][1:]


def test_a_page_shows_how_hard_items_are_and_which_metrics_agree(phase: Phase) -> None:
    client = client_in(phase, "viewer")
    page = html.parse(client.get(address(phase)).content.decode())
    assert len(page.all("svg", "bars")) == len(page.all("svg", "matrix")) == 1
    assert html.problems(page) == []
    assert len(items_in(client, phase)) == 40
    options = [each.attributes["value"] for each in page.one("select", id="difficulty-difficulty").all("option")]
    assert options == [name for name in get_recipe(RECIPE).metrics if name in options]  # in the recipe's order
    hardest = items_in(client, phase, difficulty="bleurt")[0]
    values = [{item.id: item.scores["bleurt"] for item in report_of(seed, s).items} for seed, s in ((0, 0.9), (1, 0.5))]
    assert hardest == min(values[0], key=lambda item: values[0][item] + values[1][item])
    rows = list(csv.reader(client.get(address(phase, "correlation.csv")).content.decode("utf-8-sig").splitlines()))
    assert rows[0][1:] == [row[0] for row in rows[1:]]
    assert client.get(address(phase, "everything.csv")).status_code == 404


def test_items_of_the_private_split_are_there_after_the_publication_for_who_may_see_them(phase: Phase) -> None:
    organiser = client_in(phase, "organiser")
    assert {item[0] for item in items_in(organiser, phase, part="final")} == {"q"}  # there is none yet
    now = timezone.now()
    Phase.objects.update(starts_at=now - timedelta(days=9), ends_at=now - timedelta(hours=1))
    phase.refresh_from_db()
    publish_final_board(phase=phase, actor=UserFactory.create(is_superuser=True))
    compute(phase)
    assert {item[0] for item in items_in(organiser, phase, part="final")} == {"p"}
    assert {item[0] for item in items_in(organiser, phase)} == {"q"}
    page = html.parse(organiser.get(address(phase), {"part": "final"}).content.decode())
    assert "필수 항목" not in page.text
    assert "최종 순위표의 문항입니다" in page.text


def test_a_page_of_nothing_says_so(phase: Phase) -> None:
    empty = PhaseFactory.create(track=phase.track)
    page = html.parse(client_in(phase, "viewer").get(address(phase), {"phase": empty.pk}).content.decode())
    assert "아직 계산한 값이 없습니다" in page.text
    assert page.all("svg", "plot") == []


def test_the_page_computes_nothing_and_its_queries_are_few(phase: Phase, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(computing, "compute", lambda *_: pytest.fail("computed by a page"))
    client = client_in(phase, "viewer")
    client.get(address(phase))
    with CaptureQueriesContext(connection) as queries:
        client.get(address(phase))
    assert len(queries) <= 25
