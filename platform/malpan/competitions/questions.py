"""문의: participants ask, organisers answer privately or for everybody. Who asked is never public."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING, Final

from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.utils import timezone

from malpan.accounts.models import User
from malpan.competitions import letters
from malpan.competitions.errors import QuestionInvalid, QuestionNotFound, TooManyQuestions
from malpan.competitions.models import Competition, Question
from malpan.core import audit
from malpan.core.text import nfc, without_unseen

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser

OPEN_LIMIT: Final = 10  # unanswered questions a person may have in one competition
TITLE_MAX_CHARS: Final = 200
BODY_MAX_CHARS: Final = 4000
ANSWER_MAX_CHARS: Final = 10_000
_SHOWN: Final = ("answer_ko", "answer_en", "is_public", "answered_by_id", "answered_at")


def ask_question(*, competition: Competition, asked_by: User, title: str, body: str) -> Question:
    """Send a question to the organisers of ``competition``.

    Raises ``QuestionInvalid`` and, with ``OPEN_LIMIT`` unanswered questions there, ``TooManyQuestions``; parallel
    questions of one person are serialised.
    """
    title = _checked("title", without_unseen(title), TITLE_MAX_CHARS)
    body = _checked("body", _clean(body), BODY_MAX_CHARS)
    with transaction.atomic():
        User.objects.select_for_update(no_key=True).get(pk=asked_by.pk)
        waiting = Question.objects.filter(competition=competition, asked_by=asked_by, answered_at=None)
        if waiting.count() >= OPEN_LIMIT:
            raise TooManyQuestions(limit=OPEN_LIMIT)
        question = Question.objects.create(competition=competition, asked_by=asked_by, title=title, body=body)
        audit.record(actor=asked_by, action="question.ask", obj=question)
        letters.tell_asked(question)
    return question


def answer_question(
    *, question: Question, answer_ko: str, answer_en: str = "", is_public: bool, actor: User
) -> Question:
    """Answer a question, or replace an earlier answer; ``is_public`` shows both to everybody.

    The person who asked has word of it if the answer is new or changed. Raises ``QuestionInvalid``.
    """
    answer_ko = _checked("answer_ko", _clean(answer_ko), ANSWER_MAX_CHARS)
    answer_en = _checked("answer_en", _clean(answer_en), ANSWER_MAX_CHARS, may_be_empty=True)
    with transaction.atomic():
        locked, before = _locked(question)
        is_news = (locked.answer_ko, locked.answer_en) != (answer_ko, answer_en)
        locked.answer_ko, locked.answer_en, locked.is_public = answer_ko, answer_en, is_public
        _stamp(locked, actor)
        _save(locked, before, "question.answer", actor)
        if is_news:
            letters.tell_answered(locked)
    return locked


def close_question(*, question: Question, actor: User) -> Question:
    """Mark an unanswered question as done: it no longer waits and shows no answer. No e-mail is sent."""
    with transaction.atomic():
        locked, before = _locked(question)
        if locked.answered_at is None:
            _stamp(locked, actor)
            _save(locked, before, "question.close", actor)
    return locked


def reopen_question(*, question: Question, actor: User) -> Question:
    """Make a question wait for an answer again. An earlier answer is kept, but not shown until it is given again."""
    with transaction.atomic():
        locked, before = _locked(question)
        locked.is_public, locked.answered_at, locked.answered_by = False, None, None
        _save(locked, before, "question.reopen", actor)
    return locked


# --- reads ------------------------------------------------------------------------------------------------------------
def questions_for(user: User | AnonymousUser, competition: Competition) -> QuerySet[Question]:
    """The questions that ``user`` may read: their own, and those answered publicly. Newest first."""
    public = Q(is_public=True, answered_at__isnull=False) & ~Q(answer_ko="")
    own = Q(asked_by=user) if user.is_authenticated else Q(pk__in=())
    return competition.questions.filter(public | own)


def questions_for_organisers(competition: Competition) -> QuerySet[Question]:
    """All questions with their people: first those that wait, the oldest on top; then the last answered."""
    rows = competition.questions.select_related("asked_by", "answered_by")
    return rows.order_by(F("answered_at").desc(nulls_first=True), "created_at", "pk")


def question_for_organisers(competition: Competition, pk: int) -> Question:
    """The question number ``pk`` if it was asked in ``competition``; raises ``QuestionNotFound``."""
    question = competition.questions.select_related("asked_by", "answered_by").filter(pk=pk).first()
    if question is None:
        raise QuestionNotFound
    return question


def open_count(user: User | AnonymousUser, competition: Competition) -> int:
    """The number of unanswered questions of ``user``."""
    if not user.is_authenticated:
        return 0
    return competition.questions.filter(asked_by=user, answered_at=None).count()


# --- inside -----------------------------------------------------------------------------------------------------------
def _locked(question: Question) -> tuple[Question, dict[str, object]]:
    rows = Question.objects.select_related("asked_by", "competition").select_for_update(of=("self",), no_key=True)
    locked = rows.filter(pk=question.pk).first()
    if locked is None:
        raise QuestionNotFound
    return locked, _facts(locked)


def _stamp(question: Question, actor: User) -> None:
    question.answered_by = actor
    question.answered_at = question.answered_at or timezone.now()


def _save(question: Question, before: dict[str, object], action: str, actor: User) -> None:
    question.save(update_fields=["answer_ko", "answer_en", "is_public", "answered_by", "answered_at"])
    old, new = audit.changed(before, _facts(question))
    if new:
        audit.record(actor=actor, action=action, obj=question, before=old, after=new)


def _facts(question: Question) -> dict[str, object]:
    return {name: getattr(question, name) for name in _SHOWN}


def _clean(text: str) -> str:
    """``text`` in NFC with uniform line ends, without control characters and marks of writing direction."""
    lines = nfc(text).replace("\r\n", "\n").replace("\r", "\n")
    return "".join(char for char in lines if char in "\n\t" or not _is_unsafe(char)).strip()


def _is_unsafe(char: str) -> bool:
    turns = unicodedata.bidirectional(char) in {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
    return turns or unicodedata.category(char) in {"Cc", "Cs"}


def _checked(field: str, text: str, limit: int, *, may_be_empty: bool = False) -> str:
    if len(text) > limit or not (without_unseen(text) or may_be_empty):
        raise QuestionInvalid(field=field, limit=limit)
    return text
