"""The form of a new API token."""

from __future__ import annotations

from django import forms
from django.utils.translation import gettext_lazy as _

from malpan.accounts.models import ApiToken
from malpan.core.text import without_unseen
from malpan.web.forms.fields import one_line


class ApiTokenForm(forms.Form):
    label = forms.CharField(
        label=_("토큰 이름"),
        max_length=ApiToken._meta.get_field("label").max_length,
        help_text=_("어디에 쓰는 토큰인지 알아볼 이름입니다. 60자까지 쓸 수 있습니다."),
        error_messages={"required": _("토큰 이름을 입력해 주십시오.")},
        widget=one_line(),
    )

    def clean_label(self) -> str:
        label = without_unseen(self.cleaned_data["label"])
        if not label:
            raise forms.ValidationError(self.fields["label"].error_messages["required"])
        return label
