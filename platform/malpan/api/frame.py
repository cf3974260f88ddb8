"""What every operation of the API has: who calls and what their token is for, what it may answer, and its place in the
OpenAPI document.

``Operations`` is a router of django-ninja. Its summaries and descriptions are Korean, marked for translation; the
document is translated as a whole (``documents``). Cookies authorise nothing here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, wraps
from typing import Any, Final, cast

from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from ninja import Router, Schema, Status
from ninja.security import HttpBearer

from malpan.accounts.errors import ApiScopeMissing, ApiTokenInvalid
from malpan.accounts.models import ApiToken, Scope, User
from malpan.accounts.selectors import api_token_by_secret
from malpan.accounts.services import note_token_use
from malpan.api.limits import count_address, count_token
from malpan.api.once import PARAMETER, done_once
from malpan.api.schemas.problems import Problem

ANYBODY: Final = None  # in the place of a scope: without a token as well
SCOPE: Final = "x-scope"
EVERYWHERE: Final = (400, 401, 403, 404, 415, 422, 429, 500, 503, 507)  # what any operation may answer
CONFLICT: Final = 409
OF_CHANGES: Final = (CONFLICT, 410, 413)  # what one that changes something may answer as well
_SCHEME: Final = "Bearer "


@dataclass(frozen=True, slots=True)
class Caller:
    """Who calls: the owner of ``token``, or a visitor without one."""

    user: User | AnonymousUser
    token: ApiToken | None

    @property
    def person(self) -> User:
        """Who calls an operation that takes a token."""
        return cast("User", self.user)

    def may(self, scope: Scope) -> bool:
        """Whether the token is for ``scope``."""
        return self.token is not None and scope in self.token.scopes


class ApiRequest(HttpRequest):
    """A request as operations get it."""

    auth: Caller


class Bearer(HttpBearer):
    """The caller of the request, after counting it for their address and token, and noting the use of the token.

    ``scope``: what the token must be for; ``ANYBODY``: none is needed, but a wrong one is refused.
    """

    def __init__(self, scope: Scope | None) -> None:
        super().__init__()
        self.scope = scope

    def __call__(self, request: HttpRequest) -> Caller:
        """Raises ``TooManyRequests``, ``ApiTokenInvalid``, ``ApiTokenExpired`` and ``ApiScopeMissing``."""
        count_address(request)
        header = request.headers.get("Authorization", "")
        if not header and self.scope is ANYBODY:
            return Caller(AnonymousUser(), None)
        return self.authenticate(request, header)

    def authenticate(self, request: HttpRequest, token: str) -> Caller:
        """The owner of the token in the header ``token``."""
        if not token.startswith(_SCHEME):
            raise ApiTokenInvalid
        row = api_token_by_secret(token.removeprefix(_SCHEME).strip())
        count_token(request, row)
        note_token_use(api_token=row)
        if self.scope is not ANYBODY and self.scope not in row.scopes:
            raise ApiScopeMissing(scope=Scope(self.scope).label)
        return Caller(row.user, row)


class Operations(Router):
    """The operations of one subject, under ``tag`` in the document."""

    def __init__(self, tag: str) -> None:
        super().__init__(tags=[tag])

    def get(self, path: str, name: str, summary: str, returns: Any, **options: Any) -> Callable[[Any], Any]:  # type: ignore[override]
        """An operation that reads. ``name`` is its ``operationId`` and the name of its address."""
        return self._operation("GET", path, name, summary, returns, **options)

    def post(self, path: str, name: str, summary: str, returns: Any = None, **options: Any) -> Callable[[Any], Any]:  # type: ignore[override]
        """An operation that changes something: once for each key of a program, unless ``is_once`` is false."""
        return self._operation("POST", path, name, summary, returns, **{"is_once": True, **options})

    def patch(self, path: str, name: str, summary: str, returns: Any = None, **options: Any) -> Callable[[Any], Any]:  # type: ignore[override]
        return self._operation("PATCH", path, name, summary, returns, **options)

    def put(self, path: str, name: str, summary: str, returns: Any = None, **options: Any) -> Callable[[Any], Any]:  # type: ignore[override]
        return self._operation("PUT", path, name, summary, returns, **options)

    def delete(self, path: str, name: str, summary: str, returns: Any = None, **options: Any) -> Callable[[Any], Any]:  # type: ignore[override]
        return self._operation("DELETE", path, name, summary, returns, **options)

    def _operation(
        self,
        method: str,
        path: str,
        name: str,
        summary: str,
        returns: Any,
        *,
        scope: Scope | None = Scope.READ,
        status: int | None = None,
        says: str = "",
        url_name: str = "",
        extra: dict[str, Any] | None = None,
        also: tuple[int, ...] = (),
        may_conflict: bool = False,
        is_once: bool = False,
        asks_role: bool = False,
    ) -> Callable[[Any], Any]:
        """``returns``: the schema of what it answers, ``None`` for nothing (204). ``says``: what more there is to know.
        ``extra``: more of its OpenAPI description. ``also``: further statuses without a body. ``may_conflict``:
        also one that only reads answers that something is not there yet. ``is_once``,
        ``asks_role``: see ``once``.
        """
        done = status or (204 if returns is None else 200)
        refused = EVERYWHERE if method == "GET" else (*EVERYWHERE, *OF_CHANGES)
        if method == "GET" and may_conflict:
            refused = (*refused, CONFLICT)
        register = super().api_operation(
            [method],
            path,
            auth=Bearer(scope),
            response={done: returns, **dict.fromkeys(also)},
            operation_id=name,
            url_name=url_name or name,
            summary=summary,
            description=says or " ",  # never the docstring, which is for readers of the code
            exclude_unset=True,
            openapi_extra={SCOPE: str(scope.value) if scope else "", **_described(extra or {}, is_once=is_once)},
        )

        def decorate(view: Callable[..., Any]) -> Callable[..., Any]:
            register(view)
            operation = view._ninja_operation  # type: ignore[attr-defined]  # django-ninja's; read by its signature
            operation.view_func = _with_status(done, view)
            if is_once:
                operation.view_func = done_once(operation.view_func, asks_role=asks_role)
            operation.response_models |= dict.fromkeys(refused, _problem_model())
            return view

        return decorate


def _described(extra: dict[str, Any], *, is_once: bool) -> dict[str, Any]:
    """``extra`` with the header of the key."""
    return {**extra, "parameters": [*extra.get("parameters", []), PARAMETER]} if is_once else extra


@cache
def _problem_model() -> type[Schema]:
    """What django-ninja makes of ``Problem``, one for all: one for each status of each operation took a second."""
    return type("NinjaResponseSchema", (Schema,), {"__annotations__": {"response": Problem}})


def _with_status(status: int, view: Callable[..., Any]) -> Callable[..., Any]:
    """``view``, whose result is answered with ``status``; an answer of its own stays."""

    @wraps(view)
    def answer(*args: Any, **kwargs: Any) -> Any:
        result = view(*args, **kwargs)
        return result if isinstance(result, HttpResponseBase) else Status(status, result)

    return answer
