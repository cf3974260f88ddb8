"""Forms of the roles of organisers."""

from __future__ import annotations

from django import forms
from django.utils.translation import gettext_lazy as _

from malpan.competitions.models import CompetitionRole


class RoleForm(forms.Form):
    role = forms.ChoiceField(
        label=_("역할"),
        choices=CompetitionRole.Role.choices,
        error_messages=dict.fromkeys(("required", "invalid_choice"), _("역할을 골라 주십시오.")),
    )


class AppointForm(forms.Form):
    email = forms.EmailField(
        label=_("이메일"),
        help_text=_("이미 가입한 사람의 이메일을 적어 주십시오."),
        error_messages={"invalid": _("올바른 형식으로 입력해 주십시오.")},
        widget=forms.EmailInput(attrs={"autocomplete": "off"}),
    )
    role = forms.ChoiceField(label=_("역할"), choices=CompetitionRole.Role.choices, initial=CompetitionRole.Role.VIEWER)
