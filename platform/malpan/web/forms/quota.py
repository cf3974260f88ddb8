"""Forms of quota. They check the format; ``submissions.quota.services`` decides."""

from __future__ import annotations

from typing import Any, Final, cast

from django import forms
from django.core.exceptions import ValidationError
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from malpan.competitions.models import Phase
from malpan.core.times import kst_day, kst_text
from malpan.submissions.models import QuotaEntry, Submission
from malpan.teams.models import Team
from malpan.web.forms.fields import (
    REQUIRED,
    ConfirmField,
    PhaseField,
    TypedForm,
    needed_when,
    of_these_centuries,
    one_line,
)
from malpan.web.forms.filters import FilterForm

SLOTS_MAX: Final = 100
DAY, PHASE = "day", "phase"


class QuotaFilterForm(FilterForm):
    phase = PhaseField(Phase.objects.none(), label=_("단계"), required=False, empty_label=None)
    team = forms.CharField(label=_("팀 이름"), required=False, max_length=60)


class SubmissionChoice(forms.ModelChoiceField):
    def label_from_instance(self, obj: Any) -> str:
        note = f" · {gettext('철회함')}" if obj.withdrawn_at else ""
        return f"{kst_text(obj.created_at)} · {obj.file_name}{note}"


class _Reasoned(forms.Form):
    """Every ledger line of an organiser has a reason."""

    reason = forms.CharField(
        label=_("사유"),
        max_length=QuotaEntry._meta.get_field("reason").max_length,
        help_text=_("팀의 제출 횟수 내역에 그대로 보입니다."),
        error_messages=REQUIRED,
        widget=one_line(),
    )


class GrantForm(_Reasoned):
    slots = forms.IntegerField(
        label=_("추가할 횟수"), min_value=1, max_value=SLOTS_MAX, initial=1, error_messages=REQUIRED
    )
    scope = forms.ChoiceField(
        label=_("쓸 수 있는 때"),
        choices=[(DAY, _("아래 날짜 하루(KST)")), (PHASE, _("이 단계 전체"))],
        help_text=_(
            "하루에 추가하면 그날의 한도만 늘어납니다. 단계 전체에 추가하면 전체 한도가 늘어나고, 전체 한도가 없는 "
            "단계에서는 하루 한도를 넘겨 쓸 수 있는 횟수가 됩니다. 제출 간 최소 간격은 그대로입니다."
        ),
    )
    day = forms.DateField(
        label=_("날짜"),
        required=False,
        validators=[of_these_centuries],
        widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"),
        error_messages={"invalid": _("날짜를 2026-11-20처럼 입력해 주십시오.")},
    )
    field_order = ["slots", "scope", "day", "reason"]

    def __init__(self, data: Any = None, *, phase: Phase, **kwargs: Any) -> None:
        initial = {"day": kst_day(timezone.now()), "scope": DAY if phase.daily_limit is not None else PHASE}
        super().__init__(data, initial=initial, **kwargs)
        needed_when(self, _("하루에 추가할 때 필요"), "day")

    def clean_day(self) -> Any:
        """The day, if the grant is for one; a grant for a past day would give nothing."""
        day = self.cleaned_data["day"]
        if self.cleaned_data.get("scope") != DAY:
            return None
        if day is None:
            raise ValidationError(_("날짜를 입력해 주십시오."))
        if day < kst_day(timezone.now()):
            raise ValidationError(_("오늘이나 그 뒤의 날짜를 입력해 주십시오."))
        return day


class GrantAllForm(GrantForm):
    confirm = ConfirmField(_("이 대회의 모든 팀에 추가합니다."))
    field_order = ["slots", "scope", "day", "reason", "confirm"]


class RefundForm(_Reasoned):
    submission = SubmissionChoice(
        Submission.objects.none(), label=_("제출"), empty_label=_("골라 주십시오"), error_messages=REQUIRED
    )
    confirm = ConfirmField(_("이 제출을 환불합니다. 순위표에서도 빠집니다."))
    field_order = ["submission", "reason", "confirm"]

    def __init__(self, data: Any = None, *, phase: Phase, team: Team, **kwargs: Any) -> None:
        super().__init__(data, **kwargs)
        counted = Submission.objects.filter(phase=phase, team=team).charged().order_by("-created_at")
        cast("SubmissionChoice", self.fields["submission"]).queryset = counted


class ResetForm(_Reasoned):
    confirm = ConfirmField(_("이 팀의 제출 횟수를 초기화합니다. 지금까지 쓴 횟수와 추가한 횟수를 모두 세지 않습니다."))


class ResetAllForm(TypedForm, _Reasoned):
    """For every team of the phase."""

    field_order = ["reason", "word"]
