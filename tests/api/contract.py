"""``python -m tests.api.contract [--minutes 10] [--save]``: the whole OpenAPI document with three roles.

Runs ``test_schemathesis`` for so long and prints its report; ``--save`` puts it at the top of RESULTS.md, with the date
and the processor time. What was found is in its output, and the status is not 0.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Final

from tests.paths import ROOT

RESULTS: Final = Path(__file__).with_name("RESULTS.md")
TEST: Final = "tests/api/test_schemathesis.py"
REPORT: Final = "--- report ---"  # after which the test prints it


def main(arguments: Sequence[str]) -> int:
    options = _options(arguments)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-s", "-n0", TEST],
        cwd=ROOT, env={**os.environ, "API_FUZZ_MINUTES": str(options.minutes)}, stdout=subprocess.PIPE, text=True,
        check=False,
    )  # fmt: skip
    _before, found, report = done.stdout.partition(REPORT)
    if done.returncode or not found:
        print(done.stdout)
        return done.returncode or 1
    section = section_of(report, minutes=options.minutes, cpu_seconds=_cpu_seconds())
    print(section)
    if options.save:
        RESULTS.write_text(with_section(RESULTS.read_text(encoding="utf-8"), section), encoding="utf-8")
    return 0


def section_of(report: str, *, minutes: float, cpu_seconds: float) -> str:
    """``report`` up to what pytest prints after it, under a heading."""
    lines = report.strip().splitlines()
    last = max(number for number, line in enumerate(lines) if line.startswith("- ") or not number)
    command = f"`python -m tests.api.contract --minutes {minutes:g}`, {cpu_seconds:.0f} s of processor time."
    return "\n".join([f"## {date.today()}: {minutes:g} minutes", "", command, "", *lines[: last + 1], ""])


def with_section(text: str, section: str) -> str:
    """The document with ``section`` as the newest."""
    before, heading, rest = text.partition("\n## ")
    return f"{before.rstrip()}\n\n{section}" + (f"\n## {rest}" if heading else "")


def _cpu_seconds() -> float:
    """Of the processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.api.contract", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--save", action="store_true", help="into RESULTS.md")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
