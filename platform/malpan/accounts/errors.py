"""Errors about people and their API tokens."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _

from malpan.core.errors import Conflict, Forbidden, NotFound, RequestError


class ApiTokenInvalid(RequestError):
    """The request has no token, or one that is unknown or revoked, or whose account is closed. Params: none."""

    http_status = 401
    text = _("API 토큰이 없거나 올바르지 않습니다. Authorization: Bearer <토큰> 머리글을 확인해 주십시오.")


class ApiTokenExpired(ApiTokenInvalid):
    """The token was good until ``expired_at``. Params: ``expired_at``."""

    text = _("API 토큰이 %(expired_at)s에 만료되었습니다. ‘API 토큰’ 화면에서 새로 만들어 주십시오.")


class ApiScopeMissing(Forbidden):
    """The token is not for this. Params: ``scope``, the one that it lacks."""

    text = _(
        "이 토큰으로는 할 수 없는 요청입니다. ‘API 토큰’ 화면에서 쓸 곳에 ‘%(scope)s’을(를) 넣은 토큰을 만들어 "
        "주십시오."
    )


class TooManyApiTokens(Conflict):
    """The person has reached the limit of valid tokens. Params: ``limit``."""

    text = _("쓸 수 있는 API 토큰이 이미 %(limit)s개 있습니다. 쓰지 않는 토큰을 폐기한 뒤 다시 만들어 주십시오.")


class ApiTokenNotFound(NotFound):
    """No token of this person has this primary key. Params: none."""

    text = _("API 토큰을 찾을 수 없습니다. 토큰 목록에서 다시 골라 주십시오.")


class PersonNotFound(NotFound):
    """No account has this e-mail address. Params: none."""

    text = _("이 이메일로 가입한 계정이 없습니다. 주소를 확인하거나, 먼저 회원으로 가입하도록 안내해 주십시오.")
