"""Phases: times, limits, board state, public split, finals, and publishing the final board."""

from __future__ import annotations

from typing import Any, Final

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from malpan.competitions.errors import PhaseSettingsInvalid
from malpan.competitions.models import Phase, ReferenceVersion
from malpan.competitions.permissions import Permission, require
from malpan.competitions.phases import update_phase
from malpan.competitions.services import set_board
from malpan.competitions.splitting import ids_of_text
from malpan.core.errors import RequestError, SystemFault
from malpan.core.messages import text_of
from malpan.leaderboard.finals import final_board
from malpan.leaderboard.snapshots import publish_final_board, unfinished_count
from malpan.submissions.scoring_changes import split_again
from malpan.submissions.visibility import is_frozen
from malpan.web.forms.phases import PublishForm, SettingsForm, SplitForm
from malpan.web.manage.access import ManageAccess, ManageTab, manage_page
from malpan.web.pages.context import MemberRequest

TAB: Final = ManageTab("manage_phases", gettext_lazy("단계"))


@require_GET
@manage_page(Permission.VIEW)
def phases_page(request: MemberRequest, access: ManageAccess) -> HttpResponse:
    """Every phase of the competition with its state."""
    phases = Phase.objects.filter(track__competition=access.competition).select_related("track")
    ordered = phases.order_by("track__position", "track", "position", "starts_at", "pk")
    versions = {each.phase_id: each for each in ReferenceVersion.objects.filter(phase__in=phases, is_current=True)}
    rows = [(phase, phase.pk in versions, split_of(versions.get(phase.pk))) for phase in ordered]
    context = access.context(TAB.url_name) | {"rows": rows}
    return render(request, "manage/phases.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@manage_page(Permission.VIEW)
def phase_page(request: MemberRequest, access: ManageAccess, pk: int) -> HttpResponse:
    """One phase: its settings, its board, its split. POST saves the settings."""
    phase = _phase_of(access, pk)
    if request.method != "POST":
        return _phase_page(request, access, phase, SettingsForm(instance=phase, track=phase.track))
    require(request.user, access.competition, Permission.MANAGE)
    form = SettingsForm(request.POST, instance=_phase_of(access, pk), track=phase.track)
    if not form.is_valid():
        return _phase_page(request, access, phase, form, status=422)
    try:
        changed = update_phase(phase=phase, actor=request.user, **form.values())
    except PhaseSettingsInvalid as error:
        for name in error.fields:
            form.add_error(name if name in form.fields else None, _("이 값을 확인해 주십시오."))
        return _phase_page(request, access, phase, form, status=error.http_status)
    except RequestError as error:
        form.add_error(None, text_of(error))
        return _phase_page(request, access, phase, form, status=error.http_status)
    messages.success(request, _("단계 설정을 저장했습니다."))
    if _wants_another_split(changed):
        text = _("공개 문항 설정은 정답을 새 판으로 올리거나 아래의 ‘문항 다시 나누기’를 해야 점수에 반영됩니다.")
        messages.warning(request, text)
    return redirect("manage_phase", access.competition.slug, phase.pk)


@require_POST
@manage_page(Permission.MANAGE)
def board_action(request: MemberRequest, access: ManageAccess, pk: int) -> HttpResponse:
    """Show, freeze or hide the board, by ``board``."""
    phase = _phase_of(access, pk)
    wanted = request.POST.get("board", "")
    if wanted in Phase.Board.values:
        set_board(phase=phase, board=wanted, actor=request.user)
        messages.success(request, _("순위표: %(state)s") % {"state": Phase.Board(wanted).label})
    return redirect("manage_phase", access.competition.slug, phase.pk)


@require_POST
@manage_page(Permission.MANAGE)
def split_action(request: MemberRequest, access: ManageAccess, pk: int) -> HttpResponse:
    """Publish the current references once more, split by the list that was sent or by the phase's share."""
    phase = _phase_of(access, pk)
    form = SplitForm(request.POST)
    settings_form = SettingsForm(instance=phase, track=phase.track)
    if not form.is_valid():
        return _phase_page(request, access, phase, settings_form, split_form=form, status=422)
    values = form.cleaned_data
    given = {"share": None, "none": [], "list": ids_of_text(values["public_ids"])}[values["way"]]
    try:
        version = split_again(phase=phase, actor=request.user, public_ids=given, replace_in_use=values["replaces"])
    except (RequestError, SystemFault) as error:
        form.add_error(None, text_of(error))
        return _phase_page(request, access, phase, settings_form, split_form=form, status=error.http_status)
    text = _("문항을 다시 나누어 정답 %(number)d판을 등록했습니다. 지금까지의 제출은 다시 채점해야 순위표에 오릅니다.")
    messages.success(request, text % {"number": version.number})
    return redirect("manage_phase", access.competition.slug, phase.pk)


@require_GET
@manage_page(Permission.VIEW_HIDDEN)
def final_page(request: MemberRequest, access: ManageAccess, pk: int) -> HttpResponse:
    """The final board as it would be published now."""
    phase = _phase_of(access, pk)
    return _final_page(request, access, phase, PublishForm(phase=phase))


@require_POST
@manage_page(Permission.MANAGE)
def publish_action(request: MemberRequest, access: ManageAccess, pk: int) -> HttpResponse:
    """Publish the final board; the phase's address name typed once more confirms it."""
    phase = _phase_of(access, pk)
    form = PublishForm(request.POST, phase=phase)
    if not form.is_valid():
        return _final_page(request, access, phase, form, status=422)
    notes = {"note_ko": form.cleaned_data["note_ko"], "note_en": form.cleaned_data["note_en"]}
    try:
        snapshot = publish_final_board(phase=phase, actor=request.user, **notes)
    except RequestError as error:
        form.add_error(None, text_of(error))
        return _final_page(request, access, phase, form, status=error.http_status)
    text = _("최종 순위표 %(number)d판을 발표했습니다. 이제 누구나 비공개 문항의 점수를 볼 수 있습니다.")
    messages.success(request, text % {"number": snapshot.number})
    return redirect("manage_phase_final", access.competition.slug, phase.pk)


def split_of(version: ReferenceVersion | None) -> tuple[int, int] | None:
    """(public items, all items) of the current references; ``None`` where they are not split or not there."""
    if version is None or version.public_ids is None:
        return None
    return len(version.public_ids), version.item_count


def _current(phase: Phase) -> ReferenceVersion | None:
    return phase.reference_versions.filter(is_current=True).first()


def _phase_of(access: ManageAccess, pk: int) -> Phase:
    phases = Phase.objects.select_related("track__competition")
    return get_object_or_404(phases, pk=pk, track__competition=access.competition)


def _wants_another_split(phase: Phase) -> bool:
    """Whether the share that is set is not that of the current references."""
    version = _current(phase)
    if version is None:
        return False
    if phase.public_percent is None or version.public_ids is None:
        return (phase.public_percent is None) != (version.public_ids is None)
    share = 100 * len(version.public_ids) / max(1, version.item_count)
    return abs(share - phase.public_percent) > 100 / max(1, version.item_count)


def _phase_page(
    request: HttpRequest,
    access: ManageAccess,
    phase: Phase,
    form: SettingsForm,
    *,
    split_form: SplitForm | None = None,
    status: int = 200,
) -> HttpResponse:
    version = _current(phase)
    context: dict[str, Any] = access.context(TAB.url_name) | {
        "edited": phase,
        "form": form,
        "split_form": split_form or SplitForm(),
        "split": split_of(version),
        "has_references": version is not None,
        "is_frozen": is_frozen(phase),
        "boards": [(value, label) for value, label in Phase.Board.choices if value != phase.board],
    }
    return render(request, "manage/phases_one.html", context, status=status)


def _final_page(
    request: HttpRequest, access: ManageAccess, phase: Phase, form: PublishForm, *, status: int = 200
) -> HttpResponse:
    context: dict[str, Any] = access.context(TAB.url_name) | {
        "edited": phase,
        "form": form,
        "final": final_board(phase),
        "unfinished": unfinished_count(phase),
        "snapshots": phase.snapshots.select_related("published_by"),
    }
    return render(request, "manage/phases_final.html", context, status=status)


urlpatterns = [
    path("phases/", phases_page, name="manage_phases"),
    path("phases/<int:pk>/", phase_page, name="manage_phase"),
    path("phases/<int:pk>/board/", board_action, name="manage_phase_board"),
    path("phases/<int:pk>/split/", split_action, name="manage_phase_split"),
    path("phases/<int:pk>/final/", final_page, name="manage_phase_final"),
    path("phases/<int:pk>/publish/", publish_action, name="manage_phase_publish"),
]
