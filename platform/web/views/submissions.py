"""내 제출: the team's history, one submission in full, and the live fragment both poll."""

from __future__ import annotations

import json
import uuid
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe
from django_htmx.http import HttpResponseStopPolling

from competitions.models import Phase, Track
from core.messages import text_of_code
from scoring.recipes import Column
from submissions import selectors
from submissions.models import ScoringRun, Submission
from submissions.quota import status
from web import labels
from web.views.shared import MemberRequest, address, members_only, visit

UNFINISHED = frozenset({ScoringRun.State.QUEUED, ScoringRun.State.RUNNING})


@dataclass(frozen=True, slots=True)
class Live:
    """The state of one submission as the status fragment shows it."""

    submission: Submission
    run: ScoringRun | None
    track: Track
    is_unfinished: bool
    waiting_before: int | None
    stage: str
    fault: str

    @property
    def state_mark(self) -> str:
        """Changes when there is something to announce: another state, another place in the queue."""
        return f"{self.run.pk}:{self.run.state}:{self.waiting_before}" if self.run else "none"

    @property
    def mark(self) -> str:
        """Changes whenever what the fragment shows changes."""
        return f"{self.state_mark}/{self.stage}/{self.run.progress:.2f}" if self.run else "none"


def live_of(submission: Submission, track: Track, run: ScoringRun | None) -> Live:
    is_unfinished = run is not None and run.state in UNFINISHED
    return Live(
        submission=submission,
        run=run,
        track=track,
        is_unfinished=is_unfinished,
        waiting_before=selectors.queue_position(run) if run else None,
        stage=labels.stage_label(run) if run and run.stage else "",
        fault=text_of_code(run.error_code) if run and run.state == ScoringRun.State.FAILED else "",
    )


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the history: a submission with its live state, or a rejected file with its errors."""

    created_at: datetime
    live: Live | None
    rejection: Any
    errors: list[dict[str, Any]]


@require_safe
@members_only
def history_page(request: MemberRequest, slug: str) -> HttpResponse:
    seen = visit(request, slug)
    if seen.team is None:
        return redirect("team", slug)
    rows = _rows(seen.team, seen.phase) if seen.phase else []
    context = seen.context("submissions") | {
        "rows": rows,
        "quota": status(phase=seen.phase, team=seen.team) if seen.phase else None,
        "is_open": bool(seen.phase and seen.phase.is_open()),
        "is_waiting": any(row.live and row.live.is_unfinished for row in rows),
    }
    return render(request, "submissions/history.html", context)


def _rows(team: Any, phase: Phase) -> list[Row]:
    rows = []
    for entry in selectors.team_history(team, phase):
        live = live_of(entry.submission, phase.track, entry.run) if entry.submission else None
        errors = selectors.rejection_errors(entry.rejection) if entry.rejection else ()
        rows.append(Row(entry.created_at, live, entry.rejection, labels.located_errors(errors)))
    return rows


@require_safe
@members_only
def detail_page(request: MemberRequest, public_id: uuid.UUID) -> HttpResponse:
    submission = selectors.submission_for(request.user, public_id)
    track = submission.phase.track
    context = visit(request, track.competition.slug).context("submissions")
    context |= {"track": track, "phase": submission.phase}
    context |= _result(live_of(submission, track, selectors.run_to_show(submission)))
    context["file_format"] = labels.file_format(submission)
    context["history_href"] = address("submissions", track.competition, track if len(context["tracks"]) > 1 else None)
    return render(request, "submissions/detail.html", context)


@dataclass(frozen=True, slots=True)
class Score:
    """One score as the detail page lists it."""

    label: str
    text: str
    column: Column


def _result(live: Live) -> dict[str, Any]:
    """What the detail page shows of a run: its live state, scores, coverage, warnings and signature."""
    run = live.run
    is_finished = run is not None and run.state == ScoringRun.State.FINISHED
    return {
        "live": live,
        "scores": _scores(run, live.track) if run and is_finished else [],
        "progress": labels.progress_of(run, live.track) if run and is_finished else [],
        "coverage": labels.coverage_of(run.coverage) if run and is_finished else [],
        "warnings": labels.warnings_of(run) if run and is_finished else [],
        "signature": json.dumps(run.signature, ensure_ascii=False, indent=2) if run and run.signature else "",
    }


def _scores(run: ScoringRun, track: Track) -> list[Score]:
    """The scores of ``run`` in the recipe's order; an optional one only where it was computed."""
    return [
        Score(column.label(labels.language()), labels.score_text(column, run.scores.get(column.key), track), column)
        for column in labels.columns_of(run)
        if column.group == "main" or column.key in run.scores
    ]


@require_safe
def status_fragment(request: HttpRequest, public_id: uuid.UUID) -> HttpResponse:
    """What htmx polls. 204 while nothing changed; 286, which ends the polling, once the run is over."""
    if not request.user.is_authenticated:
        return HttpResponseStopPolling(_("로그인이 끊겼습니다. 다시 로그인한 뒤 페이지를 새로 열어 주십시오."))
    submission = selectors.submission_for(request.user, public_id)
    live = live_of(submission, submission.phase.track, selectors.run_to_show(submission))
    seen_mark = request.GET.get("mark", "")
    if live.is_unfinished and live.mark == seen_mark:
        return HttpResponse(status=204)
    is_full = request.GET.get("view") == "full"
    context = (_result(live) if is_full else {"live": live}) | {
        "is_swap": True,
        "state_changed": seen_mark.split("/", 1)[0] != live.state_mark,
        "track": live.track,
    }
    template = "submissions/_result.html" if is_full else "submissions/_state.html"
    response = render(request, template, context)
    if not live.is_unfinished:
        response.status_code = HttpResponseStopPolling.status_code
    return response
