"""What teams have left: grants, refunds and resets."""

from __future__ import annotations

from datetime import date
from typing import Any

from django.http import HttpResponse
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_noop as _

from malpan.api.errors import FieldError, FieldsInvalid
from malpan.api.frame import ApiRequest
from malpan.api.manage.access import MANAGE, ManageOperations, managed_phase
from malpan.api.manage.phases import require_confirmed
from malpan.api.reading import LINKED, page_alone
from malpan.api.schemas.kinds import Because, Done, PageNumber, PageSize
from malpan.api.schemas.manage import quota as shown
from malpan.api.schemas.submissions import Quota
from malpan.api.schemas.submissions import quota as shown_quota
from malpan.competitions.models import Phase
from malpan.competitions.permissions import Permission
from malpan.core.times import kst_day
from malpan.submissions.errors import SubmissionNotFound
from malpan.submissions.models import QuotaEntry, Submission
from malpan.submissions.quota import services as quota
from malpan.teams.models import Team
from malpan.teams.selectors import team_by_number

operations = ManageOperations(_("운영: 제출 횟수"))
PHASE = f"{MANAGE}/phases/{{int:pk}}/quota"
TEAM = f"{PHASE}/teams/{{int:number}}"


def _of_team(
    request: ApiRequest, slug: str, pk: int, number: int, permission: Permission = Permission.MANAGE
) -> tuple[Phase, Team]:
    phase = managed_phase(request, slug, pk, permission)
    return phase, team_by_number(phase.track.competition, number)


def _day(day: date | None) -> date | None:
    """A grant for a past day would give nothing."""
    if day is not None and day < kst_day(timezone.now()):
        raise FieldsInvalid([FieldError("body.day", gettext("오늘이나 그 뒤의 날짜를 입력해 주십시오."))])
    return day


@operations.get(f"{TEAM}/", "getTeamQuota", _("한 팀의 남은 제출 횟수"), Quota)
def left(request: ApiRequest, slug: str, pk: int, number: int) -> Any:
    phase, team = _of_team(request, slug, pk, number, Permission.VIEW)
    return shown_quota(quota.status(phase=phase, team=team))


@operations.get(f"{TEAM}/ledger/", "getTeamLedger", _("한 팀의 제출 횟수 내역"), list[shown.QuotaLine], says=LINKED)
def ledger(
    request: ApiRequest,
    response: HttpResponse,
    slug: str,
    pk: int,
    number: int,
    page: PageNumber = 1,
    page_size: PageSize = 100,
) -> Any:
    phase, team = _of_team(request, slug, pk, number, Permission.VIEW)
    rows = quota.ledger_of(phase=phase, team=team).entries
    return page_alone(request, response, rows, page, page_size, _line)


@operations.post(f"{TEAM}/grant/", "grantSlots", _("한 팀에 제출 횟수 더 주기"), Quota)
def grant(request: ApiRequest, slug: str, pk: int, number: int, data: shown.Grant) -> Any:
    phase, team = _of_team(request, slug, pk, number)
    quota.grant(
        phase=phase, team=team, slots=data.slots, reason=data.reason, actor=request.auth.person, day=_day(data.day)
    )
    return shown_quota(quota.status(phase=phase, team=team))


@operations.post(f"{TEAM}/refund/", "refundSubmission", _("제출 하나를 환불"), Quota)
def refund(request: ApiRequest, slug: str, pk: int, number: int, data: shown.Refund) -> Any:
    phase, team = _of_team(request, slug, pk, number)
    row = Submission.objects.filter(phase=phase, team=team, public_id=data.submission).charged().first()
    if row is None:
        raise SubmissionNotFound
    quota.refund(submission=row, reason=data.reason, actor=request.auth.person)
    return shown_quota(quota.status(phase=phase, team=team))


@operations.post(f"{TEAM}/reset/", "resetQuota", _("한 팀의 제출 횟수 초기화"), Quota)
def reset(request: ApiRequest, slug: str, pk: int, number: int, data: Because) -> Any:
    phase, team = _of_team(request, slug, pk, number)
    quota.reset(phase=phase, team=team, reason=data.reason, actor=request.auth.person)
    return shown_quota(quota.status(phase=phase, team=team))


@operations.post(f"{PHASE}/grant/", "grantSlotsToAll", _("모든 팀에 제출 횟수 더 주기"), Done)
def grant_all(request: ApiRequest, slug: str, pk: int, data: shown.Grant) -> Any:
    phase = managed_phase(request, slug, pk)
    count = quota.grant_all(
        phase=phase, slots=data.slots, reason=data.reason, actor=request.auth.person, day=_day(data.day)
    )
    return {"count": count}


@operations.post(f"{PHASE}/reset/", "resetQuotaOfAll", _("모든 팀의 제출 횟수 초기화"), Done)
def reset_all(request: ApiRequest, slug: str, pk: int, data: shown.ResetAll) -> Any:
    phase = managed_phase(request, slug, pk)
    require_confirmed(phase, data.confirm)
    return {"count": quota.reset_all(phase=phase, reason=data.reason, actor=request.auth.person)}


def _line(entry: QuotaEntry) -> dict[str, Any]:
    return {
        "kind": entry.kind,
        "moment": entry.moment,
        "slots": entry.slots,
        "day": entry.day,
        "reason": entry.reason,
        "submission": entry.submission and entry.submission.public_id,
        "actor": entry.actor and str(entry.actor),
    }
