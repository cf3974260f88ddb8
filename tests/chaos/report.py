"""The outcome of a run as Markdown."""

from __future__ import annotations

from collections import defaultdict
from statistics import median

from tests.chaos.outcome import Outcome, Recovery


def report(outcome: Outcome) -> str:
    """Counts, invariants, and the longest recovery by kind of fault."""
    lines = [
        f"seed {outcome.seed}, {outcome.seconds / 60:.1f} minutes: {len(outcome.recoveries)} faults, {outcome.uploads}"
        f" uploads ({outcome.large} large) in {outcome.requests} requests, {outcome.judgements} judgements,"
        f" {len(outcome.retries)} failed attempts,"
        f" {outcome.checks} looks at the database; longest stall of an upload {max(outcome.stalls, default=0):.1f} s",
        f"uploads at once, under a fault: {_longest(outcome.stalls_of_many)} to the answer,"
        f" {_longest(outcome.scored_of_many)} to the score",
        "",
        "| invariant | found | must be | |",
        "| --- | ---: | --- | --- |",
        *(
            f"| {what} | {value} | {limit} | {'holds' if is_so else '**broken**'} |"
            for what, value, limit, is_so in outcome.invariants()
        ),
        "",
        "| fault | times | sound again after, s: median | longest | site down at most, s |",
        "| --- | ---: | ---: | ---: | ---: |",
    ]
    by_kind: dict[str, list[Recovery]] = defaultdict(list)
    for each in outcome.recoveries:
        by_kind[each.fault if " + " not in each.fault else "two at once"].append(each)
    for kind, found in sorted(by_kind.items(), key=lambda item: item[0] == "two at once"):
        seconds = [each.seconds for each in found]
        down = max(outcome.longest_down(each.began, each.sound or each.ended) for each in found)
        lines.append(f"| {kind} | {len(found)} | {median(seconds):.1f} | {max(seconds):.1f} | {down:.1f} |")
    return "\n".join([*lines, "", *outcome.details()])


def _longest(seconds: list[float]) -> str:
    return f"{median(seconds):.1f} s (longest {max(seconds):.1f})" if seconds else "nothing"
