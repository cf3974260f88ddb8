"""The upload page: remaining submissions, when the next file is accepted, and the errors of the last one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from malpan.competitions.errors import TermsNotAccepted
from malpan.competitions.references import recipe_of
from malpan.competitions.selectors import sample_file
from malpan.core import uploads
from malpan.core.errors import DomainError, SystemFault
from malpan.core.limits import network_of
from malpan.core.messages import heading_of, text_of
from malpan.submissions.errors import DuplicateUpload, FileRejected, SameFile, UploadTooLarge
from malpan.submissions.intake import DryRun, check_only, submit
from malpan.submissions.models import Rejection, Submission
from malpan.submissions.quota.services import refusal_of, status
from malpan.submissions.selectors import rejection_errors
from malpan.web.forms.submit import SubmitForm
from malpan.web.pages.context import MemberRequest, PageContext, address, members_only, page_context
from malpan.web.pages.terms import lead_to_terms
from malpan.web.presenters import scores
from scoring.reading.answer_forms import forms_of
from scoring.recipes import AnswerForm

KEPT_MEMO: Final = "submit_memo"  # in the session, until a file is accepted


@uploads.takes_file
def submit_page(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the form to anybody; accept a file from a member of a team."""
    return _take(request, slug) if request.method == "POST" else _show(request, slug)


@require_http_methods(["GET", "HEAD"])
def _show(request: HttpRequest, slug: str) -> HttpResponse:
    page = page_context(request, slug)
    rejection = _rejection_asked_for(request, page)
    form = SubmitForm(initial={"memo": _kept_memo(request, page)}, answer_form=_answer_form(page))
    return render(request, "pages/submit.html", _context(page, form, rejection))


@members_only
def _take(request: MemberRequest, slug: str) -> HttpResponse:
    def take(page: PageContext, form: SubmitForm, file: dict[str, Any]) -> HttpResponse:
        rest = {name: form.cleaned_data[name] for name in ("memo", "upload_key")}
        return _accepted(request, submit(**file, **rest, refuses_same=not form.cleaned_data["again"]))

    return _with_file(request, slug, take)


@uploads.takes_file
@require_POST
@members_only
def check_page(request: MemberRequest, slug: str) -> HttpResponse:
    """Check a file without submitting it (검사만 하기): what was found is on the page of the form again."""
    return _with_file(request, slug, lambda page, _form, file: _sound(request, page, check_only(**file)))


def _with_file(
    request: MemberRequest, slug: str, do: Callable[[PageContext, SubmitForm, dict[str, Any]], HttpResponse]
) -> HttpResponse:
    """What ``do`` answers to the file of the form, which it gets as ``submit`` takes it; or why there is none."""
    page = page_context(request, slug)
    form = SubmitForm(request.POST, request.FILES, answer_form=_answer_form(page))
    if page.team is None or page.phase is None:
        messages.error(request, _("제출하려면 먼저 이 대회의 팀에 들어가야 합니다."))
        return redirect("team", slug)
    if uploads.was_too_large(request):
        limit = UploadTooLarge(size_bytes=uploads.body_size(request), limit_bytes=settings.UPLOAD_MAX_BYTES)
        return _back(request, page, limit)
    if not form.is_valid():
        return render(request, "pages/submit.html", _context(page, form, None), status=422)
    upload = form.cleaned_data["file"]
    _keep_memo(request, page, form.cleaned_data["memo"])
    file = {
        "phase": page.phase,
        "team": page.team,
        "user": request.user,
        "file_name": upload.name,
        "upload": upload,
        "address": network_of(request),
    }

    def take() -> HttpResponse:
        uploads.one_file(request, "file")
        return do(page, form, file)

    return _outcome(request, page, take)


def _sound(request: HttpRequest, page: PageContext, dry_run: DryRun) -> HttpResponse:
    form = SubmitForm(initial={"memo": _kept_memo(request, page)}, answer_form=_answer_form(page))
    shown = {"dry_run": dry_run, "file_warnings": scores.told_warnings(dry_run.found.warnings)}
    return render(request, "pages/submit.html", _context(page, form, None) | shown)


