"""``python -m tests.chaos``: disturbs a site for half an hour and tells whether all held. Exit status 1 if not."""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import sys
import tempfile
from pathlib import Path

from tests.chaos.faults import FAULTS
from tests.chaos.report import report
from tests.chaos.run import MANY, Chaos
from tests.paths import ROOT


def main() -> int:
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # the site is stopped first
    options = _options()
    chosen = [fault for fault in FAULTS if fault.name in options.fault] if options.fault else None
    folder = Path(tempfile.mkdtemp(prefix="malpan-"))
    models = Path(os.environ.get("MALPAN_TEST_VAR") or ROOT / "var" / "test") / "models"
    print(f"seed {options.seed}, site in {folder}", flush=True)
    chaos = Chaos(folder / "site", models, options.seed)
    outcome = chaos.run(seconds=options.seconds, faults=chosen, many=options.many, during_many=options.during)
    text = report(outcome)
    print(text)
    if options.report:
        options.report.write_text(text + "\n", encoding="utf-8")
    if outcome.holds():
        shutil.rmtree(folder)
    return 0 if outcome.holds() else 1


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=__doc__)
    parser.add_argument("--seconds", type=float, default=1800.0)
    parser.add_argument("--seed", type=int, default=random.randrange(10**6), help="the same faults in the same order")
    parser.add_argument("--fault", action="append", default=[], help="only this one, once; may be repeated")
    parser.add_argument("--many", type=int, default=MANY, help="uploads at once, at the end")
    parser.add_argument("--during", default="PostgreSQL killed", help="the fault when a quarter of them is accepted")
    parser.add_argument("--report", type=Path, help="a file for the tables")
    return parser.parse_args()


if __name__ == "__main__":
    sys.stdout.reconfigure(line_buffering=True)
    sys.exit(main())
