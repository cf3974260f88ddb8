"""The form of a new API token."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from django import forms
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from malpan.accounts.models import ApiToken, Scope
from malpan.core.text import without_unseen
from malpan.web.forms.fields import one_line

DAYS: Final = (("30", _("30일")), ("90", _("90일")), ("365", _("1년")), ("", _("만료하지 않음")))


class ApiTokenForm(forms.Form):
    label = forms.CharField(
        label=_("토큰 이름"),
        max_length=ApiToken._meta.get_field("label").max_length,
        help_text=_("어디에 쓰는 토큰인지 알아볼 이름입니다. 60자까지 쓸 수 있습니다."),
        error_messages={"required": _("토큰 이름을 입력해 주십시오.")},
        widget=one_line(),
    )
    scopes = forms.MultipleChoiceField(
        label=_("쓸 곳"),
        choices=[(scope.value, scope.label) for scope in Scope if scope != Scope.READ],
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text=_("읽기는 늘 할 수 있습니다. 쓸 곳만 고르면 토큰이 새어 나가도 그 밖의 일은 하지 못합니다."),
    )
    days = forms.ChoiceField(label=_("쓸 수 있는 기간"), choices=DAYS, required=False)

    def clean_label(self) -> str:
        label = without_unseen(self.cleaned_data["label"])
        if not label:
            raise forms.ValidationError(self.fields["label"].error_messages["required"])
        return label

    def expires_at(self) -> datetime | None:
        days = self.cleaned_data["days"]
        return timezone.now() + timedelta(days=int(days)) if days else None
