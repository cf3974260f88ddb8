"""Submitting a file and following it to its score; what is left of the limits; final choice and withdrawal."""

from __future__ import annotations

import uuid
from typing import Any

from django.http import HttpResponse
from django.urls import reverse
from django.utils.translation import gettext_noop as _
from pydantic import Field

from malpan.accounts.models import Scope
from malpan.api.competitions import RESUMABLE
from malpan.api.frame import ApiRequest, Operations
from malpan.api.limits import count_upload
from malpan.api.reading import FILE_BODY, next_address, require_team, uploaded, visible_phase
from malpan.api.schemas import submissions as shown
from malpan.api.schemas.kinds import Body, PageNumber, PageSize
from malpan.competitions.models import Phase
from malpan.competitions.terms import is_accepted
from malpan.core import uploads
from malpan.core.downloads import file_answer
from malpan.core.limits import network_of
from malpan.core.storage import open_private
from malpan.submissions.checking import refuse_if_busy
from malpan.submissions.evaluation.eta import Forecast
from malpan.submissions.finals import choose_finals
from malpan.submissions.intake import KEY_LENGTH, check_only, submit
from malpan.submissions.quota import services as quota
from malpan.submissions.selectors import run_for, submission_for, team_history
from malpan.submissions.withdrawal import withdraw
from malpan.teams.models import Team
from malpan.teams.selectors import require_member

operations = Operations(_("제출"))
TRACK = "/competitions/{slug:slug}/tracks/{slug:track}"
ONE = "/submissions/{uuid:public_id}"
KEY = {
    "parameters": [
        {
            "in": "header",
            "name": "Idempotency-Key",
            "required": False,
            "schema": {"type": "string", "maxLength": KEY_LENGTH},
            "description": _("다시 보낼 수도 있는 요청의 이름. 같은 이름과 파일은 409, 다른 파일은 422입니다."),
        },
    ]
}


def _names(*, memo: bool) -> list[dict[str, Any]]:
    """The parameters of a body that is the file itself."""
    named = ("file_name", "memo") if memo else ("file_name",)
    return [{"in": "query", "name": name, "required": False, "schema": {"type": "string"}} for name in named]


def _own_phase(request: ApiRequest, slug: str, track: str, phase: str | None = None) -> tuple[Phase, Team]:
    found = visible_phase(request.auth.user, slug, track, phase)
    return found, require_team(request.auth.person, found.track.competition)


@operations.get(
    f"{TRACK}/submissions/",
    "listSubmissions",
    _("내 팀의 제출 내역과 남은 횟수"),
    shown.History,
    url_name="api-submissions",
    says=_(
        "최근 제출이 먼저이며 한 쪽은 page_size(처음에는 100)줄이고 next가 다음 쪽의 주소입니다. 형식이 틀려 반려된 "
        "파일도 있습니다."
    ),
)
def history(
    request: ApiRequest,
    slug: str,
    track: str,
    phase: str | None = None,
    page: PageNumber = 1,
    page_size: PageSize = 100,
) -> Any:
    found, team = _own_phase(request, slug, track, phase)
    entries, forecast = team_history(team, found), Forecast()
    start = (page - 1) * page_size
    return {
        "needs_terms": not is_accepted(request.auth.user, found.track.competition),
        "quota": shown.quota(quota.status(phase=found, team=team)),
        "count": len(entries),
        "next": next_address(request, page + 1) if start + page_size < len(entries) else None,
        "history": [shown.history_entry(entry, found.track, forecast) for entry in entries[start : start + page_size]],
    }


@operations.post(
    f"{TRACK}/submissions/",
    "submit",
    _("파일 제출"),
    shown.SubmissionDetail,
    status=201,
    scope=Scope.SUBMIT,
    url_name="api-submissions",
    says=_(
        "파일을 multipart/form-data의 file로, 또는 본문 그대로(JSON, JSONL, CSV, TSV) 보냅니다. 접수되면 Location이 "
        "제출의 주소입니다. 형식이 틀리면 줄과 id를 밝힌 422이며 제출 횟수를 쓰지 않습니다."
    ),
    extra={**FILE_BODY, "parameters": [*KEY["parameters"], *_names(memo=True)]},
    is_once=False,
)
def take(request: ApiRequest, response: HttpResponse, slug: str, track: str) -> Any:
    found, team = _own_phase(request, slug, track)
    upload, name, memo = _upload(request, team)
    submission = submit(
        phase=found,
        team=team,
        user=request.auth.person,
        file_name=name,
        upload=upload,
        memo=memo,
        upload_key=request.headers.get("Idempotency-Key", "").replace("\x00", ""),
        key_is_for_one_file=True,
        address=network_of(request),
    )
    response["Location"] = reverse("api-submission", args=[submission.public_id])
    return shown.submission_detail(submission)


