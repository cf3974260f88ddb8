"""The filter above the runs, and the cancellation of one."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from malpan.competitions.models import Competition
from malpan.submissions.models import RescoreBatch, ScoringRun
from malpan.web.forms.fields import ConfirmField
from malpan.web.forms.filters import FilterForm, track_choices


class RunFilterForm(FilterForm):
    state = forms.ChoiceField(
        label=_("상태"), required=False, choices=[("", _("모든 상태")), *ScoringRun.State.choices]
    )
    track = forms.ChoiceField(label=_("트랙"), required=False)
    team = forms.CharField(label=_("팀 이름"), required=False, max_length=60)
    batch = forms.ModelChoiceField(
        RescoreBatch.objects.none(),
        label=_("재채점"),
        required=False,
        empty_label=_("모든 채점"),
    )

    def __init__(self, competition: Competition, data: Any) -> None:
        batches = RescoreBatch.objects.filter(competition=competition)
        super().__init__(
            data,
            choices={"track": track_choices(competition)},
            rows={"batch": batches.select_related("phase__track__competition")},
        )


class CancelForm(forms.Form):
    """Why a run is cancelled, and the confirmation."""

    reason = forms.CharField(label=_("사유"), max_length=200)
    confirm = ConfirmField(_("이 채점을 취소합니다"))
