"""A site that is lost while teams upload, and goes on elsewhere from its backup, as ``OPERATIONS.md`` has it.

Half of the files are there when a backup begins, and others arrive while it is made: whatever was accepted before it
began must be in it. A second one is made in peace: the site restored from it shows every byte that the first one
showed, charges the same, and goes on with the number after the last.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final

import requests

from tests.chaos import invariants
from tests.chaos.background import all_the_while
from tests.chaos.contest import SLUG
from tests.chaos.site import ChaosSite
from tests.chaos.uploads import Upload, Uploader
from tests.paths import ROOT
from tests.waiting import wait_for

PAGES: Final = ("", "board/", "board/?track=labels", "board/?track=answers", "chain/", "chain.json")
ANSWERS: Final = tuple(f"tracks/{track}/board/" for track in ("labels", "answers"))
# another token in every answer, and how long ago something was
CHANGING: Final = re.compile(rb'name="csrfmiddlewaretoken" value="\w+"|nonce="[^"]+"|<span class="ago">[^<]+</span>')
UNFINISHED: Final = "SELECT count(*) FROM jobs_job WHERE state NOT IN ('finished', 'failed')"
SETTLE_SECONDS: Final = 600.0


@dataclass
class Restoring:
    """What the drill found; ``before`` and ``during`` count uploads by when the first backup began and ended."""

    seed: int
    before: int = 0
    during: int = 0
    uploads: int = 0
    stored: int = 0  # bytes of the second backup
    backup_seconds: list[float] = field(default_factory=list)
    restore_seconds: list[float] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    doubled: list[str] = field(default_factory=list)
    ledger: list[str] = field(default_factory=list)
    chain: list[str] = field(default_factory=list)
    different: list[str] = field(default_factory=list)  # pages
    unscored: list[str] = field(default_factory=list)  # teams whose next upload had no score

    def holds(self) -> bool:
        return not any(found for _what, found in self._invariants()) and self.before > 0 and self.during > 0

    def table(self) -> str:
        """As Markdown."""
        backups, restores = (
            " and ".join(f"{each:.1f}" for each in seconds) for seconds in (self.backup_seconds, self.restore_seconds)
        )
        made, size = f"{self.before} before the first backup and {self.during} while", f"{self.stored / 1e6:.1f} MB"
        return "\n".join(
            [
                f"seed {self.seed}: {self.uploads} uploads, {made} it was made; backups took {backups} s, the second"
                f" has {size}; restores took {restores} s",
                "",
                "| what | found | must be |",
                "| --- | ---: | ---: |",
                *(f"| {what} | {len(found)} | 0 |" for what, found in self._invariants()),
                *(f"\n{what}: {found[:5]}" for what, found in self._invariants() if found),
            ]
        )

    def _invariants(self) -> list[tuple[str, list[str]]]:
        return [
            ("lost", self.lost),
            ("doubled", self.doubled),
            ("teams whose ledger differs", self.ledger),
            ("findings in the chain", self.chain),
            (f"of {len(PAGES) + len(ANSWERS)} pages and answers, other than before", self.different),
            ("teams whose next upload was not scored", self.unscored),
        ]


def restore_drill(folder: Path, models: Path, seed: int, many: int) -> Restoring:
    """Run it with ``many`` uploads on sites in ``folder``."""
    found = Restoring(seed)
    site, other = (ChaosSite(folder / name, models) for name in ("site", "other"))
    busy, quiet = folder / "busy", folder / "quiet"
    with _running(site):
        uploaders = [Uploader(site.url, *each, str(seed)) for each in site.make_contest().items()]
        before = _back_up_under_uploads(site, uploaders, many // len(uploaders), busy, found)
        _settle(site)
        found.backup_seconds.append(_back_up(site, quiet))
        shown = _shown(site)
        other.environment["SECRET_KEY"] = site.addresses()["SECRET_KEY"]
    shutil.rmtree(site.var_dir)
    uploads = _accepted(uploaders)
    found.uploads, found.stored = len(uploads), sum(each.stat().st_size for each in quiet.rglob("*") if each.is_file())

    found.restore_seconds.append(_restore(other, busy))
    with _running(other):
        _settle(other)
        found.lost += invariants.lost_or_doubled(other, before)[0]
        found.doubled += invariants.lost_or_doubled(other, uploads)[1]
        found.chain += invariants.chain_differs(other, in_peace=True)

    found.restore_seconds.append(_restore(other, quiet, "--replace", "--yes"))
    with _running(other):
        now = _shown(other)
        found.different = [path for path, body in shown.items() if now[path] != body]
        lost, doubled = invariants.lost_or_doubled(other, uploads)
        found.lost, found.doubled = found.lost + lost, found.doubled + doubled
        for each in uploaders:
            each.move(other.url)
        found.ledger = invariants.ledger_differs(other, uploaders)
        later = [each.upload() for each in uploaders]
        _settle(other)
        found.unscored = invariants.lost_or_doubled(other, later)[0]
        found.chain += invariants.chain_differs(other, in_peace=True)
    return found


@contextmanager
def _running(site: ChaosSite) -> Iterator[None]:
    try:
        site.start()
        yield
    finally:
        site.stop()


def _back_up_under_uploads(
    site: ChaosSite, uploaders: Sequence[Uploader], share: int, folder: Path, found: Restoring
) -> list[Upload]:
    """A backup in ``folder`` while each of ``uploaders`` sends ``share`` files; returns those accepted before it."""
    most = share * len(uploaders)
    with all_the_while(*(partial(_upload, each, share) for each in uploaders)):
        wait_for(lambda: len(_accepted(uploaders)) >= most // 2, "half of them", seconds=SETTLE_SECONDS, every=0.05)
        before = _accepted(uploaders)
        found.backup_seconds.append(_back_up(site, folder))
        found.before, found.during = len(before), len(_accepted(uploaders)) - len(before)
        wait_for(lambda: len(_accepted(uploaders)) >= most, "all of them", seconds=SETTLE_SECONDS)
    return before


def _upload(uploader: Uploader, count: int, stop: threading.Event) -> None:
    """``count`` files, one after another; less where the drill has failed."""
    for _each in range(count):
        if stop.is_set():
            break
        uploader.upload()


def _accepted(uploaders: Sequence[Uploader]) -> list[Upload]:
    return [upload for each in uploaders for upload in tuple(each.uploads) if upload.accepted is not None]


def _settle(site: ChaosSite) -> None:
    """Return when nothing is left to do."""
    wait_for(lambda: site.ask(UNFINISHED) == [(0,)], "all is done", seconds=SETTLE_SECONDS, every=0.5)


def _shown(site: ChaosSite) -> dict[str, bytes]:
    """What anybody sees of the contest, byte by byte, wherever the site is."""
    paths = [f"/competitions/{SLUG}/{each}" for each in PAGES] + [
        f"/api/v1/competitions/{SLUG}/{each}" for each in ANSWERS
    ]
    found = {}
    for path in paths:
        answer = requests.get(site.url + path, timeout=60)
        assert answer.status_code == 200, (path, answer.status_code)
        found[path] = CHANGING.sub(b"", answer.content.replace(site.url.encode(), b""))
    return found


def _back_up(site: ChaosSite, folder: Path) -> float:
    """The seconds that it takes while the site goes on."""
    began = time.monotonic()
    site.outside("manage.py", "backup", str(folder))
    return time.monotonic() - began


def _restore(site: ChaosSite, folder: Path, *options: str) -> float:
    """The seconds that it takes, into a site that is stopped."""
    began = time.monotonic()
    done = subprocess.run(
        [sys.executable, "manage.py", "restore", str(folder), *options],
        cwd=ROOT, env=site.environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
        timeout=600,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return time.monotonic() - began
