"""Runs a service with the values of a form: a refusal is shown in the form, success as a message."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, Final, TypeVar

from django.contrib import messages
from django.forms import BaseForm, ValidationError
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect

from malpan.core.errors import DomainError
from malpan.core.log import log_if_ours
from malpan.core.messages import text_of
from malpan.web.forms.fields import preview

logger = logging.getLogger(__name__)
T = TypeVar("T")
PREVIEW: Final = "preview"  # the name of the button (forms/preview_button.html)
RenderAgain = Callable[[int], HttpResponse]


def act(
    request: HttpRequest,
    do: Callable[[dict[str, Any]], T],
    *,
    to: str | Callable[[Any], str],
    success: str | Callable[[T], str] = "",
    form: BaseForm | None = None,
    render_again: RenderAgain | None = None,
    error_field: str | Callable[[DomainError], str | None] | None = None,
    refused_above: bool = False,
) -> HttpResponse:
    """Call ``do`` with the values of a valid ``form``, show ``success`` as a message, and redirect ``to`` an address.

    If the form or the service refuses, ``render_again`` renders the page with the form and an HTTP status; the
    service's message is above the form, or at the field ``error_field``. Without ``render_again``, or with
    ``refused_above`` if the page may no longer have the form, it becomes a message on the page of ``to``, which is then
    called with ``None``; a fault of ours is logged either way. Where the button for a preview was pressed, nothing is
    done and ``form`` shows it.
    """
    if form is not None and render_again is not None and PREVIEW in request.POST:
        preview(form)
        return render_again(200 if form.is_valid() else 422)
    if form is not None and not form.is_valid():
        return render_again(422) if render_again else _redirect_with_error(request, _first_error(form), to)
    try:
        result = do(form.cleaned_data if form is not None else {})
    except DomainError as error:
        log_if_ours(logger, request, error)
        if form is None or render_again is None or refused_above:
            return _redirect_with_error(request, text_of(error), to)
        refuse(form, error, error_field(error) if callable(error_field) else error_field)
        return render_again(error.http_status)
    if text := success(result) if callable(success) else success:
        messages.success(request, text)
    return redirect(to(result) if callable(to) else to)


def act_on_page(
    request: HttpRequest,
    do: Callable[[dict[str, Any]], T],
    *,
    form: BaseForm,
    key: str,
    page: Callable[[dict[str, Any], int], HttpResponse],
    **options: Any,
) -> HttpResponse:
    """``act`` for one of several forms of a page: ``page`` renders it again with the form under ``key``."""
    return act(request, do, form=form, render_again=lambda status: page({key: form}, status), **options)


def or_refusal(read: Callable[[], Any]) -> tuple[Any, str]:
    """What ``read`` returns, or the text of its refusal."""
    try:
        return read(), ""
    except DomainError as error:
        return None, text_of(error)


def posted(request: HttpRequest) -> QueryDict | None:
    """The data of a form: the body of a POST, even an empty one; otherwise ``None``."""
    return request.POST if request.method == "POST" else None


def refuse(form: BaseForm, error: DomainError, field: str | None = None) -> None:
    """Add the refusal of a service to ``form``; ``refusal_of`` returns it again."""
    form.add_error(field, ValidationError("%(text)s", params={"text": text_of(error), "error": error}))


def refusal_of(form: BaseForm) -> DomainError | None:
    """The error that ``refuse`` added to ``form``."""
    if not form.is_bound:
        return None
    found = (each.params for errors in form.errors.as_data().values() for each in errors)
    return next((params["error"] for params in found if params and "error" in params), None)


def _redirect_with_error(request: HttpRequest, text: str, to: str | Callable[[Any], str]) -> HttpResponse:
    messages.error(request, text)
    return redirect(to(None) if callable(to) else to)


def _first_error(form: BaseForm) -> str:
    return next(str(error) for errors in form.errors.values() for error in errors)
