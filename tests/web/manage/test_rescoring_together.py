"""The pages of a rescoring of several phases: started by one form, shown on one page, applied and cancelled as one."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from malpan.competitions.models import Track
from malpan.submissions.models import RescoreBatch, RescoreOrder, ScoringRun, Submission
from malpan.submissions.rescoring import batches
from tests.factories import PhaseFactory
from tests.submissions.conftest import collect_rings, work_uncommitted
from tests.submissions.rescoring.contest_of_many import STRICT, Contest, start, with_fake_models, work_off
from tests.submissions.rescoring.test_together import second_of, with_second_phase
from tests.web.html import Element, parse, problems
from tests.web.manage.test_rescoring import person, url

pytestmark = pytest.mark.django_db
State = RescoreBatch.State


@pytest.fixture(scope="module")
def made(kept: None) -> Contest:
    with pytest.MonkeyPatch.context() as patched:
        collect_rings(patched)
        with_fake_models(patched)
        work_uncommitted(patched)
        return with_second_phase()


@pytest.fixture
def contest(made: Contest, monkeypatch: pytest.MonkeyPatch) -> Contest:
    collect_rings(monkeypatch)
    with_fake_models(monkeypatch)
    work_uncommitted(monkeypatch)
    return copy.deepcopy(made)


def both(contest: Contest) -> list[RescoreBatch]:
    return batches.together(start(contest, also=[second_of(contest)], recipe=STRICT))


def page_of(contest: Contest, rest: str, role: str = "organiser") -> Element:
    page = parse(person(contest, role).get(url(contest, rest)).content.decode())
    assert problems(page) == []
    return page


def states() -> list[str]:
    return list(RescoreBatch.objects.order_by("pk").values_list("state", flat=True))


def test_the_form_offers_the_other_phases_of_the_track_with_scores(contest: Contest) -> None:
    PhaseFactory.create(track=contest.phase.track, slug="empty")
    page = page_of(contest, f"start/{contest.phase.pk}/")
    assert [each.attributes["value"] for each in page.all("input", name="also")] == [str(second_of(contest).pk)]
    Submission.objects.filter(phase=second_of(contest)).update(live_run=None)
    assert page_of(contest, f"start/{contest.phase.pk}/").all("input", name="also") == []


@pytest.mark.parametrize("language", ["ko", "en"])
def test_from_one_form_to_both_boards(contest: Contest, language: str) -> None:
    organiser = person(contest, "organiser")
    organiser.cookies["django_language"] = language
    data = {"reason": "빠진 이유는 0점", "recipe": STRICT, "also": [str(second_of(contest).pk)]}
    response = organiser.post(url(contest, f"start/{contest.phase.pk}/"), data)
    first, second = RescoreBatch.objects.order_by("pk")
    assert response.url == url(contest, f"{first.pk}/")
    for batch in (first, second):
        page = parse(organiser.get(url(contest, f"{batch.pk}/")).content.decode())
        assert problems(page) == []
        polled = [each.attributes["hx-get"].split("/")[-3] for each in page.all("div") if "hx-get" in each.attributes]
        assert polled == [str(first.pk), str(second.pk)]
    lines = parse(organiser.get(url(contest)).content.decode()).one("tbody").all("tr")
    assert len(lines) == 1, "one line for both"

    work_off(6)
    page = parse(organiser.get(url(contest, f"{first.pk}/")).content.decode())
    assert problems(page) == []
    assert [each.attributes["id"] for each in page.all("table") if "rows" in each.attributes.get("id", "")] == [
        f"rows-{first.pk}"
    ]
    assert page.all("section", id="apply") == []
    assert [each for each in page.all("div") if "hx-get" in each.attributes] == [
        page.one("div", id=f"progress-{second.pk}")
    ]

    work_off()
    page = parse(organiser.get(url(contest, f"{second.pk}/")).content.decode())
    assert problems(page) == []
    seen = page.one("input", name="seen").attributes["value"]
    assert seen.count(",") == 1
    one = organiser.post(url(contest, f"{second.pk}/apply/"), {"confirm": "on", "seen": seen.split(",")[0]})
    assert (one.status_code, states()) == (409, [State.RUNNING, State.RUNNING])
    applied = organiser.post(url(contest, f"{second.pk}/apply/"), {"confirm": "on", "seen": seen}, follow=True)
    assert problems(parse(applied.content.decode())) == []
    assert states() == [State.APPLIED, State.APPLIED]
    assert Track.objects.get(pk=contest.phase.track_id).recipe == STRICT


def test_a_preview_that_is_outdated_in_one_phase_applies_none(contest: Contest) -> None:
    first, second = both(contest)
    work_off()
    organiser = person(contest, "organiser")
    seen = page_of(contest, f"{first.pk}/").one("input", name="seen").attributes["value"]
    run = second.runs.earliest("pk")
    ScoringRun.objects.filter(pk=run.pk).update(scores=run.scores | {"final_score": 0.123}, final_score=0.123)

    refused = organiser.post(url(contest, f"{first.pk}/apply/"), {"confirm": "on", "seen": seen})

    assert (refused.status_code, states()) == (409, [State.RUNNING, State.RUNNING])
    page = parse(refused.content.decode())
    assert problems(page) == []
    fresh = page.one("input", name="seen").attributes["value"]
    assert fresh != seen
    assert organiser.post(url(contest, f"{first.pk}/apply/"), {"confirm": "on", "seen": fresh}).status_code == 302
    assert states() == [State.APPLIED, State.APPLIED]


def test_one_cancel_ends_both(contest: Contest) -> None:
    _first, second = both(contest)
    assert "함께 재채점합니다" in page_of(contest, f"{second.pk}/").text
    person(contest, "operator").post(url(contest, f"{second.pk}/cancel/"), {"confirm": "on"})
    assert states() == [State.CANCELLED, State.CANCELLED]
    page_of(contest, f"{second.pk}/")


def test_an_order_is_on_the_page_of_each(contest: Contest) -> None:
    first, second = both(contest)
    organiser = person(contest, "organiser")
    organiser.post(url(contest, f"{second.pk}/order/"), {"confirm": "on", "guarded_places": "0"})
    order = RescoreOrder.objects.get()
    assert order.batch == first
    for batch in (first, second):
        page = page_of(contest, f"{batch.pk}/")
        assert "적용을 예약했습니다" in page.text
        polled: list[Any] = [each.attributes["hx-get"] for each in page.all("div") if "hx-get" in each.attributes]
        assert [each.endswith("&ordered") for each in polled] == [True, False]
    organiser.post(url(contest, f"{first.pk}/order/withdraw/"))
    order.refresh_from_db()
    assert order.state == RescoreOrder.State.WITHDRAWN


def test_a_reason_that_is_missing_is_asked_for_where_the_run_failed(contest: Contest) -> None:
    first, second = both(contest)
    work_off()
    for batch in (first, second):
        run = batch.runs.earliest("pk")
        ScoringRun.objects.filter(pk=run.pk).update(state=ScoringRun.State.FAILED, error_code="scoring_crashed")
    run = second.runs.earliest("pk")
    response = person(contest, "operator").post(
        url(contest, f"{second.pk}/exclude/"), {"submission": run.submission_id, "reason": ""}
    )
    page = parse(response.content.decode())
    assert (response.status_code, problems(page)) == (422, [])
    assert len(page.all("p", "error")) == 1
