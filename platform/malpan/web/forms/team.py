"""Forms of a team's own page."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from malpan.teams.models import Team
from malpan.web.forms.fields import one_line


class TeamForm(forms.Form):
    name = forms.CharField(
        label=_("팀 이름"),
        max_length=Team._meta.get_field("name").max_length,
        help_text=_("순위표에 이 이름으로 올라갑니다. 60자까지 쓸 수 있습니다."),
        error_messages={
            "required": _("팀 이름을 입력해 주십시오."),
            "max_length": _("팀 이름은 %(limit_value)d자까지인데 %(show_value)d자입니다. 줄여 주십시오."),
        },
        widget=one_line(),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["name"].widget.attrs.pop("maxlength")  # with it a browser cuts a pasted name without a word


class InviteForm(forms.Form):
    email = forms.EmailField(
        label=_("받는 사람의 이메일"),
        help_text=_("이 주소를 자기 계정에서 인증한 사람만 초대를 쓸 수 있습니다."),
        error_messages={
            "required": _("이메일을 입력해 주십시오."),
            "invalid": _("이메일 주소를 올바른 형식으로 입력해 주십시오."),
        },
        widget=forms.EmailInput(attrs={"autocomplete": "off"}),
    )


class MergeSearchForm(forms.Form):
    merge = forms.CharField(
        label=_("합칠 상대 팀의 이름"),
        max_length=Team._meta.get_field("name").max_length,
        error_messages={"required": _("팀 이름을 입력해 주십시오.")},
        widget=one_line(),
    )
