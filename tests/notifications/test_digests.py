"""Word that is wanted once a day: one mail of it at the hour of the site, none where there is nothing to say, and none
twice.
"""

from __future__ import annotations

import io
import itertools
import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from smtplib import SMTPRecipientsRefused
from typing import Any
from unittest.mock import patch

import pytest
from django.core import mail
from django.core.mail.backends.locmem import EmailBackend
from django.core.management import call_command
from django.db import connection, connections
from django.test import Client
from django.urls import reverse

from malpan.accounts.models import User
from malpan.core.times import KST
from malpan.leaderboard.letters import RANK_PASSED
from malpan.notifications import events, preferences
from malpan.notifications.claims import INTERRUPTED, LEASE
from malpan.notifications.events import DIGEST, Event, Facts, Word, mailed_events
from malpan.notifications.models import Letter, Pace, Preference, Told
from malpan.notifications.outbox import post
from malpan.notifications.sending import deliver_due
from tests.factories import UserFactory
from tests.killing import Step, dies
from tests.notifications.conftest import NAME, posted
from tests.threads import at_once
from tests.waiting import wait_for

State = Letter.State
pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("told")]
EIGHT = datetime(2026, 11, 27, 8, 0, tzinfo=KST)
MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)


@contextmanager
def at(moment: datetime) -> Iterator[None]:
    with patch("django.utils.timezone.now", return_value=moment):
        yield


def reader(language: str = "ko", **paces: str) -> User:
    """Somebody who wants the event of these tests once a day, or as ``paces`` say."""
    person = UserFactory.create()
    preferences.set_preference(person=person, language=language, paces={NAME: Pace.DAILY, **paces})
    return person


def sent_at(moment: datetime) -> list[Any]:
    """The mails that are sent then."""
    mail.outbox.clear()
    with at(moment):
        deliver_due()
    return list(mail.outbox)


def posted_at(moment: datetime, key: str, person: User, **facts: object) -> None:
    with at(moment):
        posted(key, person, **facts)


def test_all_of_a_day_is_one_mail_at_the_hour_and_comes_once() -> None:
    person = reader()
    for hours, key in ((20, "a"), (3, "b"), (1, "c")):
        posted_at(EIGHT - hours * HOUR, key, person)
    assert sent_at(EIGHT - MINUTE) == []

    [message] = sent_at(EIGHT)

    assert message.to == [person.email]
    [(html, kind)] = message.alternatives
    assert kind == "text/html"
    for text in (message.body, html):
        assert [re.findall(r"말 [abc]", text)] == [["말 a", "말 b", "말 c"]]
        assert text.count("형식 &amp; 글" if text is html else "형식 & 글") == 3
        assert text.count("/page/") == 3
        assert "하루 동안의 알림" in text
    assert message.subject.startswith("[말판] ")
    assert message.subject.endswith(" 외 2건")
    assert "[말판]" not in message.body, "said once is enough"
    assert set(Letter.objects.values_list("state", flat=True)) == {State.SENT}
    assert [sent_at(moment) for moment in (EIGHT + MINUTE, EIGHT + 10 * HOUR, EIGHT + DAY)] == [[], [], []]


def test_what_comes_after_the_hour_waits_for_the_next_day() -> None:
    person = reader()
    assert sent_at(EIGHT) == []
    posted_at(EIGHT + MINUTE, "a", person)
    assert sent_at(EIGHT + 15 * HOUR) == []
    [message] = sent_at(EIGHT + DAY)
    assert "말 a" in message.body


def test_a_housekeeper_that_was_away_at_the_hour_sends_when_it_is_back() -> None:
    person = reader()
    posted_at(EIGHT - HOUR, "a", person)
    assert len(sent_at(EIGHT + 9 * HOUR)) == 1
    assert sent_at(EIGHT + 9 * HOUR + MINUTE) == []


def test_the_hour_is_a_setting_of_the_site(settings: Any) -> None:
    settings.DAILY_MAIL_HOUR = 21
    person = reader()
    posted_at(EIGHT, "a", person)
    assert sent_at(EIGHT + 13 * HOUR - MINUTE) == []
    assert len(sent_at(EIGHT + 13 * HOUR)) == 1


