"""What operations read of a request: the competition and its parts, the caller's team, files, pages of lists."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final
from urllib.parse import unquote

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.core.exceptions import SuspiciousOperation
from django.core.files.uploadedfile import UploadedFile
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, UnreadablePostError
from django.http.multipartparser import MultiPartParserError
from django.utils.translation import gettext_noop as _

from malpan.accounts.models import User
from malpan.api.errors import ApiRequestInvalid
from malpan.competitions.errors import CompetitionNotFound, PhaseNotFound
from malpan.competitions.models import Competition, Phase, Track
from malpan.competitions.permissions import Permission, may
from malpan.competitions.selectors import get_competition, get_track, phase_to_show
from malpan.core import uploads
from malpan.submissions.errors import UploadTooLarge
from malpan.teams.errors import NotTeamMember
from malpan.teams.models import Team
from malpan.teams.selectors import team_of

FORM: Final = "multipart/form-data"
LINKED: Final = _("다음 쪽이 있으면 Link 헤더(rel=next)가 그 주소입니다.")
# what a body that is the file itself may say it is; the form of its content is recognised, whatever it says
FILE_TYPES: Final = (
    *("application/json", "application/x-ndjson", "application/jsonl", "application/octet-stream"),
    *("text/csv", "text/tab-separated-values", "text/plain"),
)
FILE_BODY: Final = {
    "requestBody": {
        "required": True,
        "content": {
            FORM: {
                "schema": {
                    "type": "object",
                    "required": ["file"],
                    "properties": {
                        "file": {"type": "string", "format": "binary"},
                        "memo": {"type": "string", "maxLength": 200},
                    },
                }
            },
            **{kind: {"schema": {}} for kind in FILE_TYPES},
        },
    }
}


def visible_competition(user: User | AnonymousUser, slug: str) -> Competition:
    """The competition at ``slug``: for people with a role in it also while it is hidden. Raises
    ``CompetitionNotFound``.
    """
    found = get_competition(slug, include_unpublished=True)
    if not found.is_published and not may(user, found, Permission.VIEW):
        raise CompetitionNotFound
    return found


def visible_phase(user: User | AnonymousUser, slug: str, track: str, phase: str | None = None) -> Phase:
    """The phase of a track that counts now, or the one called ``phase``. Raises ``PhaseNotFound``."""
    return phase_of_track(get_track(visible_competition(user, slug), track), phase)


def phase_of_track(track: Track, slug: str | None) -> Phase:
    named = next((each for each in track.phases.all() if each.slug == slug), None)
    phase = phase_to_show(track) if slug is None else named
    if phase is None:
        raise PhaseNotFound(known=", ".join(each.slug for each in track.phases.all()) or "–")
    return phase


def require_team(user: User, competition: Competition) -> Team:
    """The caller's team. Raises ``NotTeamMember``."""
    team = team_of(user, competition)
    if team is None:
        raise NotTeamMember
    return team


def uploaded(request: HttpRequest) -> tuple[UploadedFile | bytes, str, str]:
    """The file with its name and the memo: of a form, or the body itself with ``?file_name=`` and ``?memo=``.

    A body too large is refused before a byte of it is read. Raises ``UploadTooLarge``, ``ApiRequestInvalid`` and
    ``SeveralFiles``.
    """
    limit, size = settings.UPLOAD_MAX_BYTES, uploads.body_size(request)
    if size > limit + uploads.FORM_BYTES:
        raise UploadTooLarge(size_bytes=size, limit_bytes=limit)
    if request.content_type in FILE_TYPES:
        return _body(request, limit), unquote(request.GET.get("file_name", "")), request.GET.get("memo", "")
    form = uploaded_form(request)
    upload = form.file("file")
    return upload, upload.name or "", form.text("memo")


class Form:
    """What a form sent."""

    def __init__(self, request: HttpRequest) -> None:
        self._request = request

    def file(self, name: str) -> UploadedFile:
        """Raises ``ApiRequestInvalid`` where it is missing, ``SeveralFiles`` where it is not alone."""
        found = self.optional_file(name)
        if found is None:
            raise ApiRequestInvalid(field=name)
        return found

    def optional_file(self, name: str) -> UploadedFile | None:
        return uploads.one_file(self._request, name)

    def secret(self, name: str, limit: int) -> str:
        """As it was sent, with its spaces."""
        return self._request.POST.get(name, "")[:limit]

    def text(self, name: str, limit: int = 300) -> str:
        """Without what PostgreSQL does not keep; empty where it is missing."""
        return self._request.POST.get(name, "").replace("\x00", "")[:limit].strip()


def uploaded_form(request: HttpRequest, limit: int | None = None) -> Form:
    """The form of the request, whose files have ``limit`` bytes at most, by default ``UPLOAD_MAX_BYTES``. Raises
    ``UploadTooLarge`` and ``ApiRequestInvalid``.
    """
    limit, size = limit or settings.UPLOAD_MAX_BYTES, uploads.body_size(request)
    if size > limit + uploads.FORM_BYTES:
        raise UploadTooLarge(size_bytes=size, limit_bytes=limit)
    try:
        _files, _texts = request.FILES, request.POST
    except (MultiPartParserError, SuspiciousOperation, UnreadablePostError):
        raise ApiRequestInvalid(field=FORM) from None
    if uploads.was_too_large(request):
        raise UploadTooLarge(size_bytes=size, limit_bytes=limit)
    return Form(request)


def _body(request: HttpRequest, limit: int) -> bytes:
    try:
        data = request.read(limit + 1)
    except UnreadablePostError:
        raise ApiRequestInvalid(field="file") from None
    if len(data) > limit:
        raise UploadTooLarge(size_bytes=uploads.body_size(request), limit_bytes=limit)
    if not data:
        raise ApiRequestInvalid(field="file")
    return data


def paged(
    request: HttpRequest,
    rows: QuerySet[Any] | Sequence[Any],
    page: int,
    size: int,
    shown: Callable[[Any], Any],
) -> dict[str, Any]:
    """A page of ``rows`` (``schemas.kinds.Page``)."""
    count = rows.count() if isinstance(rows, QuerySet) else len(rows)
    start = (page - 1) * size
    items = [shown(row) for row in rows[start : start + size]]
    return {"count": count, "next": next_address(request, page + 1) if start + size < count else None, "items": items}


def page_alone(
    request: HttpRequest,
    response: HttpResponse,
    rows: QuerySet[Any] | Sequence[Any],
    page: int,
    size: int,
    shown: Callable[[Any], Any],
) -> list[Any]:
    """A page of ``rows`` where the answer is the list itself: ``Link`` (RFC 8288) names the next one."""
    found = paged(request, rows, page, size, shown)
    if found["next"]:
        response["Link"] = f'<{found["next"]}>; rel="next"'
    items: list[Any] = found["items"]
    return items


def next_address(request: HttpRequest, page: int) -> str:
    """The address of the request with another ``?page=``."""
    query = request.GET.copy()
    query["page"] = str(page)
    return f"{request.build_absolute_uri(request.path)}?{query.urlencode()}"
