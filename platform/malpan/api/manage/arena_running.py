"""A campaign from its judges to its result: invited, opened, watched, closed, published."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any
from urllib.parse import urljoin

from django.conf import settings
from django.http import HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext_noop as _

from malpan.api.frame import ApiRequest
from malpan.api.manage.access import ManageOperations
from malpan.api.manage.arena import ONE, campaign_json, managed_campaign, publication
from malpan.api.reading import paged
from malpan.api.schemas.kinds import Page, PageNumber, PageSize
from malpan.api.schemas.manage import arena as shown
from malpan.arena import exclusions, invitations, selectors
from malpan.arena.checks import KindOfCheck
from malpan.arena.closing import close_campaign
from malpan.arena.errors import AssignmentNotFound
from malpan.arena.judges import bar_judge, remove_judge
from malpan.arena.metrics import ask_metrics_again, metrics_document, metrics_under_way
from malpan.arena.models import Campaign, CampaignResult, Exclusion, Judgement
from malpan.arena.opening import open_campaign, preview_design
from malpan.arena.progress import judge_state, judged_though_barred, judgement_of, judgements_of, place_of
from malpan.arena.publishing import computed_result, publish_result
from malpan.arena.quality import (
    LiveJudgeQuality,
    SeenJudgement,
    current_result,
    live_quality,
    may_see_scores,
    open_scores,
    seen_judgements,
)
from malpan.arena.reminders import remind_judges
from malpan.competitions.permissions import Permission
from scoring.arena.design import Balance

operations = ManageOperations(_("운영: 사람 평가의 진행"))
JUDGES = f"{ONE}/judges"
JUDGE = f"{JUDGES}/{{int:judge_pk}}"
JUDGEMENT = f"{ONE}/judgements/{{int:judgement_pk}}"
EXCLUSIONS = f"{ONE}/exclusions"
VOTES = {"responses": {200: {"content": {"application/json": {"schema": {"type": "object"}}}}}}
NOBODY = _("평가자가 누구인지는 운영실의 화면에만 보입니다. 초대할 때 받은 id로 가리킵니다.")
COMPUTED = _("채점 서버가 셈합니다. 그동안의 답은 still_computing이며, 같은 요청을 다시 보내면 됩니다.")


# --- judges -----------------------------------------------------------------------------------------------------------
@operations.get(f"{JUDGES}/", "listJudges", _("평가자와 진행"), Page[shown.ManagedJudge], says=NOBODY)
def judges(request: ApiRequest, slug: str, pk: int, page: PageNumber = 1, page_size: PageSize = 100) -> Any:
    campaign = managed_campaign(request, slug, pk, Permission.VIEW)
    barred = judged_though_barred(campaign)
    return paged(request, selectors.judges_of(campaign), page, page_size, lambda row: _judge(row, barred[row.pk]))


@operations.post(
    f"{JUDGES}/",
    "inviteJudge",
    _("평가자를 이메일로 초대"),
    shown.ManagedJudge,
    status=201,
    says=_("id는 이 평가자를 가리키는 번호입니다. 누구인지는 뒤의 답에 나오지 않으므로 적어 두십시오."),
)
def invite(request: ApiRequest, slug: str, pk: int, data: shown.NewJudge) -> Any:
    campaign = managed_campaign(request, slug, pk)
    made = invitations.invite_judge(
        campaign=campaign,
        actor=request.auth.person,
        email=data.email,
        institution=data.institution,
        link_for=_address,
    )
    return _judge_at(campaign, made.pk)


@operations.post(
    f"{JUDGES}/remind/",
    "remindJudges",
    _("문항이 남은 평가자에게 알리기"),
    shown.Reminded,
    says=_("한 사람에게는 24시간에 한 번만 보냅니다. 마감 예정이 있으면 그 하루 전에 저절로 한 번 알립니다."),
)
def remind(request: ApiRequest, slug: str, pk: int) -> Any:
    return asdict(remind_judges(campaign=managed_campaign(request, slug, pk), actor=request.auth.person))


@operations.get(f"{JUDGE}/", "getJudge", _("평가자 하나의 상태와 진행"), shown.ManagedJudge, says=NOBODY)
def judge(request: ApiRequest, slug: str, pk: int, judge_pk: int) -> Any:
    return _judge_at(managed_campaign(request, slug, pk, Permission.VIEW), judge_pk)


@operations.get(
    f"{JUDGE}/judgements/",
    "listJudgements",
    _("평가자 하나의 판단"),
    Page[shown.ShownJudgement],
    says=_("무엇을 골랐는지는 마감하거나 점수를 연 뒤에 보입니다."),
)
def judgements(
    request: ApiRequest, slug: str, pk: int, judge_pk: int, page: PageNumber = 1, page_size: PageSize = 100
) -> Any:
    campaign = managed_campaign(request, slug, pk, Permission.VIEW)
    rows = judgements_of(selectors.judge_of(campaign, judge_pk))
    found = paged(request, rows, page, page_size, lambda row: row)
    seen = seen_judgements(campaign, found["items"], request.auth.person)
    return found | {"items": [_judgement(each) for each in seen]}


@operations.post(f"{JUDGE}/resend/", "resendJudgeInvitation", _("초대를 새 주소로 다시 보내기"), shown.ManagedJudge)
def resend(request: ApiRequest, slug: str, pk: int, judge_pk: int) -> Any:
    campaign = managed_campaign(request, slug, pk)
    found = selectors.judge_of(campaign, judge_pk)
    invitations.resend_invitation(judge=found, actor=request.auth.person, link_for=_address)
    return _judge_at(campaign, judge_pk)


@operations.post(f"{JUDGE}/reinvite/", "reinviteJudge", _("내보낸 평가자를 다시 초대"), shown.ManagedJudge)
def reinvite(request: ApiRequest, slug: str, pk: int, judge_pk: int) -> Any:
    campaign = managed_campaign(request, slug, pk)
    found = selectors.judge_of(campaign, judge_pk)
    invitations.reinvite_judge(judge=found, actor=request.auth.person, link_for=_address)
    return _judge_at(campaign, judge_pk)


@operations.post(
    f"{JUDGE}/bar/",
    "barJudge",
    _("평가자를 팀에서 제척"),
    shown.ManagedJudge,
    says=_("그 팀의 출력은 이 평가자에게 보이지 않으며, 판단하지 않은 배정은 다른 평가자에게 옮깁니다."),
)
def bar(request: ApiRequest, slug: str, pk: int, judge_pk: int, data: shown.Bar) -> Any:
    campaign = managed_campaign(request, slug, pk)
    found = selectors.judge_of(campaign, judge_pk)
    bar_judge(judge=found, actor=request.auth.person, team_numbers=data.team_numbers, reason=data.reason)
    return _judge_at(campaign, judge_pk)


@operations.post(
    f"{JUDGE}/remove/",
    "removeJudge",
    _("평가자 내보내기"),
    shown.Moved,
    says=_("남은 배정은 다른 평가자에게 옮깁니다. 이미 한 판단은 셈에 들며, 빼려면 따로 제외합니다."),
)
def remove(request: ApiRequest, slug: str, pk: int, judge_pk: int, data: shown.Removal) -> Any:
    found = selectors.judge_of(managed_campaign(request, slug, pk), judge_pk)
    moved = remove_judge(judge=found, actor=request.auth.person, reason=data.reason, accepts_loss=data.accepts_loss)
    return {"moved": moved}


def _address(token: str) -> str:
    return urljoin(settings.SITE_URL, reverse("arena_invitation", args=[token]))


def _judge_at(campaign: Campaign, pk: int) -> dict[str, Any]:
    """Raises ``JudgeNotFound``."""
    selectors.judge_of(campaign, pk)
    row = next(each for each in selectors.judges_of(campaign) if each.pk == pk)
    return _judge(row, judged_though_barred(campaign)[pk])


def _judge(row: Any, barred: int) -> dict[str, Any]:
    """``row`` is of ``judges_of``. Neither name nor address nor institution."""
    names = ("invited_at", "accepted_at", "consented_at", "calibrated_at", "removed_at", "done", "total")
    return {name: getattr(row, name) for name in names} | {
        "id": row.pk,
        "state": judge_state(row, timezone.now()),
        "barred": barred,
    }


def _judgement(seen: SeenJudgement) -> dict[str, Any]:
    row = seen.judgement
    return {
        "id": row.pk,
        "place": place_of(row.assignment),
        "kind": row.assignment.kind,
        "seconds": row.seconds,
        "is_excluded": seen.is_excluded,
        "systems": None if seen.value is None else list(row.assignment.systems),
        "value": seen.value,
    }


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
    return {name: getattr(found, name) for name in names} | {"balance": _balance(found.balance), "near": near}


@operations.post(
    f"{ONE}/opening/",
    "openCampaign",
    _("사람 평가 시작"),
    shown.OneCampaign,
    says=_("시작하면 설정과 제출, 문항을 바꿀 수 없습니다."),
)
def start(request: ApiRequest, slug: str, pk: int) -> Any:
    campaign = managed_campaign(request, slug, pk)
    return campaign_json(open_campaign(campaign=campaign, actor=request.auth.person))


@operations.post(
    f"{ONE}/closing/",
    "closeCampaign",
    _("사람 평가 마감"),
    shown.OneCampaign,
    says=_("다시 열 수 없습니다. 판단하지 않은 배정이 있으면 accepts_open을 보내야 하며, 그 배정은 무효가 됩니다."),
)
def close(request: ApiRequest, slug: str, pk: int, data: shown.Closing) -> Any:
    campaign = managed_campaign(request, slug, pk)
    return campaign_json(close_campaign(campaign=campaign, actor=request.auth.person, accepts_open=data.accepts_open))


# --- quality and exclusions -------------------------------------------------------------------------------------------
@operations.get(
    f"{ONE}/quality/",
    "getQuality",
    _("평가의 품질: 속도, 일치도, 확인 문항"),
    shown.CampaignQuality,
    may_conflict=True,
    says=_("어느 제출이 앞서는지는 나오지 않으며, influence는 점수를 연 사람에게만 보입니다."),
)
def quality(request: ApiRequest, slug: str, pk: int) -> Any:
    campaign = managed_campaign(request, slug, pk, Permission.VIEW)
    found, may_see = live_quality(campaign), may_see_scores(campaign, request.auth.person)
    return {
        "done": found.done,
        "total": found.total,
        "judges": [_figures(each, may_see) for each in found.judges],
        "agreement": found.agreement,
        "balance": _balance(found.balance),
        "checks": [_check(each) for each in found.checks.kinds],
        "of": found.of,
        "is_computing": found.waiting is not None,
        "has_failed": found.has_failed,
        "has_opened_scores": may_see,
    }


@operations.post(
    f"{ONE}/quality/open/",
    "openScores",
    _("마감하기 전에 점수 열기"),
    says=_("누가 왜 열었는지 감사 기록에 남습니다."),
)
def open_early(request: ApiRequest, slug: str, pk: int, data: shown.Why) -> Any:
    campaign = managed_campaign(request, slug, pk)
    open_scores(campaign=campaign, actor=request.auth.person, reason=data.reason)


@operations.get(
    f"{ONE}/quality/scores/",
    "getCurrentScores",
    _("지금까지의 판단에 따른 점수"),
    shown.CurrentScores,
    may_conflict=True,
    says=_("마감하기 전에는 점수를 연 사람만 봅니다."),
)
def scores(request: ApiRequest, slug: str, pk: int) -> Any:
    found = current_result(campaign=managed_campaign(request, slug, pk), actor=request.auth.person)
    return {"document": found.document, "of": found.of, "is_computing": found.waiting is not None}


@operations.get(f"{EXCLUSIONS}/", "listExclusions", _("셈에서 뺀 평가자와 판단"), list[shown.ManagedExclusion])
def exclusion_list(request: ApiRequest, slug: str, pk: int) -> Any:
    campaign = managed_campaign(request, slug, pk, Permission.VIEW)
    return [_exclusion(each) for each in selectors.exclusions_of(campaign)]


@operations.get(
    f"{JUDGE}/exclude/",
    "previewJudgeExclusion",
    _("평가자를 빼면 바뀔 것"),
    shown.ExclusionEffect,
    may_conflict=True,
    says=COMPUTED,
)
def preview_judge(request: ApiRequest, slug: str, pk: int, judge_pk: int) -> Any:
    campaign = managed_campaign(request, slug, pk)
    found = selectors.judge_of(campaign, judge_pk)
    return _effect(exclusions.preview_exclusion(campaign=campaign, actor=request.auth.person, judge=found))


@operations.post(
    f"{JUDGE}/exclude/",
    "excludeJudge",
    _("평가자의 판단을 셈에서 빼기"),
    shown.ManagedExclusion,
    status=201,
    says=_("사유는 결과와 함께 공개됩니다. 사람의 이름을 적지 마십시오."),
)
def exclude_judge(request: ApiRequest, slug: str, pk: int, judge_pk: int, data: shown.Why) -> Any:
    campaign = managed_campaign(request, slug, pk)
    found = selectors.judge_of(campaign, judge_pk)
    return _exclusion(
        exclusions.make_exclusion(campaign=campaign, actor=request.auth.person, reason=data.reason, judge=found)
    )


@operations.get(
    f"{JUDGEMENT}/exclude/",
    "previewJudgementExclusion",
    _("판단 하나를 빼면 바뀔 것"),
    shown.ExclusionEffect,
    may_conflict=True,
    says=COMPUTED,
)
def preview_judgement(request: ApiRequest, slug: str, pk: int, judgement_pk: int) -> Any:
    campaign = managed_campaign(request, slug, pk)
    found = _judgement_at(campaign, judgement_pk)
    return _effect(exclusions.preview_exclusion(campaign=campaign, actor=request.auth.person, judgement=found))


@operations.post(
    f"{JUDGEMENT}/exclude/", "excludeJudgement", _("판단 하나를 셈에서 빼기"), shown.ManagedExclusion, status=201
)
def exclude_judgement(request: ApiRequest, slug: str, pk: int, judgement_pk: int, data: shown.Why) -> Any:
    campaign = managed_campaign(request, slug, pk)
    found = _judgement_at(campaign, judgement_pk)
    return _exclusion(
        exclusions.make_exclusion(campaign=campaign, actor=request.auth.person, reason=data.reason, judgement=found)
    )


@operations.post(
    f"{EXCLUSIONS}/{{int:exclusion_pk}}/lift/", "liftExclusion", _("뺀 것을 되돌리기"), shown.ManagedExclusion
)
def lift(request: ApiRequest, slug: str, pk: int, exclusion_pk: int, data: shown.Why) -> Any:
    found = selectors.exclusion_of(managed_campaign(request, slug, pk), exclusion_pk)
    return _exclusion(exclusions.lift_exclusion(exclusion=found, actor=request.auth.person, reason=data.reason))


def _judgement_at(campaign: Campaign, pk: int) -> Judgement:
    """Raises ``AssignmentNotFound``."""
    found = judgement_of(campaign, pk)
    if found is None:
        raise AssignmentNotFound
    return found


def _balance(found: Balance) -> dict[str, Any]:
    """The figures; of idle judges how many, as their names in the design are nobody's to know."""
    return asdict(found) | {"idle": len(found.idle)}


