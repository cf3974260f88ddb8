"""How much each number format changes the scores of a profile's models on this machine, and how much time it saves.

This shows an organiser the cost of a faster format. The format is recorded in signatures, and scores in different
formats are never ranked together, so the choice is made once, before a phase begins.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from scoring.metrics import load_pair_metric
from scoring.models.devices import DeviceName, resolve_device
from scoring.models.precision import available_precisions
from scoring.models.profile import TEXT_ROLES, ModelRole, Profile
from scoring.models.store import EMBEDDINGS_VARIABLE, ModelStore
from scoring.running.run import score_distinct
from scoring.verification.samples import SAMPLES


@dataclass(frozen=True, slots=True)
class Deviation:
    """How far scores in ``precision`` are from those in fp32 over ``SAMPLES``; ``speed`` is a multiple of fp32's."""

    role: ModelRole
    precision: str
    largest: float
    mean: float
    speed: float


def measure_precisions(profile: Profile, device: DeviceName = "auto") -> tuple[Deviation, ...]:
    """One ``Deviation`` for each model of ``profile`` and each further precision that the device computes in.

    Loads the models once in every precision, one at a time. Raises ``ModelUnavailable``, and ``MetricFault`` if a
    format gives no number.
    """
    others = [name for name in available_precisions(resolve_device(device)) if name != "fp32"]
    found: list[Deviation] = []
    for role in (role for role in TEXT_ROLES if getattr(profile, role) is not None):
        exact, seconds = _values(profile, role, "fp32", device)
        for precision in others:
            values, took = _values(profile, role, precision, device)
            moved = [abs(one - other) for one, other in zip(values, exact, strict=True)]
            found.append(Deviation(role, precision, max(moved), sum(moved) / len(moved), seconds / took))
    return tuple(found)


def _values(profile: Profile, role: ModelRole, precision: str, device: DeviceName) -> tuple[Sequence[float], float]:
    """Scores of ``SAMPLES`` in ``precision``, and the seconds they took once the model was loaded and warm."""
    with without_kept_embeddings():
        metric = load_pair_metric(role, ModelStore(replace(profile, precision=precision), device))
        metric.score_pairs([SAMPLES[0][1]], [SAMPLES[0][0]])
    started = time.perf_counter()
    values = score_distinct(metric, SAMPLES, lambda *_: None)
    return values, time.perf_counter() - started


@contextmanager
def without_kept_embeddings() -> Iterator[None]:
    """Without the folder of embeddings: reading them would be measured instead of computing."""
    folder = os.environ.pop(EMBEDDINGS_VARIABLE, None)
    try:
        yield
    finally:
        if folder is not None:
            os.environ[EMBEDDINGS_VARIABLE] = folder
