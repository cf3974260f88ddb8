"""What long tables share: addresses that keep their filters, columns to sort by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest


@dataclass(frozen=True, slots=True)
class SortLink:
    """The head of a sortable column. ``direction``: ascending, descending or empty, as in ``aria-sort``."""

    label: Any
    href: str
    direction: str


def query_with(request: HttpRequest, **changes: str) -> str:
    """The query of the address with ``changes``, from ``?`` on; an empty value removes the name."""
    query = request.GET.copy()
    for name, value in changes.items():
        query.pop(name, None)
        if value:
            query[name] = value
    return f"?{query.urlencode()}"


def filters_only(request: HttpRequest) -> str:
    """The query without the page, for an export of the same rows."""
    return query_with(request, page="")


def sort_link(request: HttpRequest, key: str, label: Any, *, default: str, ascending_first: bool = False) -> SortLink:
    """A link that sorts by ``key`` or, if it is the current one, reverses the order."""
    is_current = request.GET.get("sort", default) == key
    is_ascending = request.GET.get("order") == "asc"
    turned = not is_ascending if is_current else ascending_first
    href = query_with(request, sort=key, order="asc" if turned else "", page="")
    return SortLink(label, href, ("ascending" if is_ascending else "descending") if is_current else "")
