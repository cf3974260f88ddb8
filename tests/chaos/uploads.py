"""Twelve teams that upload through the API as an honest client does: one key an upload, sent until it is answered."""

from __future__ import annotations

import random
import re
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from urllib.parse import urljoin

import requests

from tests.chaos.contest import SLUG, answers_file, labels_file

LARGE_SHARE, TWICE_SHARE = 0.06, 0.1
THINKING_SECONDS = 5.0  # between two uploads of a team, on average
REQUEST_SECONDS = 15.0
AGAIN_SECONDS = 0.5


@dataclass
class Upload:
    """One file under one key, and the submission it became."""

    team: str
    key: str
    sent: float  # on the monotonic clock
    sent_at: float = field(default_factory=time.time)
    accepted: float | None = None
    submissions: set[str] = field(default_factory=set)  # more than one: doubled
    tries: int = 0
    refusals: list[str] = field(default_factory=list)  # answers that an honest client does not expect

    @property
    def stall(self) -> float:
        """Seconds until the answer."""
        return (self.accepted or time.monotonic()) - self.sent


class Uploader:
    """One team. It sends files until it is stopped, or as many as it is told to."""

    def __init__(self, url: str, team: str, token: str, seed: str) -> None:
        self.team = team
        self.uploads: list[Upload] = []
        self._token = token
        self.move(url)
        self._number = re.sub(r"\D", "", team)
        self._dice = random.Random(f"{seed} {team}")

    def move(self, url: str) -> None:
        """From now on it asks the site at ``url``."""
        self._url = f"{url}/api/v1/competitions/{SLUG}/tracks"

    def work(self, stop: threading.Event, may_upload: Callable[[], bool] = lambda: True) -> None:
        """Upload now and then until ``stop``, whenever it ``may_upload``."""
        while not stop.wait(self._dice.expovariate(1 / THINKING_SECONDS)):
            if may_upload():
                self.upload()

    def upload(self) -> Upload:
        """Send one new file until there is an answer; sometimes twice at once, as a double click does."""
        large = self._dice.random() < LARGE_SHARE
        track, content = ("answers", answers_file(self._dice)) if large else ("labels", labels_file(self._dice))
        upload = Upload(self.team, f"{self._number}-{len(self.uploads)}", time.monotonic())
        self.uploads.append(upload)
        senders = [
            threading.Thread(target=self._send, args=(upload, track, content), daemon=True)
            for _sender in range(2 if self._dice.random() < TWICE_SHARE else 1)
        ]
        for sender in senders:
            sender.start()
        for sender in senders:
            sender.join()
        return upload

    def history(self) -> tuple[int, int]:
        """(submissions that the API shows the team, slots that its quota has used)."""
        shown = used = 0
        for track in ("labels", "answers"):
            address: str | None = f"{self._url}/{track}/submissions/?page_size=100"
            while address:
                response = requests.get(address, headers=self._headers(), timeout=60)
                response.raise_for_status()
                answer = response.json()
                shown += len(answer["history"])
                address = answer["next"] and urljoin(address, answer["next"])
            used += answer["quota"]["total_limit"] - answer["quota"]["left_total"]
        return shown, used

    def _send(self, upload: Upload, track: str, content: bytes) -> None:
        while (answer := self._answer(upload, track, content)) is None:
            time.sleep(AGAIN_SECONDS)
        upload.submissions.add(answer)
        upload.accepted = upload.accepted or time.monotonic()

    def _answer(self, upload: Upload, track: str, content: bytes) -> str | None:
        """The submission that the file became; ``None`` to try again."""
        upload.tries += 1
        try:
            response = requests.post(
                f"{self._url}/{track}/submissions/",
                files={"file": ("answers.json", content, "application/json")},
                headers={**self._headers(), "Idempotency-Key": upload.key},
                timeout=REQUEST_SECONDS,
            )
            body = response.json()
        except (requests.RequestException, ValueError):
            return None
        if response.status_code == 201:
            return str(body["id"])
        if response.status_code == 409 and "submission" in body["error"]:
            return str(body["error"]["submission"])
        if response.status_code < 500:
            upload.refusals.append(f"{response.status_code} {body['error']['code']}")
        return None

    def _headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self._token}"}
