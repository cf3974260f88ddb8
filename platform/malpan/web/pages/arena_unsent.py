"""What a judge sent that was not taken, as their log-in had expired or was renewed since the page was opened: kept in
the session of that browser, which outlives logging in, and shown again on the page of its assignment, to that judge
alone.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, Final, ParamSpec

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict
from django.urls import reverse
from django.utils.translation import gettext as _

from malpan.arena.models import Assignment
from malpan.web.pages.context import to_log_in

P = ParamSpec("P")
UNSENT: Final = "arena-unsent"
ASSIGNMENTS_MOST: Final = 3  # of one browser; the oldest gives way
CHARACTERS_MOST: Final = 200_000  # as sent, where a syllable is nine: far above what a judgement may have


def keeps_unsent(
    view: Callable[Concatenate[HttpRequest, int, str, P], HttpResponse],
) -> Callable[Concatenate[HttpRequest, int, str, P], HttpResponse]:
    """Keep what a visitor sends to ``view``, if that may be a judge, and lead them by the log-in back to it."""

    @wraps(view)
    def kept(request: HttpRequest, pk: int, key: str, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
        if request.method != "POST" or request.user.is_authenticated or not keep_unsent(request, pk, key):
            return view(request, pk, key, *args, **kwargs)
        text = _(
            "로그인이 끊겨 아직 기록하지 못했습니다. 적은 것은 이 브라우저에 남겨 두었으니, 다시 로그인하면 "
            "그대로 나옵니다. 확인한 뒤 다시 보내 주십시오."
        )
        messages.warning(request, text)
        query = "?list=1" if "list" in request.POST else ""
        return to_log_in(reverse("arena_assignment", args=[pk, key]) + query)

    return kept


def unsent(request: HttpRequest, assignment: Assignment) -> QueryDict | None:
    """What was sent for ``assignment`` and waits in the browser's session."""
    sent = request.session.get(UNSENT, {}).get(str(assignment.shown_key))
    return None if sent is None else QueryDict(sent)


def forget_unsent(request: HttpRequest, assignment: Assignment) -> None:
    """Let go of what waits for ``assignment``: something newer of it is kept or recorded."""
    waiting = request.session.get(UNSENT, {})
    if waiting.pop(str(assignment.shown_key), None) is not None:
        request.session[UNSENT] = waiting


def keep_unsent(request: HttpRequest, pk: int, key: str) -> bool:
    """Whether there is such an assignment, and what was sent for it is kept. Only judges know a key."""
    fields = request.POST.copy()
    fields.pop("csrfmiddlewaretoken", None)
    sent = fields.urlencode()
    if len(sent) > CHARACTERS_MOST or not Assignment.objects.filter(campaign=pk, shown_key=key).exists():
        return False
    waiting = request.session.get(UNSENT, {})
    kept = [(name, text) for name, text in waiting.items() if name != str(key)]
    request.session[UNSENT] = dict([*kept, (str(key), sent)][-ASSIGNMENTS_MOST:])
    return True
