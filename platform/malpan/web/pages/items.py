"""One submission of one's own team, item by item: the answers, and their values where the organiser opened them."""

from __future__ import annotations

import uuid
from typing import Final

from django.conf import settings
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from malpan.core.errors import SystemFault
from malpan.core.limits import count
from malpan.submissions import selectors
from malpan.submissions.errors import SubmissionNotFound
from malpan.submissions.integrity.answers import answers_of
from malpan.web.pages.context import MemberRequest, members_only, page_context, page_of
from malpan.web.presenters.items import closed_text, item_texts
from scoring.errors import InvalidFile

ITEMS: Final = 50  # on a page


@require_safe
@members_only
def items_page(request: MemberRequest, public_id: uuid.UUID) -> HttpResponse:
    """In the order of the file; where values are shown, from the lowest of ``?by=`` on. Raises ``SubmissionNotFound``
    for a submission of others.
    """
    count(request, "items", settings.ITEM_LISTS_PER_PERSON, str(request.user.pk))
    submission = selectors.submission_for(request.user, public_id)
    if not selectors.is_open_to_the_team(request.user, submission):
        raise SubmissionNotFound
    phase = submission.phase
    context = page_context(request, phase.track.competition.slug).context("submissions", phase.track)
    context |= {"submission": submission, "track": phase.track, "phase": phase, "opened": phase.item_scores}
    try:
        answers = answers_of(submission)
    except (SystemFault, InvalidFile):
        return render(request, "pages/items.html", context | {"is_unreadable": True})
    by = request.GET.get("by", "")
    shown = [selectors.run_for_team(submission)]
    values = item_texts([submission], shown, by=by)
    names = [name for name, _label in values.metrics]
    sent = dict.fromkeys(item for item in (*values.order, *answers) if item in answers)
    page = page_of(request, list(sent), ITEMS)
    context |= {
        "page": page,
        "metrics": values.metrics,
        "closed_text": closed_text(phase, shown, values),
        "sorted_by": (by if by in names else names[0]) if values.order and names else "",
        "items": [
            (item, answers.question_of(item), answers[item], [(label, text) for label, (text,) in values.of(item)])
            for item in page
        ],
        "shows_questions": any(map(answers.question_of, page)),
    }
    return render(request, "pages/items.html", context)
