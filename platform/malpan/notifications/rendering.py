"""A letter as a mail: subject, text and HTML in the reader's language, and how to get no more of them (RFC 8058)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from django.conf import settings
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import translation

from malpan.core.text import one_line
from malpan.notifications import events, preferences
from malpan.notifications.events import Word
from malpan.notifications.models import Letter


@dataclass(frozen=True, slots=True)
class Part:
    """The letter in one language."""

    language: str
    subject: str
    paragraphs: list[str]


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
    token = preferences.token_of(person, event.name)
    unsubscribe = absolute(reverse("unsubscribe", args=[token]))
    mail = compose(
        event.templates, preferences.languages_of(preference), lambda: event.compose(person, letter.facts), unsubscribe
    )
    if mail is not None:
        mail.headers.update(_headers(letter, unsubscribe))
    return mail


def compose(
    templates: str, languages: tuple[str, ...], word: Callable[[], Word | None], unsubscribe: str
) -> Mail | None:
    """The mail of what ``word`` says in each of ``languages``, by the ``templates`` of its event."""
    parts, link = list[Part](), ""
    for language in languages:
        with translation.override(language):
            said = word()
            if said is None:
                return None
            link = absolute(said.path)
            subject = one_line(render_to_string(f"emails/{templates}_subject.txt", {**said.context}))
            text = render_to_string(f"emails/{templates}_text.txt", {**said.context}).strip()
        parts.append(Part(language, subject, [each.strip() for each in text.split("\n\n") if each.strip()]))
    context = {"parts": parts, "link": link, "unsubscribe": unsubscribe}
    return Mail(
        subject=" · ".join(part.subject for part in parts),
        text=render_to_string("emails/letter.txt", context).strip() + "\n",
        html=render_to_string("emails/letter.html", context),
    )


def absolute(path: str) -> str:
    """``path`` with the address of this site."""
    return f"{settings.SITE_URL.rstrip('/')}{path}"


def _headers(letter: Letter, unsubscribe: str) -> dict[str, str]:
    return {
        "Message-ID": f"<{letter.public_id}@{urlsplit(settings.SITE_URL).hostname}>",
        "List-Unsubscribe": f"<{unsubscribe}>",
        "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
        "Auto-Submitted": "auto-generated",
    }
