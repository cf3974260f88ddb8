"""참가 약관: read the terms of a competition and accept the current version."""

from __future__ import annotations

from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from malpan.competitions.models import Competition
from malpan.competitions.terms import accept_terms, acceptance_of
from malpan.core.errors import AddressNotFound
from malpan.core.language import in_language
from malpan.web.acting import act
from malpan.web.forms.fields import ConfirmForm
from malpan.web.pages.context import MemberRequest, PageContext, members_only, page_context


def lead_to_terms(request: HttpRequest, competition: Competition, *, back: str, then: str = "") -> HttpResponse:
    """Redirect to the terms, with a message that they must be accepted first; accepting leads ``back``.

    ``then``: a sentence about what is to be done there.
    """
    text = _("먼저 아래 참가 약관을 읽고 동의해 주십시오. 동의하면 하던 화면으로 돌아갑니다.")
    messages.warning(request, f"{text} {then}".strip())
    return redirect(f"{reverse('terms', args=[competition.slug])}?{urlencode({'next': back})}")


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def terms_page(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the terms to anybody; a POST of a user accepts them. Raises ``AddressNotFound`` without terms."""
    page = page_context(request, slug)
    if page.competition.terms_version == 0:
        raise AddressNotFound
    if request.method == "POST":
        return _accept(request, page)
    return _page(request, page, _form())


@members_only
def _accept(request: MemberRequest, page: PageContext) -> HttpResponse:
    form = _form(request.POST)
    return act(
        request,
        lambda _values: accept_terms(user=request.user, competition=page.competition, version=_version(request)),
        form=form,
        success=_("참가 약관에 동의했습니다."),
        to=_next(request) or reverse("team", args=[page.competition.slug]),
        render_again=lambda status: _page(request, page, form, status),
    )


def _page(request: HttpRequest, page: PageContext, form: ConfirmForm, status: int = 200) -> HttpResponse:
    competition = page.competition
    context = page.context("terms") | {
        "form": form,
        "text": in_language(competition.terms_ko, competition.terms_en),
        "acceptance": acceptance_of(request.user, competition),
        "next": _next(request),
    }
    return render(request, "pages/terms.html", context, status=status)


def _form(data: object = None) -> ConfirmForm:
    return ConfirmForm(data, key="terms", sentence=_("참가 약관을 읽었고 동의합니다."))


def _version(request: HttpRequest) -> int:
    """The version shown on the page; 0, which is never accepted, if it is no number."""
    number = request.POST.get("version", "")
    return int(number) if number.isascii() and number.isdigit() and len(number) < 6 else 0


def _next(request: HttpRequest) -> str:
    """Where to go afterwards, if it is an address of this site."""
    wanted = request.POST.get("next") or request.GET.get("next") or ""
    is_ours = url_has_allowed_host_and_scheme(wanted, {request.get_host()}, require_https=request.is_secure())
    return wanted if is_ours else ""
