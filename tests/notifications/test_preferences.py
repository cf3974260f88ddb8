"""What people want to hear: the language of their mails, the events, and an end by one click (RFC 8058)."""

from __future__ import annotations

import re
from base64 import b64encode
from hashlib import sha256
from typing import Any

import pytest
from django.core import mail
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from malpan.accounts.models import User
from malpan.core.models import AuditEntry
from malpan.leaderboard.letters import RANK_PASSED
from malpan.notifications import preferences
from malpan.notifications.errors import UnsubscribeLinkInvalid
from malpan.notifications.events import DIGEST, mailed_events
from malpan.notifications.models import Letter, Pace, Preference
from malpan.notifications.sending import deliver_due
from tests.factories import UserFactory
from tests.notifications.conftest import NAME, posted

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("told")]
EVERYTHING = [event.name for event in mailed_events()]


@pytest.mark.parametrize(
    ("language", "there", "absent"),
    [("ko", "자세히 보기", "See more"), ("en", "See more", "자세히 보기"), ("", "자세히 보기", "자 세 히")],
)
def test_a_mail_is_in_the_readers_language_and_in_both_if_nobody_knows(language: str, there: str, absent: str) -> None:
    person = UserFactory.create()
    preferences.set_preference(person=person, language=language, paces={})
    posted(person=person)
    deliver_due()

    [message] = mail.outbox
    [(html, _kind)] = message.alternatives  # type: ignore[attr-defined]
    for text in (message.body, html):
        assert there in text
        assert absent not in text
    assert ("[Malpan]" in message.subject) == (language != "ko")
    assert ("[말판]" in message.subject) == (language != "en")


@pytest.mark.parametrize(("event", "is_usual"), [(NAME, False), (RANK_PASSED, True)])
def test_who_hears_once_a_day_is_who_said_so_or_said_nothing_where_that_is_usual(event: str, is_usual: bool) -> None:
    silent, daily, at_once, stranger = (each.pk for each in UserFactory.create_batch(4))
    for person, pace in ((daily, Pace.DAILY), (stranger, Pace.DAILY), (at_once, Pace.AT_ONCE)):
        preferences.set_preference(person=User.objects.get(pk=person), language="", paces={event: pace})
    asked = [silent, daily, at_once]
    assert preferences.daily_readers(event, asked) == ({silent, daily} if is_usual else {daily})


def test_the_mail_of_a_day_is_muted_when_nothing_is_left_that_comes_with_it() -> None:
    person = UserFactory.create()
    held = preferences.set_preference(person=person, language="", paces={NAME: Pace.DAILY})
    for event in (NAME, DIGEST.name):
        assert not preferences.is_muted(held, event)
    held = preferences.mute(person=person, event=NAME)
    assert (preferences.is_muted(held, NAME), preferences.is_muted(held, DIGEST.name)) == (True, False)
    held = preferences.mute(person=person, event=DIGEST.name)
    assert preferences.is_muted(held, DIGEST.name)


def test_what_is_muted_is_not_sent_and_the_change_is_audited() -> None:
    person = UserFactory.create()
    preferences.set_preference(person=person, language="", paces={NAME: "never"})
    posted(person=person)
    deliver_due()

    assert mail.outbox == []
    assert Letter.objects.get().state == Letter.State.DROPPED
    entry = AuditEntry.objects.get(action="preference.update")
    assert (entry.actor, entry.after["muted"]) == (person, [NAME])
    preferences.set_preference(person=person, language="", paces={NAME: "never"})
    assert AuditEntry.objects.filter(action="preference.update").count() == 1


