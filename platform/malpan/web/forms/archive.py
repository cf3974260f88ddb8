"""Forms of export and import. They check the format; the services decide."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from malpan.archive.crypto import PASSPHRASE_MIN
from malpan.archive.errors import PassphraseTooShort
from malpan.core.messages import text_of
from malpan.web.forms.fields import FILE_REQUIRED, ConfirmField, needed_when, one_line


def _secret(label: Any, help_text: Any = "") -> forms.CharField:
    widget = forms.PasswordInput(attrs={"autocomplete": "off"})
    return forms.CharField(label=label, required=False, strip=False, help_text=help_text, widget=widget)


class ExportForm(forms.Form):
    references = forms.BooleanField(label=_("정답을 암호화해 담기"), required=False)
    passphrase = _secret(_("암호 구문"), _("12자 이상. 어디에도 저장하지 않으므로 잃으면 정답을 꺼낼 수 없습니다."))
    repeated = _secret(_("암호 구문 한 번 더"))

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        needed_when(self, _("정답을 담을 때 필요"), "passphrase", "repeated")

    def clean(self) -> dict[str, Any]:
        found = super().clean() or {}
        if not found.get("references"):
            if found.get("passphrase") or found.get("repeated"):
                self.add_error("references", _("암호 구문을 적었다면 여기에 표시해 주십시오."))
            return found
        if len(found.get("passphrase", "")) < PASSPHRASE_MIN:
            self.add_error("passphrase", text_of(PassphraseTooShort(limit=PASSPHRASE_MIN)))
        elif found["passphrase"] != found.get("repeated"):
            self.add_error("repeated", _("두 번 입력한 암호 구문이 다릅니다."))
        return found


class ImportForm(forms.Form):
    file = forms.FileField(
        label=_("보관 파일"),
        error_messages=FILE_REQUIRED,
        widget=forms.FileInput(attrs={"accept": ".zip,application/zip"}),
    )
    slug = forms.CharField(
        label=_("주소 이름"),
        required=False,
        max_length=50,
        help_text=_("비우면 내보낸 대회의 주소 이름을 그대로 씁니다."),
        widget=one_line(),
    )
    passphrase = _secret(_("암호 구문"), _("암호화된 정답도 가져올 때만 적습니다."))
    confirm = ConfirmField(
        _("이 보관 파일을 믿을 수 있는 곳에서 받았고, 그 안의 사람과 팀, 제출을 이 서버에 만듭니다.")
    )