@operations.post(
    f"{TRACK}/check/",
    "checkFile",
    _("제출하지 않고 검사만"),
    shown.DryRunResult,
    scope=Scope.SUBMIT,
    url_name="api-check",
    says=_("제출과 똑같이 검사하되 제출 횟수를 쓰지 않고 파일을 보관하지 않습니다."),
    extra={**FILE_BODY, "parameters": _names(memo=False)},
    is_once=False,
)
def check(request: ApiRequest, slug: str, track: str) -> Any:
    found, team = _own_phase(request, slug, track)
    upload, name, _memo = _upload(request, team)
    address = network_of(request)
    checked = check_only(
        phase=found, team=team, user=request.auth.person, file_name=name, upload=upload, address=address
    )
    return shown.dry_run(checked)


def _upload(request: ApiRequest, team: Team) -> Any:
    """The file, its name and the memo, after everything that is refused without reading it."""
    count_upload(request, team)
    refuse_if_busy(uploads.body_size(request))
    return uploaded(request)


@operations.get(f"{TRACK}/limits/", "getLimits", _("남은 제출 횟수와 다음에 제출할 수 있는 시각"), shown.Quota)
def limits(request: ApiRequest, slug: str, track: str, phase: str | None = None) -> Any:
    found, team = _own_phase(request, slug, track, phase)
    return shown.quota(quota.status(phase=found, team=team))


class Finals(Body):
    chosen: list[uuid.UUID] = Field(max_length=100)


@operations.put(
    f"{TRACK}/finals/",
    "chooseFinals",
    _("최종 순위표에 반영할 제출 고르기"),
    list[shown.Submission],
    scope=Scope.SUBMIT,
    says=_("고른 제출이 이전의 선택을 대신합니다. 빈 목록이면 단계의 규칙대로 정해집니다."),
)
def finals(request: ApiRequest, slug: str, track: str, data: Finals, phase: str | None = None) -> Any:
    found, team = _own_phase(request, slug, track, phase)
    person = request.auth.person
    chosen = [submission_for(person, public_id) for public_id in data.chosen]
    kept = choose_finals(team=team, phase=found, submissions=chosen, actor=person)
    return [shown.submission(row, found.track) for row in kept]


@operations.get(
    f"{ONE}/",
    "getSubmission",
    _("제출 하나: 채점 상태, 예상 완료 시각, 점수"),
    shown.SubmissionDetail,
    url_name="api-submission",
    says=_(
        "팀의 구성원과 대회의 운영자가 봅니다. scores는 0~1의 값이고 shown은 화면에 보이는 글입니다. "
        "waiting_before는 앞에서 기다리는 채점의 수입니다. intervals는 95% 신뢰구간의 두 끝이며 계산된 뒤에 있습니다. "
        "breakdown은 문항의 종류(type, category, domain, length)마다 공개 문항의 평균이며, 이름이 빈 묶음은 문항이 "
        "적은 종류를 모은 것입니다."
    ),
)
def submission_detail(request: ApiRequest, public_id: uuid.UUID) -> Any:
    found = submission_for(request.auth.user, public_id)
    return shown.submission_detail(found, run_for(request.auth.user, found))


@operations.get(
    f"{ONE}/file/",
    "getSubmissionFile",
    _("내가 제출한 파일 내려받기"),
    None,
    status=200,
    also=(206,),
    extra=RESUMABLE,
)
def own_file(request: ApiRequest, public_id: uuid.UUID) -> Any:
    """The file for the members of its team alone; organisers have ``downloadSubmission``, which is recorded."""
    found = submission_for(request.auth.user, public_id)
    require_member(request.auth.user, found.team.merged_into or found.team)
    return file_answer(request, open_private(found.file_sha256), name=found.file_name, sha256=found.file_sha256)


@operations.post(
    f"{ONE}/withdraw/",
    "withdrawSubmission",
    _("제출 철회"),
    shown.SubmissionDetail,
    scope=Scope.SUBMIT,
    says=_("순위표에서 빠지며 되돌릴 수 없습니다. 제출 횟수는 돌려받지 않습니다."),
)
def withdrawal(request: ApiRequest, public_id: uuid.UUID) -> Any:
    found = submission_for(request.auth.user, public_id)
    withdraw(submission=found, actor=request.auth.person)
    return submission_detail(request, public_id)
