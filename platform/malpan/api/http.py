"""What all API views share: methods, errors as JSON, the caller by token. Cookies are ignored.

``{"error": {"code", "kind", "message", …}}`` with the HTTP status of the error's class is the only format of a refusal;
``kind`` is ``submission`` (제출 오류), ``system`` (시스템 오류) or ``request`` (요청 오류).
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import wraps
from typing import Any, Final

from django.http import HttpRequest, JsonResponse
from django.utils.translation import get_language
from django.views.decorators.csrf import csrf_exempt

from malpan.accounts.errors import ApiTokenInvalid
from malpan.accounts.models import ApiToken
from malpan.accounts.selectors import api_token_by_secret
from malpan.api.errors import MethodNotAllowed
from malpan.core.errors import DomainError, SubmissionError, SystemFault
from malpan.core.log import route_of
from malpan.core.messages import text_of
from malpan.core.service_faults import fault_of, log_fault
from malpan.submissions.errors import DuplicateUpload, FileRejected, QuotaExceeded
from scoring.errors import Language

logger = logging.getLogger(__name__)

JsonView = Callable[..., "Json"]
_SCHEME: Final = "Bearer "


class Json(JsonResponse):
    """An answer of the API: Hangul as it is, not as six characters a syllable."""

    def __init__(self, data: Any, **options: Any) -> None:
        super().__init__(data, json_dumps_params={"ensure_ascii": False}, **options)


def endpoint(*methods: str) -> Callable[[JsonView], JsonView]:
    """Make a function an API view that accepts ``methods`` and returns every domain error, and a database failure, as
    JSON.

    Exempt from CSRF checks, because cookies authorise nothing here.
    """

    def decorate(view: JsonView) -> JsonView:
        @csrf_exempt
        @wraps(view)
        def answer(request: HttpRequest, *args: Any, **kwargs: Any) -> Json:
            try:
                if request.method not in methods:
                    raise MethodNotAllowed(allowed=", ".join(methods))
                return view(request, *args, **kwargs)
            except DomainError as error:
                if isinstance(error, SystemFault):
                    logger.error("%s at %s", error.code, route_of(request))
                return error_response(error)
            except Exception as error:
                if (fault := fault_of(error)) is None:
                    raise
                log_fault(fault, error)
                return error_response(fault)

        return answer

    return decorate


def token_of(request: HttpRequest) -> ApiToken | None:
    """The token of the request, with its user; ``None`` without one. A wrong one raises ``ApiTokenInvalid``."""
    header = request.headers.get("Authorization", "")
    if not header:
        return None
    if not header.startswith(_SCHEME):
        raise ApiTokenInvalid
    return api_token_by_secret(header.removeprefix(_SCHEME).strip())


def require_token(request: HttpRequest) -> ApiToken:
    """The token of the request, with its user; raises ``ApiTokenInvalid`` without one."""
    token = token_of(request)
    if token is None:
        raise ApiTokenInvalid
    return token


def language() -> Language:
    """The language of the response, by ``Accept-Language``."""
    return "en" if (get_language() or "ko").startswith("en") else "ko"


def error_response(error: DomainError) -> Json:
    """The answer for ``error``."""
    body: dict[str, Any] = {"code": error.code, "kind": _kind(error), "message": text_of(error)}
    if isinstance(error, FileRejected):
        body["total"] = error.total
        body["errors"] = [each.as_dict(language()) for each in error.errors]
    if isinstance(error, QuotaExceeded):
        body |= {"limit_kind": error.kind, "next_allowed_at": error.next_allowed_at}
    if isinstance(error, DuplicateUpload):
        body["submission"] = error.params["public_id"]
    response = Json({"error": body}, status=error.http_status, headers=error.headers)
    if isinstance(error, ApiTokenInvalid):
        response["WWW-Authenticate"] = "Bearer"
    if isinstance(error, MethodNotAllowed):
        response["Allow"] = error.params["allowed"]
    return response


def _kind(error: DomainError) -> str:
    if isinstance(error, SubmissionError):
        return "submission"
    return "system" if isinstance(error, SystemFault) else "request"
