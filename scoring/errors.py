"""Errors of the measuring instrument.

Every error is a named class with a code and data. The words a person reads stand in ``MESSAGES`` in Korean and
English; the five official messages of the contest are kept verbatim as the ``official`` line of the codes they cover.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

Language = Literal["ko", "en"]


class ScoringError(Exception):
    """Base of everything that scoring raises on purpose."""


@dataclass(frozen=True, slots=True)
class FileError:
    """One defect of an uploaded file, located.

    ``line`` is 1-based in the file as uploaded; ``item_id`` and ``field`` are ``None`` where they do not apply.
    """

    code: str
    params: Mapping[str, Any] = field(default_factory=dict)
    line: int | None = None
    item_id: str | None = None
    field: str | None = None

    def message(self, language: Language = "ko") -> str:
        """What is wrong and what to do next, in ``language``."""
        return MESSAGES[self.code].text(language).format(**self.params)

    def official(self) -> str | None:
        """The contest's own message for this kind of defect, verbatim, or ``None``."""
        return MESSAGES[self.code].official

    def as_dict(self, language: Language = "ko") -> dict[str, Any]:
        return {
            "code": self.code,
            "line": self.line,
            "id": self.item_id,
            "field": self.field,
            "official": self.official(),
            "message": self.message(language),
        }


class InvalidFile(ScoringError):
    """A predictions or references file breaks the format: 제출 오류, the uploader's to mend.

    ``errors`` holds every defect found, in file order (capped; ``total`` counts them all).
    """

    def __init__(self, errors: Sequence[FileError], total: int | None = None) -> None:
        self.errors = tuple(errors)
        self.total = len(self.errors) if total is None else total
        super().__init__("; ".join(f"{e.code}@{e.line}" for e in self.errors[:3]))


class ModelUnavailable(ScoringError):
    """A model of the profile is not on this machine; the text says which command fetches it."""


class ScoringFault(ScoringError):
    """시스템 오류: the scoring could not be carried out through no fault of the file."""


@dataclass(frozen=True, slots=True)
class Message:
    ko: str
    en: str
    official: str | None = None

    def text(self, language: Language) -> str:
        return self.ko if language == "ko" else self.en


COUNT_DIFFERS: Final = "제출 파일과 정답 파일의 데이터 개수가 서로 다름"
ID_MISMATCH: Final = "제출 파일과 정답 파일의 id가 일치하지 않음"
DUPLICATE_ID: Final = "정답 데이터에 중복된 id를 가지는 경우 존재"
NOT_JSON: Final = "파일 형식 오류 - json, 또는 jsonl 형식이 아님"
WRONG_SHAPE: Final = "파일 형식 오류 - 데이터 형태가 제출 기준과 다름"

MESSAGES: Final[dict[str, Message]] = {}
