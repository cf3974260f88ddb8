"""Human evaluation in preparation: rubrics, campaigns, what is evaluated, practice, how many judgements are needed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from django.utils.translation import gettext_noop as _

from malpan.api.frame import ApiRequest
from malpan.api.manage.access import MANAGE, ManageOperations, managed, managed_track
from malpan.api.reading import paged
from malpan.api.schemas.kinds import Page, PageNumber, PageSize
from malpan.api.schemas.manage import arena as shown
from malpan.arena import campaigns, selectors
from malpan.arena.errors import CampaignSettingsInvalid
from malpan.arena.models import Campaign, CampaignResult, CampaignSystem, Rubric
from malpan.arena.own_practice import remove_practice, set_practice
from malpan.arena.planning import plan_panel
from malpan.arena.progress import Counts, counts_of, rubric_uses, workload
from malpan.arena.rubrics import create_rubric
from malpan.arena.systems import choose_systems, choose_top, systems_of, unfitness
from malpan.competitions.models import Track
from malpan.competitions.permissions import Permission
from malpan.submissions.models import Submission

operations = ManageOperations(_("운영: 사람 평가"))
ALL = f"{MANAGE}/arena"
ONE = f"{ALL}/{{int:pk}}"
RUBRICS = f"{ALL}/rubrics/{{slug:track}}"


def managed_campaign(request: ApiRequest, slug: str, pk: int, permission: Permission = Permission.MANAGE) -> Campaign:
    """Raises as ``managed``, and ``CampaignNotFound``."""
    return selectors.campaign_of(managed(request, slug, permission), pk)


# --- rubrics ----------------------------------------------------------------------------------------------------------
@operations.get(f"{RUBRICS}/", "listRubrics", _("평가 기준표의 모든 판"), list[shown.RubricVersion])
def rubrics(request: ApiRequest, slug: str, track: str) -> Any:
    return _rubrics(selectors.rubrics_of(managed_track(request, slug, track, Permission.VIEW)))


@operations.post(
    f"{RUBRICS}/",
    "createRubric",
    _("평가 기준표의 새 판 만들기"),
    shown.RubricVersion,
    status=201,
    says=_("판은 고치지 않습니다. 바꿀 것이 있으면 새 판을 만듭니다."),
)
def new_rubric(request: ApiRequest, slug: str, track: str, data: shown.RubricText) -> Any:
    found = managed_track(request, slug, track)
    return _rubrics([create_rubric(track=found, actor=request.auth.person, **data.dict())])[0]


@operations.get(f"{ALL}/rubric/{{int:pk}}/", "getRubric", _("평가 기준표 한 판"), shown.RubricVersion)
def rubric(request: ApiRequest, slug: str, pk: int) -> Any:
    return _rubrics([selectors.rubric_of(managed(request, slug, Permission.VIEW), pk)])[0]


# --- campaigns --------------------------------------------------------------------------------------------------------
@operations.get(f"{ALL}/", "listCampaigns", _("모든 트랙의 사람 평가"), list[shown.ManagedCampaign])
def campaign_list(request: ApiRequest, slug: str) -> Any:
    found = selectors.campaigns_of(managed(request, slug, Permission.VIEW))
    counts = counts_of(found)
    return [_campaign(each, counts[each.pk]) for each in found]


@operations.post(
    f"{MANAGE}/tracks/{{slug:track}}/campaigns/",
    "createCampaign",
    _("사람 평가 만들기"),
    shown.OneCampaign,
    status=201,
    says=_(
        "비밀 시드가 정해지고 그 해시가 공개 사슬에 들어갑니다. 같은 설정을 1분 안에 다시 보내면 새로 만들지 않고, "
        "아직 손대지 않은 앞의 것을 답합니다."
    ),
)
def new_campaign(request: ApiRequest, slug: str, track: str, data: shown.NewCampaign) -> Any:
    found = managed_track(request, slug, track)
    return campaign_json(campaigns.create_campaign(track=found, actor=request.auth.person, **_values(data, found)))


@operations.get(
    f"{ONE}/",
    "getCampaign",
    _("사람 평가 하나의 설정, 상태, 진행"),
    shown.OneCampaign,
)
def campaign(request: ApiRequest, slug: str, pk: int) -> Any:
    return campaign_json(managed_campaign(request, slug, pk, Permission.VIEW))


@operations.patch(
    f"{ONE}/",
    "updateCampaign",
    _("사람 평가의 설정 고치기"),
    shown.OneCampaign,
    says=_("보낸 항목만 바뀝니다. 시작한 뒤에는 글과 예정 시각만 고칠 수 있습니다."),
)
def change(request: ApiRequest, slug: str, pk: int, data: shown.CampaignSettings) -> Any:
    found = managed_campaign(request, slug, pk)
    values = _values(data, found.track)
    return campaign_json(campaigns.update_campaign(campaign=found, actor=request.auth.person, **values))


@operations.delete(f"{ONE}/", "removeCampaign", _("시작하지 않은 사람 평가 지우기"))
def remove(request: ApiRequest, slug: str, pk: int) -> Any:
    campaigns.remove_campaign(campaign=managed_campaign(request, slug, pk), actor=request.auth.person)


@operations.post(
    f"{ALL}/planner/",
    "planPanel",
    _("판단 수에 따른 신뢰 구간의 너비"),
    shown.PlannedPanel,
    says=_("채점 서버가 모의 평가로 셈합니다. 그동안의 답은 still_computing이며, 같은 요청을 다시 보내면 됩니다."),
    is_once=False,
)
def plan(request: ApiRequest, slug: str, data: shown.Plan) -> Any:
    return {"rows": plan_panel(competition=managed(request, slug, Permission.VIEW), **data.dict())}


# --- what is evaluated ------------------------------------------------------------------------------------------------
@operations.get(
    f"{ONE}/systems/",
    "listSystems",
    _("평가할 제출"),
    list[shown.ChosenSystem],
    says=_("어느 가림 이름이 누구의 것인지는 마감한 뒤에 보입니다."),
)
def systems(request: ApiRequest, slug: str, pk: int) -> Any:
    return _systems(managed_campaign(request, slug, pk, Permission.VIEW))


@operations.put(
    f"{ONE}/systems/",
    "chooseSystems",
    _("평가할 제출 고르기"),
    list[shown.ChosenSystem],
    says=_("보낸 제출로 모두 바뀝니다. 보내지 않은 소속 기관은 그대로입니다."),
)
def choose(request: ApiRequest, slug: str, pk: int, data: shown.ChosenSystems) -> Any:
    found = managed_campaign(request, slug, pk)
    choose_systems(
        campaign=found, actor=request.auth.person, submissions=data.submissions, institutions=data.institutions
    )
    return _systems(found)


@operations.post(f"{ONE}/systems/top/", "chooseTopSystems", _("순위표의 상위 팀 고르기"), list[shown.ChosenSystem])
def choose_first(request: ApiRequest, slug: str, pk: int, data: shown.Top) -> Any:
    found = managed_campaign(request, slug, pk)
    choose_top(campaign=found, actor=request.auth.person, count=data.count, with_baselines=data.with_baselines)
    return _systems(found)


@operations.get(f"{ONE}/systems/choices/", "listSystemChoices", _("평가할 수 있는 제출"), Page[shown.SystemChoice])
def choices(request: ApiRequest, slug: str, pk: int, page: PageNumber = 1, page_size: PageSize = 50) -> Any:
    found = selectors.submission_choices(managed_campaign(request, slug, pk))
    return paged(request, found, page, page_size, _choice)


@operations.get(f"{ONE}/practice/", "getPractice", _("연습 문항"), shown.Practice)
def practice(request: ApiRequest, slug: str, pk: int) -> Any:
    return _practice(managed_campaign(request, slug, pk, Permission.VIEW))


@operations.put(
    f"{ONE}/practice/",
    "setPractice",
    _("직접 쓴 연습 문항 두기"),
    shown.Practice,
    says=_("고칠 곳은 문항과 자리를 적어 모두 알립니다. 쓰는 법은 운영실의 연습 문항 화면에 있습니다."),
)
def write_practice(request: ApiRequest, slug: str, pk: int, data: shown.PracticeItems) -> Any:
    found = managed_campaign(request, slug, pk)
    return _practice(set_practice(campaign=found, actor=request.auth.person, data=json.dumps(data.items).encode()))


@operations.delete(f"{ONE}/practice/", "removePractice", _("직접 쓴 연습 문항 지우기"), shown.Practice)
def drop_practice(request: ApiRequest, slug: str, pk: int) -> Any:
    return _practice(remove_practice(campaign=managed_campaign(request, slug, pk), actor=request.auth.person))


def _values(data: shown.CampaignSettings, track: Track) -> dict[str, Any]:
    """The settings as the services take them. Raises ``CampaignSettingsInvalid`` for what is of another track."""
    values = data.given()
    for name, rows in (("rubric", Rubric.objects.filter(track=track)), ("phase", track.phases.all())):
        if name in values:
            values[name] = rows.filter(pk=values[name]).first()
            if values[name] is None:
                raise CampaignSettingsInvalid(name, name)
    return values


def _rubrics(found: Sequence[Rubric]) -> list[dict[str, Any]]:
    uses = rubric_uses(found)
    names = set(shown.RubricVersion.model_fields) - {"id", "track", "campaigns"}
    return [
        {name: getattr(each, name) for name in names}
        | {"id": each.pk, "track": each.track.slug, "campaigns": [used.pk for used in uses[each.pk]]}
        for each in found
    ]


def _campaign(found: Campaign, counts: Counts) -> dict[str, Any]:
    work = workload(found, counts.accepted)
    names = set(shown.ManagedCampaign.model_fields) - {*("id", "track", "rubric", "phase", "progress", "work")}
    return {name: getattr(found, name) for name in names} | {
        "id": found.pk,
        "track": found.track.slug,
        "rubric": found.rubric_id,
        "phase": found.phase_id,
        "progress": {name: getattr(counts, name) for name in shown.CampaignProgress.model_fields},
        "work": {"real": work.real, "every": work.every, "per_judge": work.per_judge},
    }


def campaign_json(found: Campaign) -> dict[str, Any]:
    """A campaign with its progress and what was published."""
    counts = counts_of([found])[found.pk]
    return _campaign(found, counts) | {"publications": [publication(each) for each in selectors.results_of(found)]}


def publication(found: CampaignResult) -> dict[str, Any]:
    names = ("number", "sha256", "votes_sha256", "result_sha256", "note_ko", "note_en", "published_at")
    return {name: getattr(found, name) for name in names} | {
        "rows": len(found.rows),
        "published_by": str(found.published_by),
    }


def _systems(campaign: Campaign) -> list[dict[str, Any]]:
    return [_system(each, campaign) for each in systems_of(campaign)]


def _system(found: CampaignSystem, campaign: Campaign) -> dict[str, Any]:
    submission = found.submission
    return {
        "submission": submission.public_id,
        "team": submission.team.name,
        "team_number": submission.team.number,
        "file_name": submission.file_name,
        "institution": found.institution,
        "unfit": unfitness(submission, campaign.phase),
        "label": found.label if campaign.tells_labels else None,
    }


def _choice(row: tuple[Submission, bool]) -> dict[str, Any]:
    submission, is_chosen = row
    return {
        "submission": submission.public_id,
        "team": submission.team.name,
        "team_number": submission.team.number,
        "file_name": submission.file_name,
        "submitted_at": submission.created_at,
        "is_chosen": is_chosen,
    }


def _practice(found: Campaign) -> dict[str, Any]:
    return {"count": found.practice_count, "items": found.practice}
