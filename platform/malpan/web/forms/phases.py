"""Forms of the manage pages' phase pages. They check shape and carry values; the services decide."""

from __future__ import annotations

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from malpan.competitions.models import Phase
from malpan.competitions.splitting import ids_of_text
from malpan.web.forms.manage import KstMinuteField, PhaseForm


class SettingsForm(PhaseForm):
    """Everything an organiser sets on a phase: what the wizard asks for, and the board."""

    frozen_at = KstMinuteField(
        label=_("순위표 고정 시각"),
        required=False,
        help_text=_(
            "KST. ‘고정’일 때만 쓰며, 이 시각 전의 제출까지만 순위표에 오릅니다. 앞으로 올 시각을 적으면 그때 "
            "고정됩니다. 비우면 지금입니다."
        ),
    )

    class Meta(PhaseForm.Meta):
        fields = (*PhaseForm.Meta.fields, "board", "frozen_at")

    def values(self) -> dict[str, Any]:
        """The columns of the phase. Another board than a frozen one has no moment."""
        chosen = super().values()
        if chosen["board"] != Phase.Board.FROZEN:
            chosen["frozen_at"] = None
        return chosen


class SplitForm(forms.Form):
    way = forms.ChoiceField(
        label=_("나누는 방법"),
        choices=[
            ("share", _("단계 설정의 비율대로(문항 유형마다 같은 비율)")),
            ("list", _("아래 목록의 문항을 공개 문항으로")),
            ("none", _("나누지 않음(모든 문항을 공개 점수로)")),
        ],
        widget=forms.RadioSelect,
        error_messages={"required": _("방법을 골라 주십시오.")},
    )
    public_ids = forms.CharField(
        label=_("공개 문항의 id"),
        required=False,
        strip=True,
        help_text=_("한 줄에 하나씩, 또는 쉼표로 나누어 적습니다."),
        widget=forms.Textarea(attrs={"rows": 8, "class": "long-text", "spellcheck": "false"}),
    )
    replaces = forms.BooleanField(
        label=_("이미 제출이 있어도 새 판으로 바꿉니다. 지금까지의 점수는 다시 채점할 때까지 순위표에서 빠집니다."),
        required=False,
    )

    def clean(self) -> dict[str, Any]:
        values: dict[str, Any] = super().clean() or {}
        if values.get("way") == "list" and not ids_of_text(values.get("public_ids", "")):
            self.add_error("public_ids", _("공개 문항의 id를 적어 주십시오."))
        return values


class PublishForm(forms.Form):
    """What goes with a final board, and the phase's address name, typed, as the confirmation."""

    note_ko = forms.CharField(
        label=_("안내"),
        max_length=300,
        required=False,
        help_text=_("최종 순위표 위에 보입니다. 다시 발표할 때는 그 이유를 적어 주십시오."),
    )
    note_en = forms.CharField(label=_("안내(영어)"), max_length=300, required=False)
    confirmation = forms.CharField(
        label=_("확인"),
        error_messages={"required": _("단계의 주소 이름을 적어 주십시오.")},
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )

    def __init__(self, *args: Any, phase: Phase, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._slug = phase.slug
        self.fields["confirmation"].help_text = _("발표하려면 단계의 주소 이름 ‘%(slug)s’을(를) 적어 주십시오.") % {
            "slug": phase.slug
        }

    def clean_confirmation(self) -> str:
        typed: str = self.cleaned_data["confirmation"].strip()
        if typed != self._slug:
            raise ValidationError(_("단계의 주소 이름과 다릅니다."))
        return typed
