"""How far scores of one file lie apart when it is scored again, from the repetitions that organisers started.

What a judge says may differ from run to run; a difference within that spread is not called one. As in the comparison of
two files (``scoring.significance``) the spread of a score is the largest range of its values over the files that were
scored several times. Every view of a board of composites asks for it, so it is kept in the memory of the process until
another repetition is finished.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Final

from django.db.models import Count, Max, QuerySet

from malpan.competitions.models import Phase
from malpan.submissions.models import ScoringRun

KEPT: Final = 64  # boards

State = tuple[Any, ...]  # of the repetitions: how many are finished, and the newest of them


def spreads_of(phase: Phase, signatures: Collection[str] | None = None) -> Mapping[str, float]:
    """The spread of every score (0-1) that differed between repetitions of equal signature in ``phase``, or of those
    with one of ``signatures`` alone; empty without repetitions. One query that reads no scores; after another
    repetition one more.
    """
    asked = None if signatures is None else frozenset(signatures)
    found = _repetitions(phase.pk, asked).aggregate(count=Count("pk"), newest=Max("pk"), at=Max("finished_at"))
    return _spreads(phase.pk, asked, tuple(found.values())) if found["count"] else {}


def _repetitions(phase: int, signatures: frozenset[str] | None) -> QuerySet[ScoringRun]:
    rows = ScoringRun.objects.filter(batch__phase=phase, batch__repeats__gt=1, state=ScoringRun.State.FINISHED)
    return rows if signatures is None else rows.filter(signature_hash__in=signatures)


@lru_cache(KEPT)
def _spreads(phase: int, signatures: frozenset[str] | None, _state: State) -> Mapping[str, float]:
    again: dict[tuple[int, str], list[Mapping[str, float]]] = defaultdict(list)
    rows = _repetitions(phase, signatures).order_by().values_list("submission_id", "signature_hash", "scores")
    for submission, hash_of, scores in rows:
        again[submission, hash_of].append(scores)
    found: dict[str, float] = {}
    for runs in again.values():
        for name in runs[0]:
            values = [run[name] for run in runs if name in run]
            found[name] = max(found.get(name, 0.0), max(values) - min(values))
    return MappingProxyType({name: width for name, width in found.items() if width > 0})
