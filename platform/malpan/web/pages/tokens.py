"""API 토큰: a person's keys for the API. A new one is shown once, on the next page."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_variables
from django.views.decorators.http import require_http_methods, require_POST

from malpan.accounts.models import Scope
from malpan.accounts.selectors import api_token_of, api_tokens_of
from malpan.accounts.services import API_TOKENS_MAX, create_api_token, revoke_api_token
from malpan.web.acting import act
from malpan.web.forms.tokens import ApiTokenForm
from malpan.web.pages.context import MemberRequest, members_only, page_of


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@members_only
def tokens_page(request: MemberRequest) -> HttpResponse:
    """The person's own tokens; a POST makes another."""
    if request.method == "POST":
        return _create(request)
    return _page(request, ApiTokenForm(initial={"scopes": [Scope.SUBMIT], "days": "90"}))


@sensitive_variables("token")
def _create(request: MemberRequest) -> HttpResponse:
    """Make a token and pass it to the page, which shows it once; a refusal is shown at its field."""
    form = ApiTokenForm(request.POST)

    def create(values: dict[str, Any]) -> None:
        _row, token = create_api_token(
            user=request.user, label=values["label"], scopes=values["scopes"], expires_at=form.expires_at()
        )
        messages.success(request, token, extra_tags="api-token")

    return act(
        request, create, form=form, to=reverse("api_tokens"), render_again=lambda status: _page(request, form, status)
    )


@require_POST
@members_only
def revoke_action(request: MemberRequest, pk: int) -> HttpResponse:
    """Revoke one of the person's own tokens. Raises ``ApiTokenNotFound``."""
    row = api_token_of(request.user, pk)
    revoke_api_token(api_token=row, actor=request.user)
    messages.success(request, _("‘%(label)s’ 토큰을 폐기했습니다. 이제 쓸 수 없습니다.") % {"label": row.label})
    return redirect("api_tokens")


def _page(request: MemberRequest, form: ApiTokenForm, status: int = 200) -> HttpResponse:
    context = {
        "frame": "base.html",
        "heading": _("API 토큰"),
        "make": _("토큰 만들기"),
        "own": _("내 토큰"),
        "make_at": reverse("api_tokens"),
        "form": form,
        "page": page_of(request, api_tokens_of(request.user)),
        "limit": API_TOKENS_MAX,
        "submit_address": request.build_absolute_uri(reverse("api-submissions", args=["COMPETITION", "TRACK"])),
    }
    return render(request, "pages/tokens.html", context, status=status)
