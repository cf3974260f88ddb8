"""An event of the tests, about which a letter can be posted."""

from __future__ import annotations

import pytest

from malpan.accounts.models import User
from malpan.notifications import events
from malpan.notifications.events import Event, Facts, Word
from malpan.notifications.outbox import post
from tests.factories import UserFactory

NAME = "question_answered"  # whose templates it borrows


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[Facts]:
    """The facts that were told; those with ``silent`` are not to be told, those with ``broken`` cannot be."""
    asked: list[Facts] = []

    def compose(_person: User, facts: Facts) -> Word | None:
        asked.append(facts)
        if facts.get("broken"):
            raise RuntimeError("a template is broken")
        return None if facts.get("silent") else word(str(facts["said"]))

    event = Event(NAME, "사건", compose, lambda: word("보기"))  # type: ignore[arg-type]
    monkeypatch.setitem(events._events, NAME, event)
    return asked


def word(said: str) -> Word:
    return Word({"competition": "<b>대회</b>", "title": "형식 & 글", "answer": said}, "/page/")


def posted(key: str = "k", person: User | None = None, **facts: object) -> User:
    """The person to whom a letter was posted."""
    person = person or UserFactory.create()
    post(event=NAME, key=key, people=[person.pk], facts={"said": f"말 {key}", **facts})
    return person
