"""What people want to hear: read, changed on a page, or ended by one click in a mail, which needs no log-in."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from django.core import signing
from django.db import transaction

from malpan.accounts.models import User
from malpan.core import audit
from malpan.notifications.errors import UnsubscribeLinkInvalid
from malpan.notifications.events import Event, mailed_events
from malpan.notifications.models import Preference

_SALT: Final = "malpan.notifications.unsubscribe"
_BOTH: Final = ("ko", "en")


def preference_of(person: User) -> Preference:
    """The person's preference; without a row one that wants everything, in both languages."""
    return Preference.objects.filter(person=person).first() or Preference(person=person)


def languages_of(preference: Preference) -> tuple[str, ...]:
    """The languages of a letter, in order."""
    return (preference.language,) if preference.language else _BOTH


def set_preference(*, person: User, language: str, wanted: Iterable[str]) -> Preference:
    """Set the language, empty for both, and the events that the person wants to hear of; of all others they do not."""
    chosen, offered = set(wanted), {event.name for event in mailed_events(person)}
    kept = set(preference_of(person).muted) - offered  # what is not for them now stays as it was
    muted = [event.name for event in mailed_events() if event.name in kept or event.name in offered - chosen]
    return _save(person, language=language, muted=muted)


def mute(*, person: User, event: str) -> Preference:
    """Tell the person no more of ``event``. A second time it changes nothing."""
    held = preference_of(person)
    if event in held.muted:
        return held
    return _save(person, language=held.language, muted=[*held.muted, event])


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
    event = next((each for each in mailed_events() if each.name == name), None)
    if person is None or event is None:
        raise UnsubscribeLinkInvalid
    return person, event


def _save(person: User, *, language: str, muted: list[str]) -> Preference:
    with transaction.atomic():
        held, _made = Preference.objects.get_or_create(person=person)
        before = {"language": held.language, "muted": held.muted}
        after = {"language": language, "muted": muted}
        if after != before:
            held.language, held.muted = language, muted
            held.save(update_fields=["language", "muted"])
            audit.record(actor=person, action="preference.update", obj=held, before=before, after=after, person=person)
    return held
