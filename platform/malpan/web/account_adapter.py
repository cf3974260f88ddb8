"""The texts and fields of allauth on this site: our error messages, our name field, our mail subject."""

from __future__ import annotations

import math
import time
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlencode, urljoin, urlsplit

from allauth.account import app_settings
from allauth.account.adapter import DefaultAccountAdapter
from allauth.account.utils import get_next_redirect_url
from allauth.core import context as current
from allauth.core.internal import ratelimit
from django.conf import settings
from django.contrib.auth import REDIRECT_FIELD_NAME
from django.core.cache import cache
from django.core.exceptions import ValidationError
from django.forms import BaseForm
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from malpan.accounts.models import User
from malpan.core.errors import MailNotSent


class AccountAdapter(DefaultAccountAdapter):
    error_messages = {
        **DefaultAccountAdapter.error_messages,
        "account_inactive": _("사용이 중지된 계정입니다. 주최 측에 문의해 주십시오."),
        "cannot_remove_primary_email": _(
            "기본 이메일은 삭제할 수 없습니다. 다른 주소를 기본으로 정한 뒤 삭제해 주십시오."
        ),
        "duplicate_email": _("이 계정에 이미 등록한 이메일입니다."),
        "email_password_mismatch": _("이메일 또는 비밀번호가 올바르지 않습니다. 다시 확인해 주십시오."),
        "email_taken": _("이미 가입된 이메일입니다. 로그인하거나 비밀번호를 다시 정해 주십시오."),
        "enter_current_password": _("지금 쓰는 비밀번호와 다릅니다. 다시 입력해 주십시오."),
        "incorrect_password": _("비밀번호가 올바르지 않습니다. 다시 입력해 주십시오."),
        "invalid_or_expired_key": _("이미 사용했거나 기한이 지난 링크입니다. 새 링크를 받아 주십시오."),
        "invalid_login": _("로그인하지 못했습니다. 이메일과 비밀번호를 확인해 주십시오."),
        "invalid_password_reset": _("이미 사용했거나 기한이 지난 링크입니다. 새 링크를 받아 주십시오."),
        "max_email_addresses": _("이메일은 %d개까지 등록할 수 있습니다."),
        "rate_limited": _("요청이 너무 잦습니다. 잠시 뒤에 다시 시도해 주십시오."),
        "same_as_current": _("지금 쓰는 값과 같습니다. 다른 값을 입력해 주십시오."),
        "select_only_one": _("하나만 골라 주십시오."),
        "too_many_login_attempts": _("로그인을 너무 자주 시도했습니다. 1분 뒤에 다시 시도해 주십시오."),
        "too_many_of_account": _(
            "로그인에 여러 번 실패하여 잠시 막았습니다. %(seconds)d초 뒤에 다시 시도하거나, ‘비밀번호 다시 정하기’에서 "
            "메일을 받아 새 비밀번호를 정해 주십시오. 그러면 바로 로그인하실 수 있습니다."
        ),
        "too_many_from_address": _(
            "같은 네트워크에서 로그인 실패가 많아 잠시 막았습니다. 이 계정의 비밀번호가 틀렸다는 뜻이 아닙니다. "
            "%(seconds)d초 뒤에 다시 시도해 주십시오."
        ),
        "unknown_email": _("이 이메일로 가입한 계정이 없습니다."),
        "unverified_primary_email": _("확인된 주소만 기본 이메일로 정할 수 있습니다."),
    }

    def send_mail(self, template_prefix: str, email: str, context: dict[str, Any]) -> None:
        """Send a mail whose links lead to ``SITE_URL``: allauth takes the host that the request names.

        Raises ``MailNotSent``.
        """
        here = current.request.build_absolute_uri("/")
        links = {
            key: urljoin(settings.SITE_URL, value.removeprefix(here.rstrip("/")))
            for key, value in context.items()
            if isinstance(value, str) and value.startswith(here)
        }
        site = SimpleNamespace(domain=urlsplit(settings.SITE_URL).netloc, name=gettext("말판"))
        try:
            super().send_mail(template_prefix, email, context | links | {"current_site": site})
        except OSError as error:  # the faults of SMTP are among them
            # the next try sends again: only a mail that went is not sent twice in three minutes
            ratelimit.clear(current.request, app="allauth.account", action="confirm_email", key=email.lower())
            raise MailNotSent(reason="account") from error

    def get_email_confirmation_url(self, request: HttpRequest, emailconfirmation: Any) -> str:
        """As allauth's; from there by the log-in to where the person was when they signed up."""
        address: str = super().get_email_confirmation_url(request, emailconfirmation)
        wanted = get_next_redirect_url(request)
        if not wanted:
            return address
        log_in = f"{reverse(settings.LOGIN_URL)}?{urlencode({REDIRECT_FIELD_NAME: wanted})}"
        return f"{address}?{urlencode({REDIRECT_FIELD_NAME: log_in})}"

    def format_email_subject(self, subject: str) -> str:
        return f"[{gettext('말판')}] {subject}"

    def save_user(self, request: HttpRequest, user: User, form: BaseForm, commit: bool = True) -> Any:
        """Save the new ``user`` with the name and the consent of the sign-up form; the rest is allauth's."""
        user.name = form.cleaned_data["name"]
        user.privacy_version, user.privacy_accepted_at = form.cleaned_data["privacy_version"], timezone.now()
        return super().save_user(request, user, form, commit)

    def pre_authenticate(self, request: HttpRequest, **credentials: Any) -> None:
        """As allauth's; the refusal says whose failures are too many, and how long to wait.

        What is refused counts for nobody: neither who guesses at one account for their address, nor the other way.
        """
        key = self._get_login_attempts_cache_key(request, **credentials)
        if not ratelimit.consume(request, app="allauth.account", action="login_failed", key=key, dry_run=True):
            raise self._slowed_down(request, key)
        try:
            super().pre_authenticate(request, **credentials)
        except ValidationError as error:  # of two at once
            raise self._slowed_down(request, key) from error

    def _slowed_down(self, request: HttpRequest, key: str) -> ValidationError:
        waits = {}
        for rate in ratelimit.parse_rates(app_settings.RATE_LIMITS["login_failed"]):
            name = ratelimit.get_cache_key(request, app="allauth.account", action="login_failed", rate=rate, key=key)
            history = cache.get(name, [])  # the newest first
            if len(history) >= rate.amount:
                waits[rate.per] = history[rate.amount - 1] + rate.duration - time.time()
        code = "too_many_from_address" if waits.keys() == {"ip"} else "too_many_of_account"
        seconds = max(1, math.ceil(max(waits.values(), default=1)))
        return ValidationError(self.error_messages[code], code="too_many_login_attempts", params={"seconds": seconds})

    def _get_login_attempts_cache_key(self, request: HttpRequest, **credentials: Any) -> str:
        """Failed log-ins are counted by account and address: a stranger who guesses locks out nobody else."""
        account: str = super()._get_login_attempts_cache_key(request, **credentials)
        return f"{account}:{ratelimit.get_ip(request)}"
