"""A form that was open while its sender logged in again: what happened is said, nothing is recorded or lost."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

import pytest
from django.conf import settings
from django.core.cache import cache
from django.test import Client
from django.urls import reverse

from malpan.arena.models import Judgement, JudgementDraft
from malpan.web.pages.arena_unsent import UNSENT
from tests.arena.panels import open_panel
from tests.web import html
from tests.web.conftest import Contest
from tests.web.test_arena_judge_pages import SENT, Judge, fields_of

ORIGIN = "http://testserver"
NOTE = "둘째 줄까지\n적은 <b>메모</b> &"
ON_ONE_LINE = " ".join(NOTE.split())


@pytest.fixture(autouse=True)
def _no_rate_limit_of_another_test() -> None:
    cache.clear()


def strict(person: Any, language: str = "ko") -> Client:
    """A browser that sends where a form is from; its token is not that of a form opened before."""
    client = Client(enforce_csrf_checks=True, headers={"accept-language": language, "origin": ORIGIN})
    client.force_login(person)
    client.cookies[settings.CSRF_COOKIE_NAME] = "n" * 32
    return client


def token_of_before() -> dict[str, str]:
    return {"csrfmiddlewaretoken": "o" * 32}


def page_of(response: Any) -> html.Element:
    assert response.status_code == 403
    page = html.parse(response.content.decode())
    assert html.problems(page) == []
    return page


@pytest.fixture
def judge(db: None) -> Judge:
    return Judge(open_panel("errors"))


@pytest.mark.parametrize("button", ["", "draft"])
def test_what_a_judge_sent_is_on_the_form_again(judge: Judge, button: str) -> None:
    assignment = judge.practise()
    judge.client = client = strict(judge.row.user)
    address = judge.url("arena_assignment", assignment.shown_key)
    sent = {**SENT["errors"], "note": NOTE, "expected": "0", **({button: "1"} if button else {})}
    headers = {"referer": f"{ORIGIN}{address}?list=1"}

    refused = page_of(client.post(address, sent | token_of_before(), headers=headers))

    assert "이 브라우저에 남겨 두었으니" in refused.one("main").text
    link = refused.one("a", "button", href=f"{ORIGIN}{address}?list=1")
    assert link.text == "이 문항 다시 열기"
    assert not Judgement.objects.filter(assignment=assignment).exists()
    assert not JudgementDraft.objects.filter(assignment=assignment).exists()
    form = judge.look(assignment)
    fields = fields_of(form)
    assert "아직 기록하지 않았으니" in form.text
    assert (fields["note"], fields["score"]) == ([ON_ONE_LINE], ["70"])
    assert (fields["span-0-quote"], fields["span-0-severity"]) == (["문항"], ["major"])
    again = sent | {"csrfmiddlewaretoken": "n" * 32}
    assert client.post(address, again).status_code == 302
    assert UNSENT not in client.session or not client.session[UNSENT]


@pytest.mark.parametrize("note", [NOTE, "어려움"])
def test_what_a_judge_sent_without_any_cookie_is_on_the_page_and_on_the_form_again(judge: Judge, note: str) -> None:
    """Their browser lost the session and the token at once."""
    assignment = judge.practise()
    address = judge.url("arena_assignment", assignment.shown_key)
    judge.client = client = Client(enforce_csrf_checks=True, headers={"accept-language": "ko", "origin": ORIGIN})
    typed = urlencode({**SENT["errors"], "note": note, "expected": "0"} | token_of_before())

    refused = page_of(client.post(address, typed, content_type="application/x-www-form-urlencoded"))

    told = refused.one("main")
    assert "보낸 판단은 아직 기록되지 않았습니다" in told.text
    assert "제출 횟수" not in told.text
    assert " ".join(note.split()) in told.one("textarea").text
    assert told.one("a", "button", href=address).text == "이 문항 다시 열기"
    assert not Judgement.objects.filter(assignment=assignment).exists()
    client.force_login(judge.row.user)
    fields = fields_of(judge.look(assignment))
    assert (fields["note"], fields["score"]) == ([" ".join(note.split())], ["70"])


def test_without_a_cookie_nothing_large_or_of_another_site_is_read(judge: Judge) -> None:
    assignment = judge.practise()
    address = judge.url("arena_assignment", assignment.shown_key)
    sent = {**SENT["errors"], "note": NOTE}
    plain = "application/x-www-form-urlencoded"
    for origin, typed in (
        ("https://evil.example", urlencode(sent)),
        (None, urlencode(sent)),
        (ORIGIN, urlencode(sent | {"more": "ㄱ" * 100_000})),
    ):
        client = Client(enforce_csrf_checks=True, headers={"origin": origin} if origin else {})
        refused = page_of(client.post(address, typed, content_type=plain))
        assert UNSENT not in client.session
        assert not refused.one("main").all("textarea")


def test_what_is_not_from_a_page_of_this_site_is_kept_nowhere(judge: Judge) -> None:
    assignment = judge.practise()
    address = judge.url("arena_assignment", assignment.shown_key)
    sent = {**SENT["errors"], "note": NOTE}
    for given in ({"origin": "https://evil.example"}, {"origin": "null"}, {}):
        client = strict(judge.row.user)
        client.defaults.pop("HTTP_ORIGIN")
        refused = page_of(client.post(address, sent | token_of_before(), headers=given))
        assert UNSENT not in client.session
        assert "메모" not in refused.one("main").text
    client = strict(judge.row.user)
    refused = page_of(client.post(address, sent))  # no token at all
    assert UNSENT not in client.session
    assert "메모" not in refused.one("main").text


def test_texts_of_other_forms_are_there_to_be_copied_and_no_secret(contest: Contest) -> None:
    client = strict(contest.leader)
    sent = {"title": "제목 한 줄", "body": NOTE, "track": "qa", "password1": "네 낱말로 된 비밀번호"}

    refused = page_of(client.post(contest.url("submit/"), sent | token_of_before()))

    assert refused.one("textarea").text == f"제목 한 줄 {ON_ONE_LINE}"
    assert "readonly" in refused.one("textarea").attributes
    assert "비밀번호" not in refused.one("main").text
    assert "no-store" in client.post(contest.url("submit/"), sent | token_of_before())["Cache-Control"]
    assert not page_of(client.post(contest.url("submit/"), {"track": "qa"} | token_of_before())).all("textarea")


def test_the_way_back_is_the_page_of_the_form_and_never_another_site(contest: Contest) -> None:
    client = strict(contest.leader)
    address = contest.url("submit/")
    for referer, wanted in (
        (f"{ORIGIN}/account/?a=1", f"{ORIGIN}/account/?a=1"),
        ("https://evil.example/account/", address),
        ("//evil.example/", address),
        ("javascript:alert(1)", address),
        ("", address),
    ):
        headers = {"referer": referer} if referer else {}
        refused = page_of(client.post(address, token_of_before(), headers=headers))
        assert refused.one("main").one("a", "button", href=wanted).text == "페이지 새로 열기"


def test_it_is_said_in_english_and_to_who_sends_no_cookie(contest: Contest) -> None:
    client = strict(contest.leader, "en")
    said = page_of(client.post(contest.url("submit/"), {"body": NOTE} | token_of_before())).one("main").text
    assert "logged in again" in said
    assert "was not processed" in said
    assert not any("가" <= each <= "힣" for each in said.replace(ON_ONE_LINE, ""))
    del client.cookies[settings.CSRF_COOKIE_NAME]
    assert "did not send" in page_of(client.post(contest.url("submit/"), {"body": NOTE})).one("main").text


def test_programs_are_answered_in_json_as_before(contest: Contest) -> None:
    client = strict(contest.leader)
    upload = reverse("api-submissions", args=[contest.competition.slug, contest.track.slug])
    answer = client.post(upload, token_of_before())
    assert answer.status_code == 401
    assert answer["Content-Type"] == "application/problem+json"
    assert answer.json()["error"]["code"]
