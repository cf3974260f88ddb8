"""The text of an error for people.

A text says what happened, where, and what to do next. ``text_of`` uses the active language at the time of the call; the
Korean text is the msgid.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from django.template.defaultfilters import filesizeformat
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from malpan.core.errors import DomainError, SystemFault, Text
from malpan.core.times import kst_text
from scoring.particles import fitted


def text_of(error: DomainError) -> str:
    """The sentence for ``error`` in the active language."""
    return _filled(error.sentence(error.variant), error.params)


def text_of_code(code: str) -> str:
    """The sentence for a stored ``code`` that needs no data, such as the fault of a failed run."""
    error = DomainError.by_code.get(code)
    return _filled((error if error and issubclass(error, SystemFault) else SystemFault).sentence(), {})


def heading_of(error: DomainError) -> str:
    """제출 오류, 시스템 오류 or 요청 오류: who must fix it."""
    return str(error.heading)


def _filled(sentence: Text, params: Mapping[str, Any]) -> str:
    shown = {name: _shown(name, value) for name, value in params.items()}
    sizes = {name: value for name, value in params.items() if name.endswith("_bytes")}
    if len({shown[name] for name in sizes}) < len(set(sizes.values())):  # 21,000,000 and 20,971,520 are both 20.0 MB
        shown |= {name: _("%(count)s바이트") % {"count": f"{value:,}"} for name, value in sizes.items()}
    return fitted(str(sentence) % shown)


def _shown(name: str, value: Any) -> str:
    if isinstance(value, datetime):
        return kst_text(value)
    if isinstance(value, timedelta):
        return duration_text(value)
    if name.endswith("_bytes"):
        return filesizeformat(value)
    return str(value)


def duration_text(span: timedelta) -> str:
    """``72시간``, ``90분``, ``30초``: the largest unit that divides ``span`` evenly."""
    seconds = int(span.total_seconds())
    if seconds % 3600 == 0:
        return ngettext("%(count)d시간", "%(count)d시간", seconds // 3600) % {"count": seconds // 3600}
    if seconds % 60 == 0:
        return ngettext("%(count)d분", "%(count)d분", seconds // 60) % {"count": seconds // 60}
    return ngettext("%(count)d초", "%(count)d초", seconds) % {"count": seconds}
