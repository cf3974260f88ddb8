"""What submissions are compared with: the files of other teams, and the scores that people gave."""

from __future__ import annotations

import uuid
from typing import Any

from django.http import HttpResponse
from django.utils.translation import gettext_noop as _

from malpan.api.errors import ApiRequestInvalid
from malpan.api.frame import ApiRequest
from malpan.api.manage.access import MANAGE, ManageOperations, managed, managed_phase
from malpan.api.reading import FORM, LINKED, page_alone, paged, uploaded_form
from malpan.api.schemas.kinds import Page, PageNumber, PageSize
from malpan.api.schemas.manage import comparing as shown
from malpan.competitions.permissions import Permission
from malpan.submissions import judge_agreement as agreement
from malpan.submissions.integrity import alike as alike_files
from malpan.submissions.integrity import duplicates
from malpan.submissions.manage_selectors import SharedFile, shared_files, shared_hashes, submission_of
from malpan.submissions.models import JudgeAgreement, Submission

operations = ManageOperations(_("운영: 견주기"))
HUMAN_SCORES = {
    "requestBody": {
        "required": True,
        "content": {
            FORM: {
                "schema": {
                    "type": "object",
                    "required": ["file", "submission", "metric", "source"],
                    "properties": {
                        "file": {"type": "string", "format": "binary"},
                        "submission": {"type": "string", "format": "uuid"},
                        "metric": {"type": "string", "maxLength": 60},
                        "source": {"type": "string", "maxLength": agreement.SOURCE_CHARS},
                    },
                }
            }
        },
    }
}


# --- other teams' files -----------------------------------------------------------------------------------------------
@operations.get(
    f"{MANAGE}/duplicates/", "listSharedFiles", _("여러 팀이 낸 같은 파일"), list[shown.SharedFile], says=LINKED
)
def shared(
    request: ApiRequest, response: HttpResponse, slug: str, page: PageNumber = 1, page_size: PageSize = 100
) -> Any:
    competition = managed(request, slug, Permission.VIEW)
    hashes = page_alone(request, response, shared_hashes(competition), page, page_size, str)
    return list(map(_shared, shared_files(competition, hashes)))


def _shared(found: SharedFile) -> dict[str, Any]:
    return {
        "sha256": found.sha256,
        "is_sample": found.is_sample,
        "submissions": [_sender(row) for row in found.submissions],
    }


@operations.get(
    f"{MANAGE}/phases/{{int:pk}}/duplicates/",
    "listAlikeSubmissions",
    _("한 단계에서 답이 거의 같은 제출"),
    shown.Alike,
    says=_(
        "팀마다 가장 좋은 제출을 견주며, 많이 닮은 쌍이 앞에 옵니다. "
        "채점 서버가 견주며, 아직 결과가 없으면 computed_at이 null입니다."
    ),
)
def alike(request: ApiRequest, slug: str, pk: int, page: PageNumber = 1, page_size: PageSize = 100) -> Any:
    found = alike_files.alike_in(managed_phase(request, slug, pk, Permission.VIEW))
    part = paged(request, found.pairs, page, page_size, _pair)
    names = ("teams", "unread", "computed_at", "is_waiting", "is_current", "has_failed")
    return {name: getattr(found, name) for name in names} | {"pairs": part.pop("items"), **part}


def _pair(found: alike_files.AlikePair) -> dict[str, Any]:
    names = ("score", "same", "compared", "only_theirs")
    return {name: getattr(found.pair, name) for name in names} | {
        "one": _sender(found.one),
        "other": _sender(found.other),
    }


@operations.get(
    f"{MANAGE}/duplicates/{{uuid:one_id}}/{{uuid:other_id}}/",
    "compareAnswers",
    _("두 제출의 답을 문항마다 나란히"),
    Page[shown.AnswerPair],
    says=_("읽을 수 없는 파일이 있으면 비어 있습니다."),
)
def side_by_side(
    request: ApiRequest,
    slug: str,
    one_id: uuid.UUID,
    other_id: uuid.UUID,
    page: PageNumber = 1,
    page_size: PageSize = 100,
) -> Any:
    competition = managed(request, slug, Permission.VIEW)
    rows = duplicates.readable_answers(submission_of(competition, one_id), submission_of(competition, other_id))
    return paged(request, rows, page, page_size, _answers)


def _sender(row: Submission) -> dict[str, Any]:
    return {
        "submission": row.public_id,
        "team": row.team.name,
        "team_number": row.team.number,
        "track": row.phase.track.slug,
        "file_name": row.file_name,
        "submitted_at": row.created_at,
    }


def _answers(pair: duplicates.AnswerPair) -> dict[str, Any]:
    return {"id": pair.id, "one": pair.one, "other": pair.other, "is_same": pair.is_same}


# --- people's scores --------------------------------------------------------------------------------------------------
@operations.get(f"{MANAGE}/judge/", "listAgreements", _("심사 모델과 사람의 일치도"), list[shown.Agreement])
def agreements(request: ApiRequest, slug: str) -> Any:
    return [_agreement(each) for each in agreement.agreements_of(managed(request, slug, Permission.VIEW))]


@operations.get(
    f"{MANAGE}/judge/submissions/",
    "listJudgedSubmissions",
    _("심사 모델이 채점한 제출"),
    list[shown.JudgedSubmission],
    says=LINKED,
)
def judged(
    request: ApiRequest, response: HttpResponse, slug: str, page: PageNumber = 1, page_size: PageSize = 100
) -> Any:
    found = agreement.judged_submissions(managed(request, slug, Permission.VIEW))
    return page_alone(
        request, response, found, page, page_size, lambda row: _sender(row.submission) | {"metric": row.metric}
    )


@operations.post(
    f"{MANAGE}/judge/",
    "recordAgreement",
    _("사람 점수를 올려 일치도 기록"),
    shown.Agreement,
    status=201,
    extra=HUMAN_SCORES,
    says=_(
        "파일은 문항마다 id와 score가 있는 JSON 배열이나 JSONL이며 보관하지 않습니다. source는 공개되니 사람의 이름을 "
        "적지 마십시오."
    ),
)
def record(request: ApiRequest, slug: str) -> Any:
    competition = managed(request, slug, Permission.MANAGE)
    form = uploaded_form(request)
    source = form.text("source", agreement.SOURCE_CHARS)
    if not source:
        raise ApiRequestInvalid(field="source")
    try:
        public_id = uuid.UUID(form.text("submission"))
    except ValueError:
        raise ApiRequestInvalid(field="submission") from None
    found = agreement.judged_submission(competition, public_id, form.text("metric"))
    return _agreement(
        agreement.record_agreement(
            submission=found.submission,
            metric=found.metric,
            data=form.file("file").read(),
            source=source,
            actor=request.auth.person,
        )
    )


@operations.delete(f"{MANAGE}/judge/{{int:pk}}/", "removeAgreement", _("일치도 기록 지우기"))
def remove(request: ApiRequest, slug: str, pk: int) -> Any:
    row = agreement.agreement_of(managed(request, slug, Permission.MANAGE), pk)
    agreement.remove_agreement(row=row, actor=request.auth.person)


def _agreement(row: JudgeAgreement) -> dict[str, Any]:
    names = ("metric", "metric_signature", "figures", "source", "created_at")
    return {name: getattr(row, name) for name in names} | {
        "id": row.pk,
        "judge": {name: row.judge[name] for name in ("model", "version", "quantisation")},
        "is_demo": row.is_demo_models,
    }
