"""A new version while submissions arrive: the site runs the code of a commit, and then, program by program, this code.

In the order of OPERATIONS.md: tables, web one by one, chores, beat, workers one by one. Between the first worker and
the last an old one works beside a new one until both have scored some runs.
"""

from __future__ import annotations

import os
import random
import re
import subprocess
import tarfile
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

import requests

from tests.chaos.background import all_the_while
from tests.chaos.faults import Fault
from tests.chaos.judging import Judge
from tests.chaos.outcome import Outcome
from tests.chaos.run import ANSWER_SECONDS, Chaos
from tests.chaos.unit_site import WORKERS, Done, UnitSite
from tests.paths import ROOT
from tests.waiting import wait_for

THINKING_SECONDS: Final = 2.0  # between two uploads of a team, on average
BESIDE_STYLES: Final = 100  # that are asked for while an old web process serves beside a new one
BESIDE_RUNS: Final = 20  # that the old and the new worker each score beside the other
PAGE_SECONDS: Final = 0.1
_MIGRATIONS: Final = ":(glob)platform/**/migrations/*.py"


class CannotUpgrade(Exception):
    """There is no such drill, with the reason."""


def code_of(commit: str, folder: Path) -> Path:
    """The tree at ``commit``, in ``folder``; migrations may have been added since. Raises ``CannotUpgrade`` for an
    unknown one, and where migrations of then are others today.
    """
    differing = _git("diff", "--name-only", "--diff-filter=a", commit, "--", _MIGRATIONS).decode().split()
    if differing:
        raise CannotUpgrade(
            f"the tables of {commit} are others, as migrations were edited in place since: {', '.join(differing)}"
        )
    root = folder / "old"
    packed = folder / "old.tar"
    packed.write_bytes(_git("archive", commit))
    with tarfile.open(packed) as archive:
        archive.extraction_filter = getattr(tarfile, "data_filter", None)  # Python 3.11.2, Debian's, has none
        archive.extractall(root)
    packed.unlink()
    return root


class Upgrade(Chaos):
    """``site`` is upgraded while files are uploaded. ``done``: which code has scored what, at the end."""

    def __init__(self, site: UnitSite, seed: int) -> None:
        super().__init__(site, seed)
        self.site: UnitSite = site
        self.code = _described("HEAD")
        self.done: Done = {}
        self.styles: Counter[int] = Counter()  # answers for the style sheets of pages, by status

    def under_uploads(self, many: int) -> Outcome:
        """Upgrade when a quarter of ``many`` uploads is accepted; uploads go on until it is over."""
        fault = Fault("rolling upgrade", self._replace_all, stops_passes=True)
        with all_the_while(self._look_at_pages):
            return self.run(faults=[], many=many, during_many=fault, thinking=THINKING_SECONDS)

    def _replace_all(self, site: UnitSite, _dice: random.Random) -> Iterator[None]:
        site.root = ROOT
        site.migrate()
        for port in site.web_ports:
            site.replace("malpan-web@.service", str(port))
            seen = self.styles.total()
            wait_for(lambda seen=seen: self.styles.total() > seen + BESIDE_STYLES, "pages are looked at", seconds=60)
        for unit in ("malpan-chores.service", "malpan-beat.service"):
            site.replace(unit)
        for number in range(WORKERS):
            site.replace("malpan-worker@.service", str(number))
            if number < WORKERS - 1:
                _wait_beside(site)
        yield

    def _invite(self) -> list[Judge]:
        """Nobody: the code that is upgraded may have no campaigns."""
        return []

    def _look_at_pages(self, stop: threading.Event) -> None:
        """As a browser: a page, then its style sheets, whichever web process is asked for them."""
        while not stop.wait(PAGE_SECONDS):
            with suppress(requests.RequestException):
                page = requests.get(self.site.url, timeout=ANSWER_SECONDS)
                for address in re.findall(r'rel="stylesheet" href="([^"]+)"', page.text):
                    self.styles[requests.get(self.site.url + address, timeout=ANSWER_SECONDS).status_code] += 1

    def _conclude(self) -> None:
        super()._conclude()
        self.done = self.site.scored()


def _wait_beside(site: UnitSite) -> None:
    """Return when an old and a new worker have worked side by side."""
    old = len(site.scored()["old"]["run"])

    def both() -> bool:
        done = site.scored()
        return len(done["new"]["run"]) >= BESIDE_RUNS and len(done["old"]["run"]) >= old + BESIDE_RUNS

    wait_for(both, "an old and a new worker score beside each other", seconds=240, every=0.5)


def upgrade_report(drill: Upgrade, commit: str) -> str:
    """Which code scored how much: in all, and while an old worker worked beside a new one."""
    site, done = drill.site, drill.done
    times = sorted(site.replaced.items(), key=lambda item: item[1])
    workers = [times_of for name, times_of in times if "worker" in name]
    since, until = workers[0][1], workers[-1][0]
    lines = [
        f"{_described(commit)} → {drill.code}; old beside new for {until - since:.1f} s",
        "",
        "| code | runs | slices of large runs | beside the other: runs | slices |",
        "| --- | ---: | ---: | ---: | ---: |",
    ]
    for code, kinds in done.items():
        beside = {kind: sum(since <= at <= until for at, _job in found) for kind, found in kinds.items()}
        lines.append(f"| {code} | {len(kinds['run'])} | {len(kinds['slice'])} | {beside['run']} | {beside['slice']} |")
    shared = {job for _at, job in done["old"]["slice"]} & {job for _at, job in done["new"]["slice"]}
    lines += [
        "",
        f"{len(shared)} large runs were computed by both: some slices by the old code, some by the new.",
        f"Style sheets of pages, asked for all the while, by status: {dict(drill.styles)}.",
        "",
        "| program | replaced, s after the first | without it, s |",
        "| --- | ---: | ---: |",
        *(
            f"| {name.removesuffix('.service')} | {ended - times[0][1][0]:.1f} | {serves - ended:.1f} |"
            for name, (ended, serves) in times
        ),
    ]
    return "\n".join(lines)


def both(done: Done) -> bool:
    """Whether the old code and the new one have scored."""
    return all(kinds["run"] for kinds in done.values())


def _described(commit: str) -> str:
    return _git("log", "-1", "--format=%h (%cd)", "--date=format:%Y-%m-%d %H:%M", commit).decode().strip()


def _git(*arguments: str) -> bytes:
    done = subprocess.run(
        ["git", "-C", str(ROOT), *arguments], capture_output=True, check=False, env=os.environ | {"LC_ALL": "C"}
    )
    if done.returncode:
        raise CannotUpgrade(done.stderr.decode().strip())
    return done.stdout
