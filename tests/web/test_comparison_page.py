"""Two submissions of one team compared: by a worker, on a page for that team alone."""

from __future__ import annotations

import json
from datetime import timedelta
from decimal import Decimal
from typing import Any, cast
from unittest import mock

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from malpan.competitions.models import Phase
from malpan.core.storage import store_private
from malpan.jobs import outcome
from malpan.jobs.claim import claim_next
from malpan.jobs.faults import record_faults
from malpan.jobs.lease import LeaseRenewer
from malpan.leaderboard.comparing import computing
from malpan.leaderboard.comparing.asking import comparison_of
from malpan.leaderboard.models import ResultComparison
from malpan.submissions.models import ScoringRun, Submission
from malpan.teams.models import Team
from scoring.significance.comparison import compare
from tests.factories import PhaseFactory, TeamFactory, leader_of, rows
from tests.leaderboard.compared_world import ANSWERS, TRIALS, two_results
from tests.leaderboard.sureness_world import report_of
from tests.web import html
from tests.web.conftest import client_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def pair(monkeypatch: pytest.MonkeyPatch) -> tuple[Submission, Submission]:
    monkeypatch.setattr(computing, "TRIALS", TRIALS)
    return two_results()


def address(one: Submission, other: Submission) -> str:
    return f"/submissions/{one.public_id}/compare/{other.public_id}/"


def page_of(one: Submission, other: Submission, client: Client | None = None, **query: str) -> html.Element:
    client = client or client_of(leader_of(one.team))
    return html.parse(client.get(address(one, other), query).content.decode())


def work() -> None:
    """What a worker does with the comparison that was asked for, in the transaction of a test."""
    job = claim_next(worker="w")
    assert job is not None
    with mock.patch.object(outcome, "written", lambda _job, write: write()), record_faults(job):
        computing.CompareResults().work(job, cast("LeaseRenewer", None))


def test_a_page_asks_once_and_shows_what_the_worker_found(pair: tuple[Submission, Submission]) -> None:
    one, other = pair
    page = page_of(other, one)
    assert "계산 중" in page.one("section", id="scores").text
    assert "hx-get" in page.one("section", id="scores").attributes
    page_of(one, other)
    assert ResultComparison.objects.count() == 1
    work()
    page = page_of(other, one)
    assert "hx-get" not in page.one("section", id="scores").attributes
    main = page.one("tr", "main")
    shown = {cell.attributes["data-label"]: cell.text for cell in main.all("td")}
    assert shown["차이"].startswith("+")
    assert shown["판정"] == "차이가 있음"
    assert float(shown["p"]) <= 0.05
    assert html.problems(page) == []


def computed(pair: tuple[Submission, Submission], **key: Any) -> ResultComparison:
    """The comparison with the answer of the very computation of a worker."""
    one, other = (row.live_run for row in pair)
    assert one is not None
    assert other is not None
    row = comparison_of(one, other, **key)
    found = computing.compute(row)
    fields = {"lines": found.lines, "items": found.items, "reason": found.reason}
    ResultComparison.objects.filter(pk=row.pk).update(
        seed=computing.SEED, trials=computing.TRIALS, computed_at=timezone.now(), **fields
    )
    row.refresh_from_db()
    return row


def test_the_numbers_are_those_of_the_instrument(pair: tuple[Submission, Submission]) -> None:
    row = computed(pair)
    expected = compare(report_of(0, 0.3), report_of(1, 0.9), trials=TRIALS, seed=computing.SEED)
    assert row.items == 40
    assert {key: line["p"] for key, line in row.lines.items()} == {line.key: line.adjusted_p for line in expected.lines}
    final = next(line for line in expected.lines if line.key == "final_score")
    assert final.result is not None
    interval = final.result.difference_interval
    assert row.lines["final_score"]["interval"] == [interval.low, interval.high]


def test_the_items_show_own_answers_alone_while_the_organiser_has_not_opened_them(
    pair: tuple[Submission, Submission],
) -> None:
    page = page_of(*pair)
    told = page.all("section")[-1].text
    assert "3문항 가운데 1문항의 답이 다릅니다" in told
    assert ANSWERS[1] in told
    table = page.one("table", "item-pairs")
    assert [row.all("th")[0].text for row in table.one("tbody").all("tr")] == ["q3"]
    assert [head.text for head in table.one("thead").all("th")] == ["id", "질문", "먼저 낸 것", "나중 것"]
    everything = page_of(*pair, items="all").one("table", "item-pairs")
    assert len(everything.one("tbody").all("tr")) == 3