def test_one_click_ends_them_without_a_log_in_and_reading_the_page_does_not(client: Client) -> None:
    person = posted()
    deliver_due()
    [message] = mail.outbox
    assert message.extra_headers["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    found = re.fullmatch(r"<http://127\.0\.0\.1:8000(/\S+)>", message.extra_headers["List-Unsubscribe"])
    assert found is not None
    strict = Client(enforce_csrf_checks=True)

    page = strict.get(found[1])
    assert page.status_code == 200
    assert not Preference.objects.exists()
    clicked = strict.post(found[1], "List-Unsubscribe=One-Click", content_type="application/x-www-form-urlencoded")

    assert clicked.status_code == 200
    assert preferences.preference_of(person).muted == [NAME]
    strict.post(found[1])
    assert preferences.preference_of(person).muted == [NAME]
    posted("later", person=person)
    deliver_due()
    assert len(mail.outbox) == 1


@pytest.mark.parametrize("spoil", [lambda token: token[:-1], lambda token: "x" + token, lambda _: "1:2:3"])
def test_a_link_that_was_changed_ends_nothing(client: Client, spoil: Any) -> None:
    person = UserFactory.create()
    token = spoil(preferences.token_of(person, NAME))
    with pytest.raises(UnsubscribeLinkInvalid):
        preferences.read_token(token)
    assert client.post(reverse("unsubscribe", args=[token])).status_code == 404
    assert not Preference.objects.exists()


def test_a_link_is_of_one_person_and_of_nobody_once_they_are_erased() -> None:
    others, person = UserFactory.create_batch(2), UserFactory.create()
    token = preferences.token_of(person, NAME)
    read, event = preferences.read_token(token)
    assert (read, event.name) == (person, NAME)
    assert read not in others
    type(person).objects.filter(pk=person.pk).update(erased_at=timezone.now(), email="", name="", is_active=False)
    with pytest.raises(UnsubscribeLinkInvalid):
        preferences.read_token(token)
    with pytest.raises(UnsubscribeLinkInvalid):
        preferences.read_token(preferences.token_of(others[0], "of_tomorrow"))


def test_a_preference_is_of_one_person() -> None:
    other, person = UserFactory.create(is_staff=True), UserFactory.create()
    preferences.set_preference(person=other, language="en", paces=dict.fromkeys(EVERYTHING, "never"))
    assert preferences.languages_of(preferences.preference_of(person)) == ("ko", "en")
    preferences.mute(person=person, event=NAME)
    held = preferences.preference_of(other)
    assert (held.language, held.muted) == ("en", EVERYTHING)
    entry = AuditEntry.objects.filter(action="preference.update").latest("pk")
    assert (entry.actor, entry.before, entry.after) == (
        person, {"language": "", "muted": [], "paces": {}}, {"language": "", "muted": [NAME], "paces": {}},
    )  # fmt: skip


def test_the_page_shows_and_saves_what_is_wanted(client: Client) -> None:
    person = UserFactory.create(is_staff=True)  # for whom every event is
    client.force_login(person)
    page = client.get(reverse("letters")).content.decode()
    assert page.count('name="pace_') == len(mailed_events())
    assert 'value="never" selected' not in page

    paces = {f"pace_{name}": "never" for name in EVERYTHING if name != NAME}
    saved = client.post(reverse("letters"), {"language": "en", **paces}, follow=True)

    held = preferences.preference_of(person)
    assert (held.language, sorted(held.muted)) == ("en", sorted(set(EVERYTHING) - {NAME}))
    assert saved.content.decode().count('value="never" selected') == len(paces)
    client.post(reverse("letters"), {"language": "en", "pace_of_tomorrow": "daily"})
    assert preferences.preference_of(person) == held
    assert client.post(reverse("letters"), {"language": "fr"}).status_code == 422
    assert client.post(reverse("letters"), {"language": "", f"pace_{NAME}": "hourly"}).status_code == 422


def test_an_event_without_a_letter_is_none_to_choose(client: Client) -> None:
    """Its mail is sent anyhow: a box that ends it would be a lie."""
    client.force_login(UserFactory.create())
    assert "invitation" not in EVERYTHING
    assert "팀에 초대받았을 때" not in client.get(reverse("letters")).content.decode()
    assert client.get(reverse("letter_preview", args=["invitation"])).status_code == 404
    assert "팀에 초대받았을 때" in client.get(reverse("webhooks")).content.decode()


@pytest.mark.parametrize("name", EVERYTHING)
def test_every_mail_has_a_preview(client: Client, name: str) -> None:
    client.force_login(UserFactory.create(is_staff=True))
    page = client.get(reverse("letter_preview", args=[name]), headers={"Accept-Language": "ko"})
    assert page.status_code == 200
    assert "[말판]" in page.content.decode()
    assert client.get(reverse("letter_preview", args=["of_tomorrow"])).status_code == 404


def test_a_preview_may_have_the_styles_of_its_template_and_no_others(client: Client) -> None:
    client.force_login(UserFactory.create())
    page = client.get(reverse("letter_preview", args=[EVERYTHING[0]]))
    policy = page.headers["Content-Security-Policy"]
    allowed = next(part for part in policy.split("; ") if part.startswith("style-src-attr")).split()[1:]
    styles = re.findall(r'style="([^"]*)"', page.content.decode())
    assert "unsafe-inline" not in policy
    assert len(styles) > 5
    assert {_source_of(style) for style in styles} < set(allowed)
    assert _source_of("color: red") not in allowed


def _source_of(style: str) -> str:
    return f"'sha256-{b64encode(sha256(style.encode()).digest()).decode()}'"
