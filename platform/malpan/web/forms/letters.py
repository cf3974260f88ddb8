"""The form of what a person wants to hear, and when."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from django import forms
from django.forms import BoundField
from django.utils.translation import gettext_lazy as _

from malpan.notifications.events import Event, mailed_events
from malpan.notifications.models import Pace, Preference
from malpan.notifications.preferences import pace_of

PACE: Final = "pace_"  # with the name of its event: the name of a field


class PreferenceForm(forms.Form):
    """The pace of an event that is not sent stays as it was."""

    language = forms.ChoiceField(
        label=_("메일의 언어"),
        required=False,
        choices=[("", _("한국어와 영어 모두")), *Preference.LANGUAGES],
    )

    def __init__(self, data: Any = None, *, preference: Preference) -> None:
        self.events = mailed_events(preference.person)
        paces = {f"{PACE}{event.name}": pace_of(preference, event.name) for event in self.events}
        super().__init__(data, initial={"language": preference.language, **paces})
        for event in self.events:
            self.fields[f"{PACE}{event.name}"] = forms.ChoiceField(
                label=str(event.label), choices=Pace.choices, required=False
            )

    def rows(self) -> Iterator[tuple[Event, BoundField]]:
        """Each event with its field."""
        return ((event, self[f"{PACE}{event.name}"]) for event in self.events)

    def paces(self) -> dict[str, str]:
        """The paces that were sent, by event."""
        named = {event.name: self.cleaned_data[f"{PACE}{event.name}"] for event in self.events}
        return {name: pace for name, pace in named.items() if pace}
