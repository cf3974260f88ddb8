"""The forms of the texts of the whole site."""

from __future__ import annotations

from typing import Any

from django import forms

from malpan.core.models import SiteText
from malpan.web.forms.fields import MARKDOWN_HELP, markdown_area


class SiteTextForm(forms.ModelForm):
    class Meta:
        model = SiteText
        fields = ("text_ko", "text_en")
        widgets = {"text_ko": markdown_area(14), "text_en": markdown_area(14)}
        help_texts = {"text_ko": MARKDOWN_HELP}

    def __init__(self, data: Any = None, *, text: SiteText) -> None:
        super().__init__(data, instance=text, auto_id=f"{text.kind}-%s")
