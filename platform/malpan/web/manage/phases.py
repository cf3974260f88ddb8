"""Phases: each with its times and limits, its board, its split, and its final board."""

from __future__ import annotations

from functools import partial
from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import path
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from malpan.competitions.errors import CountingInvalid, PhaseSettingsInvalid
from malpan.competitions.models import Phase, ReferenceVersion, Track
from malpan.competitions.permissions import Permission, require
from malpan.competitions.phases import close_phase, set_board
from malpan.competitions.selectors import get_track, phase_of, phases_of, tracks_of
from malpan.competitions.services import create_phase
from malpan.competitions.setup import remove_phase
from malpan.competitions.splitting import ids_of_text
from malpan.core.errors import DomainError
from malpan.leaderboard.finals import final_board
from malpan.leaderboard.models import BoardSnapshot
from malpan.leaderboard.published import left_since, publications
from malpan.leaderboard.snapshots import publish_final_board, unfinished_count
from malpan.stages.selectors import resting_on_board
from malpan.submissions.scoring_changes import split_again, update_phase
from malpan.submissions.visibility import is_frozen
from malpan.web.acting import act, act_on_page, posted
from malpan.web.forms.fields import ConfirmForm
from malpan.web.forms.phases import PhaseForm, PublishForm, SplitForm
from malpan.web.manage.access import ManageAccess, manage_page
from malpan.web.manage.wizard import steps_of
from malpan.web.pages.context import MemberRequest
from malpan.web.presenters import composites
from malpan.web.presenters.stages import resting_names

Forms = dict[str, Any]  # by key: forms with errors, which replace new ones


