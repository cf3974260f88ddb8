"""Word about the questions of a competition: to who asked, that there is an answer; to its organisers' programs, that
there is a question.
"""

from __future__ import annotations

from typing import Final
from uuid import uuid4

from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from malpan.accounts.models import User
from malpan.competitions import programs
from malpan.competitions.models import Question
from malpan.core.language import in_language
from malpan.notifications import outbox
from malpan.notifications.events import Event, Facts, Happening, Word, register, register_happening

QUESTION_ANSWERED: Final = "question_answered"
QUESTION_ASKED: Final = "question_asked"


def tell_answered(question: Question) -> None:
    """Post word of the answer to the person who asked, of each new text. Call it in the transaction of the answer."""
    key = f"{QUESTION_ANSWERED}:{question.pk}:{uuid4()}"
    outbox.post(event=QUESTION_ANSWERED, key=key, people=[question.asked_by_id], facts={"question": question.pk})


def tell_asked(question: Question) -> None:
    """Post word of the question to the programs of the organisers. Call it in the transaction that asks it."""
    key = f"{QUESTION_ASKED}:{question.pk}"
    programs.tell(competition=question.competition_id, event=QUESTION_ASKED, key=key, facts={"question": question.pk})


def register_events() -> None:
    register_happening(Happening(QUESTION_ASKED, _("문의가 들어왔을 때"), _asked))
    register(Event(QUESTION_ANSWERED, _("내 문의에 답변이 있을 때"), _answered, _answered_sample))


def _asked(facts: Facts) -> Word | None:
    """Not what it says: that may tell who asked."""
    question = Question.objects.select_related("competition").filter(pk=facts["question"]).first()
    if question is None:
        return None
    slug = question.competition.slug
    return Word({"competition": slug, "question": question.pk}, reverse("manage_question", args=[slug, question.pk]))


def _answered(person: User, facts: Facts) -> Word | None:
    question = Question.objects.select_related("competition").filter(pk=facts["question"], asked_by=person).first()
    if question is None or question.answered_at is None or not question.answer_ko:
        return None
    answer = in_language(question.answer_ko, question.answer_en)
    about = {"competition": question.competition.title, "title": question.title, "answer": answer}
    return Word(about, reverse("questions", args=[question.competition.slug]))


def _answered_sample() -> Word:
    about = {"competition": "한글 대회", "title": "파일의 형식", "answer": "id는 문자열입니다."}
    return Word(about, reverse("home"))
