"""Errors that only the API knows."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _

from malpan.core.errors import RequestError


class ApiRequestInvalid(RequestError):
    """The request is malformed. Params: ``field``."""

    text = _("요청에 ‘%(field)s’이(가) 없거나 올바르지 않습니다.")


class MethodNotAllowed(RequestError):
    """The address does not allow this HTTP method. Params: ``allowed``."""

    http_status = 405
    text = _("이 주소는 %(allowed)s 요청만 받습니다.")
