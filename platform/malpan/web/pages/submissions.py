"""내 제출: the team's history, its final selection, one submission in full, and the live fragment both poll."""

from __future__ import annotations

import json
import uuid
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe
from django_htmx.http import HttpResponseStopPolling

from malpan.accounts.models import User
from malpan.competitions.composites import components_of
from malpan.competitions.models import Phase, Track
from malpan.competitions.references import recipe_of
from malpan.core.errors import RequestError
from malpan.core.messages import text_of
from malpan.leaderboard.sureness.results import Ends, shown_intervals
from malpan.submissions import selectors
from malpan.submissions.errors import FinalsNotUsed
from malpan.submissions.evaluation.eta import Forecast
from malpan.submissions.finals import choose_finals
from malpan.submissions.models import ScoringRun, Submission
from malpan.submissions.quota import services as quota
from malpan.submissions.selectors import HistoryEntry
from malpan.submissions.visibility import ShownRun
from malpan.teams.errors import NotTeamMember
from malpan.teams.models import Team
from malpan.web.pages.context import MemberRequest, PageContext, address, members_only, page_context
from malpan.web.pages.submission_status import SubmissionStatus, status_of
from malpan.web.presenters import composites, scores, trend
from malpan.web.presenters.breakdown import breakdown_context
from malpan.web.presenters.own_best import own_best_of
from malpan.web.presenters.phase_rules import release_text
from malpan.web.presenters.position import Position, Spread, position_of
from malpan.web.presenters.quota_history import lines_of
from malpan.web.presenters.rescored import rescored_lines
from malpan.web.presenters.sureness import interval_of
from scoring.composite import Component
from scoring.recipes import Column
from scoring.recipes.targets import FINAL_SCORE


@dataclass(frozen=True, slots=True)
class Row:
    """A submission in the history with its live state; ``from_best``: how far its final score is from the best."""

    status: SubmissionStatus
    from_best: str = ""
    is_best: bool = False
    is_ticked: bool = False  # as a final submission


@dataclass(frozen=True, slots=True)
class RejectedRow:
    """A rejected file in the history with its errors."""

    rejection: Any
    errors: scores.ErrorTable


@require_safe
@members_only
def history_page(request: MemberRequest, slug: str) -> HttpResponse:
    page = page_context(request, slug)
    return redirect("team", slug) if page.team is None else _history(request, page, page.team)


def _history(
    request: MemberRequest,
    page: PageContext,
    team: Team,
    ticked: Collection[uuid.UUID] | None = None,
    status: int = 200,
) -> HttpResponse:
    """The history of ``team``. ``ticked``: the boxes of a choice that was refused, instead of the saved choice."""
    entries = selectors.team_history(team, page.phase) if page.phase else []
    rows = _rows(entries, page.phase, ticked) if page.phase else []
    context = page.context("submissions", page.track) | {
        "rows": rows,
        "rejections": _rejected(entries),
        "trend": trend.plot_of(entries, page.phase) if page.phase else None,
        "shows_best": any(row.from_best for row in rows),
        "quota": quota.status(phase=page.phase, team=team) if page.phase else None,
        "ledger": lines_of(phase=page.phase, team=team) if page.phase else [],
        "is_open": bool(page.phase and page.phase.is_open()),
        "is_waiting": any(row.status.is_unfinished for row in rows),
        "hides_scores": any(row.status.run and row.status.run.withheld == "board" for row in rows),
        "finals": _finals(page.phase, rows) if page.phase else None,
    }
    return render(request, "pages/submissions.html", context, status=status)


@dataclass(frozen=True, slots=True)
class Finals:
    """The final selection of a phase: how many may be chosen, how many are, whether it is still open."""

    limit: int
    chosen_count: int
    is_open: bool
    counting: str  # which submission counts


def _finals(phase: Phase, rows: list[Row]) -> Finals | None:
    if phase.finals_limit is None:
        return None
    chosen = sum(row.status.submission.is_final_choice for row in rows)
    counting = composites.final_counting_text(phase, components_of(phase.track), recipe_of(phase.track))
    return Finals(phase.finals_limit, chosen, not phase.is_over() and phase.final_published_at is None, counting)