def _asked_again(request: HttpRequest, page: PageContext, error: SameFile) -> HttpResponse:
    """The form again, with the question whether the same file is meant to be submitted once more."""
    form = SubmitForm(initial={"memo": _kept_memo(request, page)}, answer_form=_answer_form(page))
    shown = {"same": error.params["public_id"], "same_text": text_of(error)}
    return render(request, "pages/submit.html", _context(page, form, None) | shown, status=409)


def _outcome(request: HttpRequest, page: PageContext, take: Callable[[], HttpResponse]) -> HttpResponse:
    """What ``take`` answers; a refusal is shown with the form, which is there again. Raises what is a fault of ours."""
    try:
        return take()
    except FileRejected as error:
        if error.rejection is None:
            return _back(request, page, error)
        separator = "&" if "?" in _form_address(page) else "?"
        return redirect(f"{_form_address(page)}{separator}rejection={error.rejection.pk}#errors")
    except SameFile as error:
        return _asked_again(request, page, error)
    except DuplicateUpload as error:
        messages.warning(request, text_of(error))
        return redirect("submission", error.params["public_id"])
    except TermsNotAccepted:
        then = _("올리던 파일은 접수하지 않았으니, 돌아가서 다시 골라 주십시오. 제출 횟수는 쓰지 않았습니다.")
        return lead_to_terms(request, page.competition, back=_form_address(page), then=then)
    except SystemFault:
        request.session.save()  # the memo: nobody else does where the status is that of an error
        raise  # it has a page, and is logged and counted
    except DomainError as error:
        return _back(request, page, error)


def _accepted(request: HttpRequest, submission: Submission) -> HttpResponse:
    request.session.pop(KEPT_MEMO, None)
    messages.success(request, _("제출을 접수했습니다."))
    return redirect("submission", submission.public_id)


def _back(request: HttpRequest, page: PageContext, error: DomainError) -> HttpResponse:
    """Redirect to the form again, with the error."""
    messages.error(request, f"{heading_of(error)} — {text_of(error)}")
    return redirect(_form_address(page))


def _keep_memo(request: HttpRequest, page: PageContext, memo: str) -> None:
    """Keep ``memo`` in the session, so that after a refused file the form still has it; empties it without one."""
    if memo and page.phase:
        request.session[KEPT_MEMO] = {"phase": page.phase.pk, "memo": memo}
    else:
        request.session.pop(KEPT_MEMO, None)


def _kept_memo(request: HttpRequest, page: PageContext) -> str:
    """The memo that was typed for this phase with a file that was refused."""
    kept = request.session.get(KEPT_MEMO)
    return kept["memo"] if kept and page.phase and kept["phase"] == page.phase.pk else ""


def _answer_form(page: PageContext) -> AnswerForm:
    return recipe_of(page.track).answer_form if page.track else "answers"


def _form_address(page: PageContext) -> str:
    return address("submit", page.competition, page.track if len(page.tracks) > 1 else None)


def _rejection_asked_for(request: HttpRequest, page: PageContext) -> Rejection | None:
    """The rejected file of ``?rejection=``, if it is this team's."""
    number = request.GET.get("rejection", "")
    if page.team is None or not number.isascii() or not number.isdigit() or len(number) > 18:
        return None
    return Rejection.objects.filter(pk=number, team=page.team).first()


def _context(page: PageContext, form: SubmitForm, rejection: Rejection | None) -> dict[str, Any]:
    quota = status(phase=page.phase, team=page.team) if page.team and page.phase else None
    errors = rejection_errors(rejection) if rejection else ()
    return page.context("submit", page.track) | {
        "form": form,
        "caption_formats": scores.caption_formats(),
        "quota": quota,
        "refusal": text_of(refusal_of(quota)) if quota and quota.next_allowed_at is None else "",
        "is_open": bool(page.phase and page.phase.is_open()),
        "forms": forms_of(recipe_of(page.track)) if page.track else (),
        "sample": sample_file(page.track) if page.track else None,
        "upload_max_bytes": settings.UPLOAD_MAX_BYTES,
        "rejection": rejection,
        "errors": scores.located_errors(errors),
    }
