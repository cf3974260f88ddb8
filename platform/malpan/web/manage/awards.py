"""시상: the list of awards, the proposal by a published result, showing it to everybody, and each award as PDF."""

from __future__ import annotations

from typing import Any, Final

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import path
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from malpan.competitions.models import Track
from malpan.competitions.permissions import Permission
from malpan.core.errors import DomainError
from malpan.stages.award_errors import AwardInvalid, AwardToDisqualified
from malpan.stages.awarded import PLACES_MAX, award_of, awardable_tracks, awards_of, proposal_of, track_of
from malpan.stages.awards import (
    create_award,
    create_awards,
    move_award,
    publish_awards,
    remove_award,
    update_award,
    withdraw_awards,
)
from malpan.stages.models import Award
from malpan.web.acting import act, or_refusal, posted
from malpan.web.forms.awards import AwardForm, DayForm, ProposalForm, ProposedForm
from malpan.web.forms.fields import ConfirmForm
from malpan.web.manage.access import ManageAccess, manage_page
from malpan.web.pages.awards import number_of, pdf_of
from malpan.web.pages.context import MemberRequest

PLACES: Final = 3  # of a proposal, if the competition names no places with a prize


@require_safe
@manage_page(Permission.VIEW)
def awards_page(request: MemberRequest, access: ManageAccess) -> HttpResponse:
    """The list in its order, and why nothing can be given yet."""
    return _list_page(request, access, {})


@require_http_methods(["GET", "HEAD", "POST"])
@manage_page(Permission.MANAGE)
def new_page(request: MemberRequest, access: ManageAccess) -> HttpResponse:
    """Add an award. Raises ``NoFinalResult``."""
    form = AwardForm(posted(request), competition=access.competition, tracks=awardable_tracks(access.competition))
    if not form.is_bound:
        return _award_page(request, access, form, None)
    return act(
        request,
        lambda values: create_award(competition=access.competition, actor=request.user, **values),
        form=form,
        success=_("상을 더했습니다. 공개하기 전에는 운영자만 봅니다."),
        to=access.url("manage_awards"),
        render_again=lambda status: _award_page(request, access, form, None, status=status),
        error_field=lambda error: _field_at_fault(form, error),
    )


@require_http_methods(["GET", "HEAD", "POST"])
@manage_page(Permission.MANAGE)
def award_page(request: MemberRequest, access: ManageAccess, pk: int) -> HttpResponse:
    """Change an award. Raises ``AwardNotFound``."""
    award = award_of(access.competition, pk)
    form = _form(access, award_of(access.competition, pk), posted(request))
    if not form.is_bound:
        return _award_page(request, access, form, award)
    return act(
        request,
        lambda values: update_award(award=award, actor=request.user, **values),
        form=form,
        success=_("저장했습니다."),
        to=access.url("manage_awards"),
        render_again=lambda status: _award_page(request, access, form, award, status=status),
        error_field=lambda error: _field_at_fault(form, error),
    )


@require_http_methods(["GET", "HEAD", "POST"])
@manage_page(Permission.MANAGE)
def proposal_page(request: MemberRequest, access: ManageAccess) -> HttpResponse:
    """The first places of a published result as awards: what is ticked is added. Raises ``NoFinalResult``."""
    tracks = awardable_tracks(access.competition)
    places = min(max(access.competition.prize_places, default=PLACES), PLACES_MAX)
    initial = {"track": tracks[0].slug, "places": str(places)}
    asked = ProposalForm({**initial, **request.GET.dict()}, tracks=tracks)
    context = access.context("manage_awards") | {"asked": asked}
    if not asked.is_valid():
        return render(request, "manage/awards_proposal.html", context, status=422)
    track, data = asked.cleaned_data["track"], posted(request)
    rows = [ProposedForm(data, proposed=each) for each in proposal_of(track, asked.cleaned_data["places"])]
    day = DayForm(data)
    context |= {"track": track, "places": asked.cleaned_data["places"], "rows": rows, "day": day}
    if data is None:
        return render(request, "manage/awards_proposal.html", context)
    if not all(form.is_valid() for form in (day, *rows)):
        return render(request, "manage/awards_proposal.html", context, status=422)
    chosen = [_values(form, track) for form in rows if form.cleaned_data["is_chosen"]]
    if not chosen:
        day.add_error(None, _("시상할 팀을 하나 이상 고르십시오."))
        return render(request, "manage/awards_proposal.html", context, status=422)
    return act(
        request,
        lambda values: create_awards(
            competition=access.competition, actor=request.user, rows=[{**each, **values} for each in chosen]
        ),
        form=day,
        success=_("고른 팀의 상을 더했습니다. 공개하기 전에는 운영자만 봅니다."),
        to=access.url("manage_awards"),
        render_again=lambda status: render(request, "manage/awards_proposal.html", context, status=status),
    )


@require_POST
@manage_page(Permission.MANAGE)
def move_action(request: MemberRequest, access: ManageAccess, pk: int) -> HttpResponse:
    """Put an award to the place ``position`` of the list. Raises ``AwardNotFound``."""
    award, wanted = award_of(access.competition, pk), request.POST.get("position", "")
    position = int(wanted) if wanted.isdecimal() and len(wanted) < 6 else 0
    return act(
        request,
        lambda _values: move_award(award=award, actor=request.user, position=position),
        to=access.url("manage_awards"),
    )


