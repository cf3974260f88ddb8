"""What the manage pages' long tables share: filters, addresses that keep them, columns to sort by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from django import forms
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from malpan.competitions.models import Competition, Track


@dataclass(frozen=True, slots=True)
class SortLink:
    """The head of a sortable column. ``direction``: ascending, descending or empty, as ``aria-sort`` says it."""

    label: Any
    href: str
    direction: str


def query_with(request: HttpRequest, **changes: str) -> str:
    """The query of the address with ``changes``, from ``?`` on; an empty value leaves the name out."""
    query = request.GET.copy()
    for name, value in changes.items():
        query.pop(name, None)
        if value:
            query[name] = value
    return f"?{query.urlencode()}"


def filters_only(request: HttpRequest) -> str:
    """The query without the page: what an export of the same rows asks for."""
    return query_with(request, page="")


def sort_link(request: HttpRequest, key: str, label: Any, *, default: str, ascending_first: bool = False) -> SortLink:
    """A link that sorts by ``key`` or, where that is done already, turns the order around."""
    is_current = request.GET.get("sort", default) == key
    is_ascending = request.GET.get("order") == "asc"
    turned = not is_ascending if is_current else ascending_first
    href = query_with(request, sort=key, order="asc" if turned else "", page="")
    return SortLink(label, href, ("ascending" if is_ascending else "descending") if is_current else "")


class FilterForm(forms.Form):
    """A form above a table. What is wrong in it is said beside the field, and filters nothing."""

    def __init__(
        self,
        data: Any,
        choices: Mapping[str, Sequence[tuple[str, Any]]] | None = None,
        rows: Mapping[str, QuerySet[Any]] | None = None,
    ) -> None:
        """``choices`` and ``rows`` are what the fields of these names let choose from."""
        super().__init__(data, auto_id="filter_%s")
        for name, offered in (choices or {}).items():
            cast("forms.ChoiceField", self.fields[name]).choices = offered
        for name, queryset in (rows or {}).items():
            cast("forms.ModelChoiceField[Any]", self.fields[name]).queryset = queryset
        self.is_valid()

    def value(self, name: str) -> Any:
        """What was chosen; empty where nothing, or nothing sensible, was."""
        return (self.cleaned_data.get(name) if self.is_bound else None) or ""


def track_choices(competition: Competition) -> list[tuple[str, Any]]:
    """The tracks of a competition for a filter, all of them first."""
    tracks = Track.objects.filter(competition=competition)
    return [("", _("모든 과제")), *((track.slug, track.title) for track in tracks)]
