"""문의 on both sides: asked by participants, answered on the manage pages; no name of an asker is ever public."""

from __future__ import annotations

from typing import Any

import pytest
from django.core import mail
from django.test import Client

from malpan.accounts.models import User
from malpan.competitions.models import Competition, Question
from malpan.competitions.questions import answer_question, ask_question
from malpan.notifications.sending import deliver_due
from tests.factories import CompetitionFactory, TeamFactory, UserFactory
from tests.web import html
from tests.web.manage_people import client_of, client_with_role

ANSWER = {"answer_ko": "**네**, 문자열입니다. <img alt='' src=x onerror=y>", "answer_en": "Yes, a *string*."}


@pytest.fixture
def competition(db: None) -> Competition:
    return CompetitionFactory.create()


@pytest.fixture
def asker(competition: Competition) -> User:
    person = UserFactory.create(name="김질문", email="asker@example.com")
    TeamFactory.create(competition=competition, name="질문팀", leader=person)
    return person


def address(competition: Competition, page: str = "") -> str:
    return f"/competitions/{competition.slug}/questions/{page}"


def access(competition: Competition, page: str = "") -> str:
    return f"/competitions/{competition.slug}/manage/questions/{page}"


def ask(competition: Competition, person: User, title: str = "형식 문의") -> Question:
    return ask_question(competition=competition, asked_by=person, title=title, body="id는 문자열입니까?\n<b>굵게</b>")


def page_of(response: Any) -> html.Element:
    page = html.parse(response.content.decode())
    assert html.problems(page) == []
    return page


# --- participants -----------------------------------------------------------------------------------------------------
def test_a_participant_asks_and_sees_the_question_wait(competition: Competition, asker: User) -> None:
    client = client_of(asker)
    sent = client.post(address(competition, "ask/"), {"title": "형식 문의", "body": "id는 문자열입니까?"}, follow=True)
    assert sent.redirect_chain == [(address(competition), 302)]
    assert "내 문의 답변 대기" in page_of(sent).one("article", "question").text
    assert Question.objects.get().asked_by == asker
    assert page_of(Client().get(address(competition))).all("article") == []


def test_a_visitor_reads_and_is_asked_to_log_in(competition: Competition) -> None:
    page = page_of(Client().get(address(competition)))
    assert page.one("main").all("form") == []
    sent = Client().post(address(competition, "ask/"), {"title": "가", "body": "나"})
    assert sent["Location"].startswith("/accounts/login/")
    assert not Question.objects.exists()


@pytest.mark.parametrize(
    "fields", [{"title": "", "body": "나"}, {"title": "가", "body": ""}, {"title": "가" * 201, "body": "나"}]
)
def test_a_refused_question_is_explained_beside_its_field(
    competition: Competition, asker: User, fields: dict[str, str]
) -> None:
    response = client_of(asker).post(address(competition, "ask/"), fields)
    assert response.status_code == 422
    assert page_of(response).one("ul", "errorlist").text
    assert not Question.objects.exists()


def test_the_eleventh_open_question_is_refused_in_words(competition: Competition, asker: User) -> None:
    for _number in range(10):
        ask(competition, asker)
    client = client_of(asker)
    response = client.post(address(competition, "ask/"), {"title": "가", "body": "나"})
    assert response.status_code == 409
    assert "이미 10건" in page_of(response).one("div", "notice", role="alert").text
    assert page_of(client.get(address(competition))).one("main").all("form") == []


def test_html_of_a_question_is_text_and_of_an_answer_is_cleaned(competition: Competition, asker: User) -> None:
    answer_question(question=ask(competition, asker), is_public=True, actor=asker, **ANSWER)
    source = Client().get(address(competition)).content.decode()
    assert "&lt;b&gt;굵게&lt;/b&gt;" in source
    assert "<strong>네</strong>" in source
    assert "onerror" not in source
    english = Client().get(address(competition), headers={"accept-language": "en"}).content.decode()
    assert "<em>string</em>" in english


