"""Requests that are done once, however often they are sent: those to which a program gave an ``Idempotency-Key``.

The row of the key is written first, in the transaction of the operation. Of several requests at once the others wait at
it until that transaction has ended, and get the answer of the first; where it failed, nothing was kept, and the next
one does what was asked. (Uploads of submissions have keys of their own, for as long as there is the submission.)

An answer that was given before is for whoever may still ask: the token is looked at as of every request, and an
operation of organisers is asked again for the caller's role, up to ``allowed``.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from functools import wraps
from hashlib import sha256
from typing import Any, Final

from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.translation import gettext_noop as _
from ninja.operation import Operation

from malpan.accounts.models import AnsweredRequest
from malpan.accounts.services import claim_key
from malpan.api.errors import ApiRequestInvalid, IdempotencyKeyReused
from malpan.api.reading import FORM, uploaded_form

HEADER: Final = "Idempotency-Key"
OPERATION: Final = "malpan.operation"  # in a request's META: the one that it asks for, as it is bound to the API
_ASKED: Final = "malpan.asked-again"  # in a request's META: only whether the caller may
REPLAYED: Final = "Idempotency-Replayed"  # of an answer that was given before
LENGTH: Final = AnsweredRequest._meta.get_field("key").max_length or 0
PARAMETER: Final = {
    "in": "header",
    "name": HEADER,
    "required": False,
    "schema": {"type": "string", "maxLength": LENGTH},
    "description": _(
        "다시 보낼 수도 있는 요청의 이름. 하루 안에 같은 이름으로 같은 요청을 보내면 다시 하지 않고 처음의 답을 주며, "
        "다른 요청은 422입니다."
    ),
}


class Allowed(Exception):  # says that all is well
    """Whoever asks again may have the answer that was given before."""


def allowed(request: HttpRequest) -> None:
    """What an operation of organisers says as soon as it knows that the caller may do it. Raises ``Allowed`` where it
    was done before and is asked for that only.
    """
    if request.META.get(_ASKED):
        raise Allowed


def done_once(view: Callable[..., Any], *, asks_role: bool) -> Callable[..., Any]:
    """``view`` of an operation: under one key of one token it is done once. ``asks_role``: it says ``allowed``."""

    @wraps(view)
    def answer(request: Any, *args: Any, **kwargs: Any) -> Any:
        key = request.headers.get(HEADER, "")
        if not key:
            return view(request, *args, **kwargs)
        if len(key) > LENGTH or not key.isprintable():
            raise ApiRequestInvalid(field=HEADER)
        with transaction.atomic():
            row, is_new = claim_key(api_token=request.auth.token, key=key)
            if not is_new:
                given = _given_before(row, request)
                if asks_role:
                    _ask_again(view, request, *args, **kwargs)
                return given
            given = _answer_of(request, view(request, *args, **kwargs))
            row.status, row.answer, row.request_sha256 = given.status_code, given.content.decode(), _digest(request)
            row.save(update_fields=["status", "answer", "request_sha256"])
        return given

    return answer


def _ask_again(view: Callable[..., Any], request: HttpRequest, *args: Any, **kwargs: Any) -> None:
    """Raises what ``view`` refuses the caller of today with."""
    request.META[_ASKED] = True
    with suppress(Allowed), transaction.atomic():
        view(request, *args, **kwargs)
        raise AssertionError(f"{request.path} does not say who may do it")  # and nothing of it is kept


def _answer_of(request: HttpRequest, result: Any) -> Any:
    """What django-ninja answers for ``result``."""
    if isinstance(result, HttpResponseBase):
        return result
    operation: Operation = request.META[OPERATION]
    return operation._result_to_response(request, result, operation.api.create_temporal_response(request))


def _given_before(row: AnsweredRequest, request: HttpRequest) -> HttpResponse:
    """The answer that was given under this key. Raises ``IdempotencyKeyReused`` where another request had it."""
    if _digest(request) != row.request_sha256:
        raise IdempotencyKeyReused
    given = HttpResponse(row.answer, status=row.status, content_type="application/json; charset=utf-8")
    given[REPLAYED] = "true"
    return given


def _digest(request: HttpRequest) -> str:
    """Of everything that the request asks for. A form is read by then, or of somebody who was answered before."""
    found = sha256(f"{request.method} {request.get_full_path()}\n".encode())
    if request.content_type != FORM:
        found.update(request.body)
        return found.hexdigest()
    uploaded_form(request)
    found.update(json.dumps(sorted(request.POST.lists())).encode())
    for name, files in sorted(request.FILES.lists()):
        for file in files:
            found.update(json.dumps([name, file.name, file.size]).encode())
            file.seek(0)
            for chunk in file.chunks():
                found.update(chunk)
    return found.hexdigest()
