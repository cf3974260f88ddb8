"""The forms above long tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from django import forms
from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _

from malpan.competitions.models import Competition, Track


class FilterForm(forms.Form):
    """A form above a table. An invalid value is reported at its field and filters nothing."""

    def __init__(
        self,
        data: Any,
        choices: Mapping[str, Sequence[tuple[str, Any]]] | None = None,
        rows: Mapping[str, QuerySet[Any]] | None = None,
    ) -> None:
        """``choices`` and ``rows`` are the options of the fields by name."""
        super().__init__(data, auto_id="filter_%s")
        for name, offered in (choices or {}).items():
            cast("forms.ChoiceField", self.fields[name]).choices = offered
        for name, queryset in (rows or {}).items():
            cast("forms.ModelChoiceField[Any]", self.fields[name]).queryset = queryset
        self.is_valid()

    def value(self, name: str) -> Any:
        """The chosen value; empty if there is none or it is invalid."""
        return (self.cleaned_data.get(name) if self.is_bound else None) or ""


def track_choices(competition: Competition) -> list[tuple[str, Any]]:
    """The tracks of a competition for a filter, all of them first."""
    tracks = Track.objects.filter(competition=competition)
    return [("", _("모든 트랙")), *((track.slug, track.title) for track in tracks)]