@pytest.mark.parametrize(("opened", "is_binned"), [("open", False), ("binned", True)])
def test_an_opened_split_shows_values_and_never_those_of_the_private_one(
    pair: tuple[Submission, Submission], opened: str, is_binned: bool
) -> None:
    one, other = pair
    Phase.objects.filter(pk=one.phase_id).update(item_scores=opened)
    run = other.live_run
    assert run is not None
    names = {"q1": "q1", "q2": "q2", "q3": "q3"}
    for each in (one, other):
        for kept in each.metric_results.all():
            values = {item: kept.values[item] for item in names}
            each.metric_results.filter(pk=kept.pk).update(values=values)
    type(run.reference_version).objects.filter(phase=one.phase).update(public_ids=["q1", "q3"])
    table = page_of(one, other, items="all").one("table", "item-pairs")
    cells = {row.all("th")[0].text: [cell.text for cell in row.all("td", "figure")] for row in table.all("tr")[1:]}
    assert set(cells["q2"]) == {"–"}
    assert all(cell != "–" for cell in cells["q3"])
    assert all(("0.25" in cell or "–" in cell) == is_binned or not is_binned for cell in cells["q1"])


@pytest.mark.parametrize(
    ("rules", "told"),
    [
        ({"score_step": Decimal("0.01")}, "반올림하는 단계"),
        ({"score_step": Decimal("0.1"), "is_ladder": True}, "점수를 받지 못한 제출이 있어"),
        ({"board": "hidden", "shows_own_score": False}, "아직 알리지 않아"),
    ],
)
def test_scores_that_are_withheld_or_rounded_are_not_compared(
    pair: tuple[Submission, Submission], rules: dict[str, Any], told: str
) -> None:
    Phase.objects.filter(pk=pair[0].phase_id).update(item_scores="open", **rules)
    ScoringRun.objects.update(final_score=0.5)
    page = page_of(*pair)
    assert told in page.one("section", id="scores").text
    assert ResultComparison.objects.count() == 0
    assert page.all("td", "figure") == []


def test_nobody_else_compares_them_and_none_with_itself_or_of_another_phase(
    pair: tuple[Submission, Submission],
) -> None:
    one, other = pair
    stranger = client_of(leader_of(TeamFactory.create(competition=one.team.competition)))
    assert stranger.get(address(one, other)).status_code == 404
    assert Client().get(address(one, other)).status_code == 302
    mine = client_of(leader_of(one.team))
    assert mine.get(address(one, one)).status_code == 404
    later = PhaseFactory.create(track=one.phase.track)
    Submission.objects.filter(pk=other.pk).update(phase=later)
    assert mine.get(address(one, other)).status_code == 404


def test_the_result_page_leads_there(pair: tuple[Submission, Submission]) -> None:
    one, other = pair
    client = client_of(leader_of(one.team))
    page = html.parse(client.get(f"/submissions/{other.public_id}/").content.decode())
    form = page.one("form", "compare-choice")
    assert [option.attributes["value"] for option in form.all("option")] == [str(one.public_id)]
    answer = client.get(form.attributes["action"], {"with": str(one.public_id)})
    assert answer["Location"] == address(other, one)
    assert client.get(form.attributes["action"], {"with": "x"})["Location"] == f"/submissions/{other.public_id}/"


def test_a_comparison_that_crashed_is_asked_for_again_after_a_while(pair: tuple[Submission, Submission]) -> None:
    row = computed(pair)
    old = timezone.now() - timedelta(minutes=5)
    ResultComparison.objects.filter(pk=row.pk).update(reason="crashed", computed_at=old, job=None)
    assert "계산 중" in page_of(*pair).one("section", id="scores").text


def test_a_compared_pair_costs_few_queries(pair: tuple[Submission, Submission]) -> None:
    computed(pair)
    client = client_of(leader_of(pair[0].team))
    page_of(*pair, client)
    with CaptureQueriesContext(connection) as queries:
        page_of(*pair, client)
    assert len(queries) <= 20
    assert Team.objects.count() == 1
    assert ScoringRun.objects.count() == 2


def items_of(row: Submission, client: Client | None = None, **query: str) -> html.Element:
    client = client or client_of(leader_of(row.team))
    return html.parse(client.get(f"/submissions/{row.public_id}/items/", query).content.decode())


def values_in(page: html.Element) -> dict[str, list[str]]:
    """The values by item, in the order of the page."""
    table = page.one("table", "item-pairs")
    heads = [head.text for head in table.one("thead").all("th", "figure")]
    lines = table.one("tbody").all("tr")
    for line in lines:  # on a phone each value says what it is
        assert [cell.attributes.get("data-label") for cell in line.all("td", "figure")] in (heads, [None] * len(heads))
    return {line.one("th").text: [cell.text for cell in line.all("td", "figure")] for line in lines}


def test_a_submission_shows_its_own_answers_alone_while_items_are_closed(pair: tuple[Submission, Submission]) -> None:
    page = items_of(pair[1])
    assert values_in(page) == {"q1": [], "q2": [], "q3": []}
    assert ANSWERS[1] in page.one("table", "item-pairs").text
    assert "정답과 문항별 점수는 보이지 않습니다" in page.text
    assert html.problems(page) == []


