"""Forms of a row that somebody else, or another window, may change while the page is open."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any, Final

from django import forms
from django.core.exceptions import ValidationError
from django.db.models import Model
from django.utils import timezone
from django.utils.translation import gettext, gettext_lazy

MARK_CHARS: Final = 12
SHOWN_CHARS: Final = 80
SEEN: Final = "seen"
CHANGED: Final = gettext_lazy(
    "그사이 다른 사람이나 다른 창에서 이 값을 바꾸었습니다. 지금 값: %(now)s. 다시 저장하면 적은 값이 됩니다."
)


class SeenForm(forms.ModelForm):
    """A form that overwrites nothing its reader has not seen.

    It carries marks of the values that its page was made from. Of a value that is another one by then, what the reader
    left as it was stays as it is now; where they wrote something else nothing is saved, and the field says what it has
    now: sent once more, it is saved. Without marks, as programs send it, everything is written.
    """

    seen = forms.CharField(required=False, widget=forms.HiddenInput)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.instance.pk is None:
            del self.fields[SEEN]
            return
        self.initial[SEEN] = lambda: _written({name: mark_of(self._now(name)) for name in self._watched()})

    def clean(self) -> Any:
        cleaned = super().clean()
        found: dict[str, Any] = self.cleaned_data if cleaned is None else cleaned
        seen = dict(part.split(":", 1) for part in found.pop(SEEN, "").split() if ":" in part)
        if not seen:
            return found
        for name in [name for name in self._watched() if name in seen and name in found]:
            if self._is_in_conflict(found, name, seen[name]):
                seen[name] = mark_of(self._now(name))
                self.add_error(name, ValidationError(str(CHANGED) % {"now": self._shown(name)}))
        sent: Any = self.data
        data = sent.copy()
        data[self.add_prefix(SEEN)] = _written(seen)
        self.data = data
        return found

    def _watched(self) -> list[str]:
        return [name for name in self.fields if name != SEEN]

    def _typed(self, name: str) -> Any:
        """The value of a field as its page shows it now, to be typed over."""
        field = self.fields[name]
        return field.prepare_value(self.get_initial_for_field(field, name))

    def _now(self, name: str) -> Any:
        """What the field would be now if its reader left it as it is: values that a form derives are such ones too."""
        typed = self._typed(name)
        try:
            return self.fields[name].to_python(typed)
        except ValidationError:  # of a row that was written when other values were allowed
            return typed

    def _is_in_conflict(self, found: dict[str, Any], name: str, seen: str) -> bool:
        """Whether the reader and somebody else changed a value that had the mark ``seen``. What the reader left as it
        was becomes what it is now.
        """
        now, sent = mark_of(self._now(name)), mark_of(found[name])
        if now in (seen, sent):
            return False
        if sent == seen:
            found[name] = self._now(name)
        return sent != seen

    def _shown(self, name: str) -> str:
        """The value now, as a person reads it."""
        typed = self._typed(name)
        if isinstance(typed, bool):
            return gettext("켬") if typed else gettext("끔")
        choices = {str(value): label for value, label in getattr(self.fields[name], "choices", ())}
        text = str(choices.get(str(typed), "" if typed is None else typed))
        return f"{text[:SHOWN_CHARS]}…" if len(text) > SHOWN_CHARS else text or "–"


def mark_of(value: Any) -> str:
    """A short hash of a value as a form or a row has it."""
    text = json.dumps(_plain(value), sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:MARK_CHARS]


def _plain(value: Any) -> Any:
    if value is None:
        return ""
    if isinstance(value, str):
        return value.replace("\r\n", "\n").strip()
    if isinstance(value, Model):
        return value.pk
    if isinstance(value, datetime) and timezone.is_aware(value):
        return timezone.localtime(value).isoformat(timespec="minutes")
    if isinstance(value, Decimal):
        return float(value)
    return value


def _written(marks: Mapping[str, str]) -> str:
    return " ".join(f"{name}:{mark}" for name, mark in marks.items())
