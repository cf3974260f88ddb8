"""The OpenAPI document of the API, in the reader's language."""

from __future__ import annotations

import copy
from functools import cache
from typing import Any, Final

from django.conf import settings
from django.utils.translation import get_language, gettext, override
from django.utils.translation import gettext_noop as _
from ninja import NinjaAPI
from ninja.openapi.schema import OpenAPISchema

from malpan.api.application import PREFIX
from malpan.api.frame import SCOPE
from malpan.api.http import PROBLEM

SECURITY: Final = "Bearer"
WORDS: Final = ("summary", "description", "title")
TEMPORARY: Final = ("429", "503")  # refusals that may say after how many seconds the same request may succeed
INTRODUCTION: Final = _(
    "참가자와 운영자가 화면에서 하는 일을 프로그램으로 합니다. 점수는 0~1의 값이며, 화면에 보이는 글은 text에 따로 "
    "있습니다. 시각은 시간대가 붙은 ISO 8601입니다. 오류는 RFC 9457의 problem+json이며 Accept-Language로 고른 언어로 "
    "적습니다."
)


class _OfEachModelOnce(OpenAPISchema):
    """As django-ninja's, which describes the one model of refusals for every status of every operation: 2,300 times."""

    def __init__(self, api: NinjaAPI, path_prefix: str) -> None:
        self._described: dict[Any, Any] = {}
        super().__init__(api, path_prefix)

    def _create_schema_from_model(self, model: Any, *arguments: Any, **options: Any) -> tuple[dict[str, Any], bool]:
        key = model, arguments, tuple(options.items())
        if key not in self._described:
            self._described[key] = super()._create_schema_from_model(model, *arguments, **options)
        described: tuple[dict[str, Any], bool] = self._described[key]
        return described


def document(api: NinjaAPI) -> dict[str, Any]:
    """The document with its texts in the active language. Not to be changed."""
    return _translated(api, get_language() or "ko")


@cache
def _translated(api: NinjaAPI, language: str) -> dict[str, Any]:
    with override(language):
        return dict(_in_words(_source(api)))


@cache
def _source(api: NinjaAPI) -> dict[str, Any]:
    """The document in Korean, as the code has it."""
    found: dict[str, Any] = copy.deepcopy(dict(_OfEachModelOnce(api, PREFIX)))
    found["info"]["description"] = INTRODUCTION
    found["servers"] = [{"url": settings.SITE_URL}]
    found["components"]["securitySchemes"] = {SECURITY: {"type": "http", "scheme": "bearer"}}
    for methods in found["paths"].values():
        for operation in methods.values():
            _complete(operation)
    return found


def _complete(operation: dict[str, Any]) -> None:
    """Say what django-ninja does not: the scope of the token, and that refusals are problem documents."""
    scope = operation.pop(SCOPE)
    operation["security"] = [{SECURITY: [scope]}] if scope else [{}, {SECURITY: ["read"]}]
    if not operation.get("description", "").strip():
        operation.pop("description", None)
    operation["responses"] = {str(status): operation["responses"][status] for status in sorted(operation["responses"])}
    for status, each in operation["responses"].items():
        if int(status) >= 400:
            each["content"] = {PROBLEM: next(iter(each["content"].values()))}
            if status in TEMPORARY:
                each["headers"] = {"Retry-After": {"schema": {"type": "integer"}}}


def _in_words(part: Any) -> Any:
    """``part`` with the texts of ``WORDS`` in the active language."""
    if isinstance(part, list):
        return [_in_words(each) for each in part]
    if not isinstance(part, dict):
        return part
    return {
        name: gettext(value)
        if name in WORDS and isinstance(value, str) and value
        else ([gettext(tag) for tag in value] if name == "tags" and isinstance(value, list) else _in_words(value))
        for name, value in part.items()
    }
