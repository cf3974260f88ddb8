"""One run of the chaos: a site, twelve teams that upload, judges of a campaign, faults by chance, and what must hold
all the while.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Final

import requests

from tests.chaos import invariants
from tests.chaos.background import all_the_while
from tests.chaos.contest import SLUG
from tests.chaos.faults import BY_NAME, FAULTS, Fault
from tests.chaos.judging import Judge, lost_or_twice
from tests.chaos.outcome import PROBE_SECONDS, Outcome, Recovery
from tests.chaos.site import ChaosSite
from tests.chaos.unit_site import UnitSite
from tests.chaos.uploads import THINKING_SECONDS, Upload, Uploader
from tests.waiting import wait_for

SOUND_SECONDS: Final = 60.0  # within which the site must be sound again after a fault
SETTLE_SECONDS: Final = 120.0
ANSWER_SECONDS: Final = 3.0  # slower is no answer
CHECK_SECONDS: Final = 5.0
CHAIN_EVERY: Final = 12  # of these checks also walks the chain
MOST_WAITING: Final = 60  # runs; a machine that is too slow for more uploads would never be sound again
TOGETHER_SHARE: Final = 0.2  # of the faults meet a second one
JUDGED_TEAMS: Final = 4
MANY: Final = 40
DURING: Final = "PostgreSQL killed"
OVER: Final = "('finished', 'failed')"
LEFT: Final = f"SELECT count(*) FROM submissions_scoringrun WHERE state NOT IN {OVER}"


class Chaos:
    """``site``, not yet started, under faults by ``seed``. ``patience``: see ``Outcome``."""

    def __init__(self, site: ChaosSite | UnitSite, seed: int, patience: float = 1.0) -> None:
        self.site = site
        self.outcome = Outcome(seed, patience)
        self._sound_seconds, self._settle_seconds = SOUND_SECONDS * patience, SETTLE_SECONDS * patience
        self._dice = random.Random(seed)
        self._uploaders: list[Uploader] = []
        self._judges: list[Judge] = []
        self._many: list[Upload] = []
        self._waiting = 0  # runs that are not over

    def run(
        self,
        *,
        seconds: float = 0.0,
        faults: Sequence[Sequence[Fault]] | None = None,
        many: int = MANY,
        during_many: Fault = BY_NAME[DURING],
        thinking: float = 0.0,
    ) -> Outcome:
        """Faults for ``seconds``, or ``faults`` in their order, what stands together at once; then ``many`` uploads at
        once, or with a while of ``thinking`` between those of a team, and the fault ``during_many`` when a quarter of
        them is accepted; then all that was uploaded is scored and looked through.
        """
        self.site.start_and_keep()
        try:
            tokens = self.site.make_contest()
            self.site.query(invariants.RECORD)
            seed = str(self.outcome.seed)
            self._uploaders = [Uploader(self.site.url, team, token, seed) for team, token in tokens.items()]
            wait_for(self.site.is_complete, "every program runs", seconds=90)
            self._judges = self._invite()
            began, self.outcome.began = time.monotonic(), time.time()
            with all_the_while(self._probe, self._watch, self._count):
                working = [partial(each.work, may_upload=self._may_upload) for each in self._uploaders]
                working += [each.work for each in self._judges]
                with all_the_while(*working):
                    self._disturb(seconds, faults)
                self._upload_many(many, during_many, thinking)
                self._settle()
            self.outcome.seconds = time.monotonic() - began
            self._conclude()
        finally:
            self.site.stop()
        return self.outcome

    def _invite(self) -> list[Judge]:
        """The judges of a campaign of what the first teams upload."""
        assert isinstance(self.site, ChaosSite)
        for uploader in self._uploaders[:JUDGED_TEAMS]:
            uploader.upload()
        made, seed = self.site.make_campaign(), str(self.outcome.seed)
        return [Judge(self.site.url, made["campaign"], session, seed) for session in made["sessions"]]

    # --- faults -------------------------------------------------------------------------------------------------------
    def _disturb(self, seconds: float, faults: Sequence[Sequence[Fault]] | None) -> None:
        if faults is not None:
            for together in faults:
                if self._are_possible(together):
                    self._pause()
                    self._happen(together)
            return
        end = time.monotonic() + seconds
        given = self._by_chance()
        for fault in given:
            if time.monotonic() > end:
                break
            self._pause()
            is_alone = self._dice.random() >= TOGETHER_SHARE
            self._happen([fault] if is_alone else [fault, next(given)])

    def _pause(self) -> None:
        time.sleep(self._dice.uniform(0.5, 3.0))

    def _by_chance(self) -> Iterator[Fault]:
        """Every fault once in an order by chance, and again."""
        possible = [fault for fault in FAULTS if self._are_possible([fault])]
        while True:
            yield from self._dice.sample(possible, len(possible))

    def _are_possible(self, faults: Sequence[Fault]) -> bool:
        """Whether this site can have them."""
        return self.site.disk is not None or not any(fault.needs_disk for fault in faults)

    def _happen(self, faults: Sequence[Fault]) -> None:
        """Let ``faults`` happen at once, and wait until the site is sound."""
        name = " + ".join(fault.name for fault in faults)
        began = time.time()
        threads = [
            threading.Thread(target=self._let_happen, args=(fault, random.Random(self._dice.random())), daemon=True)
            for fault in faults
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        ended = time.time()
        sound = self._sound_at(ended)
        passes = any(fault.stops_passes for fault in faults)
        starts = any(fault.needs_disk for fault in faults) and any(fault.kills_servers for fault in faults)
        self.outcome.recoveries.append(recovery := Recovery(name, began, ended, sound, passes, starts))
        if sound is None:
            self._note(f"not sound {self._sound_seconds:.0f} s after {name}")
        down = self.outcome.longest_down(began, sound or ended)
        after = f"down {down:.1f} s, sound after {recovery.seconds:.1f} s"
        print(f"{time.strftime('%H:%M:%S')} {name}: {ended - began:.1f} s, {after}")

    def _let_happen(self, fault: Fault, dice: random.Random) -> None:
        try:
            with contextmanager(fault.begin)(self.site, dice):
                pass
        except Exception as error:  # noqa: BLE001 - a fault that did not happen was withstood by nobody
            self._note(f"{fault.name} could not be done: {type(error).__name__} {error}")

    def _sound_at(self, ended: float) -> float | None:
        """When every program runs, the site answers, what was uploaded until ``ended`` is scored, and something that
        was uploaded later as well.
        """
        runs = "SELECT count(*) FROM submissions_scoringrun r JOIN submissions_submission s ON r.submission_id = s.id"
        older = f"{runs} WHERE s.created_at <= to_timestamp(%s) AND r.state NOT IN {OVER}"
        newer = f"{runs} WHERE s.created_at > to_timestamp(%s) AND r.state IN {OVER}"
        while time.time() < ended + self._sound_seconds:
            answers = any(moment > ended for moment in self.outcome.answered[-3:])
            if answers and self.site.ask(older, ended) == [(0,)] and self.site.ask(newer, ended) not in (None, [(0,)]):
                now = time.time()
                if self.site.is_complete():
                    return now
            time.sleep(0.2)
        return None

    # --- all the while ------------------------------------------------------------------------------------------------
    def _probe(self, stop: threading.Event) -> None:
        """Ask for a page again and again, whether the last answer is there or not."""
        while not stop.wait(PROBE_SECONDS):
            threading.Thread(target=self._ask_for_page, args=(time.time(),), daemon=True).start()

    def _ask_for_page(self, now: float) -> None:
        try:
            response = requests.get(f"{self.site.url}/competitions/{SLUG}/", timeout=ANSWER_SECONDS)
        except requests.RequestException:
            return
        if response.status_code == 200:
            self.outcome.answered.append(now)

    def _watch(self, stop: threading.Event) -> None:
        """Look through the database again and again, now and then also through the chain."""
        while not stop.wait(CHECK_SECONDS):
            for each in invariants.broken(self.site):
                self._note(each)
            self.outcome.checks += 1
            if self.outcome.checks % CHAIN_EVERY == 0:
                self.outcome.chain += invariants.chain_differs(self.site, in_peace=False)

    def _count(self, stop: threading.Event) -> None:
        """Count the runs that wait, as a team looks at its place in the queue."""
        while not stop.wait(1.0):
            if found := self.site.ask(LEFT):
                [[self._waiting]] = found

    def _may_upload(self) -> bool:
        return self._waiting < MOST_WAITING

    def _note(self, text: str) -> None:
        if not any(known.endswith(text) for known in self.outcome.broken):
            print(f"{time.strftime('%H:%M:%S')} BROKEN {text}")
            self.outcome.broken.append(f"{time.strftime('%H:%M:%S')} {text}")

    # --- at the end ---------------------------------------------------------------------------------------------------
    def _upload_many(self, count: int, during: Fault, thinking: float) -> None:
        """They go on, more slowly, until the site is sound after the fault, which may take longer than all of them."""
        uploads = []
        is_over = threading.Event()
        shares = [count // len(self._uploaders) + (place < count % len(self._uploaders)) for place in range(12)]

        def work(uploader: Uploader, count: int) -> None:
            sent = 0
            while sent < count or not is_over.is_set():
                if sent < count or self._may_upload():
                    uploads.append(uploader.upload())
                    sent += 1
                time.sleep(self._dice.uniform(0.0, 2 * (thinking if sent < count else THINKING_SECONDS)))

        threads = [
            threading.Thread(target=work, args=each, daemon=True) for each in zip(self._uploaders, shares, strict=True)
        ]
        for thread in threads:
            thread.start()
        wait_for(lambda: len(uploads) >= count // 4, "a quarter is accepted", seconds=600, every=0.01)
        self._happen([during])
        is_over.set()
        for thread in threads:
            thread.join()
        self.outcome.stalls_of_many = [each.stall for each in uploads]
        self._many = uploads

    def _settle(self) -> None:
        """Wait until everything is scored."""
        deadline = time.monotonic() + self._settle_seconds
        while self.site.ask(LEFT) != [(0,)]:
            if time.monotonic() > deadline:
                self._note(f"not everything is scored after {self._settle_seconds:.0f} s")
                break
            time.sleep(0.5)

    def _conclude(self) -> None:
        outcome, site = self.outcome, self.site
        uploads = [upload for each in self._uploaders for upload in each.uploads]
        outcome.uploads, outcome.requests = len(uploads), sum(each.tries for each in uploads)
        outcome.stalls = [each.stall for each in uploads]
        outcome.refused = [f"{each.key} {text}" for each in uploads for text in each.refusals]
        outcome.scored_of_many = invariants.seconds_to_score(site, self._many)
        outcome.retries = invariants.retries(site)
        [[outcome.large]] = site.query("SELECT count(DISTINCT parent_id) FROM jobs_job WHERE parent_id IS NOT NULL")
        [[outcome.given_up]] = site.query("SELECT count(*) FROM submissions_scoringrun WHERE state = 'failed'")
        for each in invariants.broken(site):
            self._note(each)
        outcome.lost, outcome.doubled = invariants.lost_or_doubled(site, uploads)
        outcome.judgements = sum(len(each.said) for each in self._judges)
        outcome.misjudged = [text for each in self._judges for text in each.refused]
        outcome.judgements_lost, outcome.judgements_twice = lost_or_twice(site, self._judges)
        outcome.ledger = invariants.ledger_differs(site, self._uploaders)
        outcome.chain += invariants.chain_differs(site, in_peace=True)