def test_who_did_not_ask_for_it_hears_at_once() -> None:
    person, other = reader(), UserFactory.create()
    for each in (person, other):
        posted_at(EIGHT - HOUR, f"k{each.pk}", each)
    Letter.objects.update(not_before=EIGHT - HOUR)
    [message] = sent_at(EIGHT - HOUR)
    assert message.to == [other.email]
    assert message.extra_headers["Message-ID"].startswith(f"<{Letter.objects.get(person=other).public_id}@")


@pytest.mark.parametrize(
    ("language", "there", "absent"),
    [
        ("ko", ["하루 동안의 알림", "외 1건"], ["Notifications of the day"]),
        ("en", ["Notifications of the day", "and 1 more"], ["하루 동안의 알림"]),
        ("", ["하루 동안의 알림", "Notifications of the day", "외 1건", "and 1 more"], []),
    ],
)
def test_it_is_in_the_readers_language(language: str, there: list[str], absent: list[str]) -> None:
    person = reader(language)
    for key in "ab":
        posted_at(EIGHT - HOUR, key, person)
    [message] = sent_at(EIGHT)
    [(html, _kind)] = message.alternatives
    for text in (message.subject + message.body, message.subject + html):
        assert [each for each in there if each not in text] == []
        assert [each for each in absent if each in text] == []


def test_where_nothing_is_to_be_said_any_more_nothing_is_sent() -> None:
    silent, muted, gone = reader(), reader(), reader()
    posted_at(EIGHT - HOUR, "a", silent, silent=True)
    for person in (muted, gone):
        posted_at(EIGHT - HOUR, f"k{person.pk}", person)
    preferences.mute(person=muted, event=NAME)
    User.objects.filter(pk=gone.pk).update(is_active=False)
    assert sent_at(EIGHT) == []
    assert set(Letter.objects.values_list("state", flat=True)) == {State.DROPPED}
    assert Letter.objects.filter(event=DIGEST.name).count() == 3


def test_what_cannot_be_written_is_left_out_and_sent_alone_later(told: list[Facts], monkeypatch: Any) -> None:
    person = reader()
    posted_at(EIGHT - 2 * HOUR, "a", person, broken=True)
    posted_at(EIGHT - HOUR, "b", person)
    [message] = sent_at(EIGHT)
    assert ("말 b" in message.body, "말 a" in message.body) == (True, False)
    left = Letter.objects.get(key="a")
    assert (left.state, left.error) == (State.FAILED, "RuntimeError")

    Letter.objects.filter(key="a").update(facts={"said": "말 a"})
    with at(EIGHT + HOUR):
        call_command("resend_letters", stdout=io.StringIO())
    [message] = sent_at(EIGHT + HOUR)
    assert ("말 b" in message.body, "말 a" in message.body) == (False, True)


def test_a_mail_that_was_refused_is_sent_again_under_its_id(monkeypatch: pytest.MonkeyPatch) -> None:
    person = reader()
    posted_at(EIGHT - HOUR, "a", person)
    ids = []

    def refuse(_backend: Any, messages: list[Any]) -> int:
        ids.extend(each.extra_headers["Message-ID"] for each in messages)
        raise SMTPRecipientsRefused({person.email: (450, b"try later")})

    with monkeypatch.context() as patched:
        patched.setattr(EmailBackend, "send_messages", refuse)
        assert sent_at(EIGHT) == []
    daily, part = Letter.objects.get(event=DIGEST.name), Letter.objects.get(event=NAME)
    assert (daily.state, daily.error, part.state) == (State.WAITING, "SMTPRecipientsRefused", State.HELD)

    [message] = sent_at(EIGHT + HOUR)
    assert [message.extra_headers["Message-ID"]] == ids
    assert set(Letter.objects.values_list("state", flat=True)) == {State.SENT}


