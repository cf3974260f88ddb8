"""The manage pages: the pages behind a competition. One module a page family, composed here."""

from __future__ import annotations

from typing import Final

from django.urls import URLPattern

from malpan.web.manage import (
    archive,
    audit,
    duplicates,
    notices,
    overview,
    phases,
    questions,
    quota,
    references,
    rescoring,
    roles,
    runs,
    setup,
    submissions,
    teams,
)
from malpan.web.manage.access import ManageTab

_PAGES: Final = (
    overview,
    setup,
    phases,
    references,
    rescoring,
    runs,
    submissions,
    duplicates,
    teams,
    quota,
    notices,
    questions,
    roles,
    audit,
    archive,
)

TABS: Final[tuple[ManageTab, ...]] = tuple(tab for page in _PAGES if (tab := getattr(page, "TAB", None)) is not None)
urlpatterns: Final[list[URLPattern]] = [pattern for page in _PAGES for pattern in page.urlpatterns]