@require_POST
@manage_page(Permission.MANAGE)
def remove_action(request: MemberRequest, access: ManageAccess, pk: int) -> HttpResponse:
    """Remove or revoke an award if the box beside the button is ticked. Raises ``AwardNotFound``."""
    award = award_of(access.competition, pk)
    form = _removal_form(award, request.POST)
    return act(
        request,
        lambda _values: remove_award(award=award, actor=request.user),
        form=form,
        success=_("상을 목록에서 뺐습니다."),
        to=access.url("manage_awards"),
        render_again=lambda status: _award_page(
            request, access, _form(access, award), award, removal=form, status=status
        ),
    )


@require_POST
@manage_page(Permission.MANAGE)
def publish_action(request: MemberRequest, access: ManageAccess) -> HttpResponse:
    """Show the list to everybody."""
    form = _publish_form(request.POST)
    return act(
        request,
        lambda _values: publish_awards(competition=access.competition, actor=request.user),
        form=form,
        success=_("시상을 공개했습니다. 상을 받은 팀은 팀 화면에서 상장을 받을 수 있습니다."),
        to=access.url("manage_awards"),
        render_again=lambda status: _list_page(request, access, {"publish_form": form}, status=status),
    )


@require_POST
@manage_page(Permission.MANAGE)
def withdraw_action(request: MemberRequest, access: ManageAccess) -> HttpResponse:
    """Hide the list again."""
    form = _withdraw_form(request.POST)
    return act(
        request,
        lambda _values: withdraw_awards(competition=access.competition, actor=request.user),
        form=form,
        success=_("시상의 공개를 거두었습니다."),
        to=access.url("manage_awards"),
        render_again=lambda status: _list_page(request, access, {"withdraw_form": form}, status=status),
    )


@require_safe
@never_cache
@manage_page(Permission.VIEW)
def pdf_file(request: MemberRequest, access: ManageAccess, pk: int) -> HttpResponse:
    """An award of the list, published or not. Raises ``AwardNotFound`` and ``CertificateFontMissing``."""
    return pdf_of(award_of(access.competition, pk))


def _list_page(request: MemberRequest, access: ManageAccess, forms: dict[str, Any], status: int = 200) -> HttpResponse:
    awards = list(awards_of(access.competition))
    tracks, refusal = or_refusal(lambda: awardable_tracks(access.competition))
    context = access.context("manage_awards") | {
        "awards": [(award, number_of(award), track_of(award)) for award in awards],
        "can_give": bool(tracks),
        "refusal": refusal,
        "waiting": sum(award.published_at is None for award in awards),
        "shown": sum(award.published_at is not None for award in awards),
        "publish_form": _publish_form(),
        "withdraw_form": _withdraw_form(),
    }
    return render(request, "manage/awards.html", context | forms, status=status)


def _award_page(
    request: MemberRequest,
    access: ManageAccess,
    form: AwardForm,
    award: Award | None,
    *,
    removal: ConfirmForm | None = None,
    status: int = 200,
) -> HttpResponse:
    context = access.context("manage_awards") | {
        "form": form,
        "edited": award,
        "number": number_of(award) if award else "",
        "removal": removal or (_removal_form(award) if award else None),
    }
    return render(request, "manage/awards_edit.html", context, status=status)


def _form(access: ManageAccess, award: Award, data: Any = None) -> AwardForm:
    """The form of an award, which may have been given before a further stage was added to its track."""
    tracks, _refusal = or_refusal(lambda: awardable_tracks(access.competition))
    return AwardForm(data, instance=award, competition=access.competition, tracks=tracks or [])


def _values(form: ProposedForm, track: Track) -> dict[str, Any]:
    texts = {name: form.cleaned_data[name] for name in ("title_ko", "title_en")}
    return {**texts, "team": form.proposed.team, "track": track}


def _field_at_fault(form: AwardForm, error: DomainError) -> str | None:
    if isinstance(error, AwardInvalid) and error.field in form.fields:
        return error.field
    return "team" if isinstance(error, AwardToDisqualified) else None


def _removal_form(award: Award, data: Any = None) -> ConfirmForm:
    unnumbered = _("이 상을 지웁니다.")
    numbered = _(
        "%(number)s 상장을 취소합니다. 누구에게도 보이지 않고, 확인 주소도 더는 통하지 않으며, 번호는 다시 쓰지 "
        "않습니다."
    )
    sentence = numbered % {"number": number_of(award)} if award.number else unnumbered
    return ConfirmForm(data, key="remove", sentence=sentence)


def _publish_form(data: Any = None) -> ConfirmForm:
    sentence = _(
        "위의 목록을 누구에게나 공개하고 상을 받은 팀의 팀원에게 메일로 알립니다. 번호가 없는 상은 번호를 받고, "
        "받은 번호는 바뀌지 않습니다."
    )
    return ConfirmForm(data, key="publish", sentence=sentence)


def _withdraw_form(data: Any = None) -> ConfirmForm:
    sentence = _("시상을 다시 운영자만 보게 합니다. 이미 받은 상장은 확인 주소에서 확인되지 않습니다.")
    return ConfirmForm(data, key="withdraw", sentence=sentence)


urlpatterns = [
    path("awards/", awards_page, name="manage_awards"),
    path("awards/new/", new_page, name="manage_award_new"),
    path("awards/proposal/", proposal_page, name="manage_awards_proposal"),
    path("awards/publish/", publish_action, name="manage_awards_publish"),
    path("awards/withdraw/", withdraw_action, name="manage_awards_withdraw"),
    path("awards/<int:pk>/", award_page, name="manage_award"),
    path("awards/<int:pk>/move/", move_action, name="manage_award_move"),
    path("awards/<int:pk>/remove/", remove_action, name="manage_award_remove"),
    path("awards/<int:pk>/award.pdf", pdf_file, name="manage_award_pdf"),
]
