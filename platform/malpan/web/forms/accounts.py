"""allauth's forms with the texts of this site."""

from __future__ import annotations

from typing import Any, Final

from allauth.account import forms as account
from django import forms
from django.utils.translation import gettext_lazy as _

from malpan.accounts.models import User
from malpan.core.fields import require_seen
from malpan.core.site_texts import privacy_version
from malpan.web.forms.fields import ConfirmField

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
    """Sets this site's texts on the fields: visible labels, no placeholders, one rule under a new password."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name, field in self.fields.items():
            if name in LABELS:
                field.label = LABELS[name]
            field.help_text = PASSWORD_RULE if name == "password1" else ""
            field.widget.attrs.pop("placeholder", None)
            if not isinstance(field, ConfirmField):
                field.error_messages["required"] = _("입력해 주십시오.")
            field.error_messages["invalid"] = _("올바른 형식으로 입력해 주십시오.")


class LoginForm(_Worded, account.LoginForm):
    pass


class SignupForm(_Worded, account.SignupForm):
    name = forms.CharField(
        max_length=User._meta.get_field("name").max_length,
        validators=[require_seen],
        widget=forms.TextInput(attrs={"autocomplete": "name"}),
    )
    privacy = ConfirmField(_("개인정보 처리방침을 읽었고, 거기 적은 대로 이름과 이메일을 모아 쓰는 데 동의합니다."))
    privacy_version = forms.CharField(required=False, widget=forms.HiddenInput)
    field_order = ["name", "email", "password1", "password2", "privacy"]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["privacy_version"].initial = privacy_version()

    def clean_privacy_version(self) -> str:
        """The version of now, to which the person agrees: it must be the one that was there to be read."""
        read, current = self.cleaned_data["privacy_version"], privacy_version()
        if read and read != current:
            self.data = {**self.data, "privacy_version": current}  # what is on the page that comes back
            self.add_error("privacy", _("그사이에 개인정보 처리방침이 바뀌었습니다. 다시 읽고 동의해 주십시오."))
        return current


class ResendForm(_Worded):
    """Where the mail that confirms an address is to be sent again."""

    email = forms.EmailField(widget=forms.EmailInput(attrs={"autocomplete": "email"}))


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


class CloseAccountForm(ReauthenticateForm):
    """The password again, whose wrong guesses are counted as at the log-in, and a box to tick."""

    confirm = ConfirmField(_("무엇이 지워지고 무엇이 남는지 읽었으며, 되돌릴 수 없음을 압니다."))
