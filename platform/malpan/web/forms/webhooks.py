"""The form of a new webhook."""

from __future__ import annotations

from django import forms
from django.utils.translation import gettext_lazy as _

from malpan.notifications.events import all_events
from malpan.notifications.models import Endpoint


class EndpointForm(forms.Form):
    url = forms.URLField(
        label=_("받을 주소"),
        max_length=Endpoint.URL_CHARS,
        assume_scheme="https",
        help_text=_("https://로 시작하는, 인터넷에서 닿는 주소입니다."),
        error_messages={"required": _("받을 주소를 입력해 주십시오.")},
    )
    events = forms.MultipleChoiceField(
        label=_("받을 사건"),
        choices=lambda: [(event.name, event.label) for event in all_events()],  # asked when the form is made
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": _("받을 사건을 하나 이상 골라 주십시오.")},
    )
