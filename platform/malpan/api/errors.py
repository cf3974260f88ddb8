"""Errors that only the API knows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from django.utils.translation import gettext as _now
from django.utils.translation import gettext_lazy as _

from malpan.core.errors import RequestError, SystemFault, Unprocessable


class ApiRequestInvalid(RequestError):
    """The request is malformed. Params: ``field``."""

    text = _("요청에서 ‘%(field)s’ 항목이 없거나 올바르지 않습니다.")


class MethodNotAllowed(RequestError):
    """The address does not allow this HTTP method. Params: ``allowed``."""

    http_status = 405
    text = _("이 주소는 %(allowed)s 요청만 받습니다.")


class BodyTooLarge(RequestError):
    """The JSON of a request is larger than the site reads. Params: ``limit_bytes``."""

    http_status = 413
    text = _("요청의 본문이 상한(%(limit_bytes)s)을 넘습니다. 나누어 보내 주십시오.")


class IdempotencyKeyReused(Unprocessable):
    """The program has sent another request under this key."""

    text = _(
        "이 Idempotency-Key로는 이미 다른 요청을 받았습니다. 다른 요청은 새 키로 보내 주십시오. 아무것도 바뀌지 "
        "않았습니다."
    )


class ServerError(SystemFault):
    """A defect of ours: nobody knows what the request did."""

    http_status = 500
    text = _(
        "서버에 문제가 생겼습니다. 이용하시는 분의 잘못이 아닙니다. 파일을 올리던 중이었다면 이미 접수되었을 수 "
        "있습니다. 같은 Idempotency-Key로 다시 보내면 두 번 접수되지 않습니다."
    )
    promises_no_charge = False


@dataclass(frozen=True, slots=True)
class FieldError:
    """What is wrong with one value: ``field`` is its place in the request, as ``body.phase.title_ko``."""

    field: str
    message: str


class FieldsInvalid(Unprocessable):
    """Values of the request cannot be used. ``errors`` says which and why; of many the first, ``total`` counts all."""

    text = _("요청의 값 %(count)s개를 쓸 수 없습니다. errors에서 항목과 까닭을 확인해 주십시오.")

    def __init__(self, errors: Sequence[FieldError], total: int | None = None) -> None:
        self.errors = tuple(errors)
        self.total = len(self.errors) if total is None else total
        super().__init__(count=self.total)


# by the beginning of the type of a pydantic error
_SENTENCES: Final = (
    ("missing", _("값이 없습니다.")),
    ("extra_forbidden", _("모르는 항목입니다.")),
    ("greater_than_equal", _("%(ge)s 이상이어야 합니다.")),
    ("greater_than", _("%(gt)s보다 커야 합니다.")),
    ("less_than_equal", _("%(le)s 이하여야 합니다.")),
    ("less_than", _("%(lt)s보다 작아야 합니다.")),
    ("string_too_short", _("%(min_length)s자 이상이어야 합니다.")),
    ("string_too_long", _("%(max_length)s자 이하여야 합니다.")),
    ("too_short", _("%(min_length)s개 이상이어야 합니다.")),
    ("too_long", _("%(max_length)s개 이하여야 합니다.")),
    ("string", _("글(문자열)이어야 합니다.")),
    ("int", _("정수여야 합니다.")),
    ("float", _("수여야 합니다.")),
    ("decimal", _("수여야 합니다.")),
    ("bool", _("true나 false여야 합니다.")),
    ("list", _("목록이어야 합니다.")),
    ("dict", _("객체여야 합니다.")),
    ("model", _("객체여야 합니다.")),
    ("uuid", _("UUID여야 합니다.")),
    ("timezone", _("시간대를 적어 주십시오. 예: 2026-11-20T09:00:00+09:00")),
    ("datetime", _("시각을 2026-11-20T09:00:00+09:00처럼 적어 주십시오.")),
    ("date", _("날짜를 2026-11-20처럼 적어 주십시오.")),
    ("enum", _("다음 가운데 하나여야 합니다: %(expected)s")),
    ("literal", _("다음 가운데 하나여야 합니다: %(expected)s")),
)
SLUG: Final = r"^[-a-zA-Z0-9_]+$"
SHA256: Final = r"^[0-9a-f]{64}$"
_PATTERNS: Final = {
    SLUG: _("주소 이름에는 영문자, 숫자, -, _만 쓸 수 있습니다."),
    SHA256: _("sha256(0–9와 a–f 64자)이어야 합니다."),
}


def sentence_of(kind: str, params: dict[str, object]) -> str:
    """What is wrong, in the reader's language, for an error of pydantic."""
    if kind in ("too_short", "too_long") and params.get("field_type") == "Value":
        kind = f"string_{kind}"  # a text of which more is asked than its length
    if kind == "string_too_short" and params.get("min_length") == 1:
        return _now("비워 둘 수 없습니다.")
    if kind == "string_pattern_mismatch" and params.get("pattern") in _PATTERNS:
        return str(_PATTERNS[str(params["pattern"])])
    for beginning, sentence in _SENTENCES:
        if kind.startswith(beginning):
            return str(sentence) % params
    return str(params.get("error") or "") or _now("쓸 수 없는 값입니다.")
