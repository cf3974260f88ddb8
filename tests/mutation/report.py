"""What became of the mutants, as text, and which of them change nothing that anybody should notice."""

from __future__ import annotations

import json
import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path
from typing import Final

from tests.mutation.mutants import Mutant
from tests.mutation.running import KILLED, SURVIVED, TIMED_OUT

EQUIVALENT: Final = "equivalent"
STALE: Final = "In equivalent.toml, but no survivor"
_TABLE: Final = Path(__file__).with_name("equivalent.toml")
_ROW: Final = re.compile(
    r"^\| `([\w.]+)` \| \d+ \| (\d+) \| (\d+) \| \d+ \| (\d+) \| [\d.]+ % \| ([\d.]+) \| ([\d-]+) \| (\w*) \|$"
)


@dataclass(frozen=True, slots=True)
class Result:
    """The mutants of one module by what became of them, as texts, the processor time of that, its day and its code."""

    module: str
    found: Mapping[str, Sequence[str]]
    stale: Sequence[str]  # rows of the table of equivalents that name no mutant, or one that a test noticed
    seconds: float
    day: str  # as 2026-11-25
    code: str  # the digest of the module that was tried: see ``mutants.Source``

    def count(self, outcome: str) -> int:
        return len(self.found.get(outcome, ()))

    @property
    def noticed(self) -> int:
        return self.count(KILLED) + self.count(TIMED_OUT)

    @property
    def unnoticed(self) -> set[str]:
        """Their names, without the numbers of the lines, which may be others by now."""
        known = (*self.found.get(SURVIVED, ()), *self.found.get(EQUIVALENT, ()))
        return {name.partition(": ")[2] for name in known if name}

    @property
    def counted(self) -> int:
        """All mutants but the equivalent ones."""
        return self.noticed + self.count(SURVIVED)


def result_of(
    module: str, outcomes: Iterable[tuple[Mutant, str]], seconds: float, code: str = "", table: Path = _TABLE
) -> Result:
    """The outcomes in the order of the lines; survivors that the table names count as equivalent."""
    known = _equivalent(module, table)
    found: dict[str, list[str]] = {}
    for mutant, outcome in sorted(outcomes, key=lambda each: each[0].number):
        key = (mutant.line, mutant.change)
        if outcome == SURVIVED and key in known:
            known.discard(key)
            outcome = EQUIVALENT
        found.setdefault(outcome, []).append(str(mutant))
    stale = [f"{line}  [{change}]" for line, change in sorted(known)]
    return Result(module, found, stale, seconds, date.today().isoformat(), code)


def merged(earlier: Result, again: Result) -> Result:
    """``earlier`` with what became of the unnoticed mutants that it names, if they are still there, in another run."""
    found = {
        outcome: [*earlier.found.get(outcome, ()), *again.found.get(outcome, ())] for outcome in (KILLED, TIMED_OUT)
    }
    unnamed = [name for name in earlier.found.get(EQUIVALENT, ()) if not name]
    found[SURVIVED] = [*again.found.get(SURVIVED, ())]
    found[EQUIVALENT] = [*unnamed, *again.found.get(EQUIVALENT, ())]
    stale = [] if unnamed else again.stale
    return Result(again.module, found, stale, earlier.seconds + again.seconds, again.day, earlier.code)


def _equivalent(module: str, table: Path) -> set[tuple[str, str]]:
    rows = tomllib.loads(table.read_text(encoding="utf-8")).get(module, [])
    assert all(row["reason"] for row in rows)
    return {(row["line"], row["change"]) for row in rows}


def score(results: Iterable[Result]) -> float:
    """The share of mutants that a test noticed, in percent."""
    results = list(results)
    counted = sum(each.counted for each in results)
    return 100 * sum(each.noticed for each in results) / counted if counted else 100.0


def text_of(results: Sequence[Result]) -> str:
    """The table, then the survivors by name."""
    lines = [
        "| module | mutants | killed | timed out | survived | equivalent | score | CPU s each | day | code |",
        "| --- | --: | --: | --: | --: | --: | --: | --: | --- | --- |",
    ]
    total: Counter[str] = Counter()
    for each in results:
        counts = {name: each.count(name) for name in (KILLED, TIMED_OUT, SURVIVED, EQUIVALENT)}
        total.update(counts)
        lines.append(_row(f"`{each.module}`", counts, score([each]), each.seconds, each.day, each.code))
    if len(results) > 1:
        lines.append(_row("all", total, score(results), sum(each.seconds for each in results)))
    for title, rows in (
        ("Survived", [f"{each.module}:{row}" for each in results for row in each.found.get(SURVIVED, ())]),
        (STALE, [f"{each.module}: {row}" for each in results for row in each.stale]),
    ):
        if rows:
            lines += ["", f"{title}:", "", *(f"    {row}" for row in rows)]
    return "\n".join(lines)


def _row(name: str, counts: Mapping[str, int], percent: float, seconds: float, day: str = "", code: str = "") -> str:
    mutants = sum(counts.values())
    cells = " | ".join(str(counts[each]) for each in (KILLED, TIMED_OUT, SURVIVED, EQUIVALENT))
    return f"| {name} | {mutants} | {cells} | {percent:.1f} % | {seconds / (mutants or 1):.1f} | {day} | {code} |"


def read(text: str) -> dict[str, Result]:
    """The results in a text of ``text_of``, by module: survivors by name, the others without."""
    survived: dict[str, list[str]] = {}
    for line in text.partition(f"\n{STALE}:\n")[0].splitlines():
        module, colon, name = line.strip().partition(":")
        if line.startswith("    ") and colon:
            survived.setdefault(module, []).append(name)
    found = {}
    for line in text.splitlines():
        if row := _ROW.match(line):
            module, killed, late, equivalent, each, day, code = row.groups()
            counts = {KILLED: killed, TIMED_OUT: late, EQUIVALENT: equivalent}
            outcomes = {outcome: [""] * int(count) for outcome, count in counts.items()}
            outcomes[SURVIVED] = survived.get(module, [])
            seconds = float(each) * sum(map(len, outcomes.values()))
            found[module] = Result(module, outcomes, [], seconds, day, code)
    return found


def keep(result: Result, folder: Path) -> None:
    """Keep ``result`` for ``kept``, in the place of an earlier one of the module."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{result.module}.json").write_text(json.dumps(asdict(result), ensure_ascii=False), encoding="utf-8")


def kept(modules: Iterable[str], folder: Path) -> list[Result]:
    """The last result of each of ``modules`` that has one."""
    paths = [folder / f"{module}.json" for module in modules]
    return [Result(**json.loads(path.read_text(encoding="utf-8"))) for path in paths if path.exists()]
