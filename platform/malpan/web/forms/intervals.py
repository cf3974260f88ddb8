"""A field for a span of time as people write it: ``72시간``, ``1시간 30분``, ``3 days``."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any, Final

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from malpan.core.messages import duration_text
from malpan.web.forms.fields import one_line

LONGEST: Final = timedelta(days=365)
_UNITS: Final = {  # seconds, by every name of the unit
    **dict.fromkeys(("일", "d", "day", "days"), 24 * 60 * 60),
    **dict.fromkeys(("시간", "h", "hour", "hours"), 60 * 60),
    **dict.fromkeys(("분", "m", "min", "minute", "minutes", ""), 60),
    **dict.fromkeys(("초", "s", "second", "seconds"), 1),
}
_PART: Final = re.compile(r"([0-9]{1,9})\s*([^\W\d_]*)")


class IntervalField(forms.Field):
    """A ``timedelta`` of whole seconds up to ``LONGEST``. A number without a unit is minutes; 0 is none."""

    widget = one_line(maxlength="40")

    def prepare_value(self, value: Any) -> Any:
        if isinstance(value, timedelta):
            return duration_text(value) if value else "0"
        return value

    def to_python(self, value: Any) -> Any:
        text = str(value or "").strip().lower()
        if not text:  # refused where one is required
            return None
        parts = list(_PART.finditer(text))
        if len(text) > 40 or _PART.sub("", text).strip() or not parts or any(found[2] not in _UNITS for found in parts):
            raise ValidationError(_("읽을 수 없는 간격입니다. 72시간, 90분, 1시간 30분, 3일처럼 적어 주십시오."))
        seconds = sum(int(found[1]) * _UNITS[found[2]] for found in parts)
        if seconds > LONGEST.total_seconds():
            raise ValidationError(_("간격은 365일까지 둘 수 있습니다."))
        return timedelta(seconds=seconds)

    def has_changed(self, initial: Any, data: Any) -> bool:
        try:
            return bool(self.to_python(data) != initial)
        except ValidationError:
            return True
