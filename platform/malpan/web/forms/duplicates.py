"""The filters above equal and nearly equal files."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from malpan.competitions.models import Competition, Phase
from malpan.competitions.selectors import phases_of
from malpan.web.forms.fields import PhaseField
from malpan.web.forms.filters import FilterForm


class PhaseFilterForm(FilterForm):
    phase = PhaseField(Phase.objects.none(), label=_("단계"), empty_label=None)

    def __init__(self, competition: Competition, data: Any) -> None:
        """An address that names no phase is none that lacks one: the first is shown."""
        super().__init__(data if "phase" in data else None, rows={"phase": phases_of(competition)})


class AnswersForm(FilterForm):
    show = forms.ChoiceField(
        label=_("보일 문항"),
        required=False,
        choices=[
            ("", _("모든 문항")),
            ("same", _("답이 같은 문항")),
            ("different", _("답이 다른 문항")),
        ],
    )
