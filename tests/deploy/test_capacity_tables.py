"""The tables of OPERATIONS.md under "How many workers" are what the command beside each prints."""

from __future__ import annotations

import re
from collections.abc import Sequence
from io import StringIO

import pytest
from django.core.management import call_command

from malpan.operation.capacity import Upload, percentile, waits_of
from malpan.operation.management.commands import capacity
from tests.deploy.manifests import DEPLOY

TEXT = (DEPLOY / "OPERATIONS.md").read_text(encoding="utf-8")
TABLES = re.findall(r"^\$ python manage\.py capacity --seconds (\S+)\n(.*?)^```$", TEXT, re.DOTALL | re.MULTILINE)


def test_there_are_two_tables() -> None:
    assert [seconds for seconds, _printed in TABLES] == ["253", "42.5"]


def workers_of(printed: str) -> dict[tuple[int, float], int]:
    """The workers that a table names, by the number of submissions and the target in seconds."""
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in printed.splitlines() if " min " in line]
    return {(int(row[0].replace(",", "")), float(row[4].split()[0]) * 60): int(row[5].replace(",", "")) for row in rows}


@pytest.mark.parametrize(("seconds", "printed"), TABLES)
def test_a_table_is_what_the_command_prints(seconds: str, printed: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The number of workers is not searched for again: it is the answer if it is enough and one fewer is not."""
    named = workers_of(printed)
    assert len(named) == 4

    def needed(uploads: Sequence[Upload], target: float, percent: float = 95) -> int:
        workers = named[len(uploads), target]
        assert percentile(waits_of(uploads, workers), percent) <= target
        assert workers == 1 or percentile(waits_of(uploads, workers - 1), percent) > target
        return workers

    monkeypatch.setattr(capacity, "workers_needed", needed)
    out = StringIO()
    call_command("capacity", seconds=[float(seconds)], stdout=out)
    assert out.getvalue() == printed
