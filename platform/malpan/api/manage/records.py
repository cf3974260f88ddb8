"""Roles, the audit log, the archive and whether what was published is as the chain recorded it."""

from __future__ import annotations

import tempfile
from typing import Any, Final

from django.http import FileResponse
from django.utils import timezone
from django.utils.translation import gettext_noop as _

from malpan.api.frame import ApiRequest
from malpan.api.manage.access import MANAGE, ManageOperations, managed
from malpan.api.reading import paged
from malpan.api.schemas.kinds import Moment, Page, PageNumber, PageSize, Text
from malpan.api.schemas.manage import records as shown
from malpan.archive.exporting import export_competition
from malpan.competitions import roles
from malpan.competitions.models import CompetitionRole
from malpan.competitions.permissions import Permission
from malpan.core import audit, audit_selectors
from malpan.core.models import AuditEntry
from malpan.stages.verification import verify_competition
from malpan.submissions.models import ChainEntry

operations = ManageOperations(_("운영: 역할과 기록"))
ROLE = f"{MANAGE}/roles/{{int:pk}}"
SHOWN_FINDINGS: Final = 100
ZIP = {
    "responses": {200: {"content": {"application/zip": {"schema": {"type": "string", "format": "binary"}}}}},
}


@operations.get(f"{MANAGE}/roles/", "listRoles", _("역할을 맡은 사람"), list[shown.Role])
def role_list(request: ApiRequest, slug: str) -> Any:
    return [_role(held) for held in roles.roles_of(managed(request, slug, Permission.OWN))]


@operations.post(f"{MANAGE}/roles/", "appointRole", _("역할 맡기기"), shown.Role, status=201)
def appoint(request: ApiRequest, slug: str, data: shown.Appointment) -> Any:
    competition = managed(request, slug, Permission.OWN)
    return _role(
        roles.appoint_by_email(competition=competition, email=data.email, role=data.role, actor=request.auth.person)
    )


@operations.patch(f"{ROLE}/", "changeRole", _("역할 바꾸기"), shown.Role)
def change(request: ApiRequest, slug: str, pk: int, data: shown.RoleChange) -> Any:
    held = roles.role_of(managed(request, slug, Permission.OWN), pk)
    return _role(roles.change(held=held, role=data.role, actor=request.auth.person))


@operations.delete(f"{ROLE}/", "dismissRole", _("역할 거두기"))
def dismiss(request: ApiRequest, slug: str, pk: int) -> Any:
    roles.dismiss(held=roles.role_of(managed(request, slug, Permission.OWN), pk), actor=request.auth.person)


@operations.get(
    f"{MANAGE}/audit/",
    "listAuditEntries",
    _("감사 기록"),
    Page[shown.AuditEntry],
    says=_("사람 평가에서 누가 심사했는지는 화면에만 보입니다."),
)
def entries(
    request: ApiRequest,
    slug: str,
    action: Text = "",
    object_type: Text = "",
    object_id: Text = "",
    since: Moment | None = None,
    until: Moment | None = None,
    page: PageNumber = 1,
    page_size: PageSize = 100,
) -> Any:
    competition = managed(request, slug, Permission.VIEW)
    search = audit_selectors.AuditSearch(
        action=action, object_type=object_type, object_id=object_id, since=since, until=until
    )
    return paged(request, audit_selectors.search_entries(competition.pk, search), page, page_size, _entry)


@operations.post(
    f"{MANAGE}/export/",
    "exportCompetition",
    _("대회를 보관 파일로 내보내기"),
    None,
    status=200,
    extra=ZIP,
    says=_("암호 구문을 보내면 정답을 암호화해 담습니다."),
    is_once=False,
)
def export(request: ApiRequest, slug: str, data: shown.Export) -> Any:
    competition = managed(request, slug, Permission.OWN)
    target = tempfile.TemporaryFile()  # noqa: SIM115 - the response closes it
    try:
        export_competition(
            competition=competition, actor=request.auth.person, target=target, passphrase=data.passphrase
        )
        target.seek(0)
    except BaseException:
        target.close()
        raise
    name = f"{competition.slug}-{timezone.localtime():%Y%m%d-%H%M%S}.zip"
    return FileResponse(target, as_attachment=True, filename=name, content_type="application/zip")


@operations.get(
    f"{MANAGE}/verification/",
    "verifyCompetition",
    _("발표한 점수가 사슬에 적힌 대로인지 확인"),
    shown.Verification,
)
def verification(request: ApiRequest, slug: str) -> Any:
    competition = managed(request, slug, Permission.OWN)
    findings = verify_competition(competition)
    return {
        "is_sound": not findings,
        "findings": [each.text for each in findings[:SHOWN_FINDINGS]],
        "finding_count": len(findings),
        "entries": ChainEntry.objects.filter(competition=competition).count(),
    }


def _role(held: CompetitionRole) -> dict[str, Any]:
    return {
        "id": held.pk,
        "email": held.user.email,
        "name": held.user.name,
        "role": held.role,
        "created_at": held.created_at,
    }


def _entry(entry: AuditEntry) -> dict[str, Any]:
    actor, person = audit.leaving(entry.object_type, entry.actor, entry.person)
    return {
        "id": entry.pk,
        "moment": entry.created_at,
        "actor": actor and str(actor),
        "person": person and str(person),
        "action": entry.action,
        "object_type": entry.object_type,
        "object_id": entry.object_id,
        "before": entry.before,
        "after": entry.after,
    }
