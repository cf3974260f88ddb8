"""Kinds of values that requests share."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, ClassVar, Final, Generic, TypeVar

from django.utils.translation import gettext
from ninja import Schema
from pydantic import AfterValidator, AwareDatetime, ConfigDict, Field

from malpan.api.errors import SLUG, FieldError, FieldsInvalid

T = TypeVar("T")
PAGES_MAX: Final = 100_000


def _storable(text: str) -> str:
    """What PostgreSQL can keep: no NUL, no half of a surrogate pair."""
    if "\x00" in text:
        raise ValueError(gettext("저장할 수 없는 글자가 있습니다."))
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError(gettext("저장할 수 없는 글자가 있습니다.")) from None
    return text


def _of_these_centuries(moment: datetime) -> datetime:
    """In UTC: PostgreSQL takes no moment that is written with an offset of sixteen hours or more."""
    if not 2000 <= moment.year <= 2999:
        raise ValueError(gettext("2000년부터 2999년까지의 날짜를 적어 주십시오."))
    return moment.astimezone(UTC)


Text = Annotated[str, AfterValidator(_storable)]
Name = Annotated[Text, Field(min_length=1, max_length=120)]
Slug = Annotated[str, Field(min_length=1, max_length=50, pattern=SLUG)]
Moment = Annotated[AwareDatetime, AfterValidator(_of_these_centuries)]
Title = Annotated[Text, Field(max_length=120)]
Line = Annotated[Text, Field(max_length=300)]
Markdown = Annotated[Text, Field(max_length=50_000)]
Small = Annotated[int, Field(ge=0, le=32767)]
Reason = Annotated[Text, Field(min_length=1, max_length=300)]
Number = Annotated[int, Field(ge=1, le=2**31 - 1)]  # of a team
Key = Annotated[int, Field(ge=1, le=2**63 - 1)]  # of a row
PageNumber = Annotated[int, Field(ge=1, le=PAGES_MAX)]
PageSize = Annotated[int, Field(ge=1, le=100)]


class Body(Schema):
    """A JSON object of a request: what it does not know is refused, so that no misspelled setting is lost.

    ``emptied``: the fields for which ``null`` means none; for the others of a change it means nothing.
    """

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)
    emptied: ClassVar[frozenset[str]] = frozenset()

    def given(self) -> dict[str, Any]:
        """The fields that were sent. Raises ``FieldsInvalid`` for a ``null`` that means nothing."""
        found = {name: getattr(self, name) for name in self.model_fields_set}
        if wrong := [name for name, value in found.items() if value is None and name not in self.emptied]:
            raise FieldsInvalid([FieldError(f"body.{name}", gettext("값이 없습니다.")) for name in sorted(wrong)])
        return found


class Because(Body):
    reason: Reason


class Page(Schema, Generic[T]):
    """A page of a list: ``next`` is the address of the page after it, ``null`` on the last."""

    count: int
    next: str | None
    items: list[T]


class Done(Schema):
    """How many rows were changed."""

    count: int


def seconds(span: timedelta) -> int:
    return int(span.total_seconds())
