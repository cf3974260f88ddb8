"""Forms of a team's own page."""

from __future__ import annotations

from typing import Any, Final

from django import forms
from django.core.validators import MaxLengthValidator, URLValidator
from django.utils.translation import gettext_lazy as _

from malpan.core.fields import require_seen
from malpan.core.text import one_line as one_line_text
from malpan.teams.models import Team
from malpan.teams.services import MODEL_FIELDS
from malpan.web.forms.fields import one_line

_ADDRESS: Final[dict[str, Any]] = {
    "required": False,
    "assume_scheme": "https",
    "validators": [URLValidator(schemes=("http", "https")), MaxLengthValidator(300)],
    "error_messages": {"invalid": _("https://로 시작하는 주소를 입력해 주십시오.")},
}


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

    def __init__(self, *args: Any, is_blind: bool = False, **kwargs: Any) -> None:
        """``is_blind``: while a phase is open, others see a number instead of the name."""
        super().__init__(*args, **kwargs)
        if is_blind:
            self.fields["name"].help_text = _(
                "단계가 열려 있는 동안 다른 사람에게는 ‘참가팀 3’처럼 번호로 보이고, 단계가 끝나면 순위표에 이 이름이 "
                "보입니다. 60자까지 쓸 수 있습니다."
            )
        self.fields["name"].widget.attrs.pop("maxlength")  # with it a browser cuts a pasted name without a word


class TeamModelForm(forms.ModelForm):
    """What boards say of a team's model."""

    model_url = forms.URLField(label=_("모델 주소"), **_ADDRESS)
    paper_url = forms.URLField(label=_("논문 주소"), **_ADDRESS)

    class Meta:
        model = Team
        fields = MODEL_FIELDS
        help_texts = {
            "model_name": _("순위표의 팀 이름 아래에 보입니다. 팀 이름을 가리는 동안에는 보이지 않습니다."),
            "model_size": _("예: 13B"),
        }

    def clean_model_name(self) -> str:
        return _seen(self.cleaned_data["model_name"])

    def clean_model_size(self) -> str:
        return _seen(self.cleaned_data["model_size"])


def _seen(text: str) -> str:
    """``text`` on one line. Raises ``ValidationError`` for characters that nobody sees."""
    require_seen(text)
    return one_line_text(text)


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
