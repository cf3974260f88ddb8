"""A campaign opened, closed and published, each with what it would do before it is done."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from django.http import HttpResponse
from django.utils.translation import gettext_noop as _

from malpan.api.frame import ApiRequest
from malpan.api.manage.access import ManageOperations
from malpan.api.manage.arena import ONE, campaign_json, managed_campaign, publication
from malpan.api.schemas.kinds import PageNumber
from malpan.api.schemas.manage import arena_running as shown
from malpan.api.schemas.manage.arena import OneCampaign, PublishedCampaign
from malpan.arena import selectors
from malpan.arena.closing import close_campaign
from malpan.arena.metrics import ask_metrics_again, metrics_document, metrics_under_way
from malpan.arena.models import CampaignResult
from malpan.arena.opening import open_campaign, preview_design
from malpan.arena.publishing import computed_result, publish_result
from malpan.competitions.permissions import Permission
from scoring.arena.design import Balance

operations = ManageOperations(_("운영: 사람 평가의 진행"))
VOTES = {"responses": {200: {"content": {"application/json": {"schema": {"type": "object"}}}}}}
COMPUTED = _("채점 서버가 셈합니다. 그동안의 답은 still_computing이며, 같은 요청을 다시 보내면 됩니다.")


# --- opening and closing ----------------------------------------------------------------------------------------------
@operations.get(
    f"{ONE}/opening/",
    "previewDesign",
    _("지금 시작하면 나올 배정"),
    shown.PlannedDesign,
    may_conflict=True,
    says=_("near는 소속 기관의 이름이 비슷하여 같은 기관일 수 있는 평가자와 팀입니다. 저절로 제척하지 않습니다."),
)
def preview_opening(request: ApiRequest, slug: str, pk: int) -> Any:
    found = preview_design(campaign=managed_campaign(request, slug, pk))
    names = set(shown.PlannedDesign.model_fields) - {"balance", "near"}
    near = [{"judge": each.judge.pk, "team_number": each.system.submission.team.number} for each in found.near]
    return {name: getattr(found, name) for name in names} | {"balance": balance_json(found.balance), "near": near}


@operations.post(
    f"{ONE}/opening/",
    "openCampaign",
    _("사람 평가 시작"),
    OneCampaign,
    says=_("시작하면 설정과 제출, 문항을 바꿀 수 없습니다."),
)
def start(request: ApiRequest, slug: str, pk: int) -> Any:
    campaign = managed_campaign(request, slug, pk)
    return campaign_json(open_campaign(campaign=campaign, actor=request.auth.person))


@operations.post(
    f"{ONE}/closing/",
    "closeCampaign",
    _("사람 평가 마감"),
    OneCampaign,
    says=_("다시 열 수 없습니다. 판단하지 않은 배정이 있으면 accepts_open을 보내야 하며, 그 배정은 무효가 됩니다."),
)
def close(request: ApiRequest, slug: str, pk: int, data: shown.Closing) -> Any:
    campaign = managed_campaign(request, slug, pk)
    return campaign_json(close_campaign(campaign=campaign, actor=request.auth.person, accepts_open=data.accepts_open))


def balance_json(found: Balance) -> dict[str, Any]:
    """The figures; of idle judges how many, as their names in the design are nobody's to know."""
    return asdict(found) | {"idle": len(found.idle)}


# --- publication ------------------------------------------------------------------------------------------------------
@operations.get(
    f"{ONE}/publishing/",
    "previewCampaignResult",
    _("지금 발표하면 나올 평가 결과"),
    shown.ComputedResult,
    may_conflict=True,
    says=COMPUTED,
)
def preview_result(request: ApiRequest, slug: str, pk: int) -> Any:
    campaign = managed_campaign(request, slug, pk, Permission.VIEW_HIDDEN)
    found, last = computed_result(campaign=campaign), selectors.newest_result(campaign)
    return {
        "result_sha256": found.result_sha256,
        "votes_sha256": found.votes_sha256,
        "document": found.document,
        "published": last and last.number,
        "is_published_so": last is not None and last.result_sha256 == found.result_sha256,
        "gone": selectors.gone_since(last) if last else [],
        "back": selectors.back_since(last) if last else [],
    }


@operations.post(
    f"{ONE}/publishing/",
    "publishCampaign",
    _("평가 결과와 이름을 가린 판단을 발표"),
    PublishedCampaign,
    status=201,
    says=_(
        "result_sha256은 미리보기에서 받은 값이며, 그사이 결과가 달라졌으면 발표하지 않습니다. 정정에는 note_ko가 "
        "있어야 합니다."
    ),
)
def publish(request: ApiRequest, slug: str, pk: int, data: shown.CampaignPublication) -> Any:
    campaign = managed_campaign(request, slug, pk)
    return publication(publish_result(campaign=campaign, actor=request.auth.person, **data.dict()))


@operations.get(
    f"{ONE}/votes/",
    "downloadVotes",
    _("발표한 판단 파일"),
    None,
    status=200,
    extra=VOTES,
    says=_("snapshot은 발표한 번호이며, 없으면 가장 새 것입니다."),
)
def votes(request: ApiRequest, slug: str, pk: int, snapshot: PageNumber | None = None) -> Any:
    campaign = managed_campaign(request, slug, pk, Permission.VIEW)
    content = selectors.votes_bytes_of(selectors.result_of(campaign, snapshot))
    return HttpResponse(content, content_type="application/json; charset=utf-8")


@operations.get(f"{ONE}/metrics/", "getMetricsComparison", _("지표를 발표한 결과에 대조한 것"), shown.MetricsComparison)
def metrics(request: ApiRequest, slug: str, pk: int) -> Any:
    return _metrics(selectors.result_of(managed_campaign(request, slug, pk, Permission.VIEW_HIDDEN)))


@operations.post(f"{ONE}/metrics/", "compareMetrics", _("지금의 점수로 지표를 다시 대조"), shown.MetricsComparison)
def compare(request: ApiRequest, slug: str, pk: int) -> Any:
    result = selectors.result_of(managed_campaign(request, slug, pk))
    ask_metrics_again(result=result, actor=request.auth.person)
    return _metrics(result)


def _metrics(result: CampaignResult) -> dict[str, Any]:
    return {"document": metrics_document(result), "is_computing": metrics_under_way(result) is not None}
