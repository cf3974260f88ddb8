"""Two submissions of one's own team, compared: scores with the significance of their difference, and item by item."""

from __future__ import annotations

import uuid
from contextlib import suppress
from typing import Any, Final

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from malpan.competitions.models import Phase
from malpan.core.errors import SystemFault
from malpan.core.limits import count
from malpan.leaderboard.comparing.own import both_of, compared
from malpan.submissions import selectors
from malpan.submissions.integrity.duplicates import AnswerPair, answers_side_by_side
from malpan.submissions.models import Submission
from malpan.submissions.visibility import ShownRun
from malpan.web.pages.context import MemberRequest, members_only, page_context, page_of
from malpan.web.presenters import comparison
from malpan.web.presenters.items import ItemTexts, closed_text, item_texts
from scoring.errors import InvalidFile

ITEMS: Final = 50  # on a page
PRIVATE: Final = "private"  # ?split=private: the scores of the private split, once they are published


@require_safe
@members_only
def choice(request: MemberRequest, public_id: uuid.UUID) -> HttpResponse:
    """Lead to the comparison with ``?with=``."""
    other = None
    with suppress(ValueError):
        other = uuid.UUID(request.GET.get("with", ""))
    if other is None:
        return redirect("submission", public_id)
    return redirect("submission_comparison", public_id, other)


@require_safe
@members_only
def comparison_page(request: MemberRequest, public_id: uuid.UUID, with_id: uuid.UUID) -> HttpResponse:
    """Compare two submissions, the earlier one first. Raises ``SubmissionNotFound`` for those of others."""
    count(request, "items", settings.ITEM_LISTS_PER_PERSON, str(request.user.pk))
    one, other = both_of(request.user, public_id, with_id)
    phase = one.phase
    shown = [selectors.run_for_team(each) for each in (one, other)]
    context = page_context(request, phase.track.competition.slug).context("submissions", phase.track)
    compared = [(one, _("먼저 낸 것")), (other, _("나중 것"))]
    context |= {"track": phase.track, "phase": phase, "other": other, "compared": compared}
    context |= _scores(one, other, shown, is_private=request.GET.get("split") == PRIVATE)
    context |= _items(request, one, other, shown, phase)
    return render(request, "pages/comparison.html", context)


def _scores(one: Submission, other: Submission, shown: list[ShownRun | None], *, is_private: bool) -> dict[str, Any]:
    """The table of scores; ``refusal`` says why there is none."""
    found = compared(one, other, shown, is_private=is_private)
    if found.row is None:
        return {"refusal": comparison.refusal_text(found.refusal, shown)}
    return {
        "comparison": found.row,
        "has_private": found.has_private,
        "lines": comparison.lines_of(found.row, found.scores, one.phase.track),
        "reason": comparison.reason_text(found.row),
        "shows_private": found.is_private,
    }


def _items(
    request: HttpRequest, one: Submission, other: Submission, shown: list[ShownRun | None], phase: Phase
) -> dict[str, Any]:
    """The answers that differ, or all of them, with their values where the organiser opened those."""
    try:
        answers = answers_side_by_side(one, other)
    except (SystemFault, InvalidFile):
        return {"is_unreadable": True}
    shows_all = request.GET.get("items") == "all"
    changed = [row for row in answers if not row.is_same]
    values = item_texts([one, other], shown)
    page = page_of(request, answers if shows_all else changed, ITEMS)
    return {
        "shows_all": shows_all,
        "changed_count": len(changed),
        "item_count": len(answers),
        "page": page,
        "items": [_item(row, values) for row in page],
        "shows_questions": any(row.question for row in page),
        "metric_labels": values.labels,
        "opened": phase.item_scores,
        "closed_text": closed_text(phase, shown, values),
    }


def _item(row: AnswerPair, values: ItemTexts) -> dict[str, Any]:
    return {"answers": row, "values": values.of(row.id)}
