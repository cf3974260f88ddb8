"""``make mutation``: changes the rules in small ways, one at a time, and tells which changes no test notices.

Exit status 1 where fewer than 95 % of the changes were noticed, or where ``equivalent.toml`` is out of date.

Why a runner of the project's own (looked at in November 2026): mutmut 3.8 changes no decorated function and nothing
outside functions, so neither ``@transaction.atomic`` nor a table of a recipe; cosmic-ray 8.7 starts a new process for
each change and writes into the source files; poodle 1.3 copies the project and starts a new process; mutatest has had
no release since Python 3.7. None leaves out a statement such as the call of a guard, the change that prompted this.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"
os.environ.setdefault("OMP_NUM_THREADS", "1")

from tests import settings
from tests.mutation import report, running
from tests.mutation.rules import RULES, chosen

TARGET: Final = 95.0
KEPT: Final = Path(settings._VAR) / "mutation"
RESULTS: Final = Path(__file__).with_name("RESULTS.md")


def main() -> int:
    options = _options()
    rules = chosen(options.module)
    if options.changed:
        tried = _before([rule.module for rule in rules])
        rules = [each for each in rules if each.module not in tried or tried[each.module].code != each.source.digest]
        print(f"{len(rules)} modules are not as they were tried", file=sys.stderr)
    elif not rules:
        print(f"no rule {options.module!r}; there are:", *(f"  {rule.module}" for rule in RULES), sep="\n")
        return 2
    results = []
    for rule in rules:
        print(f"{rule.module} …", end=" ", file=sys.stderr, flush=True)
        before = _before([rule.module]) if options.again else {}
        names = before[rule.module].unnoticed if before else None
        computed = running.computed()
        found = list(running.outcomes(rule, jobs=options.jobs, only=names))
        result = report.result_of(rule.module, found, running.computed() - computed, rule.source.digest)
        results.append(report.merged(before[rule.module], result) if before else result)
        print(f"{report.score(results[-1:]):.1f} %", file=sys.stderr, flush=True)
        report.keep(results[-1], KEPT)
    text = report.text_of(results)
    print(text)
    if options.save:
        _save()
    return 0 if report.score(results) >= TARGET and not any(each.stale for each in results) else 1


def _before(modules: Sequence[str]) -> dict[str, report.Result]:
    """What was found last of each of ``modules`` that was tried: here, or else as RESULTS.md has it."""
    written = report.read(RESULTS.read_text(encoding="utf-8"))
    known = written | {each.module: each for each in report.kept(modules, KEPT)}
    return {module: known[module] for module in modules if module in known}


def _save() -> None:
    """Write RESULTS.md: the last results of all rules, and which were never tried."""
    head = RESULTS.read_text(encoding="utf-8").partition("\n| module |")[0]
    modules = [rule.module for rule in RULES]
    known = _before(modules)
    untried = [f"    {module}" for module in modules if module not in known]
    rest = "\n".join(["", "Not tried yet:", "", *untried, ""]) if untried else ""
    RESULTS.write_text(f"{head}\n{report.text_of(list(known.values()))}\n{rest}", encoding="utf-8")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__)
    parser.add_argument("--module", default="", help="only this one, such as ranking or scoring.metrics")
    parser.add_argument("--jobs", type=int, default=2, help="processes at a time")
    parser.add_argument("--again", action="store_true", help="only what survived the last time")
    parser.add_argument("--changed", action="store_true", help="only modules whose code is not the one that was tried")
    parser.add_argument("--save", action="store_true", help="write the last results to RESULTS.md")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