@require_POST
@members_only
def finals_action(request: MemberRequest, slug: str) -> HttpResponse:
    """Choose the submissions that count for the final board, by ``chosen`` (their public ids)."""
    page = page_context(request, slug)
    phases = page.track.phases.all() if page.track else ()
    phase = next((row for row in phases if row.slug == request.POST.get("phase")), None)
    if page.team is None:
        raise NotTeamMember
    if phase is None:
        raise FinalsNotUsed
    ticked = _ids(request.POST.getlist("chosen"))
    try:
        chosen = [selectors.submission_for(request.user, wanted) for wanted in ticked]
        kept = choose_finals(team=page.team, phase=phase, submissions=chosen, actor=request.user)
    except RequestError as error:
        messages.error(request, text_of(error))
        return _history(request, replace(page, phase=phase), page.team, ticked, error.http_status)
    messages.success(request, _kept_text(len(kept), components_of(phase.track)))
    query = urlencode({"track": phase.track.slug, "phase": phase.slug})
    return redirect(f"{address('submissions', page.competition)}?{query}")


def _kept_text(count: int, components: Sequence[Component]) -> str:
    if not count and components:
        return _("최종 선택을 비웠습니다. 반영할 제출은 단계의 규칙대로 정해집니다.")
    if not count:
        return _("최종 선택을 비웠습니다. 공개 점수가 가장 높은 제출이 반영됩니다.")
    return _("최종 제출 %(count)d건을 저장했습니다.") % {"count": count}


def _ids(texts: list[str]) -> list[uuid.UUID]:
    """The public ids among ``texts``; other texts are left out."""
    found = []
    for text in texts:
        with suppress(ValueError):
            found.append(uuid.UUID(text))
    return found


def _rows(entries: Sequence[HistoryEntry], phase: Phase, ticked: Collection[uuid.UUID] | None) -> list[Row]:
    forecast, best = Forecast(), trend.best_of(entries, phase)
    rows = []
    for entry in entries:
        if entry.submission is not None:
            status = status_of(entry.submission, phase.track, entry.run, forecast)
            is_best = best is not None and entry.submission.pk == best.submission_id
            from_best = "" if best is None else trend.from_best(entry, best, phase.track)
            is_chosen = entry.submission.is_final_choice
            is_ticked = is_chosen if ticked is None else entry.submission.public_id in ticked
            rows.append(Row(status, from_best, is_best, is_ticked))
    return rows


def _rejected(entries: Sequence[HistoryEntry]) -> list[RejectedRow]:
    room = selectors.HISTORY_ERRORS_BYTES
    return [
        RejectedRow(entry.rejection, scores.located_errors(selectors.rejection_errors(entry.rejection, room=room)))
        for entry in entries
        if entry.rejection is not None
    ]


@require_safe
@members_only
def detail_page(request: MemberRequest, public_id: uuid.UUID) -> HttpResponse:
    submission = selectors.submission_for(request.user, public_id)
    track = submission.phase.track
    context = page_context(request, track.competition.slug).context("submissions", track)
    context |= {"track": track, "phase": submission.phase}
    context |= _result(request.user, status_of(submission, track, selectors.run_for(request.user, submission)))
    sees_all = selectors.sees_hidden(request.user, submission)
    selectors.prefetch_runs(submission)
    context["rescored"] = rescored_lines(submission, sees_all=sees_all)
    context["is_own"] = selectors.is_open_to_the_team(request.user, submission)
    context["comparable"] = _comparable(context["team"], submission)
    context["file_format"] = scores.file_format(submission)
    context["history_href"] = address("submissions", track.competition, track if len(context["tracks"]) > 1 else None)
    return render(request, "pages/submissions_one.html", context)


def _comparable(team: Team | None, submission: Submission) -> list[Submission]:
    """The other submissions of the reader's own team in the phase, newest first."""
    if team is None or team.pk != (submission.team.merged_into or submission.team).pk:
        return []
    return selectors.other_submissions(team, submission)


@dataclass(frozen=True, slots=True)
class Score:
    """One score as the detail page lists it, with its place among those of all teams where that is known."""

    label: str
    text: str
    column: Column
    interval: str = ""
    spread: Spread | None = None


