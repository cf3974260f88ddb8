"""``python -m tests.fuzz``: sends uploads of every kind and tells what came of them. Exit status 1 for a defect."""

from __future__ import annotations

import argparse
import logging
import os
import random
import signal
import sys
import tempfile
import warnings
from pathlib import Path

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
django.setup()

from django.test import override_settings  # noqa: E402 (Django is set up)

from tests import database  # noqa: E402
from tests.fuzz.kinds import file_kinds, site_kinds  # noqa: E402
from tests.fuzz.report import holds, report  # noqa: E402
from tests.fuzz.run import STOPPED, Outcome, keep, run  # noqa: E402
from tests.fuzz.site import site  # noqa: E402

NAMES = (
    *("answers", "captions", "essays", "bytes", "questions", "scores", "synonyms", "stages"),
    *("frames", "archives", "page", "api", "organisers", "forms"),
)


def main() -> int:
    """Run; interrupted, tell what came of the uploads until then."""
    options = _options()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: STOPPED.set())
    logging.getLogger().handlers.clear()  # a hundred thousand refusals
    warnings.simplefilter("ignore")
    outcomes: list[Outcome] = []
    with (
        database.of_this_process(),
        tempfile.TemporaryDirectory(prefix="fuzz-") as folder,
        override_settings(PRIVATE_ROOT=Path(folder)),
        site() as made,
    ):
        kinds = [kind for kind in (*file_kinds(), *site_kinds(made)) if kind.name in options.kind or not options.kind]
        whole = sum(kind.share for kind in kinds)
        for kind in kinds:
            outcomes.append(Outcome(kind))
            run(outcomes[-1], round(options.uploads * kind.share / whole), options.seed)
    for outcome in outcomes:
        if options.keep:
            keep(outcome, options.keep)
    print(report(outcomes, options.seed))
    return 0 if holds(outcomes) else 1


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--uploads", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=random.randrange(10**6), help="the same uploads again")
    parser.add_argument("--kind", action="append", default=[], choices=NAMES, help="only this one; may be repeated")
    parser.add_argument("--keep", type=Path, help="a folder for the smallest upload that shows each defect")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
