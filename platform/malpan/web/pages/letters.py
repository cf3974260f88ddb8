"""알림 설정: what a person wants to hear, how such a mail looks, and the page behind the link that ends them."""

from __future__ import annotations

import re
from base64 import b64encode
from hashlib import sha256
from typing import Final

from csp.constants import UNSAFE_HASHES
from csp.decorators import csp_update
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import get_template
from django.urls import reverse
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods, require_safe

from malpan.notifications import digests, preferences
from malpan.notifications.errors import EventUnknown
from malpan.notifications.events import DIGEST, mailed_events
from malpan.notifications.rendering import compose
from malpan.web.acting import act
from malpan.web.forms.letters import PreferenceForm
from malpan.web.pages.context import MemberRequest, members_only

MAILS: Final = ("emails/frame.html", "emails/letter.html", "emails/digest.html")


def hashes_of_styles(*templates: str) -> list[str]:
    """What a policy allows so that the style attributes written in ``templates`` apply, and no others."""
    sources = [get_template(each).template.source for each in templates]  # type: ignore[attr-defined]
    styles = dict.fromkeys(style for source in sources for style in re.findall(r'style="([^"]*)"', source))
    return [UNSAFE_HASHES, *(f"'sha256-{b64encode(sha256(style.encode()).digest()).decode()}'" for style in styles)]


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@members_only
def preferences_page(request: MemberRequest) -> HttpResponse:
    """What the person wants to hear; a POST changes it."""
    held = preferences.preference_of(request.user)
    form = PreferenceForm(request.POST if request.method == "POST" else None, preference=held)
    if request.method != "POST":
        return _page(request, form)
    return act(
        request,
        lambda values: preferences.set_preference(person=request.user, language=values["language"], paces=form.paces()),
        form=form,
        to=reverse("letters"),
        success=_("알림 설정을 저장했습니다."),
        render_again=lambda status: _page(request, form, status),
    )


@never_cache
@require_safe
# a mail has its styles in attributes, as mail programs know no style sheet
@csp_update({"style-src-attr": hashes_of_styles(*MAILS)})  # type: ignore[arg-type]
@members_only
def preview_page(request: MemberRequest, event: str) -> HttpResponse:
    """A mail about an invented event, or of a whole day, as a mail program shows it. Raises ``EventUnknown``."""
    language = "en" if (get_language() or "ko").startswith("en") else "ko"
    back = request.build_absolute_uri(reverse("letters"))
    if event == DIGEST.name:
        return HttpResponse(digests.sample(request.user, language, back).html)
    found = next((each for each in mailed_events(request.user) if each.name == event), None)
    if found is None or found.sample is None:
        raise EventUnknown
    mail = compose(found.templates, (language,), found.sample, back)
    return HttpResponse(mail.html if mail else "")


@csrf_exempt  # a mail program posts it, without a session: the token in the address proves whose it is (RFC 8058)
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def unsubscribe_page(request: HttpRequest, token: str) -> HttpResponse:
    """A page that asks; a POST, of the page or of a mail program by one click, ends these mails.

    Raises ``UnsubscribeLinkInvalid``.
    """
    person, event = preferences.read_token(token)
    if request.method == "POST":
        preferences.mute(person=person, event=event.name)
    is_muted = preferences.is_muted(preferences.preference_of(person), event.name)
    return render(request, "pages/unsubscribe.html", {"event": event, "is_muted": is_muted})


def _page(request: MemberRequest, form: PreferenceForm, status: int = 200) -> HttpResponse:
    return render(request, "pages/letters.html", {"form": form, "hour": settings.DAILY_MAIL_HOUR}, status=status)