def test_what_the_file_says_of_an_item_stands_beside_the_answer(pair: tuple[Submission, Submission]) -> None:
    one, other = pair
    client = client_of(leader_of(one.team))
    for address in (f"{one.public_id}/items/", f"{one.public_id}/compare/{other.public_id}/?items=all"):
        table = html.parse(client.get(f"/submissions/{address}").content.decode()).one("table", "item-pairs")
        assert [cell.text for cell in table.all("td", "asked")] == ["1번 문제", "2번 문제", "3번 문제"]
        assert {cell.attributes["data-label"] for cell in table.all("td", "asked")} == {"질문"}


@pytest.mark.parametrize(
    ("asked", "shown"),
    [
        (
            {"question": "어느 쪽인가?", "question_type": "선택형", "options": ["가", "나"]},
            "질문: 어느 쪽인가? 보기: 가, 나",
        ),
        ({"question": "<b>\ud800\x00"}, "<b>?\x00"),
        ("문자열", "문자열"),
        ({"question": "가" * 5000}, "가" * 299 + "…"),
        (None, None),
        ({}, None),
    ],
)
def test_whatever_a_file_says_of_an_item_is_shown_as_a_text(
    pair: tuple[Submission, Submission], asked: Any, shown: str | None
) -> None:
    items = rows(3, ANSWERS[0])
    for item in items:
        del item["input"]
    items[0]["input"] = asked
    stored = store_private(json.dumps(items).encode())
    Submission.objects.filter(pk=pair[0].pk).update(file_sha256=stored.sha256, file_size=stored.size)
    table = items_of(pair[0]).one("table", "item-pairs")
    assert "[]" not in table.text
    assert [cell.text for cell in table.all("td", "asked")] == ([shown, "", ""] if shown else [])
    assert len(table.one("thead").all("th")) == (3 if shown else 2)


@pytest.mark.parametrize("opened", ["open", "binned"])
def test_opened_items_of_a_submission_have_values_of_the_public_split(
    pair: tuple[Submission, Submission], opened: str
) -> None:
    row = pair[1]
    Phase.objects.filter(pk=row.phase_id).update(item_scores=opened)
    lowest = {"q1": 0.9, "q2": 0.1, "q3": 0.4}
    row.metric_results.exclude(metric="bleurt").delete()
    row.metric_results.filter(metric="bleurt").update(values=lowest)
    assert row.live_run is not None
    type(row.live_run.reference_version).objects.filter(phase=row.phase).update(public_ids=["q1", "q3"])
    found = values_in(items_of(row, by="bleurt"))
    if opened == "open":
        assert found == {"q3": ["0.4000"], "q1": ["0.9000"], "q2": ["–"]}
        assert list(found) == ["q3", "q1", "q2"]  # from the lowest on, then those that are not told
    else:
        assert list(found) == ["q1", "q2", "q3"]  # in the order of the file, which tells nothing of values
        assert found == {"q1": ["0.75–1"], "q2": ["–"], "q3": ["0.25–0.5"]}


@pytest.mark.parametrize(
    ("rules", "told"),
    [
        ({"score_step": Decimal("0.01")}, "공개 점수를 반올림하는 단계라"),
        ({"score_step": Decimal("0.1"), "is_ladder": True}, "공개 점수를 반올림하는 단계라"),
        ({"board": "hidden", "shows_own_score": False}, "점수를 아직 알리지 않는 제출이라"),
    ],
)
def test_items_of_a_score_that_is_not_told_have_no_values_and_the_page_says_why(
    pair: tuple[Submission, Submission], rules: dict[str, Any], told: str
) -> None:
    Phase.objects.filter(pk=pair[0].phase_id).update(item_scores="open", **rules)
    for page in (items_of(pair[0]), page_of(*pair)):
        assert told in page.text
        assert "주최 측이 열지 않은 단계라" not in page.text
    assert values_in(items_of(pair[0])) == {"q1": [], "q2": [], "q3": []}


def test_the_items_are_there_for_the_team_alone(pair: tuple[Submission, Submission]) -> None:
    address = f"/submissions/{pair[0].public_id}/items/"
    stranger = client_of(leader_of(TeamFactory.create(competition=pair[0].team.competition)))
    assert stranger.get(address).status_code == 404
    assert Client().get(address).status_code == 302
    client = client_of(leader_of(pair[0].team))
    page = html.parse(client.get(f"/submissions/{pair[0].public_id}/").content.decode())
    assert address in [link.attributes["href"] for link in page.all("a")]
    with CaptureQueriesContext(connection) as queries:
        client.get(address)
    assert len(queries) <= 20
