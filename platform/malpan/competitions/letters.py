"""Word to people about a competition: their question is answered."""

from __future__ import annotations

from typing import Final
from uuid import uuid4

from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from malpan.accounts.models import User
from malpan.competitions.models import Question
from malpan.core.language import in_language
from malpan.notifications import outbox
from malpan.notifications.events import Event, Facts, Word, register

QUESTION_ANSWERED: Final = "question_answered"


def tell_answered(question: Question) -> None:
    """Post word of the answer to the person who asked, of each new text. Call it in the transaction of the answer."""
    key = f"{QUESTION_ANSWERED}:{question.pk}:{uuid4()}"
    outbox.post(event=QUESTION_ANSWERED, key=key, people=[question.asked_by_id], facts={"question": question.pk})


def register_events() -> None:
    register(Event(QUESTION_ANSWERED, _("내 문의에 답변이 있을 때"), _answered, _answered_sample))


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
