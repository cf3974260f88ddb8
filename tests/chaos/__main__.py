"""``python -m tests.chaos``: disturbs a site for half an hour and tells whether all held. Exit status 1 if not.

``--upgrade-from COMMIT``: in place of that a rolling upgrade from the code of that commit to this one, under uploads.
``--alternate COUNT``: in place of that so many kills of the worker and the web processes in turn.
``--restore COUNT``: in place of that a site with so many uploads is lost and restored from its backup.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import sys
import tempfile
from pathlib import Path

from tests.chaos.alternate import alternate
from tests.chaos.faults import BY_NAME, Fault
from tests.chaos.report import report
from tests.chaos.restore import restore_drill
from tests.chaos.run import DURING, MANY, Chaos
from tests.chaos.site import ChaosSite
from tests.chaos.unit_site import UnitSite
from tests.chaos.upgrade import CannotUpgrade, Upgrade, both, code_of, upgrade_report
from tests.paths import ROOT
from tests.system.stack import Stack


def main() -> int:
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # the site is stopped first
    options = _options()
    folder = Path(tempfile.mkdtemp(prefix="malpan-"))
    models = Path(os.environ.get("MALPAN_TEST_VAR") or ROOT / "var" / "test") / "models"
    print(f"seed {options.seed}, site in {folder}", flush=True)
    try:
        if options.alternate:
            text, holds = _alternate(options, folder, models)
        elif options.restore:
            found = restore_drill(folder, models, options.seed, options.restore)
            text, holds = found.table(), found.holds()
        elif options.upgrade_from:
            text, holds = _upgrade(options, folder, models)
        else:
            text, holds = _disturb(options, folder, models)
    except CannotUpgrade as error:
        folder.rmdir()
        sys.exit(f"no such upgrade: {error}")
    print(text)
    if options.report:
        options.report.write_text(text + "\n", encoding="utf-8")
    if holds:
        shutil.rmtree(folder)
    return 0 if holds else 1


def _disturb(options: argparse.Namespace, folder: Path, models: Path) -> tuple[str, bool]:
    chosen = options.fault or None
    chaos = Chaos(ChaosSite(folder / "site", models), options.seed)
    during = BY_NAME[options.during]
    outcome = chaos.run(seconds=options.seconds, faults=chosen, many=options.many, during_many=during)
    return report(outcome), outcome.holds()


def _upgrade(options: argparse.Namespace, folder: Path, models: Path) -> tuple[str, bool]:
    folder.chmod(0o711)  # nginx and PostgreSQL are other users where this one is root
    site = UnitSite(folder / "site", models, code_of(options.upgrade_from, folder))
    drill = Upgrade(site, options.seed)
    outcome = drill.under_uploads(options.many)
    text = f"{report(outcome)}\n{upgrade_report(drill, options.upgrade_from)}"
    return text, outcome.holds() and both(drill.done)


def _alternate(options: argparse.Namespace, folder: Path, models: Path) -> tuple[str, bool]:
    site = Stack(folder / "site", models)
    site.start()
    try:
        found = alternate(site, options.alternate)
    finally:
        site.stop()
    return found.table(), found.holds()


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=__doc__)
    parser.add_argument("--seconds", type=float, default=1800.0)
    parser.add_argument("--seed", type=int, default=random.randrange(10**6), help="the same faults in the same order")
    parser.add_argument("--upgrade-from", metavar="COMMIT", help="of other code with the same tables")
    parser.add_argument("--alternate", type=int, metavar="COUNT", help="of kills")
    parser.add_argument("--restore", type=int, metavar="COUNT", help="of uploads")
    only = "only this one, once, or several at once: 'Redis killed + disk full'; may be repeated"
    parser.add_argument("--fault", action="append", default=[], type=_together, help=only)
    parser.add_argument("--many", type=int, default=MANY, help="uploads at once, at the end")
    parser.add_argument(
        "--during",
        default=DURING,
        choices=BY_NAME,
        metavar="FAULT",
        help="the fault when a quarter of them is accepted",
    )
    parser.add_argument("--report", type=Path, help="a file for the tables")
    return parser.parse_args()


def _together(names: str) -> list[Fault]:
    """The faults that an argument names."""
    found = [BY_NAME.get(name) for name in names.split(" + ")]
    if None in found:
        raise argparse.ArgumentTypeError(f"no such fault; there are: {', '.join(BY_NAME)}")
    return [each for each in found if each]


if __name__ == "__main__":
    sys.stdout.reconfigure(line_buffering=True)
    sys.exit(main())
