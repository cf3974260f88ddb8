"""The outcome of a run as Markdown."""

from __future__ import annotations

from collections.abc import Sequence

from tests.fuzz.run import Cost, Outcome

SHOWN_WORDS = 20


def holds(outcomes: Sequence[Outcome]) -> bool:
    return not any(outcome.defects for outcome in outcomes)


def report(outcomes: Sequence[Outcome], seed: int) -> str:
    """One line for all, a table by kind, and every defect."""
    uploads, failures = sum(each.uploads for each in outcomes), sum(each.failures for each in outcomes)
    slowest = max((each.slowest for each in outcomes), key=lambda cost: cost.seconds, default=Cost())
    largest = max((each.largest for each in outcomes), key=lambda cost: cost.grown, default=Cost())
    lines = [
        f"{uploads:,} fuzzed uploads: 5xx {failures}, worst time {slowest.seconds:.2f} s of processor, worst memory "
        f"{_mib(largest)} MiB (seed {seed}, {sum(each.bytes for each in outcomes) / 1e6:,.0f} MB)",
        "",
        "| kind | uploads | MB | 5xx | worst time, s | bound | s a MB at worst | worst memory, MiB | bound "
        "| bytes a byte at worst |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
        *map(_line, outcomes),
        "",
        "Rates are of uploads from 64 KiB on; bounds are for the upload that took most.",
        "",
    ]
    for outcome in outcomes:
        words = outcome.words.most_common()
        shown = ", ".join(f"{word}: {count:,}" for word, count in words[:SHOWN_WORDS])
        more = sum(count for _, count in words[SHOWN_WORDS:])
        lines.append(f"- **{outcome.kind.name}** — {shown}" + (f", others: {more:,}" if more else ""))
    return "\n".join([*lines, "", *_defects(outcomes)])


def _line(outcome: Outcome) -> str:
    bound, slow, large = outcome.kind.bound, outcome.slowest, outcome.largest
    rate, growth = outcome.slowest_per_byte, outcome.largest_per_byte
    cells = (
        *(outcome.kind.name, f"{outcome.uploads:,}", f"{outcome.bytes / 1e6:,.0f}", outcome.failures),
        *(f"{slow.seconds:.2f}", f"{bound.seconds_for(slow.size):.1f}", f"{rate.seconds / (rate.size or 1) * 1e6:.2f}"),
        *(_mib(large), f"{bound.bytes_for(large.size) / 2**20:.0f}", f"{growth.grown / (growth.size or 1):.1f}"),
    )
    return f"| {' | '.join(map(str, cells))} |"


def _mib(cost: Cost) -> str:
    return f"{cost.grown / 2**20:.0f}"


def _defects(outcomes: Sequence[Outcome]) -> list[str]:
    lines = []
    for outcome in outcomes:
        for name, defect in outcome.defects.items():
            lines.append(f"**{outcome.kind.name}, {defect.times} times: {name}**")
            lines += [f"    {defect.upload}", *(f"    {line}" for line in defect.what.splitlines()[-12:]), ""]
    return lines