def _result(user: User, status: SubmissionStatus) -> dict[str, Any]:
    """The context of a run on the detail page: its live state and, if the reader may see them, scores, where they
    stand, coverage, warnings and signature. A withheld score is not in ``status.run``.
    """
    run = status.run
    has_scores = run is not None and run.state == ScoringRun.State.FINISHED and not run.is_score_hidden
    shown = {
        "status": status,
        "is_score_hidden": run is not None and run.is_score_hidden,
        "warnings": scores.warnings_of(status.submission, run),
    }
    if run is None or not has_scores:
        return shown
    submission, track = status.submission, status.track
    own = selectors.own_scores_beside(user, submission)
    own_best = own_best_of(submission, run, own)
    compared = None if own_best is None else own_best.other
    position = position_of(submission, run, composites.score_columns(run, track, run.scores), own, compared)
    is_of_private = position is not None and position.is_final and run.hidden is not None
    own_run = selectors.run_to_show(submission)
    intervals = shown_intervals(run)
    public = _scores(run, run.scores, track, None if is_of_private else position, intervals.get(False, {}), run.step)
    private = _scores(run, run.hidden.scores, track, position, intervals.get(True, {})) if run.hidden else []
    return (
        shown
        | breakdown_context(own_run, run, track)
        | {
            "position": position,
            "interval": next((each.interval for each in private or public if each.column.key == FINAL_SCORE), ""),
            "own_best": own_best,
            "best_is_on_board": bool(position and compared and position.counted == str(compared.public_id)),
            "public_field": position is not None and bool(position.spreads) and not is_of_private,
            "board_href": _board_href(submission.phase),
            "team_composite": composites.composite_now(submission) if status.raw else None,
            "scores": public,
            "demo_scores": ", ".join(each.label for each in public if scores.is_demo(run, each.column.key)),
            "private_scores": private,
            "private_title": scores.private_items_label(submission.phase),
            "release": "" if run.is_exact else release_text(submission.phase),
            "progress": scores.progress_of(run, track),
            "coverage": scores.coverage_of(
                run.coverage, scores.public_items_label(submission) if run.covers == "public" else ""
            ),
            "signature": json.dumps(run.signature, ensure_ascii=False, indent=2) if run.signature else "",
        }
    )


def _board_href(phase: Phase) -> str:
    query = urlencode({"track": phase.track.slug, "phase": phase.slug})
    return f"{address('board', phase.track.competition)}?{query}"


def _scores(
    run: ShownRun,
    values: Mapping[str, float],
    track: Track,
    position: Position | None,
    intervals: Ends,
    step: Decimal | None = None,
) -> list[Score]:
    """``values`` of ``run`` in the recipe's order; an optional one only if it was computed. ``position``, ``intervals``
    and the ``step`` to which they are rounded are theirs.
    """
    return [
        Score(
            label=column.label(scores.language()),
            text=scores.score_text(column, values.get(column.key), track, step),
            column=column,
            interval=interval_of(intervals, column, track),
            spread=position.spreads.get(column.key) if position else None,
        )
        for column in composites.score_columns(run, track, values)
        if column.group == "main" or column.key in values
    ]


@require_safe
def status_fragment(request: HttpRequest, public_id: uuid.UUID) -> HttpResponse:
    """What htmx polls. 204 while nothing changed; 286, which ends the polling, when the run is over."""
    if not request.user.is_authenticated:
        return HttpResponseStopPolling(_("로그인이 끊겼습니다. 다시 로그인한 뒤 페이지를 새로 열어 주십시오."))
    submission = selectors.submission_for(request.user, public_id)
    status = status_of(submission, submission.phase.track, selectors.run_for(request.user, submission))
    seen_mark = request.GET.get("mark", "")
    if status.is_unfinished and status.mark == seen_mark:
        return HttpResponse(status=204)
    is_full = request.GET.get("view") == "full"
    context = (_result(request.user, status) if is_full else {"status": status}) | {
        "is_swap": True,
        "state_changed": seen_mark.split("/", 1)[0] != status.state_mark,
        "track": status.track,
    }
    template = "pages/submissions_result.html" if is_full else "pages/submissions_state.html"
    response = render(request, template, context)
    if not status.is_unfinished:
        response.status_code = HttpResponseStopPolling.status_code
    return response
