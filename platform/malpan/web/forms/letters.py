"""The form of what a person wants to hear."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from malpan.notifications.events import mailed_events
from malpan.notifications.models import Preference


class PreferenceForm(forms.Form):
    language = forms.ChoiceField(
        label=_("메일의 언어"),
        required=False,
        choices=[("", _("한국어와 영어 모두")), *Preference.LANGUAGES],
    )
    events = forms.MultipleChoiceField(
        label=_("받을 알림"),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text=_("고르지 않은 것은 보내지 않습니다. 로그인, 비밀번호, 초대에 꼭 필요한 메일은 늘 보냅니다."),
    )

    def __init__(self, data: Any = None, *, preference: Preference) -> None:
        events = mailed_events(preference.person)
        wanted = [event.name for event in events if event.name not in preference.muted]
        super().__init__(data, initial={"language": preference.language, "events": wanted})
        self.fields["events"].choices = [(event.name, event.label) for event in events]  # type: ignore[attr-defined]
