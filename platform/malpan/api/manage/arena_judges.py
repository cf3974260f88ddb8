"""The judges of a campaign: invited, reminded, barred, removed; how far they are and what they judged."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import asdict
from typing import Any
from urllib.parse import urljoin

from django.conf import settings
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext_noop as _

from malpan.api.frame import ApiRequest
from malpan.api.manage.access import ManageOperations
from malpan.api.manage.arena import ONE, managed_campaign
from malpan.api.reading import paged
from malpan.api.schemas.kinds import Page, PageNumber, PageSize
from malpan.api.schemas.manage import arena_judges as shown
from malpan.arena import invitations, selectors
from malpan.arena.declaring import alone_teams
from malpan.arena.judges import bar_judge, remove_judge
from malpan.arena.models import Campaign
from malpan.arena.near import clear_institution, near_pairs
from malpan.arena.progress import judge_state, judged_though_barred, judgements_of, place_of
from malpan.arena.quality import SeenJudgement, seen_judgements
from malpan.arena.reminders import remind_judges
from malpan.arena.systems import systems_of
from malpan.competitions.permissions import Permission

operations = ManageOperations(_("운영: 사람 평가의 평가자"))
JUDGES = f"{ONE}/judges"
JUDGE = f"{JUDGES}/{{int:judge_pk}}"
NOBODY = _("평가자가 누구인지는 운영실의 화면에만 보입니다. 초대할 때 받은 id로 가리킵니다.")


@operations.get(f"{JUDGES}/", "listJudges", _("평가자와 진행"), Page[shown.ManagedJudge], says=NOBODY)
def judges(request: ApiRequest, slug: str, pk: int, page: PageNumber = 1, page_size: PageSize = 100) -> Any:
    campaign = managed_campaign(request, slug, pk, Permission.VIEW)
    barred, near = judged_though_barred(campaign), _near_teams(campaign)
    rows = selectors.judges_of(campaign)
    return paged(request, rows, page, page_size, lambda row: _judge(row, barred[row.pk], near[row.pk]))


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
    says=_(
        "그 팀의 출력은 이 평가자에게 보이지 않으며, 판단하지 않은 배정은 다른 평가자에게 옮깁니다. 평가자가 스스로 "
        "알린 팀(declared_alone)을 적으면 운영자가 확인한 것이 됩니다."
    ),
)
def bar(request: ApiRequest, slug: str, pk: int, judge_pk: int, data: shown.Bar) -> Any:
    campaign = managed_campaign(request, slug, pk)
    found = selectors.judge_of(campaign, judge_pk)
    bar_judge(judge=found, actor=request.auth.person, team_numbers=data.team_numbers, reason=data.reason)
    return _judge_at(campaign, judge_pk)


@operations.post(
    f"{JUDGE}/clear/",
    "clearJudge",
    _("이름이 비슷한 기관이 다르다고 확인"),
    shown.ManagedJudge,
    says=_("near_teams의 팀도 이 평가자에게 배정할 수 있게 되고, 남은 배정을 고루 다시 나눕니다."),
)
def clear(request: ApiRequest, slug: str, pk: int, judge_pk: int, data: shown.Cleared) -> Any:
    campaign = managed_campaign(request, slug, pk)
    found = selectors.judge_of(campaign, judge_pk)
    clear_institution(judge=found, actor=request.auth.person, team_numbers=data.team_numbers)
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
    return _judge(row, judged_though_barred(campaign)[pk], _near_teams(campaign)[pk])


def _near_teams(campaign: Campaign) -> dict[int, list[int]]:
    """By judge, while it is judged: the teams that an organiser is asked about."""
    found: dict[int, list[int]] = defaultdict(list)
    if campaign.opened_at is not None and campaign.closed_at is None:
        for pair in near_pairs(campaign, systems_of(campaign)):
            found[pair.judge.pk].append(pair.system.submission.team.number)
    return found


def _judge(row: Any, barred: int, near_teams: list[int]) -> dict[str, Any]:
    """``row`` is of ``judges_of``. Neither name nor address nor institution."""
    names = ("invited_at", "accepted_at", "consented_at", "calibrated_at", "removed_at", "told_at", "done", "total")
    return {name: getattr(row, name) for name in names} | {
        "id": row.pk,
        "state": judge_state(row, timezone.now()),
        "barred": barred,
        "near_teams": near_teams,
        "declared_alone": alone_teams(row),
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
