"""The page on which the operator writes the privacy statement and the terms of use."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from malpan.core.models import SiteText
from malpan.core.site_texts import all_site_texts, write_site_text
from malpan.operation.site_page.page import operators_only
from malpan.web.acting import act
from malpan.web.forms.site_texts import SiteTextForm
from malpan.web.pages.context import MemberRequest


@require_http_methods(["GET", "HEAD", "POST"])
@operators_only
def texts_page(request: MemberRequest) -> HttpResponse:
    """Both texts, each with its form; a POST saves the one that its ``kind`` names."""
    texts = all_site_texts()
    kind = request.POST.get("kind", "")
    if request.method != "POST" or kind not in texts:
        return _page(request, texts)
    form = SiteTextForm(request.POST, text=texts[kind])
    return act(
        request,
        lambda values: write_site_text(kind=kind, actor=request.user, **values),
        form=form,
        success=_("저장했습니다."),
        to=reverse("manage_site_texts"),
        render_again=lambda status: _page(request, all_site_texts(), form, status),
    )


def _page(
    request: HttpRequest, texts: dict[str, SiteText], sent: SiteTextForm | None = None, status: int = 200
) -> HttpResponse:
    forms = [
        sent if sent is not None and sent.instance.kind == kind else SiteTextForm(text=text)
        for kind, text in texts.items()
    ]
    return render(request, "manage/site_texts.html", {"forms": forms}, status=status)
