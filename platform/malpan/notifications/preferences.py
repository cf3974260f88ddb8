"""What people want to hear: read, changed on a page, or ended by one click in a mail, which needs no log-in."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final

from django.core import signing
from django.db import transaction

from malpan.accounts.models import User
from malpan.core import audit
from malpan.notifications.errors import UnsubscribeLinkInvalid
from malpan.notifications.events import DIGEST, Event, mailed_events, usual_pace
from malpan.notifications.models import Pace, Preference

_SALT: Final = "malpan.notifications.unsubscribe"
_BOTH: Final = ("ko", "en")


def preference_of(person: User) -> Preference:
    """The person's preference; without a row one that wants everything, in both languages."""
    return Preference.objects.filter(person=person).first() or Preference(person=person)


def languages_of(preference: Preference) -> tuple[str, ...]:
    """The languages of a letter, in order."""
    return (preference.language,) if preference.language else _BOTH


def pace_of(preference: Preference, event: str) -> Pace:
    """When the person has a mail of ``event``."""
    return Pace.NEVER if event in preference.muted else Pace(preference.paces.get(event, usual_pace(event)))


def daily_readers(event: str, people: Collection[int]) -> set[int]:
    """Those of ``people``, by their keys, who want word of ``event`` once a day. One query."""
    is_usual = usual_pace(event) == Pace.DAILY
    other = {event: Pace.AT_ONCE if is_usual else Pace.DAILY}
    found = set(Preference.objects.filter(person__in=people, paces__contains=other).values_list("person", flat=True))
    return set(people) - found if is_usual else found


def set_preference(*, person: User, language: str, paces: Mapping[str, str]) -> Preference:
    """Set the language, empty for both, and the pace of each event of ``paces``: others, and those that are not for
    the person, stay as they were.
    """
    held, offered = preference_of(person), {event.name for event in mailed_events(person)}
    chosen = {name: pace for name, pace in paces.items() if name in offered}
    muted = {*held.muted, *chosen} - {name for name, pace in chosen.items() if pace != Pace.NEVER}
    kept = {**held.paces, **{name: pace for name, pace in chosen.items() if pace != Pace.NEVER}}
    known = [event.name for event in mailed_events()]
    return _save(person, language=language, muted=[name for name in known if name in muted], paces=kept)


def mute(*, person: User, event: str) -> Preference:
    """Tell the person no more of ``event``; of ``DIGEST`` none of those that come once a day. A second time it changes
    nothing.
    """
    held = preference_of(person)
    ended = [name for name in _named_by(held, event) if name not in held.muted]
    return _save(person, language=held.language, muted=[*held.muted, *ended], paces=held.paces) if ended else held


def is_muted(preference: Preference, event: str) -> bool:
    """Whether the person has no mail of ``event``; of ``DIGEST``, none once a day."""
    return all(name in preference.muted for name in _named_by(preference, event))


def _named_by(preference: Preference, event: str) -> list[str]:
    """The event, or all that come once a day."""
    if event != DIGEST.name:
        return [event]
    return [each.name for each in mailed_events() if pace_of(preference, each.name) == Pace.DAILY]


def token_of(person: User, event: str) -> str:
    """What the link in a mail has, to be unsubscribed by: it proves itself and never expires."""
    return signing.dumps([person.pk, event], salt=_SALT)


def read_token(token: str) -> tuple[User, Event]:
    """Whose mail about what it was. Raises ``UnsubscribeLinkInvalid``."""
    try:
        pk, name = signing.loads(token, salt=_SALT)
    except signing.BadSignature as error:
        raise UnsubscribeLinkInvalid from error
    person = User.objects.filter(pk=pk, erased_at=None).first()
    event = next((each for each in (*mailed_events(), DIGEST) if each.name == name), None)
    if person is None or event is None:
        raise UnsubscribeLinkInvalid
    return person, event


def _save(person: User, *, language: str, muted: list[str], paces: dict[str, str]) -> Preference:
    with transaction.atomic():
        held, _made = Preference.objects.get_or_create(person=person)
        before = {"language": held.language, "muted": held.muted, "paces": held.paces}
        after = {"language": language, "muted": muted, "paces": paces}
        if after != before:
            held.language, held.muted, held.paces = language, muted, paces
            held.save(update_fields=list(after))
            audit.record(actor=person, action="preference.update", obj=held, before=before, after=after, person=person)
    return held
