"""How far the LLM judges of a competition agree with people: what was recorded, and people's scores to upload."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import URLPattern, path
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from malpan.competitions.permissions import Permission, require
from malpan.core.times import kst_text
from malpan.submissions.judge_agreement import (
    JudgedSubmission,
    agreement_of,
    agreements_of,
    judged_submissions,
    record_agreement,
    remove_agreement,
)
from malpan.web.acting import act, refusal_of
from malpan.web.forms.judge import HumanScoresForm
from malpan.web.manage.access import ManageAccess, manage_page
from malpan.web.pages.context import MemberRequest
from malpan.web.presenters.judge import agreement_lines
from malpan.web.presenters.scores import rejected_file
from malpan.web.presenters.submissions import metric_label


@require_http_methods(["GET", "HEAD", "POST"])
@manage_page(Permission.VIEW)
def judge_page(request: MemberRequest, access: ManageAccess) -> HttpResponse:
    """What was recorded; POST uploads people's scores."""
    judged = {each.key: each for each in judged_submissions(access.competition)}
    choices = [(key, _label(each)) for key, each in judged.items()]
    if request.method != "POST":
        return _page(request, access, HumanScoresForm(choices=choices))
    require(request.user, access.competition, Permission.MANAGE)
    form = HumanScoresForm(request.POST, request.FILES, choices=choices)
    return act(
        request,
        lambda values: record_agreement(
            submission=judged[values["judged"]].submission,
            metric=judged[values["judged"]].metric,
            data=values["file"].read(),
            source=values["source"],
            actor=request.user,
        ),
        form=form,
        success=_("일치도를 계산해 기록했습니다. 대회가 공개되어 있으면 평가 지표 화면에 보입니다."),
        to=access.url("manage_judge"),
        render_again=lambda status: _page(request, access, form, status),
    )


@require_POST
@manage_page(Permission.MANAGE)
def remove_action(request: MemberRequest, access: ManageAccess, pk: int) -> HttpResponse:
    row = agreement_of(access.competition, pk)
    return act(
        request,
        lambda _values: remove_agreement(row=row, actor=request.user),
        success=_("일치도 기록을 지웠습니다."),
        to=access.url("manage_judge"),
    )


def _label(judged: JudgedSubmission) -> str:
    row = judged.submission
    metric = judged.metric if row.live_run is None else metric_label(row.live_run, judged.metric)
    return f"{row.team.name} · {row.phase.track.title} · {kst_text(row.created_at)} · {metric}"


def _page(request: MemberRequest, access: ManageAccess, form: HumanScoresForm, status: int = 200) -> HttpResponse:
    context = access.context("manage_runs") | {
        "form": form,
        "has_judged": bool(form.fields["judged"].choices),  # type: ignore[attr-defined]  # a choice field
        "lines": agreement_lines(agreements_of(access.competition)),
    }
    return render(request, "manage/judge.html", context | rejected_file(refusal_of(form)), status=status)


urlpatterns: list[URLPattern] = [
    path("judge/", judge_page, name="manage_judge"),
    path("judge/<int:pk>/remove/", remove_action, name="manage_judge_remove"),
]
