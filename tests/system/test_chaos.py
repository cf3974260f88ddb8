"""A minute and a half of the chaos (``make chaos`` is half an hour): a fault of each class, and all that must hold.

How long things take is measured by ``make chaos``, on a machine that has nothing else to do. Here other tests run
beside it: what should take seconds may take ``PATIENCE`` times as long, which still finds whatever stands still.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.chaos.faults import BY_NAME
from tests.chaos.report import report
from tests.chaos.run import Chaos
from tests.chaos.site import ChaosSite

pytestmark = pytest.mark.services

PATIENCE = 4.0
ROOM_BYTES = 512 * 2**20  # for two minutes; to fill more would take the others' time
NAMES = (
    "child paused",
    "worker killed",
    "all web processes killed",
    "beat killed",
    "Redis killed",
    "disk full",
    "messages doubled",
    "messages dropped",
    "a worker's clock ahead",
    "supervisor killed",
    "every disk full",
)


def test_nothing_is_lost_doubled_or_late_whatever_is_killed(new_directory: Path, models_dir: Path) -> None:
    chaos = Chaos(ChaosSite(new_directory, models_dir, ROOM_BYTES), seed=20261123, patience=PATIENCE)
    outcome = chaos.run(faults=[[BY_NAME[name]] for name in NAMES])
    names = [name for name in NAMES if chaos.site.disk is not None or not BY_NAME[name].needs_disk]
    assert len(outcome.recoveries) == len(names) + 1
    assert outcome.uploads > 40
    assert outcome.judgements > 20
    assert outcome.holds(), report(outcome)
