"""Forms of the pages. They check shape and carry values; the services decide."""

from __future__ import annotations

from typing import Any, Final
from uuid import uuid4

from allauth.account import forms as account
from django import forms
from django.utils.translation import gettext_lazy as _

from malpan.accounts.models import ApiToken, User
from malpan.core.text import without_unseen
from malpan.submissions.models import Submission
from malpan.teams.models import Team

LABELS: Final = {
    "login": _("이메일"),
    "email": _("이메일"),
    "name": _("이름"),
    "password": _("비밀번호"),
    "oldpassword": _("지금 비밀번호"),
    "password1": _("비밀번호"),
    "password2": _("비밀번호 확인"),
}
PASSWORD_RULE: Final = _(
    "8자 이상으로 정해 주십시오. 숫자만으로 된 것, 흔히 쓰는 것, 이메일과 비슷한 것은 쓸 수 없습니다."
)


class _Worded(forms.Form):
    """Puts this site's words on the fields: visible labels, no placeholders, one rule under a new password."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name, field in self.fields.items():
            if name in LABELS:
                field.label = LABELS[name]
            field.help_text = PASSWORD_RULE if name == "password1" else ""
            field.widget.attrs.pop("placeholder", None)
            field.error_messages["required"] = _("입력해 주십시오.")
            field.error_messages["invalid"] = _("올바른 형식으로 입력해 주십시오.")


class LoginForm(_Worded, account.LoginForm):
    pass


class SignupForm(_Worded, account.SignupForm):
    name = forms.CharField(
        max_length=User._meta.get_field("name").max_length,
        widget=forms.TextInput(attrs={"autocomplete": "name"}),
    )
    field_order = ["name", "email", "password1", "password2"]


class ResetPasswordForm(_Worded, account.ResetPasswordForm):
    pass


class ResetPasswordKeyForm(_Worded, account.ResetPasswordKeyForm):
    pass


class ChangePasswordForm(_Worded, account.ChangePasswordForm):
    pass


class SetPasswordForm(_Worded, account.SetPasswordForm):
    pass


class AddEmailForm(_Worded, account.AddEmailForm):
    pass


class ReauthenticateForm(_Worded, account.ReauthenticateForm):
    pass


class TeamForm(forms.Form):
    name = forms.CharField(
        label=_("팀 이름"),
        max_length=Team._meta.get_field("name").max_length,
        help_text=_("순위표에 이 이름으로 올라갑니다. 60자까지 쓸 수 있습니다."),
        error_messages={"required": _("팀 이름을 입력해 주십시오.")},
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )


class ConfirmForm(forms.Form):
    """One box to tick before something that is not undone; ``sentence`` says what will happen."""

    confirm = forms.BooleanField(error_messages={"required": _("확인란에 표시해 주십시오.")})

    def __init__(self, data: Any = None, *, key: str, sentence: Any, **kwargs: Any) -> None:
        super().__init__(data, auto_id=f"{key}-%s", **kwargs)  # several of them stand on one page
        self.fields["confirm"].label = sentence


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


class ApiTokenForm(forms.Form):
    label = forms.CharField(
        label=_("토큰 이름"),
        max_length=ApiToken._meta.get_field("label").max_length,
        help_text=_("어디에 쓰는 토큰인지 알아볼 이름입니다. 60자까지 쓸 수 있습니다."),
        error_messages={"required": _("토큰 이름을 입력해 주십시오.")},
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )

    def clean_label(self) -> str:
        label = without_unseen(self.cleaned_data["label"])
        if not label:
            raise forms.ValidationError(self.fields["label"].error_messages["required"])
        return label


class MergeSearchForm(forms.Form):
    merge = forms.CharField(
        label=_("합칠 상대 팀의 이름"),
        max_length=Team._meta.get_field("name").max_length,
        error_messages={"required": _("팀 이름을 입력해 주십시오.")},
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )


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


class SubmitForm(forms.Form):
    file = forms.FileField(
        label=_("제출 파일"),
        error_messages={
            "required": _("파일을 골라 주십시오."),
            "missing": _("파일을 골라 주십시오."),
            "max_length": _("파일 이름이 너무 깁니다. 이름을 줄여 다시 올려 주십시오."),
        },
        max_length=Submission._meta.get_field("file_name").max_length,
        allow_empty_file=True,  # an empty file is a rejected file with a located message, not a missing one
        widget=forms.FileInput(attrs={"accept": ".json,.jsonl,.tsv,application/json"}),
    )
    memo = forms.CharField(
        label=_("메모"),
        max_length=Submission._meta.get_field("memo").max_length,
        required=False,
        help_text=_("팀원과 주최 측만 볼 수 있습니다. 모델 이름이나 바꾼 점을 적어 두면 나중에 비교하기 쉽습니다."),
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
    upload_key = forms.CharField(required=False, max_length=64, initial=uuid4, widget=forms.HiddenInput)
