"""The benchmark of shards: what it measures is real, and its table says where a result is not the same."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.benchmarks.bench_shards import Row, measured_quickly, table
from tests.system.new_site import MODELS, new_site

ITEMS = 540


@pytest.mark.services
def test_a_killed_worker_costs_an_attempt_and_changes_nothing(short_path: Path) -> None:
    unharmed, killed = measured_quickly(ITEMS, new_site(short_path), MODELS)

    assert (killed.items, killed.workers, killed.kills, killed.lost) == (ITEMS, 2, 1, 1)
    assert (unharmed.items, unharmed.workers, unharmed.kills, unharmed.lost) == (ITEMS, 2, 0, 0)
    assert killed.digest == unharmed.digest
    assert min(killed.seconds, killed.last_seconds, unharmed.seconds, unharmed.last_seconds) > 0
    assert min(killed.worker_mib, unharmed.worker_mib) > 50


def test_the_table_shows_a_result_that_is_not_the_same() -> None:
    row = Row(100_000, 2, 0, 12.34, 1.26, 0, 700.4, "same")
    printed = table([row, replace(row, kills=2, lost=2), replace(row, workers=1, digest="other")]).splitlines()

    assert [line.split("|")[-2].strip() for line in printed] == ["exact", "-" * 6 + ":", "yes", "yes", "NO"]
    assert [cell.strip() for cell in printed[2].split("|")[1:-1]] == [
        "100,000 items", "2", "0", "12.3", "1.3", "0", "700", "yes"
    ]  # fmt: skip
