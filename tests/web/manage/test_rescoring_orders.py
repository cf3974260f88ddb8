"""The page of a rescoring batch that is applied by itself: the form, the order, what came of it, who may do what."""

from __future__ import annotations

import copy

import pytest

from malpan.leaderboard.rescore_orders import carry_out_due
from malpan.submissions.models import QuotaEntry, RescoreBatch, RescoreOrder, ScoringRun
from malpan.submissions.rescoring import orders
from malpan.submissions.rescoring import services as rescoring
from tests.submissions.conftest import collect_rings, work_uncommitted
from tests.submissions.rescoring.contest_of_many import STRICT, Contest, few_teams, start, with_fake_models, work_off
from tests.web.html import parse, problems
from tests.web.manage.test_rescoring import person, url

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def made(kept: None) -> Contest:
    """Three teams with two scored submissions each."""
    with pytest.MonkeyPatch.context() as patched:
        collect_rings(patched)
        with_fake_models(patched)
        work_uncommitted(patched)
        return few_teams()


@pytest.fixture
def contest(made: Contest, monkeypatch: pytest.MonkeyPatch) -> Contest:
    collect_rings(monkeypatch)
    with_fake_models(monkeypatch)
    work_uncommitted(monkeypatch)
    return copy.deepcopy(made)


@pytest.mark.parametrize("language", ["ko", "en"])
def test_from_the_order_to_the_applied_batch(contest: Contest, language: str) -> None:
    organiser = person(contest, "organiser")
    organiser.cookies["django_language"] = language
    batch = start(contest, recipe=STRICT)
    address = url(contest, f"{batch.pk}/")
    page = parse(organiser.get(address).content.decode())
    assert problems(page) == []
    form = page.one("details", id="order")
    assert form.one("input", name="guarded_places").attributes["value"] == "3"

    data = {"confirm": "on", "guarded_places": "0", "resets_quota": "on", "title_ko": "새 규칙", "body_ko": "안내"}
    page = parse(organiser.post(f"{address}order/", data, follow=True).content.decode())

    assert problems(page) == []
    assert [each for each in page.all("details") if each.attributes.get("id") == "order"] == []
    shown = page.one("section", "card", **{"aria-labelledby": "order-title"})
    assert "새 규칙" in shown.text
    assert page.one("div", id="progress").attributes["hx-get"].endswith("/progress/?shown=running&ordered")
    order = RescoreOrder.objects.get()
    assert (order.guarded_places, order.resets_quota, order.title_ko) == (0, True, "새 규칙")
    work_off()
    page = parse(organiser.get(address).content.decode())
    polled = page.one("div", id="progress").attributes["hx-get"]
    mark = page.one("input", name="mark").attributes["value"]
    assert polled.endswith("?shown=ready&ordered")
    assert organiser.get(f"{polled}&mark={mark}").status_code == 204

    assert carry_out_due() == 1

    ended = organiser.get(f"{polled}&mark={mark}")
    assert (ended.status_code, ended["HX-Refresh"]) == (286, "true")
    page = parse(organiser.get(address).content.decode())
    assert problems(page) == []
    assert ("예약대로 적용함" if language == "ko" else "Applied as scheduled") in page.text
    assert QuotaEntry.objects.filter(batch=batch, kind="reset").count() == 3


def test_what_refused_it_is_on_the_page_and_it_can_be_applied_or_ordered_anew(contest: Contest) -> None:
    organiser = person(contest, "organiser")
    batch = start(contest)
    orders.order_application(batch=batch, actor=contest.organiser)
    work_off(5)
    failed = batch.runs.filter(state=ScoringRun.State.QUEUED).get()
    ScoringRun.objects.filter(pk=failed.pk).update(state=ScoringRun.State.FAILED, error_code="scoring_crashed")
    address = url(contest, f"{batch.pk}/")
    polled = parse(organiser.get(address).content.decode()).one("div", id="progress").attributes["hx-get"]
    carry_out_due()
    assert organiser.get(polled)["HX-Refresh"] == "true"

    page = parse(organiser.get(address).content.decode())

    assert problems(page) == []
    assert "예약한 대로 적용하지 않고 예약을 끝냈습니다" in page.text
    assert "실패한 채점 1건" in page.text
    refused = organiser.post(f"{address}order/", {"confirm": "on", "guarded_places": "3"})
    assert refused.status_code == 409
    page = parse(refused.content.decode())
    assert "open" in page.one("details", id="order").attributes
    rescoring.exclude_submission(batch=batch, submission=failed.submission, reason="파일 손상", actor=contest.organiser)
    page = parse(organiser.get(address).content.decode())
    assert problems(page) == []
    assert "적용하지 않고 예약을 끝냈습니다" in page.text
    page.one("section", id="apply")


def test_an_order_asks_for_an_explicit_yes_and_a_number(contest: Contest) -> None:
    batch = start(contest)
    organiser = person(contest, "organiser")
    for data in ({"guarded_places": "3"}, {"confirm": "on"}, {"confirm": "on", "guarded_places": "-1"}):
        response = organiser.post(url(contest, f"{batch.pk}/order/"), data)
        assert response.status_code == 422, data
        page = parse(response.content.decode())
        assert problems(page) == []
        assert "open" in page.one("details", id="order").attributes
    titled = {"confirm": "on", "guarded_places": "3", "title_ko": "제목만"}
    assert "공지 내용을 적어" in organiser.post(url(contest, f"{batch.pk}/order/"), titled).content.decode()
    assert not RescoreOrder.objects.exists()


def test_it_is_withdrawn_by_whoever_may_apply(contest: Contest) -> None:
    batch = start(contest)
    order = orders.order_application(batch=batch, actor=contest.organiser)
    address = url(contest, f"{batch.pk}/")
    for role in ("viewer", "operator"):
        page = parse(person(contest, role).get(address).content.decode())
        assert problems(page) == []
        assert "적용을 예약했습니다" in page.text
        assert "예약 거두기" not in page.text
        assert person(contest, role).post(f"{address}order/withdraw/").status_code == 403
        assert person(contest, role).post(f"{address}order/", {"confirm": "on"}).status_code == 403
    owner = person(contest, "owner")
    assert "저절로 적용 예정" in owner.get(url(contest)).content.decode()
    page = parse(owner.post(f"{address}order/withdraw/", follow=True).content.decode())
    assert "적용 예약을 거두었습니다" in page.text
    assert "저절로 적용 예정" not in owner.get(url(contest)).content.decode()
    order.refresh_from_db()
    assert order.state == RescoreOrder.State.WITHDRAWN
    again = parse(owner.post(f"{address}order/withdraw/", follow=True).content.decode())
    assert "기다리는 적용 예약이 없습니다" in again.text


def test_a_second_order_is_refused_on_the_page(contest: Contest) -> None:
    batch = start(contest)
    orders.order_application(batch=batch, actor=contest.organiser)
    response = person(contest, "owner").post(
        url(contest, f"{batch.pk}/order/"), {"confirm": "on", "guarded_places": "0"}
    )
    assert response.status_code == 409
    assert "이미 적용을 예약했습니다" in response.content.decode()
    assert RescoreOrder.objects.get().guarded_places == 3


def test_a_repetition_offers_no_order(contest: Contest) -> None:
    batch = start(contest, repeats=2)
    page = parse(person(contest, "owner").get(url(contest, f"{batch.pk}/")).content.decode())
    assert "저절로 적용하기" not in page.text
    assert RescoreBatch.objects.get().repeats == 2
