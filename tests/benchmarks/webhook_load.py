"""Events to programs of which three in ten fail, on a clock that is moved forward to each next attempt."""

from __future__ import annotations

import random
import statistics
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final
from unittest.mock import patch

from django.db.models import F
from django.utils import timezone

from malpan.notifications import events, public_http, webhooks
from malpan.notifications.events import Event, Word
from malpan.notifications.models import Endpoint, Letter
from malpan.notifications.outbox import post
from tests.factories import UserFactory
from tests.notifications.receiver import Answer, listening

NAME: Final = "bench"
RECEIVERS: Final = 10
FAILING: Final = 3  # of them: each event in vain one to five times
FAILURES: Final = (500, 503, 429, 302)


@dataclass
class Outcome:
    """``delays``: by id, from the event to its arrival, pauses and all. ``seconds``: what it took."""

    events: int
    delays: dict[str, float] = field(default_factory=dict)
    arrivals: Counter[str] = field(default_factory=Counter)
    requests: int = 0
    passes: int = 0
    seconds: float = 0.0

    def cells(self) -> list[str]:
        twice = sum(count > 1 for count in self.arrivals.values())
        delays = (statistics.median(self.delays.values()), max(self.delays.values()))
        counts = (self.events, len(self.arrivals), twice, self.requests)
        return [*(f"{each:,}" for each in counts), *(f"{each:,.1f}" for each in delays), f"{self.seconds:.1f}"]


COLUMNS: Final = ("events", "arrived", "twice", "requests", "median delay, s", "worst delay, s", "took, s")


@contextmanager
def receivers(arrived: Answer) -> Iterator[list[Endpoint]]:
    """Ten endpoints of as many people; ``arrived`` hears of what they take. Some fail."""
    chance = random.Random(17)
    vain: dict[str, int] = {}

    def failing(key: str, before: int) -> int:
        if before < vain.setdefault(key, chance.randint(1, 5)):
            return chance.choice(FAILURES)
        return arrived(key, before)

    event = Event(NAME, "bench", lambda _person, facts: Word({"number": facts["number"]}, "/"))  # type: ignore[arg-type]
    with ExitStack() as stack:
        stack.enter_context(patch.object(public_http, "is_public", lambda _address: True))
        stack.enter_context(patch.dict(events._events, {NAME: event}))
        answers = [failing if number < FAILING else arrived for number in range(RECEIVERS)]
        heard = [stack.enter_context(listening(answer)) for answer in answers]
        yield [Endpoint.objects.create(person=UserFactory.create(), url=each.address, events=[NAME]) for each in heard]


def post_events(count: int, endpoints: list[Endpoint], *, first: int = 0) -> None:
    """Events that one endpoint after the other hears of."""
    for number in range(first, first + count):
        person = endpoints[number % len(endpoints)].person_id
        post(event=NAME, key=f"{NAME}:{number}", people=[person], facts={"number": number})


def delivered(count: int) -> Outcome:
    """So many events until nothing waits any more."""
    outcome, moved, began = Outcome(count), 0.0, time.monotonic()

    def arrived(key: str, before: int) -> int:
        outcome.arrivals[key] += 1
        outcome.delays.setdefault(key, time.time() - posted[key] + moved)
        return 204

    with receivers(arrived) as endpoints:
        post_events(count, endpoints)
        letters = Letter.objects.filter(event=NAME)
        posted = {each.webhook_id: each.created_at.timestamp() for each in letters}
        waiting = letters.filter(state=Letter.State.WAITING)
        while (earliest := waiting.order_by("not_before").first()) is not None:
            pause = max(0.0, (earliest.not_before - timezone.now()).total_seconds())
            waiting.update(not_before=F("not_before") - timedelta(seconds=pause))
            moved += pause
            webhooks.deliver_due()
            outcome.passes += 1
        outcome.requests = sum(letters.values_list("attempts", flat=True))
        assert set(letters.values_list("state", flat=True)) == {Letter.State.SENT}
    outcome.seconds = time.monotonic() - began
    return outcome
