"""The API as one application of django-ninja: how bodies are read and errors answered, and its OpenAPI document."""

from __future__ import annotations

import json
import logging
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import wraps
from typing import Any, Final, NoReturn

from django.conf import settings
from django.core.exceptions import NON_FIELD_ERRORS, RequestDataTooBig
from django.core.exceptions import ValidationError as DjangoValidationError
from django.http import Http404, HttpRequest, HttpResponse, UnreadablePostError
from django.urls import URLPattern, path
from django.views.decorators.csrf import csrf_exempt
from ninja import NinjaAPI
from ninja.errors import HttpError, ValidationError
from ninja.operation import PathView
from ninja.parser import Parser
from ninja.renderers import JSONRenderer
from ninja.utils import replace_path_param_notation

from malpan.api.errors import ApiRequestInvalid, BodyTooLarge, FieldError, FieldsInvalid, MethodNotAllowed, sentence_of
from malpan.api.http import VERSION, error_response, say_version
from malpan.api.once import OPERATION
from malpan.core.errors import AddressNotFound, DomainError
from malpan.core.limits import say_limits
from malpan.core.log import log_if_ours
from malpan.core.service_faults import fault_of, log_fault
from scoring.errors import MAX_ERRORS_KEPT

PREFIX: Final = "/api/v1/"

logger = logging.getLogger(__name__)


class StrictParser(Parser):
    """JSON as RFC 8259 has it."""

    def parse_body(self, request: HttpRequest) -> Any:
        """Raises ``ValueError`` and ``RecursionError``, which ``_not_json`` answers."""
        return json.loads(request.body, parse_constant=_refuse)


class Renderer(JSONRenderer):
    json_dumps_params: Mapping[str, Any] = {"ensure_ascii": False}


def _refuse(constant: str) -> NoReturn:
    raise ValueError(constant)


def application() -> NinjaAPI:
    """An application without operations."""
    api = NinjaAPI(
        title="Malpan",
        version=VERSION,
        openapi_url=None,
        docs_url=None,
        urls_namespace="api-v1",
        parser=StrictParser(),
        renderer=Renderer(),
    )
    api.add_exception_handler(ValidationError, _fields_invalid)
    api.add_exception_handler(HttpError, _not_json)
    api.add_exception_handler(Exception, _raise)
    api.add_exception_handler(Http404, _raise)
    return api


def _raise(_request: HttpRequest, error: Any) -> NoReturn:
    """``answered`` turns it into an answer."""
    raise error


def _not_json(_request: HttpRequest, _error: Any) -> HttpResponse:
    """All that django-ninja itself refuses by status."""
    return error_response(ApiRequestInvalid(field="JSON"))


def _fields_invalid(_request: HttpRequest, error: Any) -> HttpResponse:
    return error_response(invalid_fields(error.errors))


def invalid_fields(errors: Sequence[Mapping[str, Any]]) -> FieldsInvalid:
    """What pydantic says of values."""
    shown = errors[:MAX_ERRORS_KEPT]
    found = [FieldError(_place(each["loc"]), sentence_of(each["type"], each.get("ctx", {}))) for each in shown]
    return FieldsInvalid(found, total=len(errors))


def _place(parts: tuple[Any, ...]) -> str:
    """``body.targets.0.value`` from where pydantic found an error."""
    return ".".join(str(part) for part in parts if part != "data")[:200]


def fields_of(error: DjangoValidationError) -> FieldsInvalid:
    """What Django's models say of values."""
    if not hasattr(error, "error_dict"):
        return FieldsInvalid([FieldError("body", text) for text in error.messages])
    places = {name: "body" if name == NON_FIELD_ERRORS else f"body.{name}" for name in error.message_dict}
    return FieldsInvalid(
        [FieldError(places[name], text) for name, texts in error.message_dict.items() for text in texts]
    )


def addresses(api: NinjaAPI) -> Iterator[URLPattern]:
    """The addresses of its operations, each with one view of all its methods, of whatever subject."""
    found: dict[str, list[PathView]] = defaultdict(list)
    names: dict[str, str] = {}
    for bound in api._get_bound_routers():
        for place, view in bound.path_operations.items():
            route = replace_path_param_notation(place).lstrip("/")
            found[route].append(view)
            names[route] = view.operations[0].url_name
    for route, views in found.items():
        yield path(route, answered(_one_of(views)), name=names[route])


def _one_of(views: list[PathView]) -> Callable[..., Any]:
    methods = sorted({method for view in views for operation in view.operations for method in operation.methods})
    by_method = {
        method: (view, operation) for view in views for operation in view.operations for method in operation.methods
    }

    def view(request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        if request.method not in by_method:
            raise MethodNotAllowed(allowed=", ".join(methods))
        asked, request.META[OPERATION] = by_method[request.method]
        return asked.get_view()(request, *args, **kwargs)

    return view


def answered(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """``view`` with every refusal, and a database that fails, as a problem document."""

    @csrf_exempt  # cookies authorise nothing here
    @wraps(view)
    def answer(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        return say_version(say_limits(request, _answer(view, request, *args, **kwargs)))

    return answer


def _answer(view: Callable[..., HttpResponse], request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
    try:
        return view(request, *args, **kwargs)
    except Http404:
        return error_response(AddressNotFound())
    except DomainError as error:
        log_if_ours(logger, request, error)
        return error_response(error)
    except DjangoValidationError as error:
        return error_response(fields_of(error))
    except RequestDataTooBig:  # refused by its declared size
        return error_response(BodyTooLarge(limit_bytes=settings.DATA_UPLOAD_MAX_MEMORY_SIZE))
    except UnreadablePostError:
        return error_response(ApiRequestInvalid(field="body"))
    except Exception as error:
        if (fault := fault_of(error)) is None:
            raise
        log_fault(fault, error)
        return error_response(fault)
