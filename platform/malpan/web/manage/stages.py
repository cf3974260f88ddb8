"""Stages of a track's final: their settings, tables of scores that a second person confirms, and publication."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import path
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from malpan.competitions.models import Track
from malpan.competitions.permissions import Permission, require
from malpan.competitions.selectors import get_track, tracks_of
from malpan.core.errors import DomainError
from malpan.stages.contents import Content, final_content, stage_content
from malpan.stages.entering import confirm_table, reject_table
from malpan.stages.errors import StageSettingsInvalid
from malpan.stages.models import Stage
from malpan.stages.publishing import publish_final, publish_stage
from malpan.stages.selectors import (
    finals_of,
    is_final_behind,
    newest_final,
    replaced_parts,
    resting_on,
    rule_facts,
    scores_of,
    snapshots_of,
    stage_of,
    stages_of,
    states_of,
    tables_of,
    team_names,
)
from malpan.stages.services import create_stage, remove_stage, update_stage
from malpan.web.acting import act, act_on_page, or_refusal, posted
from malpan.web.forms.fields import ConfirmForm
from malpan.web.forms.stages import StageForm, StagePublishForm, TableConfirmForm, TableRejectForm
from malpan.web.manage.access import ManageAccess, manage_page
from malpan.web.pages.context import MemberRequest, page_of
from malpan.web.presenters.stages import final_lines, heads_of, rule_words, score_decimals, score_text, stage_lines

Forms = dict[str, Any]  # by key: forms with errors, which replace new ones


@require_safe
@manage_page(Permission.VIEW)
def stages_page(request: MemberRequest, access: ManageAccess) -> HttpResponse:
    """The stages of every track with their state, and the way to the combined standing."""
    sections = []
    for track in tracks_of(access.competition):
        states = states_of(track)
        heads = heads_of([state.stage for state in states])
        final = newest_final(track)
        is_behind = final is not None and is_final_behind(final, states)
        sections.append((track, list(zip(heads, states, strict=True)), final, is_behind))
    return render(request, "manage/stages.html", access.context("manage_stages") | {"sections": sections})


@require_http_methods(["GET", "HEAD", "POST"])
@manage_page(Permission.MANAGE)
def new_page(request: MemberRequest, access: ManageAccess, track_slug: str) -> HttpResponse:
    """Add a stage to a track. Raises ``TrackNotFound``."""
    track = get_track(access.competition, track_slug)
    form = StageForm(posted(request), track=track)
    context = access.context("manage_stages") | {"track": track, "form": form, "position": track.stages.count() + 1}

    def again(status: int) -> HttpResponse:
        return render(request, "manage/stages_new.html", context, status=status)

    if not form.is_bound:
        return again(200)
    return act(
        request,
        lambda _values: create_stage(track=track, actor=request.user, **form.values()),
        form=form,
        success=_("심사를 만들었습니다."),
        to=access.url("manage_stages"),
        render_again=again,
        error_field=lambda error: _field_at_fault(form, error),
    )


@require_http_methods(["GET", "HEAD", "POST"])
@manage_page(Permission.VIEW)
def stage_page(request: MemberRequest, access: ManageAccess, pk: int) -> HttpResponse:
    """A stage: settings, its table, what publishing would say, what was published. POST saves the settings."""
    stage = stage_of(access.competition, pk)
    if request.method != "POST":
        return _stage_page(request, access, stage, {})
    require(request.user, access.competition, Permission.MANAGE)
    form = StageForm(request.POST, instance=stage_of(access.competition, pk), track=stage.track)
    return act_on_page(
        request,
        lambda _values: update_stage(stage=stage, actor=request.user, **form.values()),
        form=form,
        key="form",
        page=partial(_stage_page, request, access, stage),
        success=_("심사 설정을 저장했습니다."),
        to=access.url("manage_stage", pk),
        error_field=lambda error: _field_at_fault(form, error),
    )


def _field_at_fault(form: StageForm, error: DomainError) -> str | None:
    field = error.field if isinstance(error, StageSettingsInvalid) else None
    return field if field in form.fields else None


@require_POST
@manage_page(Permission.MANAGE)
def confirm_action(request: MemberRequest, access: ManageAccess, pk: int) -> HttpResponse:
    """Confirm a table that somebody else entered."""
    stage, form = stage_of(access.competition, pk), TableConfirmForm(request.POST, auto_id="confirm-%s")
    return act_on_page(
        request,
        lambda values: confirm_table(stage=stage, number=values["number"], sha256=values["sha256"], actor=request.user),
        form=form,
        key="confirm_form",
        page=partial(_stage_page, request, access, stage),
        success=_("점수표를 확인했습니다. 이제 발표할 수 있습니다."),
        to=access.url("manage_stage", pk),
        refused_above=True,
    )


@require_POST
@manage_page(Permission.MANAGE)
def reject_action(request: MemberRequest, access: ManageAccess, pk: int) -> HttpResponse:
    """Send a table that somebody else entered back, with a reason."""
    stage, form = stage_of(access.competition, pk), TableRejectForm(request.POST, auto_id="reject-%s")
    return act_on_page(
        request,
        lambda values: reject_table(
            stage=stage,
            number=values["number"],
            sha256=values["sha256"],
            reason=values["reason"],
            actor=request.user,
        ),
        form=form,
        key="reject_form",
        page=partial(_stage_page, request, access, stage),
        success=_("점수표를 돌려보냈습니다."),
        to=access.url("manage_stage", pk),
        refused_above=True,
    )


@require_POST
@manage_page(Permission.MANAGE)
def publish_action(request: MemberRequest, access: ManageAccess, pk: int) -> HttpResponse:
    """Publish the result of a stage as the page showed it."""
    stage = stage_of(access.competition, pk)
    form = StagePublishForm(request.POST, is_erratum=bool(snapshots_of(stage)), auto_id="publish-%s")
    return act_on_page(
        request,
        lambda values: publish_stage(
            stage=stage,
            actor=request.user,
            sha256=values["sha256"],
            note_ko=values["note_ko"],
            note_en=values["note_en"],
        ),
        form=form,
        key="publish_form",
        page=partial(_stage_page, request, access, stage),
        success=lambda snapshot: _("심사 결과 %(number)d판을 발표했습니다.") % {"number": snapshot.number},
        to=access.url("manage_stage", pk),
    )


@require_POST
@manage_page(Permission.MANAGE)
def remove_action(request: MemberRequest, access: ManageAccess, pk: int) -> HttpResponse:
    """Delete the last stage of a track, if nothing was entered or published."""
    stage, form = stage_of(access.competition, pk), _removal_form(request.POST)
    return act_on_page(
        request,
        lambda _values: remove_stage(stage=stage, actor=request.user),
        form=form,
        key="removal",
        page=partial(_stage_page, request, access, stage),
        success=_("심사를 지웠습니다."),
        to=access.url("manage_stages"),
    )


@require_http_methods(["GET", "HEAD", "POST"])
@manage_page(Permission.VIEW)
def final_page(request: MemberRequest, access: ManageAccess, track_slug: str) -> HttpResponse:
    """The combined standing as it would be published now; POST publishes it. Raises ``TrackNotFound``."""
    track = get_track(access.competition, track_slug)
    if request.method != "POST":
        return _final_page(request, access, track, None)
    require(request.user, access.competition, Permission.MANAGE)
    form = StagePublishForm(request.POST, is_erratum=newest_final(track) is not None)
    return act(
        request,
        lambda values: publish_final(
            track=track,
            actor=request.user,
            sha256=values["sha256"],
            note_ko=values["note_ko"],
            note_en=values["note_en"],
        ),
        form=form,
        success=lambda snapshot: _("종합 결과 %(number)d판을 발표했습니다.") % {"number": snapshot.number},
        to=access.url("manage_stages_final", track.slug),
        render_again=lambda status: _final_page(request, access, track, form, status),
    )


def _stage_page(
    request: MemberRequest, access: ManageAccess, stage: Stage, forms: Forms, status: int = 200
) -> HttpResponse:
    states = states_of(stage.track)
    state = next(each for each in states if each.stage.pk == stage.pk)
    context = access.context("manage_stages") | {
        "stage": stage,
        "state": state,
        "is_last": stages_of(stage.track)[-1].pk == stage.pk,
        "resting": resting_on(stage.track, stage.position + 1),
        "behind_before": [each for each in states if each.stage.position < stage.position and each.is_behind],
        "words": rule_words(rule_facts(stage), stage.track),
        "form": StageForm(instance=stage_of(access.competition, stage.pk), track=stage.track),
        "removal": _removal_form(),
        "tables": tables_of(stage),
        "snapshots": snapshots_of(stage),
    }
    if access.may(Permission.VIEW_HIDDEN):
        context |= _table(request, stage, state.table) | _result(request, stage)
    return render(request, "manage/stages_one.html", context | forms, status=status)


def _table(request: MemberRequest, stage: Stage, table: Any) -> dict[str, Any]:
    """The newest table with its forms for a second person."""
    if table is None:
        return {}
    scores = scores_of(table)
    names, decimals = team_names(stage.track.competition, scores), score_decimals(scores.values())
    seen = {"number": table.number, "sha256": table.sha256}
    return {
        "entered": [
            (number, names.get(number, ""), score_text(score, stage.source, stage.track, decimals))
            for number, score in scores.items()
        ],
        "is_own_table": table.entered_by_id == request.user.pk,
        "confirm_form": TableConfirmForm(initial=seen, auto_id="confirm-%s"),
        "reject_form": TableRejectForm(initial=seen, auto_id="reject-%s"),
    }


def _result(request: MemberRequest, stage: Stage) -> dict[str, Any]:
    """What publishing would say now, or why it cannot be."""
    content, refusal = or_refusal(lambda: stage_content(stage))
    if content is None:
        return {"result_refusal": refusal}
    last = next(iter(snapshots_of(stage)), None)
    is_last = stages_of(stage.track)[-1].pk == stage.pk
    listed = page_of(request, content.rows)
    return {
        "result": stage_lines(list(listed), stage.source, stage.track),
        "page": listed,
        "left_out": _named(stage, content.rule["left_out"]),
        "going_on": None if is_last and stage.cut is None else sum(row["goes_on"] for row in content.rows),
        "is_published_so": last is not None and last.sha256 == content.sha256,
        "publish_form": _publish_form(content, last is not None, "publish-%s"),
    }


def _named(stage: Stage, numbers: Sequence[int]) -> list[str]:
    """Teams by name and number."""
    names = team_names(stage.track.competition, numbers)
    return [f"{names.get(number, '–')} ({number})" for number in numbers]


def _final_page(
    request: MemberRequest, access: ManageAccess, track: Track, form: StagePublishForm | None, status: int = 200
) -> HttpResponse:
    content, refusal = or_refusal(lambda: final_content(track))
    published, states = finals_of(track), states_of(track)
    stages = [state.stage for state in states]
    context = access.context("manage_stages") | {
        "track": track,
        "heads": heads_of(stages),
        "snapshots": published,
        "replaced": replaced_parts(published[0], states) if published else [],
        "refusal": refusal,
    }
    if content is not None and access.may(Permission.VIEW_HIDDEN):
        listed = page_of(request, content.rows)
        context |= {
            "lines": final_lines(list(listed), stages),
            "page": listed,
            "is_published_so": bool(published) and published[0].sha256 == content.sha256,
            "publish_form": form or _publish_form(content, bool(published)),
        }
    return render(request, "manage/stages_final.html", context, status=status)


def _publish_form(content: Content, is_erratum: bool, auto_id: str = "id_%s") -> StagePublishForm:
    return StagePublishForm(initial={"sha256": content.sha256}, is_erratum=is_erratum, auto_id=auto_id)


def _removal_form(data: Any = None) -> ConfirmForm:
    return ConfirmForm(
        data,
        sentence=_("이 심사를 지웁니다. 점수표와 결과가 없는 마지막 심사만 지울 수 있고, 되돌릴 수 없습니다."),
        key="remove",
    )


urlpatterns = [
    path("stages/", stages_page, name="manage_stages"),
    path("stages/new/<slug:track_slug>/", new_page, name="manage_stage_new"),
    path("stages/final/<slug:track_slug>/", final_page, name="manage_stages_final"),
    path("stages/<int:pk>/", stage_page, name="manage_stage"),
    path("stages/<int:pk>/confirm/", confirm_action, name="manage_stage_confirm"),
    path("stages/<int:pk>/reject/", reject_action, name="manage_stage_reject"),
    path("stages/<int:pk>/publish/", publish_action, name="manage_stage_publish"),
    path("stages/<int:pk>/remove/", remove_action, name="manage_stage_remove"),
]
