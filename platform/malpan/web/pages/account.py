"""개인정보 처리방침, 내 정보와 탈퇴: what the site holds of people, as a file to take along; closing the account."""

from __future__ import annotations

from allauth.account.internal.flows.email_verification import consume_email_verification_rate_limit
from allauth.account.models import EmailAddress
from allauth.account.utils import get_next_redirect_url
from allauth.core.ratelimit import consume_or_429
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import logout
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_safe

from malpan.core.errors import DomainError
from malpan.core.messages import text_of
from malpan.core.models import SiteText
from malpan.core.site_texts import privacy_version, site_text
from malpan.privacy.erasing import erase, obstacles, teams_affected
from malpan.privacy.errors import LeadsOthers, OwnsAlone
from malpan.privacy.exporting import as_json
from malpan.privacy.exporting import export as everything_about
from malpan.privacy.holdings import SUBJECTS, Fate, counted
from malpan.web.forms.accounts import CloseAccountForm, ResendForm
from malpan.web.pages.context import MemberRequest, members_only


@require_safe
def privacy_page(request: HttpRequest) -> HttpResponse:
    """The statement for everybody, before they sign up."""
    who = {"operator": settings.SITE_OPERATOR, "contact": settings.SITE_CONTACT}
    text = site_text(SiteText.Kind.PRIVACY)
    return render(
        request, "pages/privacy.html", {"subjects": SUBJECTS, "text": text, "version": privacy_version(), **who}
    )


@require_safe
def terms_of_use_page(request: HttpRequest) -> HttpResponse:
    return render(request, "pages/terms_of_use.html", {"text": site_text(SiteText.Kind.TERMS)})


@never_cache
@require_safe
@members_only
def account_page(request: MemberRequest) -> HttpResponse:
    return render(request, "pages/account.html", {"subjects": SUBJECTS})


@never_cache
@require_safe
@members_only
def export(request: MemberRequest) -> HttpResponse:
    """The person's own data as a file."""
    response = HttpResponse(as_json(everything_about(request.user)), content_type="application/json")
    response["Content-Disposition"] = f'attachment; filename="malpan-{timezone.localdate()}.json"'
    return response


@never_cache
@sensitive_post_parameters("password")
@require_http_methods(["GET", "HEAD", "POST"])
@members_only
def close_page(request: MemberRequest) -> HttpResponse:
    """What goes and what stays, or what has to be settled first; a POST closes the account."""
    if request.method != "POST":
        return _page(request, CloseAccountForm(user=request.user))
    form = CloseAccountForm(request.POST, user=request.user)
    if not form.is_valid():
        return _page(request, form, 422)
    try:
        erase(user=request.user, actor=request.user)
    except DomainError as error:
        return _page(request, form, error.http_status)
    logout(request)
    messages.success(request, _("계정을 닫고 개인정보를 지웠습니다. 그동안 함께해 주셔서 고맙습니다."))
    return redirect("home")


@require_http_methods(["GET", "HEAD", "POST"])
def resend_page(request: HttpRequest) -> HttpResponse:
    """Send the mail that confirms an address again. Whoever asks is told the same, whether there is such an account."""
    form = ResendForm(request.POST if request.method == "POST" else None)
    if not form.is_valid():
        context = {"form": form, "next": get_next_redirect_url(request)}
        return render(request, "account/resend.html", context, status=422 if form.is_bound else 200)
    email = form.cleaned_data["email"].lower()
    if refusal := consume_or_429(request, action="reset_password", key=email):  # as often as that mail
        return refusal
    address = EmailAddress.objects.filter(email=email, verified=False, user__is_active=True).first()
    if address is not None and consume_email_verification_rate_limit(request, email):
        address.send_confirmation(request)
    return redirect("account_email_verification_sent")


def _page(request: MemberRequest, form: CloseAccountForm, status: int = 200) -> HttpResponse:
    context = {
        "form": form,
        "obstacles": [(text_of(each), _where_to_settle(each)) for each in obstacles(request.user)],
        "teams": teams_affected(request.user),
        "removed": counted(request.user, Fate.REMOVED),
        "unnamed": counted(request.user, Fate.UNNAMED),
    }
    return render(request, "pages/account_close.html", context, status=status)


def _where_to_settle(obstacle: DomainError) -> str:
    """The address of the page on which to do so; empty where that is another's."""
    if isinstance(obstacle, LeadsOthers):
        return reverse("team", args=[obstacle.params["slug"]])
    if isinstance(obstacle, OwnsAlone):
        return reverse("manage_roles", args=[obstacle.params["slug"]])
    return ""
