"""Notices, and answers to questions."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from malpan.api.schemas.kinds import Body, Markdown, Moment, Text


class NoticeText(Body):
    title_ko: Annotated[Text, Field(min_length=1, max_length=200)]
    title_en: Annotated[Text, Field(max_length=200)] = ""
    body_ko: Annotated[Text, Field(min_length=1, max_length=50_000)]
    body_en: Markdown = ""
    is_pinned: bool = False
    published_at: Moment | None = None  # absent: now


class NoticeChange(Body):
    title_ko: Annotated[Text, Field(min_length=1, max_length=200)] | None = None
    title_en: Annotated[Text, Field(max_length=200)] | None = None
    body_ko: Annotated[Text, Field(min_length=1, max_length=50_000)] | None = None
    body_en: Markdown | None = None
    is_pinned: bool | None = None
    published_at: Moment | None = None


class Answer(Body):
    answer_ko: Text
    answer_en: Text = ""
    is_public: bool = False
