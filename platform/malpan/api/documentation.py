"""The documentation of the API as a page of the site, made of the OpenAPI document, with commands to copy; the command
``malpan`` to download.
"""

from __future__ import annotations

import json
import re
import shlex
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final
from urllib.parse import urljoin

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone
from django.utils.safestring import SafeString
from django.utils.translation import get_language, gettext, override
from django.views.decorators.http import require_safe

import malpan_client
from malpan.accounts.models import Scope
from malpan.api.documents import document
from malpan.api.http import kind_of
from malpan.api.routes import api
from malpan.competitions.models import Track
from malpan.core.errors import DomainError
from malpan_client.single_file import sha256, single_file

VARIABLE: Final = "$MALPAN_TOKEN"  # of the shell, which has the token
_PARAM: Final = re.compile(r"%\(\w+\)s")
FILE: Final = "answers.json"
EXAMPLES: Final[Mapping[str, str]] = {
    "slug": "my-contest",
    "track": "main",
    "public_id": "00000000-0000-0000-0000-000000000000",
    "pk": "1",
    "number": "1",
    "judge_pk": "1",
    "judgement_pk": "1",
    "exclusion_pk": "1",
    "delivery_pk": "1",
    **dict.fromkeys(("one_id", "other_id", "with_id"), "00000000-0000-0000-0000-000000000000"),
}
_OF_TYPES: Final[Mapping[str, Any]] = {
    "string": "…",
    "integer": 1,
    "number": 0.5,
    "boolean": True,
    "array": [],
    "object": {},
}
_OF_FORMATS: Final[Mapping[str, Any]] = {
    "uuid": EXAMPLES["public_id"],
    "date-time": "2030-01-01T09:00:00+09:00",
    "date": "2030-01-01",
    "uri": "https://hooks.example.com/malpan",
    "binary": FILE,
}
_OF_NAMES: Final[Mapping[str, Any]] = {
    "email": "person@example.com",
    "recipe": "rag-qa@1",
    "starts_at": "2029-01-01T09:00:00+09:00",
    "value": 0.5,
    "reason": "장애 보상",
    "name": "말모이",
    "title_ko": "제목",
    "body_ko": "내용",
    "title": "제출 형식",
    "body": "id는 문자열입니까?",
    "answer_ko": "네, 문자열입니다.",
    "score": "final_score",
    "events": ["scored"],
    "passphrase": "오래 기억할 암호 구문 하나",
    "text": "팀 번호,점수\n1,87.5",
    **dict.fromkeys(("sha256", "result_sha256"), "0" * 64),
}


@dataclass(frozen=True, slots=True)
class Field:
    """A parameter of an operation, or a field of its body."""

    name: str
    place: str  # path, query, header or body
    kind: str
    is_required: bool
    text: str


@dataclass(frozen=True, slots=True)
class Shown:
    """An operation on the page."""

    name: str
    method: str
    path: str
    summary: str
    description: str
    scope: str  # the name of the scope; empty: no token is needed
    fields: list[Field]
    statuses: list[str]
    command: str


@dataclass(frozen=True, slots=True)
class Refusal:
    """A code of a refusal."""

    code: str
    status: int
    kind: str
    text: str


@require_safe
def page(request: HttpRequest) -> HttpResponse:
    about, named = document(api)["info"], examples()
    context = {
        "introduction": about["description"],
        "version": about["version"],
        "operations": _operations(tuple(named.items()), settings.SITE_URL, get_language() or "ko"),
        "site": settings.SITE_URL,
        "command": {"version": malpan_client.VERSION, "sha256": sha256(), "address": _address("malpan-command")},
        "example": f"{named['slug']}/{named['track']}",
        "limits": [
            (gettext("토큰마다"), settings.API_REQUESTS_PER_TOKEN),
            (gettext("주소마다"), settings.API_REQUESTS_PER_ADDRESS),
            (gettext("팀마다 파일"), settings.API_UPLOADS_PER_TEAM),
        ],
    }
    return render(request, "pages/api_docs.html", context)


@lru_cache(maxsize=4)  # each takes half a megabyte
def _operations(named: tuple[tuple[str, str], ...], _site: str, language: str) -> SafeString:
    """Every operation and every refusal, rendered once for all readers: what is not given here is the code's."""
    with override(language):
        found, sections = document(api), defaultdict(list)
        for shown, tag in operations_of(found, dict(named)):
            sections[tag].append(shown)
        context = {"sections": list(sections.items()), "refusals": refusals()}
        return render_to_string("pages/api_docs_operations.html", context)


def _address(name: str) -> str:
    return urljoin(settings.SITE_URL, reverse(name))


@require_safe
def command(request: HttpRequest) -> HttpResponse:
    """The command as one file, as text to read first."""
    return HttpResponse(single_file(), content_type="text/plain; charset=utf-8")


def examples() -> dict[str, str]:
    """What addresses name in the commands: a competition of this site, if it has one, and one that is open, if any."""
    tracks = Track.objects.filter(competition__is_published=True).select_related("competition").order_by("pk")
    now = timezone.now()
    track = tracks.filter(phases__starts_at__lte=now, phases__ends_at__gt=now).first() or tracks.first()
    found = dict(EXAMPLES)
    if track is not None:
        found |= {"slug": track.competition.slug, "track": track.slug}
    return found


