"""The figures of a judge, as ``scoring.arena.quality`` finds them. Loads nothing that computes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class JudgeQuality:
    """Figures of one judge. ``votes`` are real ones; rates and shares are ``None`` where there is nothing to count.

    ``consistency``: share of repeats (of pairs within them) judged as before. ``agreement``: share of verdicts equal to
    another judge's on the same unit; of ratings, the correlation with the others' mean. ``first_share``: of the decided
    comparisons, those won by the output shown first. ``log_random`` and ``log_position``: natural logarithms of
    e-values.
    """

    judge: str
    votes: int
    controls: int
    control_failures: int
    control_p: float | None
    repeats: int
    consistency: float | None
    agreement: float | None
    first_share: float | None
    seconds: float | None
    log_random: float
    log_position: float | None
    flags: tuple[str, ...]

    @classmethod
    def of_row(cls, row: Mapping[str, Any]) -> JudgeQuality:
        """That of ``as_dict``, or of a result document."""
        return cls(**{**row, "flags": tuple(row["flags"])})

    def as_dict(self) -> dict[str, Any]:
        return asdict(self) | {"flags": list(self.flags)}
