"""Judges who judge through the pages as an honest browser does: one form a judgement, sent until it is answered."""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from typing import NamedTuple
from urllib.parse import urlsplit

import requests

from tests.chaos.site import ChaosSite
from tests.chaos.unit_site import UnitSite
from tests.chaos.uploads import AGAIN_SECONDS, REQUEST_SECONDS, TWICE_SHARE
from tests.sessions import CSRF, cookies_of

THINKING_SECONDS = 2.0  # between two judgements of a judge, on average
CORRECTED_SHARE = 0.2
CHOICES = ("first", "second", "tie", "both_bad")


class Said(NamedTuple):
    """One judgement, as it was sent: of the assignment ``key`` the ``number``-th."""

    key: str
    number: int
    choice: str
    note: str


class Judge:
    """``said``: what the site must have. ``refused``: answers that an honest browser does not expect."""

    def __init__(self, url: str, campaign: int, session: str, seed: str) -> None:
        self.said: list[Said] = []
        self.refused: list[str] = []
        self.tries = 0
        self._url, self._queue = url, f"/arena/{campaign}/judge/"
        self._cookies = cookies_of(session)
        self._dice = random.Random(f"{seed} {session}")

    def work(self, stop: threading.Event) -> None:
        """Judge what is next until ``stop``, and correct now and then; after the last only that."""
        while not stop.wait(self._dice.expovariate(1 / THINKING_SECONDS)):
            key = "" if self.said and self._dice.random() < CORRECTED_SHARE else self._next()
            if key or self.said:
                self._say(key or self._dice.choice(self.said).key)

    def _next(self) -> str:
        """The assignment that the queue leads to; empty after the last."""
        place = self._post(self._queue, {})
        key = place.removeprefix(self._queue).strip("/") if place.startswith(self._queue) else ""
        if any(each.key == key for each in self.said):
            self.refused.append(f"{key} is to be judged once more")
        return key

    def _say(self, key: str) -> None:
        """Judge ``key``, or judge it anew; sometimes the form is sent twice at once, as a double click does."""
        number = sum(each.key == key for each in self.said) + 1
        said = Said(key, number, self._dice.choice(CHOICES), f"{number}번째 말")
        self.said.append(said)
        form = {"expected": str(number - 1), "choice": said.choice, "note": said.note, "seconds": "1"}
        senders = [
            threading.Thread(target=self._post, args=(f"{self._queue}{key}/", form), daemon=True)
            for _sender in range(2 if self._dice.random() < TWICE_SHARE else 1)
        ]
        for sender in senders:
            sender.start()
        for sender in senders:
            sender.join()

    def _post(self, path: str, form: dict[str, str]) -> str:
        """Send a form until it is answered; the page that the site leads to, empty if it was refused."""
        while True:
            self.tries += 1
            try:
                answer = requests.post(
                    self._url + path, data=form, cookies=self._cookies, headers={"X-CSRFToken": CSRF},
                    timeout=REQUEST_SECONDS, allow_redirects=False,
                )  # fmt: skip
            except requests.RequestException:
                answer = None
            if answer is not None and answer.status_code < 500:
                place = urlsplit(answer.headers.get("Location", "")).path
                if place.startswith("/arena/"):
                    return place
                self.refused.append(f"{path} {form.get('expected', '')}: {answer.status_code} {place}")
                return ""
            time.sleep(AGAIN_SECONDS)


def lost_or_twice(site: ChaosSite | UnitSite, judges: list[Judge]) -> tuple[list[str], list[str]]:
    """The judgements that were said and are not in the database, and those that are there and were not said so."""
    rows = site.query(
        "SELECT a.shown_key::text, j.number, j.value->>'choice', j.note"
        " FROM arena_judgement j JOIN arena_assignment a ON j.assignment_id = a.id"
    )
    there = Counter(Said(*row) for row in rows)
    said = Counter(each for judge in judges for each in judge.said)
    return [str(each) for each in (said - there).elements()], [str(each) for each in (there - said).elements()]