def test_nobody_learns_who_asked_and_only_the_asker_sees_a_private_answer(
    competition: Competition, asker: User
) -> None:
    public, private = ask(competition, asker, "공개 문의"), ask(competition, asker, "개인 문의")
    organiser = UserFactory.create(name="이답변")
    answer_question(question=public, is_public=True, actor=organiser, **ANSWER)
    answer_question(question=private, is_public=False, actor=organiser, **ANSWER)
    for client in (Client(), client_of(UserFactory.create())):
        source = client.get(address(competition)).content.decode()
        assert "공개 문의" in source
        for hidden in ("개인 문의", "김질문", "asker@example.com", "질문팀", "이답변"):
            assert hidden not in source
    assert "나에게만 답변" in page_of(client_of(asker).get(address(competition))).text


def test_questions_of_a_hidden_competition_are_hidden(asker: User) -> None:
    hidden = CompetitionFactory.create(is_published=False)
    client = client_of(asker)
    assert client.get(address(hidden)).status_code == 404
    assert client.post(address(hidden, "ask/"), {"title": "가", "body": "나"}).status_code == 404


# --- the manage pages ------------------------------------------------------------------------------------------------
def test_a_question_of_another_competition_is_not_found(competition: Competition, asker: User) -> None:
    other = ask(CompetitionFactory.create(), asker)
    client = client_with_role(competition, "owner")
    assert client.get(access(competition, f"{other.pk}/")).status_code == 404
    assert client.post(access(competition, f"{other.pk}/answer/"), ANSWER).status_code == 404
    assert client.post(access(competition, f"{other.pk}/mark/"), {"close": "1"}).status_code == 404
    other.refresh_from_db()
    assert other.answered_at is None


def test_an_answer_is_given_mailed_and_corrected(competition: Competition, asker: User) -> None:
    question = ask(competition, asker)
    client = client_with_role(competition, "organiser")
    client.post(access(competition, f"{question.pk}/answer/"), ANSWER | {"is_public": "on"})
    deliver_due()
    assert mail.outbox[0].to == ["asker@example.com"]
    page = page_of(client.get(access(competition, f"{question.pk}/")))
    assert "김질문 asker@example.com 질문팀" in page.text
    assert page.one("input", name="is_public").attributes["checked"] == ""
    client.post(access(competition, f"{question.pk}/answer/"), {"answer_ko": "아니요.", "answer_en": ""})
    question.refresh_from_db()
    assert (question.answer_ko, question.is_public) == ("아니요.", False)


def test_an_empty_answer_comes_back_with_its_error(competition: Competition, asker: User) -> None:
    question = ask(competition, asker)
    client = client_with_role(competition, "organiser")
    for text in ("", "\u200b \u202e"):
        response = client.post(access(competition, f"{question.pk}/answer/"), {"answer_ko": text})
        assert response.status_code == 422
        assert page_of(response).one("ul", "errorlist").attributes["id"] == "id_answer_ko_error"
    question.refresh_from_db()
    assert question.answered_at is None


def test_a_question_is_closed_without_an_answer_and_opened_again(competition: Competition, asker: User) -> None:
    question = ask(competition, asker)
    client = client_with_role(competition, "organiser")
    client.post(access(competition, f"{question.pk}/mark/"), {"close": "1"})
    assert "답변 없이 처리됨" in page_of(client.get(access(competition))).one("table").text
    assert "답변 없이 처리됨" in page_of(client_of(asker).get(address(competition))).text
    client.post(access(competition, f"{question.pk}/mark/"), {"reopen": "1"})
    assert "답변 대기" in page_of(client.get(access(competition))).one("table").text


def test_those_that_wait_stand_first(competition: Competition, asker: User) -> None:
    for title in ("하나", "둘", "셋"):
        ask(competition, asker, title)
    answer_question(question=Question.objects.get(title="하나"), is_public=False, actor=asker, **ANSWER)
    client = client_with_role(competition, "viewer")
    table = page_of(client.get(access(competition))).one("table")
    assert [row.one("a").text for row in table.one("tbody").all("tr")] == ["둘", "셋", "하나"]
