"""A letter as a mail: subject, text and HTML in the reader's language, and how to get no more of them (RFC 8058)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlsplit

from django.conf import settings
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import translation

from malpan.accounts.models import User
from malpan.core.text import one_line
from malpan.notifications import events, preferences
from malpan.notifications.events import Word
from malpan.notifications.models import Letter

MARKS: Final = {"ko": "[말판] ", "en": "[Malpan] "}  # with which the subject of every letter begins


@dataclass(frozen=True, slots=True)
class Part:
    """The letter in one language, with the address of its page."""

    language: str
    subject: str
    paragraphs: list[str]
    link: str

    @property
    def heading(self) -> str:
        """The subject without the name of the site."""
        return self.subject.removeprefix(MARKS[self.language])


@dataclass(frozen=True, slots=True)
class Mail:
    """``headers``: the mail's id, and where its reader unsubscribes."""

    subject: str
    text: str
    html: str
    headers: dict[str, str] = field(default_factory=dict)


def render(letter: Letter) -> Mail | None:
    """The mail for ``letter``; ``None`` if its person is not to be told, or does not want to be.

    Raises ``KeyError`` for an event of another version of this site.
    """
    event, person = events.event_of(letter.event), letter.person
    assert person is not None
    preference = preferences.preference_of(person)
    if not person.is_active or event.name in preference.muted:
        return None
    unsubscribe = unsubscribe_address(person, event.name)
    mail = compose(
        event.templates, preferences.languages_of(preference), lambda: event.compose(person, letter.facts), unsubscribe
    )
    if mail is not None:
        mail.headers.update(headers_of(letter, unsubscribe))
    return mail


def compose(
    templates: str, languages: tuple[str, ...], word: Callable[[], Word | None], unsubscribe: str
) -> Mail | None:
    """The mail of what ``word`` says in each of ``languages``, by the ``templates`` of its event."""
    parts = parts_of(templates, languages, word)
    if parts is None:
        return None
    return _mail("letter", parts, unsubscribe)


def parts_of(templates: str, languages: tuple[str, ...], word: Callable[[], Word | None]) -> list[Part] | None:
    """What ``word`` says in each of ``languages``, by the ``templates`` of its event; ``None`` if it says nothing."""
    parts = list[Part]()
    for language in languages:
        with translation.override(language):
            said = word()
            if said is None:
                return None
            subject = one_line(render_to_string(f"emails/{templates}_subject.txt", {**said.context}))
            text = render_to_string(f"emails/{templates}_text.txt", {**said.context}).strip()
        paragraphs = [each.strip() for each in text.split("\n\n") if each.strip()]
        parts.append(Part(language, subject, paragraphs, absolute(said.path)))
    return parts


def daily_mail(sections: Sequence[Sequence[Part]], unsubscribe: str) -> Mail:
    """One mail of several letters, each in the same languages: all of them in one language after the other."""
    days = [Day(parts[0].language, list(parts)) for parts in zip(*sections, strict=True)]
    return _mail("digest", days, unsubscribe)


@dataclass(frozen=True, slots=True)
class Day:
    """All letters of a daily mail in one language."""

    language: str
    parts: list[Part]

    @property
    def subject(self) -> str:
        """That of the first, and how many more there are."""
        with translation.override(self.language):
            context = {"first": self.parts[0].subject, "more": len(self.parts) - 1}
            return one_line(render_to_string("emails/digest_subject.txt", context))


def absolute(path: str) -> str:
    """``path`` with the address of this site."""
    return f"{settings.SITE_URL.rstrip('/')}{path}"


def unsubscribe_address(person: User, event: str) -> str:
    """Where ``person`` ends mails about ``event``."""
    return absolute(reverse("unsubscribe", args=[preferences.token_of(person, event)]))


def headers_of(letter: Letter, unsubscribe: str) -> dict[str, str]:
    """Of the mail of ``letter``: the same at every attempt."""
    return {
        "Message-ID": f"<{letter.public_id}@{urlsplit(settings.SITE_URL).hostname}>",
        "List-Unsubscribe": f"<{unsubscribe}>",
        "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
        "Auto-Submitted": "auto-generated",
    }


def _mail(template: str, said: Sequence[Part] | Sequence[Day], unsubscribe: str) -> Mail:
    """``said`` by the templates of this name, the same in one language after the other."""
    context = {"said": said, "language": said[0].language, "title": said[0].subject, "unsubscribe": unsubscribe}
    return Mail(
        subject=" · ".join(each.subject for each in said),
        text=render_to_string(f"emails/{template}.txt", context).strip() + "\n",
        html=render_to_string(f"emails/{template}.html", context),
    )
