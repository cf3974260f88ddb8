"""기록 확인: the public hash chain of a competition, the receipts of its teams, and the script that checks both."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import chain as chained
from pathlib import Path
from typing import Any, BinaryIO, Final

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import render
from django.utils.cache import get_conditional_response
from django.utils.safestring import SafeString
from django.views.decorators.http import require_safe

from malpan.competitions.errors import CompetitionNotFound
from malpan.competitions.models import Phase, Track
from malpan.competitions.selectors import get_competition
from malpan.core.downloads import file_answer
from malpan.core.limits import count, network_of, say_limits
from malpan.leaderboard.openings import PublicChain, read_chain
from malpan.submissions.errors import ChainBusy
from malpan.submissions.integrity import receipts
from malpan.submissions.models import ChainEntry
from malpan.submissions.selectors import submission_for
from malpan.web.fragments import remembered
from malpan.web.kept_files import KeptFiles
from malpan.web.pages.context import MemberRequest, address, may_visit, members_only, page_context, page_of

PAGE_SIZE: Final = 50
FORMAT: Final = "malpan-chain@2"
SCRIPT: Final = Path(__file__).parents[1] / "static" / "web" / "verify_chain.py"
CHAINS: Final = KeptFiles(4)  # of 50,000 submissions each has 60 MB


@require_safe
def chain_page(request: HttpRequest, slug: str) -> HttpResponse:
    """The entries, newest first, with the scores that are on a public board."""
    page = page_context(request, slug)
    context = page.context("board")
    context["has_stages"] = any(tab.name == "stages" for tab in context["tabs"])
    context |= read_chain(page.competition, partial(_table, request))
    return render(request, "pages/chain.html", context)


@dataclass(frozen=True, slots=True)
class ChainRow:
    """An entry as the page shows it. ``phase`` is the one that its payload names, if there still is one, ``track`` that
    of its submission, if it has one.
    """

    entry: ChainEntry
    opening: Mapping[str, Any] | None
    phase: Phase | None
    track: Track | None

    @property
    def content(self) -> tuple[Any, ...]:
        """All that is shown of it."""
        entry = self.entry
        return (
            *(entry.number, entry.kind, entry.payload, entry.sha256, entry.created_at, self.opening),
            *(self.phase and (self.phase.title, self.phase.track.title),),
            *(self.track and (self.track.score_scale, self.track.score_decimals),),
        )


def _table(request: HttpRequest, public: PublicChain) -> dict[str, Any]:
    """The page of the entries that is asked for. Nothing of it is read again until something on it may differ."""
    page = page_of(request, range(public.last.number if public.last else 0, 0, -1), PAGE_SIZE)
    tracks = [(phase.track.score_scale, phase.track.score_decimals) for phase in public.phases]
    names = [(phase.slug, phase.title, phase.track.slug, phase.track.title) for phase in public.phases]
    content = (public.state, page.number, names, tracks)
    rows = remembered("pages/chain_table.html", content, lambda: {"rows": _rows(public, page.object_list)})
    return {"page": page, "last": public.last, "rows_html": rows}


def _rows(public: PublicChain, numbers: Any) -> list[SafeString]:
    entries = public.entries(numbers)
    opened = public.openings(entries)
    named = {(phase.track.slug, phase.slug): phase for phase in public.phases}
    tracks = {phase.pk: phase.track for phase in public.phases}
    rows = []
    for entry in entries:
        phase = named.get((entry.payload.get("track"), entry.payload.get("phase")))
        track = tracks.get(entry.submission.phase_id) if entry.submission else None
        row = ChainRow(entry, opened.get(entry.number), phase, track)
        rows.append(remembered("pages/chain_row.html", row.content, partial(dict, row=row), kind="lines"))
    return rows


@require_safe
def chain_json(request: HttpRequest, slug: str) -> HttpResponseBase:
    """The whole chain, one entry for each line, as ``verify_chain.py`` reads it. Raises ``TooManyRequests``."""
    competition = get_competition(slug, include_unpublished=True)
    if not may_visit(request.user, competition):
        raise CompetitionNotFound
    state = read_chain(competition, lambda public: public.state)
    etag = f'"{state}"'
    if (unchanged := get_conditional_response(request, etag=etag)) is not None:
        unchanged["ETag"] = etag
        return unchanged
    count(request, "chain", settings.CHAIN_DOWNLOADS_PER_ADDRESS, network_of(request))
    file = CHAINS.get(state)
    if file is None:
        with CHAINS.one_at_a_time() as is_mine:
            if not is_mine:
                raise ChainBusy
            state, file = read_chain(competition, _file)
    answer = file_answer(request, file, name=f"{competition.slug}-chain.json", sha256=state)
    answer["Content-Type"] = "application/json"
    return say_limits(request, answer)


def _file(public: PublicChain) -> tuple[str, BinaryIO]:
    """The state of the chain, and its file."""
    return public.state, CHAINS.get(public.state) or CHAINS.keep(public.state, _parts(public))


def _parts(public: PublicChain) -> Iterator[str]:
    head = json.dumps({"format": FORMAT, "competition": public.competition.slug}, ensure_ascii=False)
    yield head[:-1] + ', "entries": ['
    for separator, line in zip(chained(["\n"], iter(lambda: ",\n", "")), public.lines(), strict=False):
        yield separator + line
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
    context: dict[str, Any] = page_context(request, track.competition.slug).context("submissions", track)
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