def test_one_click_ends_all_that_come_once_a_day_and_nothing_else() -> None:
    person = reader(scored=Pace.DAILY, notice=Pace.AT_ONCE)
    posted_at(EIGHT - HOUR, "a", person)
    [message] = sent_at(EIGHT)
    assert message.extra_headers["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    found = re.fullmatch(r"<http://127\.0\.0\.1:8000(/\S+)>", message.extra_headers["List-Unsubscribe"])
    assert found is not None
    assert found[1] in message.body
    client = Client(enforce_csrf_checks=True)
    assert "하루에 한 번 모아" in client.get(found[1], headers={"Accept-Language": "ko"}).content.decode()
    assert not preferences.preference_of(person).muted

    for _time in range(2):
        clicked = client.post(found[1], "List-Unsubscribe=One-Click", content_type="application/x-www-form-urlencoded")
        assert clicked.status_code == 200
        assert sorted(preferences.preference_of(person).muted) == sorted([NAME, "scored", RANK_PASSED])
    posted_at(EIGHT, "b", person)
    assert sent_at(EIGHT + DAY) == []


def test_teams_that_passed_ones_own_come_once_a_day_unless_one_wants_them_at_once() -> None:
    assert preferences.pace_of(Preference(), RANK_PASSED) == Pace.DAILY
    person, other, quiet = reader(), reader(**{RANK_PASSED: Pace.AT_ONCE}), UserFactory.create()
    people = [person.pk, other.pk, quiet.pk]
    assert preferences.daily_readers(RANK_PASSED, people) == {person.pk, quiet.pk}
    assert preferences.daily_readers(NAME, people) == {person.pk, other.pk}
    assert preferences.daily_readers("of_tomorrow", people) == set()
    post(event=RANK_PASSED, key="k", people=people, facts={"team": 0, "boards": []})
    assert set(Letter.objects.filter(state=State.HELD).values_list("person", flat=True)) == {person.pk, quiet.pk}


def test_the_pace_is_chosen_on_the_page_and_audited(client: Client) -> None:
    person = UserFactory.create()
    client.force_login(person)
    page = client.get(reverse("letters"), headers={"Accept-Language": "ko"}).content.decode()
    assert page.count('value="daily" selected') == 1, "of who passed the own team alone"
    assert "매일 8시" in page
    fields = {f"pace_{event.name}": "at_once" for event in mailed_events(person)}
    saved = client.post(
        reverse("letters"), {"language": "ko", **fields, f"pace_{NAME}": "daily", "pace_scored": "never"}, follow=True
    )
    held = preferences.preference_of(person)
    assert {event.name: preferences.pace_of(held, event.name) for event in mailed_events(person)} == {
        **{event.name: "at_once" for event in mailed_events(person)}, NAME: "daily", "scored": "never",
    }  # fmt: skip
    assert saved.content.decode().count('value="daily" selected') == 1
    assert client.post(reverse("letters"), {f"pace_{NAME}": "hourly"}).status_code == 422


@pytest.mark.parametrize("language", ["ko", "en"])
def test_the_page_shows_how_a_mail_of_a_day_looks(client: Client, language: str) -> None:
    person = reader(scored=Pace.DAILY)
    client.force_login(person)
    page = client.get(reverse("letter_preview", args=[DIGEST.name]), headers={"Accept-Language": language})
    text = page.content.decode()
    assert page.status_code == 200
    assert text.count("<h2") == 3
    assert ("하루 동안의 알림" in text) == (language == "ko")
    policy = page.headers["Content-Security-Policy"]
    assert "unsafe-inline" not in policy
    assert len(policy.partition("style-src-attr")[2].partition(";")[0].split()) > 5
    preferences.set_preference(person=person, language="ko", paces=dict.fromkeys(
        [event.name for event in mailed_events()], Pace.NEVER)
    )  # fmt: skip
    text = client.get(reverse("letter_preview", args=[DIGEST.name])).content.decode()
    assert text.count("<h2") == 2, "with two examples for who has chosen none"


def test_another_event_of_the_same_day_is_in_the_same_mail(monkeypatch: pytest.MonkeyPatch) -> None:
    word = Word({"competition": "다른 대회", "title": "둘", "answer": "다른 말"}, "/other/")
    other = Event("of_another", "다른", lambda *_: word, lambda: word, template=NAME, pace=Pace.DAILY)  # type: ignore[arg-type]
    monkeypatch.setitem(events._events, other.name, other)
    person = reader()
    posted_at(EIGHT - 2 * HOUR, "a", person)
    with at(EIGHT - HOUR):
        post(event=other.name, key="o", people=[person.pk], facts={})
    [message] = sent_at(EIGHT)
    assert message.body.index("말 a") < message.body.index("다른 말")
    assert "/other/" in message.body


@pytest.mark.django_db(transaction=True)
def test_processes_side_by_side_send_each_mail_once(told: list[Facts]) -> None:
    people = [reader() for _ in range(20)]
    for number in range(5):
        with at(EIGHT - number * HOUR):
            post(event=NAME, key=f"k{number}", people=[each.pk for each in people], facts={"said": f"말 {number}"})
    with at(EIGHT):
        at_once([deliver_due for _ in range(6)])
    assert sorted(message.to[0] for message in mail.outbox) == sorted(each.email for each in people)
    assert {message.body.count("말 ") for message in mail.outbox} == {5}
    assert set(Letter.objects.values_list("state", flat=True)) == {State.SENT}


@pytest.mark.django_db(transaction=True)
def test_a_process_that_is_killed_at_any_step_sends_no_mail_of_a_day_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At every statement to the database, and before and after the mail server has a mail. What is not known to have
    arrived is not sent again by itself, and everything else arrives.
    """
    people = [reader() for _ in range(3)]
    interrupted = 0
    for killed_at in itertools.count(1):
        arrived = tmp_path / f"{killed_at}"
        arrived.touch()
        Letter.objects.all().delete()
        Told.objects.all().delete()
        with at(EIGHT - HOUR):
            for key in "ab":
                post(event=NAME, key=key, people=[each.pk for each in people], facts={"said": f"말 {key}"})
        connections.close_all()  # a child that closes it would close ours
        is_killed = dies(partial(_delivered, arrived, monkeypatch), killed_at)
        wait_for(_is_alone, "the database notices that its client died")

        _delivered(arrived, monkeypatch, moment=EIGHT + LEASE + MINUTE)
        ids = arrived.read_text().split()
        lost = Letter.objects.filter(event=DIGEST.name, state=State.FAILED, error=INTERRUPTED)
        unknown = {str(each.public_id) for each in lost}
        known = {str(each.public_id) for each in Letter.objects.filter(event=DIGEST.name, state=State.SENT)}
        assert len(ids) == len(set(ids)), f"killed at step {killed_at}"
        assert known <= set(ids) <= known | unknown
        assert (len(known | unknown), len(unknown) <= is_killed) == (3, True)
        states = Letter.objects.filter(event=NAME).values_list("state", "daily_mail__state")
        assert set(states) <= {(State.SENT, State.SENT), (State.HELD, State.FAILED)}
        interrupted += len(unknown)
        if unknown:
            with at(EIGHT + HOUR):
                call_command("resend_letters", stdout=io.StringIO())
            _delivered(arrived, monkeypatch, moment=EIGHT + HOUR)
            assert set(Letter.objects.values_list("state", flat=True)) == {State.SENT}
        if not is_killed:
            break
    assert killed_at > 20
    assert interrupted >= 6, "before and after the server had each of three mails"


def _is_alone() -> bool:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT NOT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database()"
            " AND backend_type = 'client backend' AND pid <> pg_backend_pid())"
        )
        return bool(cursor.fetchone()[0])


def _delivered(
    arrived: Path, monkeypatch: pytest.MonkeyPatch, step: Step = lambda: None, moment: datetime = EIGHT
) -> None:
    """``deliver_due`` with a mail server that notes in a file what it was given."""

    def take(_backend: Any, messages: list[Any]) -> int:
        step()
        with arrived.open("a") as file:
            file.writelines(f"{each.extra_headers['Message-ID'][1:37]}\n" for each in messages)
        step()
        return len(messages)

    def counted(execute: Any, *given: Any) -> Any:
        step()
        return execute(*given)

    with monkeypatch.context() as patched, at(moment):
        patched.setattr(EmailBackend, "send_messages", take)
        with connection.execute_wrapper(counted):
            deliver_due()
