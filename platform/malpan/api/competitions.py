"""Competitions, their tracks, files for download and terms."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse, HttpResponseRedirect
from django.utils.cache import add_never_cache_headers
from django.utils.translation import gettext_noop as _

from malpan.accounts.models import Scope
from malpan.api.frame import ANYBODY, ApiRequest, Operations
from malpan.api.reading import next_address, visible_competition
from malpan.api.schemas import competitions as shown
from malpan.api.schemas.awards import GivenAward, given_award
from malpan.api.schemas.kinds import Body, PageNumber, PageSize
from malpan.competitions.errors import DataFileNotFound
from malpan.competitions.models import DataFile
from malpan.competitions.permissions import Permission, may
from malpan.competitions.selectors import get_track, published_competitions, tracks_of
from malpan.competitions.terms import accept_terms, acceptance_of
from malpan.core.downloads import file_answer
from malpan.core.language import in_language
from malpan.core.storage import StoredFile, open_private, public_address
from malpan.stages.awarded import listed_awards

operations = Operations(_("대회"))
FILE = {
    "responses": {
        200: {"content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}},
    }
}


RESUMABLE = {"responses": FILE["responses"] | {206: FILE["responses"][200]}}  # from where a download broke off


@operations.get(
    "/competitions/",
    "listCompetitions",
    _("공개된 대회 목록"),
    shown.CompetitionList,
    scope=ANYBODY,
    url_name="api-competitions",
    says=_("끝난 대회(past)는 최근 것부터 나누어 받으며, count는 그 수이고 next가 다음 쪽의 주소입니다."),
)
def competition_list(request: ApiRequest, page: PageNumber = 1, page_size: PageSize = 100) -> Any:
    found, start = published_competitions(), (page - 1) * page_size
    listed = {"running": found.running, "upcoming": found.upcoming, "past": found.past[start : start + page_size]}
    return {state: [shown.competition(each) for each in rows] for state, rows in listed.items()} | {
        "count": len(found.past),
        "next": next_address(request, page + 1) if start + page_size < len(found.past) else None,
    }


@operations.get(
    "/competitions/{slug:slug}/",
    "getCompetition",
    _("대회 하나와 그 트랙"),
    shown.CompetitionDetail,
    scope=ANYBODY,
    url_name="api-competition",
)
def competition_detail(request: ApiRequest, slug: str) -> Any:
    found = visible_competition(request.auth.user, slug)
    return shown.competition_detail(found, tracks_of(found))


@operations.get(
    "/competitions/{slug:slug}/tracks/{slug:track}/",
    "getTrack",
    _("트랙 하나: 점수, 단계, 내려받을 파일"),
    shown.TrackDetail,
    scope=ANYBODY,
)
def track_detail(request: ApiRequest, slug: str, track: str) -> Any:
    return shown.track_detail(get_track(visible_competition(request.auth.user, slug), track))


@operations.get(
    "/competitions/{slug:slug}/awards/",
    "listAwards",
    _("공개한 상과 상을 받은 팀"),
    list[GivenAward],
    scope=ANYBODY,
    says=_("주최자가 공개한 뒤에 차례대로 있습니다. number는 상장의 번호, track은 근거가 된 최종 결과의 트랙입니다."),
)
def awards(request: ApiRequest, slug: str) -> Any:
    found = visible_competition(request.auth.user, slug)
    return [given_award(each) for each in listed_awards([found])]


@operations.get(
    "/files/{int:pk}/",
    "getDataFile",
    _("공개 자료 내려받기"),
    None,
    status=200,
    scope=ANYBODY,
    also=(206, 302),
    says=_(
        "파일을 저장소에서 직접 받는 사이트에서는 302로 몇 분 동안 쓸 수 있는 주소를 알려 줍니다. 끊긴 내려받기는 "
        "Range: bytes=받은 크기-로 이어 받습니다."
    ),
    extra=RESUMABLE,
)
def data_file(request: ApiRequest, pk: int) -> Any:
    """Raises ``DataFileNotFound``, also where the competition is hidden from the caller."""
    file = DataFile.objects.filter(pk=pk).select_related("track__competition").first()
    if file is None:
        raise DataFileNotFound
    competition = file.track.competition
    if not competition.is_published and not may(request.auth.user, competition, Permission.VIEW):
        raise DataFileNotFound
    stored = StoredFile(file.file_sha256, file.file_size)
    if (address := public_address(stored, file.file_name)) is not None:
        answer: HttpResponse = HttpResponseRedirect(address)
        add_never_cache_headers(answer)  # the address is good for some minutes only
        return answer
    return file_answer(request, open_private(file.file_sha256), name=file.file_name, sha256=file.file_sha256)


class Acceptance(Body):
    version: int  # the one that was read


@operations.get("/competitions/{slug:slug}/terms/", "getTerms", _("참가 약관과 내 동의"), shown.Terms, scope=ANYBODY)
def terms(request: ApiRequest, slug: str) -> Any:
    competition = visible_competition(request.auth.user, slug)
    row = acceptance_of(request.auth.user, competition)
    return {
        "version": competition.terms_version,
        "text": in_language(competition.terms_ko, competition.terms_en),
        "accepted_at": row and row.accepted_at,
    }


@operations.post(
    "/competitions/{slug:slug}/terms/",
    "acceptTerms",
    _("참가 약관에 동의"),
    shown.Terms,
    scope=Scope.SUBMIT,
    says=_("읽은 약관의 판을 보냅니다. 그사이 약관이 바뀌었으면 409입니다."),
)
def accept(request: ApiRequest, slug: str, data: Acceptance) -> Any:
    competition = visible_competition(request.auth.user, slug)
    accept_terms(user=request.auth.person, competition=competition, version=data.version)
    return terms(request, slug)
