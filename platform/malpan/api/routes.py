"""The API: what a participant's script needs to submit a file and follow it to its score."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.core.exceptions import SuspiciousOperation
from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest, UnreadablePostError
from django.http.multipartparser import MultiPartParserError
from django.urls import reverse

from malpan.accounts.models import User
from malpan.accounts.services import note_token_use
from malpan.api import schemas as shown
from malpan.api.errors import ApiRequestInvalid
from malpan.api.http import Json, endpoint, require_token, token_of
from malpan.competitions.errors import PhaseNotFound
from malpan.competitions.models import Competition, Phase
from malpan.competitions.selectors import get_competition, get_track, phase_to_show, published_competitions, tracks_of
from malpan.competitions.terms import is_accepted
from malpan.core import uploads
from malpan.core.errors import AddressNotFound
from malpan.leaderboard.boards import PAGE_ROWS, View
from malpan.leaderboard.published import past_board, published_board, snapshot_number
from malpan.leaderboard.selectors import board
from malpan.submissions.checking import refuse_if_busy
from malpan.submissions.errors import UploadTooLarge
from malpan.submissions.evaluation.eta import Forecast
from malpan.submissions.intake import check_only, submit
from malpan.submissions.quota import services as quota
from malpan.submissions.selectors import run_for, submission_for, team_history
from malpan.teams.errors import NotTeamMember
from malpan.teams.models import Team
from malpan.teams.selectors import team_of


@endpoint("GET")
def competition_list(request: HttpRequest) -> Json:
    """The published competitions, by state."""
    found = published_competitions()
    return Json(
        {
            state: [shown.competition(each) for each in getattr(found, state)]
            for state in ("running", "upcoming", "past")
        }
    )


@endpoint("GET")
def competition_detail(request: HttpRequest, slug: str) -> Json:
    """One competition with its tracks and the phase of each that counts now."""
    found = get_competition(slug)
    return Json(shown.competition(found, tracks_of(found)))


@endpoint("GET")
def board_detail(request: HttpRequest, slug: str, track: str) -> Json:
    """The public board of the track's phase and, once published, its final board; a token marks the caller's row.

    A page has a hundred rows: ``next`` is the address of the page after ``?page=``, ``null`` on the last.
    ``?snapshot=`` is the number of an earlier publication of the final board, ``?past=`` that of a public board from
    before what ranks was changed, whose rows ``rows`` then are, ``?phase=`` the slug of another phase.
    """
    token = token_of(request)
    competition, phase = _find(slug, track, request.GET.get("phase"))
    number, kept = (snapshot_number(request.GET.get(name)) for name in ("snapshot", "past"))
    own_team = team_of(token.user, competition) if token else None
    view = View.of_page(request.GET.get("page", ""))
    found = board(phase, viewer_team=own_team, view=view)
    final = published_board(phase, viewer_team=own_team, view=view, number=number)
    past = None if kept is None else past_board(phase, kept, viewer_team=own_team, view=view)
    last = max(each.row_count for each in (past or found, final) if each)
    after = view.offset // PAGE_ROWS + 2
    query = request.GET.copy()
    query["page"] = str(after)
    address = f"{request.build_absolute_uri(request.path)}?{query.urlencode()}"
    return Json({**shown.board(found, final, past), "next": address if view.offset + PAGE_ROWS < last else None})


@endpoint("GET", "POST")
def submissions(request: HttpRequest, slug: str, track: str) -> Json:
    """GET: the team's history and what is left. POST ``file`` (and ``memo``) as multipart/form-data: submit.

    A client that may have to try again sends an ``Idempotency-Key``: a key used before is answered 409 with the
    submission it became, or 422 if the file is another one, and nothing is charged.
    """
    token = require_token(request)
    competition, phase = _find(slug, track)
    team = _require_team(token.user, competition)
    if request.method == "GET":
        forecast = Forecast()
        return Json(
            {
                "needs_terms": not is_accepted(token.user, competition),  # on the site, before the next file
                "quota": shown.quota(quota.status(phase=phase, team=team)),
                "history": [shown.history_entry(entry, forecast) for entry in team_history(team, phase)],
            }
        )
    refuse_if_busy(uploads.body_size(request))
    upload, memo = _upload(request)
    note_token_use(api_token=token)
    submission = submit(
        phase=phase,
        team=team,
        user=token.user,
        file_name=upload.name or "",
        upload=upload,
        memo=memo,
        upload_key=request.headers.get("Idempotency-Key", ""),
        key_is_for_one_file=True,
        address=request.META.get("REMOTE_ADDR", ""),
    )
    address = reverse("api-submission", args=[submission.public_id])
    return Json(shown.submission(submission), status=201, headers={"Location": address})


@endpoint("POST")
def check(request: HttpRequest, slug: str, track: str) -> Json:
    """Check ``file`` as a submission would be, and keep nothing of it: 200 for a sound file, 422 with every error."""
    token = require_token(request)
    competition, phase = _find(slug, track)
    team = _require_team(token.user, competition)
    refuse_if_busy(uploads.body_size(request))
    upload, _memo = _upload(request)
    note_token_use(api_token=token)
    found = check_only(
        phase=phase,
        team=team,
        user=token.user,
        file_name=upload.name or "",
        upload=upload,
        address=request.META.get("REMOTE_ADDR", ""),
    )
    return Json(shown.dry_run(found))


@endpoint("GET")
def submission_detail(request: HttpRequest, public_id: uuid.UUID) -> Json:
    """One submission of the caller's team, or of a competition the caller runs, with the state of its scoring."""
    user = require_token(request).user
    found = submission_for(user, public_id)
    return Json(shown.submission(found, run_for(user, found)))


@endpoint("GET", "POST", "PUT", "PATCH", "DELETE")
def unknown_address(request: HttpRequest, path: str = "") -> Json:
    """Everything else under ``/api/``."""
    raise AddressNotFound


def _find(slug: str, track_slug: str, phase_slug: str | None = None) -> tuple[Competition, Phase]:
    """The competition and a phase of its track: the one that counts now, or the one with ``phase_slug``. Raises
    ``PhaseNotFound``.
    """
    competition = get_competition(slug)
    track = get_track(competition, track_slug)
    named = next((each for each in track.phases.all() if each.slug == phase_slug), None)
    phase = phase_to_show(track) if phase_slug is None else named
    if phase is None:
        raise PhaseNotFound(known=", ".join(each.slug for each in track.phases.all()) or "–")
    return competition, phase


def _require_team(user: User, competition: Competition) -> Team:
    team = team_of(user, competition)
    if team is None:
        raise NotTeamMember
    return team


def _upload(request: HttpRequest) -> tuple[UploadedFile, str]:
    """The file and the memo of the form. A body too large is refused before a byte of it is read."""
    limit = settings.UPLOAD_MAX_BYTES
    size = uploads.body_size(request)
    if size > limit + uploads.FORM_BYTES:
        raise UploadTooLarge(size_bytes=size, limit_bytes=limit)
    try:
        upload, memo = request.FILES.get("file"), request.POST.get("memo", "")
    except (MultiPartParserError, SuspiciousOperation, UnreadablePostError):
        raise ApiRequestInvalid(field="multipart/form-data") from None
    if uploads.was_too_large(request):
        raise UploadTooLarge(size_bytes=size, limit_bytes=limit)
    if upload is None:
        raise ApiRequestInvalid(field="file")
    return upload, memo
