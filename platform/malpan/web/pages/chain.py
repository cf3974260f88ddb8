"""기록 확인: the public hash chain of a competition, the receipts of its teams, and the script that checks both."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Final

from django.http import HttpRequest, HttpResponse, JsonResponse, StreamingHttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from malpan.competitions.models import Competition, Phase
from malpan.leaderboard.openings import PublicOpenings
from malpan.stages.selectors import shown_stages
from malpan.submissions.integrity import receipts
from malpan.submissions.models import ChainEntry
from malpan.submissions.selectors import submission_for
from malpan.web.pages.context import MemberRequest, address, members_only, page_context, page_of

PAGE_SIZE: Final = 50
ENTRIES_AT_ONCE: Final = 500
FORMAT: Final = "malpan-chain@2"
SCRIPT: Final = Path(__file__).parents[1] / "static" / "web" / "verify_chain.py"


@require_safe
def chain_page(request: HttpRequest, slug: str) -> HttpResponse:
    """The entries, newest first, with the scores that are on a public board."""
    page = page_context(request, slug)
    entries = ChainEntry.objects.filter(competition=page.competition).order_by("-number")
    entries = entries.select_related("submission__phase__track")
    listed = page_of(request, entries, PAGE_SIZE)
    opened = PublicOpenings().of(list(listed))
    context = page.context("board") | {
        "page": listed,
        "rows": _rows(page.competition, listed, opened),
        "last": entries.first(),
        "has_stages": shown_stages(page.competition).exists(),
    }
    return render(request, "pages/chain.html", context)


@dataclass(frozen=True, slots=True)
class ChainRow:
    """An entry as the page shows it. ``phase`` is the one that its payload names, if there still is one."""

    entry: ChainEntry
    opening: Mapping[str, Any] | None
    phase: Phase | None


def _rows(
    competition: Competition, entries: Iterable[ChainEntry], opened: Mapping[int, Mapping[str, Any]]
) -> list[ChainRow]:
    phases = Phase.objects.filter(track__competition=competition).select_related("track")
    named = {(phase.track.slug, phase.slug): phase for phase in phases}
    return [
        ChainRow(entry, opened.get(entry.number), named.get((entry.payload.get("track"), entry.payload.get("phase"))))
        for entry in entries
    ]


@require_safe
def chain_json(request: HttpRequest, slug: str) -> StreamingHttpResponse:
    """The whole chain, one entry for each line, as ``verify_chain.py`` reads it."""
    competition = page_context(request, slug).competition
    response = StreamingHttpResponse(_lines(competition), content_type="application/json")
    response.headers["Content-Disposition"] = f'attachment; filename="{competition.slug}-chain.json"'
    return response


def _lines(competition: Competition) -> Iterator[str]:
    head = {"format": FORMAT, "competition": competition.slug, "made_at": timezone.localtime().isoformat()}
    public = PublicOpenings()
    yield json.dumps(head, ensure_ascii=False)[:-1] + ', "entries": ['
    separator = "\n"
    entries = ChainEntry.objects.filter(competition=competition).order_by("number").iterator(chunk_size=ENTRIES_AT_ONCE)
    while chunk := list(islice(entries, ENTRIES_AT_ONCE)):
        opened = public.of(chunk)
        for entry in chunk:
            line = receipts.entry_as_dict(entry, opened.get(entry.number))
            yield separator + json.dumps(line, ensure_ascii=False)
            separator = ",\n"
    yield "\n]}\n"


@require_safe
def script(request: HttpRequest) -> HttpResponse:
    """The script that verifies a chain, a board and a receipt, as text to read first."""
    return HttpResponse(SCRIPT.read_bytes(), content_type="text/plain; charset=utf-8")


@require_safe
@members_only
def receipt_page(request: MemberRequest, public_id: uuid.UUID) -> HttpResponse:
    """The receipt of a submission of the reader's team, to print. Raises ``SubmissionNotFound``."""
    submission = submission_for(request.user, public_id)
    track = submission.phase.track
    context: dict[str, Any] = page_context(request, track.competition.slug).context("submissions")
    context |= {
        "track": track,
        "phase": submission.phase,
        "submission": submission,
        "receipt": receipts.receipt_of(submission),
        "chain_href": address("chain", track.competition),
    }
    return render(request, "pages/chain_receipt.html", context)


@require_safe
@members_only
def receipt_json(request: MemberRequest, public_id: uuid.UUID) -> JsonResponse:
    """The receipt as a file, as ``verify_chain.py --receipt`` reads it. Raises ``SubmissionNotFound``."""
    submission = submission_for(request.user, public_id)
    body = receipts.receipt_as_dict(receipts.receipt_of(submission), submission.phase.track.competition)
    response = JsonResponse(body, json_dumps_params={"ensure_ascii": False, "indent": 2})
    response.headers["Content-Disposition"] = f'attachment; filename="receipt-{submission.public_id}.json"'
    return response
