"""How benchmarks take time and print it: interleaved rounds, medians, and one table with the deviation beside."""

from __future__ import annotations

import math
import os
import platform
import statistics
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any


@dataclass(frozen=True)
class Row:
    """One comparison: seconds of ours and of another implementation, and the largest difference of a value.

    ``difference`` is ``None`` where the values cannot be compared (another rule, another submission) or stand in
    another row already; beyond ``limit`` the two do not compute the same.
    """

    case: str
    ours_s: float
    peer: str
    peer_s: float
    difference: float | None = None
    limit: float = 1e-5
    note: str = ""

    @property
    def agrees(self) -> bool:
        return self.difference is None or self.difference <= self.limit


@dataclass(frozen=True)
class Measured:
    """One way of doing the work: what it returned the first time, and the seconds of every round."""

    result: Any
    seconds: tuple[float, ...]

    @property
    def median_s(self) -> float:
        return statistics.median(self.seconds)


def interleaved(ways: Mapping[str, Callable[[], Any]], rounds: int, *, in_order: bool = False) -> dict[str, Measured]:
    """Run every way once in each round, so that a busy moment hits all alike.

    Each round begins with another way, unless they build on each other and must stay ``in_order``.
    """
    names = list(ways)
    results: dict[str, Any] = {}
    seconds: dict[str, list[float]] = {name: [] for name in names}
    for number in range(rounds):
        begin = 0 if in_order else number % len(names)
        for name in [*names[begin:], *names[:begin]]:
            started = time.perf_counter()
            result = ways[name]()
            seconds[name].append(time.perf_counter() - started)
            results.setdefault(name, result)
            say(f"  round {number + 1}: {name} {seconds[name][-1]:.2f} s")
    return {name: Measured(results[name], tuple(seconds[name])) for name in names}


def deviation(values: Sequence[float], others: Sequence[float]) -> float:
    """The largest difference of two values of one item."""
    moved = [abs(one - other) for one, other in zip(values, others, strict=True)]
    return max(moved) if all(map(math.isfinite, moved)) else math.inf


def comparison_table(rows: Sequence[Row]) -> str:
    """All comparisons as one Markdown table."""
    columns = ("what", "ours, s", "other implementation", "s", "ratio", "max diff", "note")
    return markdown_table(
        columns,
        [
            [
                row.case,
                _seconds(row.ours_s),
                row.peer,
                _seconds(row.peer_s),
                f"{row.peer_s / row.ours_s:.2f}x",
                "" if row.difference is None else f"{row.difference:.1e}",
                row.note,
            ]
            for row in rows
        ],
    )


def _seconds(value: float) -> str:
    return f"{value:.3f}" if value < 1 else f"{value:.1f}"


def markdown_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table, padded so that it reads as plain text too; the first column is words, the others numbers."""
    widths = [max(len(row[n]) for row in (columns, *rows)) for n in range(len(columns))]

    def line(cells: Sequence[str]) -> str:
        first, *others = zip(cells, widths, strict=True)
        return "| " + " | ".join([first[0].ljust(first[1]), *(cell.rjust(width) for cell, width in others)]) + " |"

    rule = "|" + "|".join(("-" * (width + 1)) + ("-" if n == 0 else ":") for n, width in enumerate(widths)) + "|"
    return "\n".join([line(columns), rule, *map(line, rows)])


def environment(*, has_models: bool = True) -> str:
    """The machine and the versions in one line: what a figure may be compared with.

    The threads are those of torch, which takes seconds to import: without models in the benchmark they are not told.
    """
    libraries = ", ".join(f"{name} {version(name).split('+')[0]}" for name in ("torch", "transformers"))
    return (
        f"{os.cpu_count()} x {_processor()}{_threads() if has_models else ''}; Python {platform.python_version()}, "
        f"{libraries}; load before {os.getloadavg()[0]:.1f}"
    )


def say(text: str) -> None:
    """Progress for whoever waits; it is no part of what a benchmark prints."""
    sys.stderr.write(text + "\n")
    sys.stderr.flush()


def _threads() -> str:
    import torch

    return f", {torch.get_num_threads()} threads"


def _processor() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            names = [line.split(":", 1)[1].strip() for line in file if line.startswith("model name")]
    except OSError:
        names = []
    return names[0] if names else platform.machine()
