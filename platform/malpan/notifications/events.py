"""The events that people hear of. The app of an event registers it when it is ready; this app knows no competition.

What a letter says is composed when it is sent, by what holds then: who left a team, or may not see a score (any more),
is not told.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from malpan.accounts.models import User
from malpan.notifications.models import Pace

Facts = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Word:
    """What a letter says, in the language that is active: ``context`` fills the templates ``emails/EVENT_subject.txt``
    and ``emails/EVENT_text.txt``; ``path`` is the page that its link opens.
    """

    context: Mapping[str, Any]
    path: str


@dataclass(frozen=True, slots=True)
class Event:
    """``label`` is for the page of preferences.

    ``compose`` returns the letter to a person about these facts, or ``None`` if they are not to be told now; ``sample``
    one of an invented event, for the preview. Without it only webhooks hear of the event: its mail is not a letter.
    ``is_for`` whom it is at all; ``template``: the name of the templates where several events have the same; ``pace``:
    when people have a mail of it who have not said.
    """

    name: str
    label: Promise
    compose: Callable[[User, Facts], Word | None]
    sample: Callable[[], Word] | None = None
    is_for: Callable[[User], bool] = lambda _person: True
    template: str = ""
    pace: Pace = Pace.AT_ONCE

    @property
    def templates(self) -> str:
        """What the names of its templates begin with."""
        return self.template or self.name


@dataclass(frozen=True, slots=True)
class Happening:
    """An event of which programs hear that are nobody's own, such as those of a competition.

    ``compose`` returns what they are told about these facts, or ``None`` if there is nothing to tell now.
    """

    name: str
    label: Promise
    compose: Callable[[Facts], Word | None]


# the mail of a day with all that its reader wants once a day (``digests``): its name, and what ends by its link
DIGEST: Final = Event("digest", _("하루에 한 번 모아"), lambda _person, _facts: None)
_events: Final[dict[str, Event]] = {}
_happenings: Final[dict[str, Happening]] = {}


def register(event: Event) -> None:
    """Let people hear of ``event``; a second time it changes nothing."""
    _events[event.name] = event


def register_happening(happening: Happening) -> None:
    """Let programs that are nobody's own hear of ``happening``."""
    _happenings[happening.name] = happening


def happening_of(name: str) -> Happening:
    """The one called ``name``. Raises ``KeyError``."""
    return _happenings[name]


def all_happenings() -> list[Happening]:
    """Every one, in the order of their registration."""
    return list(_happenings.values())


def event_of(name: str) -> Event:
    """The event called ``name``. Raises ``KeyError``."""
    return _events[name]


def is_mailed(name: str) -> bool:
    """Whether people get a mail about the event called ``name``."""
    return name not in _events or _events[name].sample is not None


def usual_pace(name: str) -> Pace:
    """When people have a mail of the event called ``name`` who have not said."""
    return _events[name].pace if name in _events else Pace.AT_ONCE


def mailed_events(person: User | None = None) -> list[Event]:
    """The events about which ``person``, or anybody, gets mails, in the order of their registration."""
    return [event for event in all_events(person) if is_mailed(event.name)]


def all_events(person: User | None = None) -> list[Event]:
    """Every event that is for ``person``, or for anybody, in the order of their registration."""
    return [event for event in _events.values() if person is None or event.is_for(person)]
