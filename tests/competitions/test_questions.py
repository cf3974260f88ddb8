"""문의: who may ask how much, who sees what, and that the asker is told in both languages."""

from functools import partial

import pytest
from django.contrib.auth.models import AnonymousUser
from django.core import mail

from malpan.competitions import questions
from malpan.competitions.errors import QuestionInvalid, QuestionNotFound, TooManyQuestions
from malpan.competitions.models import Question
from malpan.core.models import AuditEntry
from malpan.notifications.sending import deliver_due
from tests.factories import CompetitionFactory, UserFactory
from tests.threads import at_once

pytestmark = pytest.mark.django_db


def ask(competition=None, person=None, title="형식 문의", body="id는 문자열입니까?"):
    return questions.ask_question(
        competition=competition or CompetitionFactory.create(),
        asked_by=person or UserFactory.create(),
        title=title,
        body=body,
    )


def answer(question, is_public=False, ko="문자열입니다.", en="A string."):
    return questions.answer_question(
        question=question, answer_ko=ko, answer_en=en, is_public=is_public, actor=UserFactory.create()
    )


def test_a_question_is_kept_clean_and_audited():
    question = ask(title="  형식\u202e 문의\n둘째 줄 ", body="첫 줄\r\n둘째\x00 줄\u202e\t끝 ")

    assert (question.title, question.body) == ("형식 문의 둘째 줄", "첫 줄\n둘째 줄\t끝")
    entry = AuditEntry.objects.get(action="question.ask")
    assert (entry.actor, entry.competition_pk) == (question.asked_by, question.competition_id)


@pytest.mark.parametrize(
    ("field", "texts"),
    [
        ("title", {"title": " "}),
        ("title", {"title": "가" * 201}),
        ("body", {"body": "\x00 "}),
        ("body", {"body": "가" * 4001}),
    ],
)
def test_empty_and_overlong_texts_are_refused(field, texts):
    with pytest.raises(QuestionInvalid) as refused:
        ask(**texts)

    assert refused.value.params["field"] == field
    assert not Question.objects.exists()


def test_a_person_has_ten_open_questions_per_competition():
    competition, person = CompetitionFactory.create(), UserFactory.create()
    first, *_others = [ask(competition, person) for _ in range(10)]

    with pytest.raises(TooManyQuestions):
        ask(competition, person)
    ask(CompetitionFactory.create(), person)
    ask(competition)

    answer(first)
    ask(competition, person)
    assert questions.open_count(person, competition) == 10


@pytest.mark.django_db(transaction=True)
def test_the_limit_holds_for_questions_at_once():
    competition, person = CompetitionFactory.create(), UserFactory.create()

    outcomes = at_once([partial(ask, competition, person) for _ in range(16)])

    assert Question.objects.count() == 10
    assert sum(isinstance(each, TooManyQuestions) for each in outcomes) == 6


def test_people_see_their_own_and_what_was_answered_for_all():
    competition, person = CompetitionFactory.create(), UserFactory.create()
    own = ask(competition, person, title="내 것")
    private, public = ask(competition, title="남의 것"), ask(competition, title="공개")
    waiting = ask(competition, title="대기")
    answer(private)
    answer(public, is_public=True)
    answer(ask(title="다른 대회"), is_public=True)

    assert set(questions.questions_for(person, competition)) == {own, public}
    assert set(questions.questions_for(AnonymousUser(), competition)) == {public}
    assert list(questions.questions_for_organisers(competition)[:2]) == [own, waiting]


def test_a_reopened_question_hides_its_answer_from_the_public():
    question = answer(ask(), is_public=True)

    questions.reopen_question(question=question, actor=UserFactory.create())

    assert not questions.questions_for(AnonymousUser(), question.competition).exists()
    assert questions.open_count(question.asked_by, question.competition) == 1


def test_a_closed_question_waits_no_more_and_is_nobody_elses():
    question = questions.close_question(question=ask(), actor=UserFactory.create())

    assert questions.open_count(question.asked_by, question.competition) == 0
    assert not questions.questions_for(AnonymousUser(), question.competition).exists()
    assert AuditEntry.objects.get(action="question.close").before["answered_at"] is None


def test_the_asker_is_mailed_in_korean_and_english_without_a_name(settings):
    settings.SITE_URL = "https://malpan.example/"
    question = ask(CompetitionFactory.create(slug="norms", title_ko="규범 대회", title_en="Norms"))

    answer(question)
    deliver_due()

    [letter] = mail.outbox
    assert letter.to == [question.asked_by.email]
    for words in (
        "규범 대회",
        "Norms",
        "문자열입니다.",
        "A string.",
        "https://malpan.example/competitions/norms/questions/",
    ):
        assert words in letter.body
    assert question.asked_by.name not in letter.body


def test_only_another_text_is_mailed_again_and_every_change_is_audited():
    question = ask()
    for is_public, text in [(False, "하나"), (True, "하나"), (True, "둘")]:
        answer(question, is_public=is_public, ko=text)
        deliver_due()

    assert len(mail.outbox) == 2
    entries = AuditEntry.objects.filter(action="question.answer").order_by("pk")
    assert [sorted(entry.after) for entry in entries][1:] == [
        ["answered_by_id", "is_public"],
        ["answer_ko", "answered_by_id"],
    ]
    assert (entries[2].before["answer_ko"], entries[2].after["answer_ko"]) == ("하나", "둘")


def test_an_answer_that_was_taken_back_is_not_mailed():
    question = ask()
    answer(question)
    questions.reopen_question(question=question, actor=UserFactory.create())
    deliver_due()

    assert mail.outbox == []


def test_a_question_of_another_competition_is_not_found():
    with pytest.raises(QuestionNotFound):
        questions.question_for_organisers(CompetitionFactory.create(), ask().pk)