def _figures(found: LiveJudgeQuality, may_see_influence: bool) -> dict[str, Any]:
    figures = found.figures
    names = ("controls", "control_failures", "repeats", "consistency", "agreement", "first_share")
    return {name: getattr(figures, name, None) for name in names} | {
        "id": found.judge.pk,
        "done": found.done,
        "total": found.total,
        "median_seconds": found.median_seconds,
        "too_fast": found.too_fast,
        "flags": list(figures.flags) if figures else [],
        "influence": _influence(found.influence) if found.influence and may_see_influence else None,
    }


def _influence(found: Mapping[str, Any]) -> dict[str, Any]:
    return {name: found[name] for name in shown.Influence.model_fields}


def _check(kind: KindOfCheck) -> dict[str, Any]:
    return {
        "name": kind.name,
        "failed": kind.every.failed,
        "count": kind.every.count,
        "judges": kind.judges,
        "judges_failed": kind.judges_failed,
        "parts": [(part.failed, part.count) for part in kind.parts],
    }


def _effect(found: exclusions.Effect) -> dict[str, Any]:
    names = ("votes_before", "votes_after", "ranks_changed", "largest_score_change", "moved", "of")
    return {name: getattr(found, name) for name in names} | {"is_computing": found.waiting is not None}


def _exclusion(found: Exclusion) -> dict[str, Any]:
    return {name: getattr(found, name) for name in ("reason", "created_at", "lifted_at", "lift_reason")} | {
        "id": found.pk,
        "judge": found.judge_id,
        "judgement": found.judgement_id,
        "by": str(found.by),
        "lifted_by": found.lifted_by and str(found.lifted_by),
    }


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
    shown.PublishedCampaign,
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
