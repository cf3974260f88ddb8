"""How far scores of one file lie apart when it is scored again, from the repetitions that organisers started.

What a judge says may differ from run to run; a difference within that spread is not called one. As in the comparison of
two files (``scoring.significance``) the spread of a score is the largest range of its values over the files that were
scored several times.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping

from malpan.competitions.models import Phase
from malpan.submissions.models import ScoringRun


def spreads_of(phase: Phase, signatures: Collection[str] | None = None) -> dict[str, float]:
    """The spread of every score (0-1) that differed between repetitions of equal signature in ``phase``, or of those
    with one of ``signatures`` alone; empty without repetitions. One query.
    """
    rows = ScoringRun.objects.filter(batch__phase=phase, batch__repeats__gt=1, state=ScoringRun.State.FINISHED)
    if signatures is not None:
        rows = rows.filter(signature_hash__in=signatures)
    again: dict[tuple[int, str], list[Mapping[str, float]]] = defaultdict(list)
    for submission, hash_of, scores in rows.order_by().values_list("submission_id", "signature_hash", "scores"):
        again[submission, hash_of].append(scores)
    found: dict[str, float] = {}
    for runs in again.values():
        for name in runs[0]:
            values = [run[name] for run in runs if name in run]
            found[name] = max(found.get(name, 0.0), max(values) - min(values))
    return {name: width for name, width in found.items() if width > 0}