def refusals() -> list[Refusal]:
    """Every code, with its sentence in the reader's language."""
    found = []
    for code, error in sorted(DomainError.by_code.items()):
        text = error.text if not isinstance(error.text, Mapping) else next(iter(error.text.values()))
        found.append(Refusal(code, error.http_status, kind_of(error), _PARAM.sub("…", str(text))))
    return found


def operations_of(found: Mapping[str, Any], named: Mapping[str, str]) -> Iterator[tuple[Shown, str]]:
    """Every operation of the document, with its tag."""
    for path, methods in found["paths"].items():
        for method, operation in methods.items():
            yield _shown(found, path, method, operation, named), operation["tags"][0]


def _shown(
    found: Mapping[str, Any], path: str, method: str, operation: Mapping[str, Any], named: Mapping[str, str]
) -> Shown:
    needed = operation["security"][0].get("Bearer", [])
    return Shown(
        name=operation["operationId"],
        method=method.upper(),
        path=path,
        summary=operation["summary"],
        description=operation.get("description", ""),
        scope=str(Scope(needed[0]).label) if needed else "",
        fields=[*_parameters(operation), *_body_fields(found, operation)],
        statuses=list(operation["responses"]),
        command=_command(found, path, method, operation, named),
    )


def _parameters(operation: Mapping[str, Any]) -> list[Field]:
    return [
        Field(each["name"], each["in"], _kind(each["schema"]), each["required"], each.get("description", ""))
        for each in operation["parameters"]
    ]


def _body_fields(found: Mapping[str, Any], operation: Mapping[str, Any]) -> list[Field]:
    schema = _body(found, operation)[1]
    required = schema.get("required", [])
    return [
        Field(name, "body", _kind(_resolved(found, each)), name in required, each.get("description", ""))
        for name, each in schema.get("properties", {}).items()
    ]


def _body(found: Mapping[str, Any], operation: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    """The media type and the schema of the body; empty without one. Of several types the first."""
    content = operation.get("requestBody", {}).get("content", {})
    for media_type, each in content.items():
        return media_type, _resolved(found, each["schema"])
    return "", {}


def _resolved(found: Mapping[str, Any], schema: Mapping[str, Any]) -> Mapping[str, Any]:
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return {**found["components"]["schemas"][name]}
    return schema


def _kind(schema: Mapping[str, Any]) -> str:
    """The type in a few characters."""
    if "enum" in schema:
        return " | ".join(json.dumps(value, ensure_ascii=False) for value in schema["enum"])
    if "anyOf" in schema:
        return " | ".join(dict.fromkeys(_kind(each) for each in schema["anyOf"]))
    if schema.get("type") == "array":
        return f"[{_kind(schema.get('items', {}))}]"
    return str(schema.get("format") or schema.get("type") or "object")


# --- commands ---------------------------------------------------------------------------------------------------------
def _command(
    found: Mapping[str, Any], path: str, method: str, operation: Mapping[str, Any], named: Mapping[str, str]
) -> str:
    """A command for a shell in which ``MALPAN_TOKEN`` is set."""
    address = settings.SITE_URL + path
    for name, value in named.items():
        address = address.replace(f"{{{name}}}", value)
    parts = ["curl"]
    if method != "get":
        parts += ["-X", method.upper()]
    if operation["security"][0]:
        parts += ["-H", f'"Authorization: Bearer {VARIABLE}"']
    media_type, schema = _body(found, operation)
    if media_type == "application/json":
        body = json.dumps(_example(found, schema), ensure_ascii=False)
        parts += ["-H", shlex.quote(f"Content-Type: {media_type}"), "-d", shlex.quote(body)]
    elif media_type:
        parts += [part for pair in _form(schema) for part in ("-F", shlex.quote(pair))]
    if _gives_a_file(operation):
        parts.append("-OJ")
    return " ".join([*parts, shlex.quote(address)])


def _gives_a_file(operation: Mapping[str, Any]) -> bool:
    kinds = operation["responses"].get("200", {}).get("content", {})
    return any(each["schema"].get("format") == "binary" for each in kinds.values())


def _form(schema: Mapping[str, Any]) -> Iterator[str]:
    for name in schema.get("required", []):
        kind = schema["properties"][name]
        yield f"{name}=@{FILE}" if kind.get("format") == "binary" else f"{name}={_value(kind, name)}"


def _example(found: Mapping[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
    """What must be sent; of an object in which nothing must be, its first field."""
    properties: Mapping[str, Any] = schema.get("properties", {})
    names = schema.get("required") or list(properties)[:1]
    return {name: _value(_resolved(found, properties[name]), name, found) for name in names}


def _value(schema: Mapping[str, Any], name: str, found: Mapping[str, Any] | None = None) -> Any:
    if "enum" in schema:
        return schema["enum"][0]
    if "anyOf" in schema:
        return _value(next(each for each in schema["anyOf"] if each.get("type") != "null"), name, found)
    if name in _OF_NAMES:
        return _OF_NAMES[name]
    if schema.get("format") in _OF_FORMATS:
        return _OF_FORMATS[schema["format"]]
    if schema.get("type") == "array" and schema.get("minItems") and found is not None:
        items = _resolved(found, schema["items"])
        return [_example(found, items) if "properties" in items else _value(items, name, found)]
    if schema.get("pattern"):
        return EXAMPLES["track"]
    return schema.get("minimum", _OF_TYPES.get(str(schema.get("type")), "…"))
