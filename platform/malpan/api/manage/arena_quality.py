"""How good the judgements of a campaign are, who leads by them, and what is left out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.http import HttpResponse
from django.utils.translation import gettext_noop as _

from malpan.api.frame import ApiRequest
from malpan.api.manage.access import ManageOperations
from malpan.api.manage.arena import ONE, managed_campaign
from malpan.api.manage.arena_judges import JUDGE
from malpan.api.manage.arena_running import COMPUTED, balance_json
from malpan.api.reading import LINKED, page_alone
from malpan.api.schemas.kinds import PageNumber, PageSize
from malpan.api.schemas.manage import arena_quality as shown
from malpan.arena import exclusions, selectors
from malpan.arena.checks import KindOfCheck
from malpan.arena.errors import AssignmentNotFound
from malpan.arena.models import Campaign, Exclusion, Judgement
from malpan.arena.progress import judgement_of
from malpan.arena.quality import LiveJudgeQuality, current_result, live_quality, may_see_scores, open_scores
from malpan.competitions.permissions import Permission

operations = ManageOperations(_("운영: 사람 평가의 품질"))
JUDGEMENT = f"{ONE}/judgements/{{int:judgement_pk}}"
EXCLUSIONS = f"{ONE}/exclusions"


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
        "balance": balance_json(found.balance),
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


@operations.get(
    f"{EXCLUSIONS}/", "listExclusions", _("셈에서 뺀 평가자와 판단"), list[shown.ManagedExclusion], says=LINKED
)
def exclusion_list(
    request: ApiRequest, response: HttpResponse, slug: str, pk: int, page: PageNumber = 1, page_size: PageSize = 100
) -> Any:
    rows = selectors.exclusions_of(managed_campaign(request, slug, pk, Permission.VIEW))
    return page_alone(request, response, rows, page, page_size, _exclusion)


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
