"""Notices and questions, for participants and for organisers."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from ninja import Schema

from malpan.competitions import models


class Notice(Schema):
    id: int
    title: str
    body: str
    is_pinned: bool
    published_at: datetime


class ManagedNotice(Schema):
    id: int
    title_ko: str
    title_en: str
    body_ko: str
    body_en: str
    is_pinned: bool
    published_at: datetime  # a later one is hidden until then


class Question(Schema):
    id: int
    title: str
    body: str
    answer: str
    is_own: bool
    is_public: bool
    created_at: datetime
    answered_at: datetime | None


class ManagedQuestion(Schema):
    id: int
    title: str
    body: str
    asked_by: str
    answer_ko: str
    answer_en: str
    is_public: bool
    answered_by: str | None
    created_at: datetime
    answered_at: datetime | None


def notice(found: models.Notice) -> dict[str, Any]:
    return {
        "id": found.pk,
        "title": found.title,
        "body": found.body,
        "is_pinned": found.is_pinned,
        "published_at": found.published_at,
    }


def managed_notice(found: models.Notice) -> dict[str, Any]:
    names = ("title_ko", "title_en", "body_ko", "body_en", "is_pinned", "published_at")
    return {"id": found.pk} | {name: getattr(found, name) for name in names}


def question(found: models.Question, reader: Any) -> dict[str, Any]:
    is_answered = found.answered_at is not None
    return {
        "id": found.pk,
        "title": found.title,
        "body": found.body,
        "answer": found.answer if is_answered else "",
        "is_own": found.asked_by_id == reader.pk,
        "is_public": found.is_public,
        "created_at": found.created_at,
        "answered_at": found.answered_at,
    }


def managed_question(found: models.Question) -> dict[str, Any]:
    return {
        "id": found.pk,
        "title": found.title,
        "body": found.body,
        "asked_by": str(found.asked_by),
        "answer_ko": found.answer_ko,
        "answer_en": found.answer_en,
        "is_public": found.is_public,
        "answered_by": found.answered_by and str(found.answered_by),
        "created_at": found.created_at,
        "answered_at": found.answered_at,
    }
