"""A log-in that expires while a judge writes: what they sent is on the form after they logged in, and nobody else's."""

from __future__ import annotations

from typing import Any

import pytest
from django.conf import settings
from django.core.cache import cache
from django.test import Client
from django.urls import reverse

from malpan.arena.models import Assignment, Judgement, JudgementDraft
from malpan.web.pages.arena_unsent import ASSIGNMENTS_MOST, CHARACTERS_MOST, UNSENT
from tests.arena.panels import open_panel
from tests.factories import UserFactory
from tests.web.test_arena_judge_pages import SENT, Judge, fields_of

pytestmark = pytest.mark.django_db

NOTE = "로그인이 끊긴 뒤에 쓴 글 <b>&"
KEPT = "다시 로그인하면 그대로 나옵니다"
PASSWORD = "열두글자가넘는비밀번호"


@pytest.fixture(autouse=True)
def _no_rate_limit_of_another_test() -> None:
    cache.clear()


def expire(judge: Judge) -> None:
    """The browser keeps its other cookies and loses the session."""
    del judge.client.cookies[settings.SESSION_COOKIE_NAME]


def log_in(client: Client, person: Any, address: str) -> Any:
    """Log in on the page at ``address``, as a person does; where that leads."""
    person.set_password(PASSWORD)
    person.save()
    person.emailaddress_set.update_or_create(email=person.email, defaults={"verified": True, "primary": True})
    return client.post(address, {"login": person.email, "password": PASSWORD})


@pytest.mark.parametrize("protocol", ["pairwise", "rubric", "ranking", "errors"])
@pytest.mark.parametrize("button", ["", "draft"])
def test_what_was_sent_is_on_the_form_after_the_log_in(protocol: str, button: str) -> None:
    judge = Judge(open_panel(protocol))
    assignment = judge.practise()
    page = judge.url("arena_assignment", assignment.shown_key)
    expire(judge)
    sent = {**SENT[protocol], "note": NOTE, "expected": "0", **({button: "1"} if button else {})}
    refused = judge.client.post(page, sent)
    assert refused["Location"] == f"{reverse('account_login')}?next={page.replace('/', '%2F')}"
    assert KEPT in judge.client.get(refused["Location"]).content.decode()
    assert log_in(judge.client, judge.row.user, refused["Location"])["Location"] == page
    shown = judge.look(assignment)
    wanted = {
        name: [text] if isinstance(text, str) else text for name, text in {**SENT[protocol], "note": NOTE}.items()
    }
    fields = fields_of(shown)
    for name in [name for name in wanted if name != "spans" and wanted[name] not in ([""], [" "])]:
        assert fields[name] == wanted[name], name
    assert "아직 기록하지 않았으니" in shown.text
    assert not JudgementDraft.objects.filter(assignment=assignment).exists()
    assert judge.send(assignment, **sent | {"draft": "1"} if button else sent).status_code == 302
    assert "아직 기록하지 않았으니" not in judge.look(assignment).text, "it is kept or recorded, and no longer waits"
    if not button:
        assert Judgement.objects.get(assignment=assignment).note == NOTE


def test_what_the_script_sent_waits_until_something_newer_is_kept() -> None:
    judge = Judge(open_panel())
    assignment = judge.practise()
    draft = judge.url("arena_draft", assignment.shown_key)
    expire(judge)
    for note in ("처음", NOTE):
        assert judge.client.post(draft, {"note": note, "choice": "tie", "list": "1"})["Location"].endswith(
            "%3Flist%3D1"
        )
    judge.client.force_login(judge.row.user)
    assert fields_of(judge.look(assignment))["note"] == [NOTE]
    assert judge.client.post(draft, {"note": "더 새것", "choice": "tie"}).status_code == 200
    assert fields_of(judge.look(assignment))["note"] == ["더 새것"]


def test_what_waits_is_shown_to_nobody_else() -> None:
    panel = open_panel()
    judge, other = Judge(panel), Judge(panel, 1)
    assignment = judge.practise()
    page = judge.url("arena_assignment", assignment.shown_key)
    expire(judge)
    judge.client.post(page, {"note": NOTE, "choice": "tie"})
    for person in (other.row.user, UserFactory.create()):
        judge.client.logout()
        judge.client.post(page, {"note": NOTE, "choice": "tie"})
        judge.client.force_login(person)
        response = judge.client.get(page)
        assert response.status_code == 404
        assert NOTE not in response.content.decode()


def test_a_stranger_makes_the_site_keep_nothing_and_a_judge_not_without_bounds() -> None:
    judge = Judge(open_panel())
    assignment = judge.practise()
    stranger = Client()
    for name in ("arena_assignment", "arena_draft"):
        there = judge.url(name, "00000000-0000-4000-8000-000000000000")
        response = stranger.post(there, {"note": NOTE})
        assert response["Location"].startswith(reverse("account_login"))
        assert UNSENT not in stranger.session
        assert KEPT not in stranger.get(response["Location"]).content.decode()
    stranger.post(judge.url("arena_draft", assignment.shown_key), {"note": "가" * (CHARACTERS_MOST // 9)})
    assert UNSENT not in stranger.session
    rows = list(Assignment.objects.filter(campaign=judge.panel.campaign)[: ASSIGNMENTS_MOST + 1])
    for row in rows:
        stranger.post(judge.url("arena_draft", row.shown_key), {"note": NOTE})
    assert list(stranger.session[UNSENT]) == [str(row.shown_key) for row in rows[1:]]
