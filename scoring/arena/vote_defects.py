"""What can be wrong with a votes file, in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from scoring.errors import Language, Message, ScoringError, quoted

MAX_DEFECTS_KEPT: Final = 100
_SHOWN: Final = 5

TYPES: Final[dict[object, Message]] = {
    "object": Message("객체 {...}", "an object {...}"),
    "list": Message("배열 [...]", "an array [...]"),
    "string": Message("문자열", "a string"),
    "boolean": Message("true/false", "true/false"),
    "integer": Message("정수", "an integer"),
    "number": Message("숫자", "a number"),
}
TEXTS: Final[dict[str, Message]] = {
    "not_json": Message(
        "JSON 문서가 아닙니다({detail}). 내려받은 평가 파일을 그대로 쓰십시오.",
        "is not a JSON document ({detail}). Use the votes file as it was downloaded.",
    ),
    "wrong_format": Message(
        "평가 파일의 형식은 {expected}이어야 하는데 {found}입니다.",
        "is {found}; the format of a votes file is {expected}.",
    ),
    "wrong_type": Message(
        "{expected}이어야 하는데 {found}입니다.",
        "is {found} where {expected} is expected.",
    ),
    "missing": Message("있어야 하는 값이 없습니다.", "is missing."),
    "unknown_key": Message("모르는 이름입니다. 지우십시오.", "is not a known name. Remove it."),
    "not_one_of": Message("{known} 가운데 하나여야 하는데 {found}입니다.", "is {found}; it must be one of {known}."),
    "out_of_range": Message(
        "{low}에서 {high} 사이여야 하는데 {found}입니다.", "is {found}; it must be {low} to {high}."
    ),
    "duplicate": Message("{found}이(가) 두 번 나옵니다. 하나만 두십시오.", "{found} appears twice. Keep one."),
    "unknown_label": Message("{found}은(는) 이 파일의 목록에 없습니다.", "{found} is not in the lists of this file."),
    "wrong_count": Message("{expected}개여야 하는데 {found}개입니다.", "has {found} entries; {expected} are expected."),
    "bad_only_of_controls": Message(
        "bad는 확인 문항(control)에만, 그리고 반드시 적습니다.", "bad belongs to controls, and each of them has one."
    ),
    "repeats_only_of_repeats": Message(
        "repeats는 되풀이 문항(repeat)에만, 그리고 반드시 적습니다.",
        "repeats belongs to repeats, and each of them has one.",
    ),
    "repeats_other": Message(
        "{found}번은 같은 평가자가 같은 문항의 같은 출력을 먼저 평가한 판단이 아닙니다.",
        "{found} is not an earlier vote of this judge on the same outputs of the same item.",
    ),
    "one_of_two": Message("judge와 vote 가운데 하나만 적습니다.", "names one of judge and vote, not both or none."),
    "panel_not_utf8": Message("UTF-8 글자가 아닙니다. 파일을 UTF-8로 저장하십시오.", "is not UTF-8. Save it as UTF-8."),
    "panel_not_json": Message(
        "JSON이 아닙니다. 한 줄에 판단 하나를 적습니다.", "is not JSON. A line is one judgement."
    ),
    "panel_same_system": Message(
        "left와 right가 모두 {found}입니다. 서로 다른 시스템을 적으십시오.",
        "is {found}, as left is. Name two systems.",
    ),
    "nothing": Message("하나 이상 있어야 합니다.", "must have at least one entry."),
}


@dataclass(frozen=True, slots=True)
class Defect:
    """One defect: ``place`` is a path such as ``votes[17].value.choice``, ``code`` a key of ``TEXTS``."""

    place: str
    code: str
    params: dict[str, Any] = field(default_factory=dict)

    def message(self, language: Language = "ko") -> str:
        params = dict(self.params)
        if params.get("expected") in TYPES:
            params["expected"] = TYPES[params["expected"]].text(language)
        text = TEXTS[self.code].filled(language, **params)
        return f"{self.place}: {text}" if language == "ko" else f"{self.place} {text}"


class VotesInvalid(ScoringError):
    """A file is no votes file. ``defects`` are the first of ``total``, in the order of the file."""

    def __init__(self, defects: Sequence[Defect], total: int | None = None) -> None:
        self.defects = tuple(defects)
        self.total = len(self.defects) if total is None else total
        super().__init__(self.message("en"))

    def message(self, language: Language = "ko") -> str:
        """The first defects, a line each, below a line with their number."""
        head = Message("평가 파일에 잘못된 곳이 {total}곳 있습니다.", "The votes file has defects in {total} places.")
        lines = [head.filled(language, total=self.total)]
        lines += [f"- {defect.message(language)}" for defect in self.defects[:_SHOWN]]
        if more := self.total - len(lines) + 1:
            rest = Message("- … 이 밖에 {more}곳이 더 있습니다.", "- … and {more} more.")
            lines.append(rest.filled(language, more=more))
        return "\n".join(lines)


def shown(value: Any) -> str:
    """``value`` of a file as a message quotes it."""
    return quoted(value if isinstance(value, str) else repr(value))


@dataclass(slots=True)
class Defects:
    """The defects found so far: the first ``MAX_DEFECTS_KEPT`` of ``total``."""

    found: list[Defect] = field(default_factory=list)
    total: int = 0

    def note(self, place: str, code: str, **params: Any) -> None:
        self.total += 1
        if len(self.found) < MAX_DEFECTS_KEPT:
            self.found.append(Defect(place, code, params))

    def raise_any(self) -> None:
        """Raise ``VotesInvalid`` if there is any defect."""
        if self.total:
            raise VotesInvalid(self.found, self.total)
