"""Export and import of the whole competition as one archive, and the check of its published scores."""

from __future__ import annotations

import tempfile
from typing import Final, cast

from django.contrib import messages
from django.http import FileResponse, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import path, reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.csrf import csrf_exempt, csrf_protect
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from malpan.archive.errors import ArchiveRefused
from malpan.archive.exporting import export_competition
from malpan.archive.importing import PERMISSION, Imported, import_competition
from malpan.archive.uploads import ArchiveUploadHandler
from malpan.competitions.errors import NotAllowed
from malpan.competitions.permissions import Permission, may
from malpan.competitions.room import usage_of
from malpan.core.errors import DomainError
from malpan.stages.verification import verify_competition
from malpan.submissions.models import ChainEntry
from malpan.web.acting import act
from malpan.web.forms.archive import ExportForm, ImportForm
from malpan.web.manage.access import ManageAccess, manage_page
from malpan.web.pages.context import MemberRequest, members_only
from scoring.particles import fitted

SHOWN_FINDINGS: Final = 100


@require_safe
@manage_page(Permission.OWN)
def archive_page(request: MemberRequest, access: ManageAccess) -> HttpResponse:
    """What can be exported; with ``?verify=1`` also whether the published scores are as the chain recorded them."""
    return _archive_page(request, access, ExportForm())


def _archive_page(request: MemberRequest, access: ManageAccess, form: ExportForm, status: int = 200) -> HttpResponse:
    findings = verify_competition(access.competition) if request.GET.get("verify") else None
    context = access.context("manage_archive") | {
        "form": form,
        "entry_count": ChainEntry.objects.filter(competition=access.competition).count(),
        "is_verified": findings is not None,
        "findings": (findings or [])[:SHOWN_FINDINGS],
        "finding_count": len(findings or []),
        "usage": usage_of(access.competition),
        "may_import": request.user.has_perm(PERMISSION),
    }
    return render(request, "manage/archive.html", context, status=status)


@require_POST
@manage_page(Permission.OWN)
def export_action(request: MemberRequest, access: ManageAccess) -> HttpResponse:
    """The archive as a download."""
    form = ExportForm(request.POST)
    if not form.is_valid():
        return _archive_page(request, access, form, 422)
    target = tempfile.TemporaryFile()  # noqa: SIM115 - the response closes it
    passphrase = form.cleaned_data["passphrase"] if form.cleaned_data["references"] else ""
    try:
        export_competition(competition=access.competition, actor=request.user, target=target, passphrase=passphrase)
        target.seek(0)
    except BaseException:
        target.close()
        raise
    name = f"{access.competition.slug}-{timezone.localtime():%Y%m%d-%H%M%S}.zip"
    response = FileResponse(target, as_attachment=True, filename=name, content_type="application/zip")
    response.headers["Cache-Control"] = "no-store"
    return cast("HttpResponse", response)


@csrf_exempt  # checked by the inner view: the handler for large files must be set before the body is read
@require_http_methods(["GET", "HEAD", "POST"])
@members_only
def import_page(request: MemberRequest) -> HttpResponse:
    """Import an archive. For people who may add competitions; raises ``NotAllowed``."""
    if not request.user.has_perm(PERMISSION):
        raise NotAllowed(permission=PERMISSION)
    if request.method == "POST":
        request.upload_handlers = [ArchiveUploadHandler(request)]
    return _import_page(request)


@csrf_protect
def _import_page(request: HttpRequest) -> HttpResponse:
    if request.method != "POST":
        return render(request, "manage/archive_import.html", {"form": ImportForm()})
    member = cast("MemberRequest", request)
    form = ImportForm(request.POST, request.FILES)
    return act(
        request,
        lambda values: import_competition(
            file=values["file"], actor=member.user, slug=values["slug"], passphrase=values["passphrase"]
        ),
        form=form,
        to=lambda done: _report_import(member, done),
        render_again=lambda _status: render(request, "manage/archive_import.html", {"form": form}, status=422),
        error_field=_field_of,
    )


def _report_import(request: MemberRequest, done: Imported) -> str:
    """Add messages about the import; returns the address to go to."""
    text = _("‘%(title)s’을(를) 가져왔습니다: 팀 %(teams)s, 제출 %(submissions)s, 새로 만든 사람 %(people)s.")
    numbers = {"teams": done.counts["teams"], "submissions": done.counts["submissions"], "people": done.new_people}
    messages.success(request, fitted(text % ({"title": done.competition.title} | numbers)))
    if not done.has_references:
        messages.warning(request, _("정답은 들어오지 않았습니다. 정답을 올리기 전에는 새로 채점할 수 없습니다."))
    if done.missing_files:
        count = len(done.missing_files)
        messages.warning(request, _("보관 파일에 없는 파일이 %(count)s개 있습니다.") % {"count": count})
    if may(request.user, done.competition, Permission.OWN):
        return reverse("manage_archive", args=[done.competition.slug])
    # somebody without a role in the archive has none here and may not see an unpublished competition
    return reverse("competition", args=[done.competition.slug]) if done.competition.is_published else reverse("home")


def _field_of(error: DomainError) -> str:
    """The field of an error."""
    reason = error.params["reason"] if isinstance(error, ArchiveRefused) else ""
    return {"slug_taken": "slug", "slug_invalid": "slug", "passphrase": "passphrase"}.get(reason, "file")


urlpatterns = [
    path("archive/", archive_page, name="manage_archive"),
    path("archive/export/", export_action, name="manage_export"),
]
