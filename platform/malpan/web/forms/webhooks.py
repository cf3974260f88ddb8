"""The form of a webhook, new or to be changed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms
from django.utils.functional import Promise
from django.utils.html import format_html
from django.utils.translation import gettext_lazy as _

from malpan.notifications.models import Endpoint


class EndpointForm(forms.Form):
    """``labels``: the events to choose from, shown with the names by which programs know them."""

    url = forms.URLField(
        label=_("받을 주소"),
        max_length=Endpoint.URL_CHARS,
        assume_scheme="https",
        help_text=_("https://로 시작하는, 인터넷에서 닿는 주소입니다."),
        error_messages={"required": _("받을 주소를 입력해 주십시오.")},
    )
    events = forms.MultipleChoiceField(
        label=_("받을 사건"),
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": _("받을 사건을 하나 이상 골라 주십시오.")},
    )

    def __init__(self, data: Any = None, *, labels: Mapping[str, str | Promise], **options: Any) -> None:
        super().__init__(data, **options)
        choices = [(name, format_html("{} <code>({})</code>", label, name)) for name, label in labels.items()]
        self.fields["events"].choices = choices  # type: ignore[attr-defined]