@require_safe
@manage_page(Permission.VIEW)
def phases_page(request: MemberRequest, access: ManageAccess) -> HttpResponse:
    """Every phase of every track with its state: for organisers step 3 of the set-up."""
    current = ReferenceVersion.objects.filter(phase__in=phases_of(access.competition), is_current=True)
    versions = {version.phase_id: version for version in current}
    context = access.context("manage_phases") | {
        "steps": steps_of(access, "phases") if access.may(Permission.MANAGE) else [],
        "sections": [
            (track, [(phase, versions.get(phase.pk), split_of(versions.get(phase.pk))) for phase in track.phases.all()])
            for track in tracks_of(access.competition)
        ],
    }
    return render(request, "manage/phases.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@manage_page(Permission.MANAGE)
def new_page(request: MemberRequest, access: ManageAccess, track_slug: str) -> HttpResponse:
    """Add a phase to a track. Raises ``TrackNotFound``."""
    track = get_track(access.competition, track_slug)
    form = PhaseForm(posted(request), track=track)
    if not form.is_bound:
        return _new_page(request, access, track, form)
    return act(
        request,
        lambda _values: create_phase(actor=request.user, track=track, **form.values()),
        form=form,
        success=_("단계를 만들었습니다."),
        to=access.url("manage_phases"),
        render_again=lambda status: _new_page(request, access, track, form, status),
        error_field=lambda error: _field_at_fault(form, error),
    )


@require_http_methods(["GET", "HEAD", "POST"])
@manage_page(Permission.VIEW)
def phase_page(request: MemberRequest, access: ManageAccess, pk: int) -> HttpResponse:
    """The settings and actions of one phase; with ``?show=final`` its final board as it would be published now.

    POST saves the settings.
    """
    phase = phase_of(access.competition, pk)
    if request.method != "POST":
        return _phase_page(request, access, phase, {})
    require(request.user, access.competition, Permission.MANAGE)
    form = PhaseForm(request.POST, instance=phase_of(access.competition, pk), track=phase.track)
    return act_on_page(
        request,
        lambda _values: _save(request, phase, form),
        form=form,
        key="form",
        page=partial(_phase_page, request, access, phase),
        success=_("단계 설정을 저장했습니다."),
        to=access.url("manage_phase", pk),
        error_field=lambda error: _field_at_fault(form, error),
    )


def _save(request: MemberRequest, phase: Phase, form: PhaseForm) -> None:
    changed = update_phase(phase=phase, actor=request.user, **form.values())
    if _wants_another_split(changed):
        text = _("공개 문항 설정은 정답을 새 판으로 올리거나 ‘문항 다시 나누기’를 해야 점수에 반영됩니다.")
        messages.warning(request, text)


def _field_at_fault(form: PhaseForm, error: DomainError) -> str | None:
    fields = error.fields if isinstance(error, PhaseSettingsInvalid) else ()
    if isinstance(error, CountingInvalid):
        fields = (error.field,)
    return next((name for name in fields if name in form.fields), None)


@require_POST
@manage_page(Permission.MANAGE)
def board_action(request: MemberRequest, access: ManageAccess, pk: int) -> HttpResponse:
    """Show, freeze or hide the board, depending on ``board``."""
    phase, wanted = phase_of(access.competition, pk), request.POST.get("board", "")
    board = Phase.Board(wanted if wanted in Phase.Board.values else phase.board)
    return act(
        request,
        lambda _values: set_board(phase=phase, board=board, actor=request.user),
        success=_("순위표: %(state)s") % {"state": board.label},
        to=access.url("manage_phase", pk),
    )


@require_POST
@manage_page(Permission.MANAGE)
def close_action(request: MemberRequest, access: ManageAccess, pk: int) -> HttpResponse:
    """End a running phase now, if the box beside the button is ticked."""
    phase, form = phase_of(access.competition, pk), _closing_form(request.POST)
    return act_on_page(
        request,
        lambda _values: close_phase(phase=phase, actor=request.user),
        form=form,
        key="closing",
        page=partial(_phase_page, request, access, phase),
        success=_("제출을 마감했습니다. 이미 접수한 제출은 모두 채점합니다."),
        to=access.url("manage_phase", pk),
    )


def _closing_form(data: Any = None) -> ConfirmForm:
    return ConfirmForm(data, sentence=_("지금부터 이 단계의 제출을 받지 않습니다."), key="close")


@require_POST
@manage_page(Permission.MANAGE)
def split_action(request: MemberRequest, access: ManageAccess, pk: int) -> HttpResponse:
    """Publish the current references again, split by the list that was sent or by the phase's share."""
    phase, form = phase_of(access.competition, pk), SplitForm(request.POST)
    text = _("문항을 다시 나누어 정답 %(number)d판을 등록했습니다. 지금까지의 제출은 다시 채점해야 순위표에 오릅니다.")
    return act_on_page(
        request,
        lambda values: _split(request, phase, values),
        form=form,
        key="split_form",
        page=partial(_phase_page, request, access, phase),
        success=lambda version: text % {"number": version.number},
        to=access.url("manage_phase", pk),
    )


def _split(request: MemberRequest, phase: Phase, values: dict[str, Any]) -> ReferenceVersion:
    given = {"share": None, "none": [], "list": ids_of_text(values["public_ids"])}[values["way"]]
    return split_again(phase=phase, actor=request.user, public_ids=given, replace_in_use=values["replaces"])


@require_POST
@manage_page(Permission.MANAGE)
def publish_action(request: MemberRequest, access: ManageAccess, pk: int) -> HttpResponse:
    """Publish the final board; typing the phase's address name confirms it."""
    phase = phase_of(access.competition, pk)
    form = PublishForm(request.POST, phase=phase)
    text = _("최종 순위표 %(number)d판을 발표했습니다. 이제 누구나 볼 수 있습니다.")
    if split_of(_current(phase)):
        text = _("최종 순위표 %(number)d판을 발표했습니다. 이제 누구나 비공개 문항의 점수를 볼 수 있습니다.")
    return act_on_page(
        request,
        lambda values: _publish(request, phase, values),
        form=form,
        key="publish_form",
        page=partial(_phase_page, request, access, phase),
        success=lambda snapshot: text % {"number": snapshot.number},
        to=f"{access.url('manage_phase', pk)}?show=final",
    )


def _publish(request: MemberRequest, phase: Phase, values: dict[str, Any]) -> BoardSnapshot:
    resting = resting_on_board(phase)
    notes = {"note_ko": values["note_ko"], "note_en": values["note_en"]}
    snapshot = publish_final_board(phase=phase, actor=request.user, **notes)
    if resting:
        text = _("앞의 판에 따른 결과를 다시 발표해야 합니다: %(names)s")
        messages.warning(request, text % {"names": resting_names(resting)})
    return snapshot


@require_POST
@manage_page(Permission.MANAGE)
def remove_action(request: MemberRequest, access: ManageAccess, pk: int) -> HttpResponse:
    """Delete a phase without any content."""
    phase, form = phase_of(access.competition, pk), _removal_form(request.POST)
    return act_on_page(
        request,
        lambda _values: remove_phase(phase=phase, actor=request.user),
        form=form,
        key="removal",
        page=partial(_phase_page, request, access, phase),
        success=_("단계를 지웠습니다."),
        to=access.url("manage_phases"),
    )


def _removal_form(data: Any = None) -> ConfirmForm:
    sentence = _("이 단계를 지웁니다. 정답과 제출이 없는 단계만 지울 수 있고, 되돌릴 수 없습니다.")
    return ConfirmForm(data, sentence=sentence, key="remove")


def split_of(version: ReferenceVersion | None) -> tuple[int, int] | None:
    """(public items, all items) of the current references; ``None`` if they are not split or missing."""
    if version is None or version.public_ids is None:
        return None
    return len(version.public_ids), version.item_count


def _wants_another_split(phase: Phase) -> bool:
    """Whether the configured share differs from that of the current references."""
    version = _current(phase)
    if version is None:
        return False
    if phase.public_percent is None or version.public_ids is None:
        return (phase.public_percent is None) != (version.public_ids is None)
    share = 100 * len(version.public_ids) / max(1, version.item_count)
    return abs(share - phase.public_percent) > 100 / max(1, version.item_count)


def _current(phase: Phase) -> ReferenceVersion | None:
    return phase.reference_versions.filter(is_current=True).first()


def _new_page(
    request: MemberRequest, access: ManageAccess, track: Track, form: PhaseForm, status: int = 200
) -> HttpResponse:
    context = access.context("manage_phases") | {"steps": steps_of(access, "phases"), "track": track, "form": form}
    return render(request, "manage/phases_new.html", context, status=status)


def _phase_page(
    request: MemberRequest, access: ManageAccess, phase: Phase, forms: Forms, status: int = 200
) -> HttpResponse:
    version = _current(phase)
    context = access.context("manage_phases") | {
        "edited": phase,
        "form": PhaseForm(instance=phase, track=phase.track),
        "split_form": SplitForm(),
        "removal": _removal_form(),
        "closing": _closing_form() if phase.is_open() else None,
        "split": split_of(version),
        "has_references": version is not None,
        "is_frozen": is_frozen(phase),
        "boards": [(value, label) for value, label in Phase.Board.choices if value != phase.board],
    }
    if access.may(Permission.VIEW_HIDDEN) and (request.GET.get("show") == "final" or "publish_form" in forms):
        context |= _final(phase)
    return render(request, "manage/phases_one.html", context | forms, status=status)


def _final(phase: Phase) -> dict[str, Any]:
    """The final board as it would be published now, and the published ones, whose recipes this site may not have."""
    found, snapshots = final_board(phase), publications(phase)
    counting = composites.final_counting_text
    return {
        "publish_form": PublishForm(phase=phase),
        "final": found,
        "formula": composites.formula_text(found.components, found.recipe),
        "tie_text": composites.board_rules(phase.track, found.recipe, found.components).tie_text,
        "has_baseline": any(row.rank is None for row in found.rows),
        "formula_details": composites.formula_details(found.components),
        "counting_text": counting(phase, found.components, found.recipe),
        "unfinished": unfinished_count(phase),
        "snapshots": snapshots,
        "left_since": left_since(phase, snapshots[0]) if snapshots else [],
        "resting": resting_on_board(phase),
    }


urlpatterns = [
    path("phases/", phases_page, name="manage_phases"),
    path("phases/new/<slug:track_slug>/", new_page, name="manage_phase_new"),
    path("phases/<int:pk>/", phase_page, name="manage_phase"),
    path("phases/<int:pk>/board/", board_action, name="manage_phase_board"),
    path("phases/<int:pk>/close/", close_action, name="manage_phase_close"),
    path("phases/<int:pk>/split/", split_action, name="manage_phase_split"),
    path("phases/<int:pk>/publish/", publish_action, name="manage_phase_publish"),
    path("phases/<int:pk>/remove/", remove_action, name="manage_phase_remove"),
]
