"""Forms of the organisers' pages of teams."""

from __future__ import annotations

from django import forms
from django.utils.translation import gettext_lazy as _

from malpan.teams.models import Team
from malpan.web.forms.fields import ConfirmForm
from malpan.web.forms.team import TeamForm

BASELINE_HELP = _("순위표에 순위 없이 견주어 볼 줄로 오릅니다.")


class NewTeamForm(TeamForm):
    email = forms.EmailField(
        label=_("팀장의 이메일"),
        help_text=_("이미 가입한 사람의 이메일을 적어 주십시오."),
        error_messages={"invalid": _("올바른 형식으로 입력해 주십시오.")},
        widget=forms.EmailInput(attrs={"autocomplete": "off"}),
    )
    is_baseline = forms.BooleanField(label=_("기준 모델의 팀"), required=False, help_text=BASELINE_HELP)


class DisqualifyForm(ConfirmForm):
    note_ko = forms.CharField(
        label=_("공개할 사유"),
        max_length=Team._meta.get_field("disqualification_note_ko").max_length,
        help_text=_("순위표 아래에 팀 이름과 함께 누구에게나 보입니다."),
        error_messages={"required": _("공개할 사유를 입력해 주십시오.")},
    )
    note_en = forms.CharField(
        label=_("공개할 사유(영어)"),
        max_length=Team._meta.get_field("disqualification_note_en").max_length,
        required=False,
    )
    field_order = ["note_ko", "note_en", "confirm"]


class ReinstateForm(ConfirmForm):
    reason = forms.CharField(label=_("사유"), max_length=300, required=False, help_text=_("감사 기록에만 남습니다."))
    field_order = ["reason", "confirm"]
