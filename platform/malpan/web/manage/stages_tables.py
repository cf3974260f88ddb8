"""Tables of scores of a stage: pasted or uploaded, looked at, then stored."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import path
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe

from malpan.competitions.permissions import Permission
from malpan.core.errors import DomainError
from malpan.stages.entering import enter_table, preview_table, teams_to_score
from malpan.stages.errors import TableInvalid
from malpan.stages.models import Stage
from malpan.stages.selectors import newest_table, scores_of, stage_of
from malpan.stages.tables import PROBLEMS_MAX, plain_number, template
from malpan.web.acting import act, or_refusal, refusal_of, refuse
from malpan.web.csv_export import csv_response
from malpan.web.forms.stages import StageTableForm
from malpan.web.manage.access import ManageAccess, manage_page
from malpan.web.pages.context import MemberRequest
from malpan.web.presenters.stages import score_decimals, score_text


@require_http_methods(["GET", "HEAD", "POST"])
@manage_page(Permission.MANAGE)
def table_page(request: MemberRequest, access: ManageAccess, pk: int) -> HttpResponse:
    """Enter a table of scores: first what it says and what changes, then ``save`` stores it."""
    stage = stage_of(access.competition, pk)
    last = newest_table(stage)
    if request.method != "POST":
        return _table_page(request, access, stage, _new_table_form(stage, last))
    form = StageTableForm(request.POST, request.FILES, needs_reason=last is not None)
    if "save" not in request.POST:
        return _preview(request, access, stage, form)
    return act(
        request,
        lambda values: enter_table(
            stage=stage,
            text=values["text"],
            actor=request.user,
            based_on=values["based_on"],
            reason=values["reason"],
        ),
        form=form,
        success=_("점수표를 저장했습니다. 다른 운영자가 확인해야 발표할 수 있습니다."),
        to=access.url("manage_stage", pk),
        render_again=lambda status: _table_page(request, access, stage, form, status),
    )


def _new_table_form(stage: Stage, last: Any) -> StageTableForm:
    """The form with the newest scores or, before there are any, with the teams to fill in."""
    try:
        text = template(teams_to_score(stage), scores_of(last), [_("팀 번호"), _("팀"), _("점수")])
    except DomainError:
        text = ""
    initial = {"text": text, "based_on": last.number if last else 0}
    return StageTableForm(initial=initial, needs_reason=last is not None)


def _preview(request: MemberRequest, access: ManageAccess, stage: Stage, form: StageTableForm) -> HttpResponse:
    if not form.is_valid():
        return _table_page(request, access, stage, form, 422)
    try:
        found = preview_table(stage, form.cleaned_data["text"])
    except DomainError as error:
        refuse(form, error)
        return _table_page(request, access, stage, form, error.http_status)
    scores = [score for each in found for score in (each.before, each.after) if score is not None]
    decimals = score_decimals(scores)
    context = access.context("manage_stages") | {
        "stage": stage,
        "values": form.cleaned_data,
        "is_first_version": all(each.before is None for each in found),
        "changed_count": sum(each.is_changed for each in found),
        "lines": [
            (
                each,
                score_text(each.before, stage.source, stage.track, decimals),
                score_text(each.after, stage.source, stage.track, decimals),
            )
            for each in found
        ],
    }
    return render(request, "manage/stages_table_preview.html", context)


def _table_page(
    request: MemberRequest, access: ManageAccess, stage: Stage, form: StageTableForm, status: int = 200
) -> HttpResponse:
    error = refusal_of(form)
    problems = error.problems if isinstance(error, TableInvalid) else ()
    participants, refusal = or_refusal(lambda: teams_to_score(stage))
    context = access.context("manage_stages") | {
        "stage": stage,
        "form": form,
        "problems": problems[:PROBLEMS_MAX],
        "more_problems": max(len(problems) - PROBLEMS_MAX, 0),
        "participants": participants or [],
        "low": plain_number(stage.scale_min),
        "high": plain_number(stage.scale_max),
        "refusal": refusal,
        "last": newest_table(stage),
    }
    return render(request, "manage/stages_table.html", context, status=status)


@require_safe
@manage_page(Permission.MANAGE)
def template_csv(request: MemberRequest, access: ManageAccess, pk: int) -> HttpResponse:
    """The teams that take part, with the scores entered so far, as a table to fill in."""
    stage = stage_of(access.competition, pk)
    scores = scores_of(newest_table(stage))
    rows = [(each.number, each.name, scores.get(each.number)) for each in teams_to_score(stage)]
    name = f"{access.competition.slug}-{stage.track.slug}-stage-{stage.position}.csv"
    return csv_response(name, (_("팀 번호"), _("팀"), _("점수")), rows)


urlpatterns = [
    path("stages/<int:pk>/table/", table_page, name="manage_stage_table"),
    path("stages/<int:pk>/table/template.csv", template_csv, name="manage_stage_template"),
]
