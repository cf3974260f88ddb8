"""Kills in turn: the scoring worker every nine seconds and all web processes every eight, two hundred times.

What is killed is the process that the supervisor started, by SIGKILL. The supervisor must tell of every kill, start
every program again, and keep no descriptor.
"""

from __future__ import annotations

import re
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from functools import partial
from typing import Final

import psutil

from tests.chaos.background import all_the_while
from tests.system.stack import Stack, status_of
from tests.waiting import wait_for

PROGRAMS: Final = {"scoring": 9.0, "malpan.web_server": 8.0}  # a word of the command, and the seconds between two kills
BACK_SECONDS: Final = 60.0
ASK_SECONDS: Final = 0.1
LATE_SECONDS: Final = 0.5  # an answer later than this: nobody was there
_ENDED: Final = re.compile(r"malpan +\| (\S+): 끝났습니다\((.+?)\)")


@dataclass
class Alternation:
    """What the kills showed. The names are those of the supervisor's programs."""

    kills: Counter[str] = field(default_factory=Counter)
    ends: Counter[tuple[str, str]] = field(default_factory=Counter)  # that were told: the program, and how it ended
    seconds: float = 0.0
    down: list[float] = field(default_factory=list)  # the times in which the site did not answer
    descriptors: tuple[int, int] = (0, 0)  # of the supervisor, before and after

    @property
    def restarts(self) -> Counter[str]:
        """How often a program was told to have been killed, and to be started again."""
        return Counter({name: count for (name, how), count in self.ends.items() if how == "SIGKILL"})

    def holds(self) -> bool:
        return self.kills == self.restarts and self.descriptors[0] >= self.descriptors[1]

    def table(self) -> str:
        """As Markdown."""
        return "\n".join(
            [
                f"{self.kills.total()} kills in {self.seconds / 60:.1f} minutes; the site was down {len(self.down)}"
                f" times, {max(self.down, default=0.0):.1f} s at most, {sum(self.down):.1f} s in all; descriptors of"
                f" the supervisor: {self.descriptors[0]} before, {self.descriptors[1]} after",
                "",
                "| program | kills | restarts told |",
                "| --- | ---: | ---: |",
                *(f"| {name} | {count} | {self.restarts[name]} |" for name, count in sorted(self.kills.items())),
                *(f"\n{name} ended by itself: {how}" for name, how in sorted(self.ends) if how != "SIGKILL"),
            ]
        )


def alternate(site: Stack, kills: int, programs: dict[str, float] = PROGRAMS) -> Alternation:
    """Kill processes of the running ``site`` until there were ``kills``; return when all run again."""
    found = Alternation()
    told = _told(site)
    counts = {word: len(site.programs(word)) for word in programs}
    before = _descriptors(site)
    began = time.monotonic()
    over = threading.Event()
    with all_the_while(partial(_watch, site, found.down)):
        killers = [partial(_kill, site, *each, found, kills, over) for each in programs.items()]
        with all_the_while(*killers):
            over.wait()
        wait_for(lambda: all(len(site.programs(word)) == count for word, count in counts.items()), "all run")
        wait_for(site.is_well, "the site is well", seconds=BACK_SECONDS)
        found.seconds = time.monotonic() - began
    found.ends, found.descriptors = _told(site) - told, (before, _descriptors(site))
    return found


def _kill(
    site: Stack, word: str, every: float, found: Alternation, most: int, over: threading.Event, stop: threading.Event
) -> None:
    """Kill every process of a program now and then, as soon as there is one. Of one that has ended nobody is told."""
    try:
        while found.kills.total() < most and not stop.wait(every):
            wait_for(lambda: site.programs(word), f"{word} again", seconds=BACK_SECONDS)
            for process in site.programs(word):
                if process.status() == psutil.STATUS_ZOMBIE:
                    continue
                name = process.environ()["MALPAN_PROGRAM"]
                process.kill()
                found.kills[name] += 1
    finally:
        over.set()


def _watch(site: Stack, down: list[float], stop: threading.Event) -> None:
    """Ask for a page again and again. A request waits in the socket while nobody serves it."""
    since: float | None = None
    while not stop.wait(ASK_SECONDS):
        asked = time.monotonic()
        is_answered = status_of(site.port, "/healthz/") == 200
        now = time.monotonic()
        if since is None and (not is_answered or now - asked > LATE_SECONDS):
            since = asked
        if since is not None and is_answered:
            down.append(now - since)
            since = None


def _descriptors(site: Stack) -> int:
    """How many the supervisor keeps open; now and then it opens one for a moment."""
    found = []
    for _look in range(5):
        found.append(site.supervisor.num_fds())
        time.sleep(0.02)
    return min(found)


def _told(site: Stack) -> Counter[tuple[str, str]]:
    """How often the supervisor has told of an end, by program and how it ended."""
    return Counter(_ENDED.findall(site.log))
