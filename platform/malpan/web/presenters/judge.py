"""Agreement of LLM judges with people, as the manage pages and the card of the metric show it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from malpan.submissions.models import JudgeAgreement

FIGURES: Final = ("pearson", "spearman", "kappa")  # in the order of the columns


@dataclass(frozen=True, slots=True)
class AgreementLine:
    """One recorded agreement. ``figures``: value and interval of each figure, as texts."""

    pk: int
    metric: str
    judge: str
    prompt: str
    is_demo: bool
    items: int
    unanswered: int
    figures: tuple[tuple[str, str], ...]
    source: str
    at: datetime


def agreement_lines(rows: Iterable[JudgeAgreement]) -> list[AgreementLine]:
    return [_line(row) for row in rows]


def _line(row: JudgeAgreement) -> AgreementLine:
    judge, prompt = row.judge, row.judge["prompt"]
    return AgreementLine(
        pk=row.pk,
        metric=row.metric,
        judge=" · ".join(str(part) for part in (judge["model"], judge["version"], judge["quantisation"]) if part),
        prompt=f"{prompt['id']} ({prompt['language']})",
        is_demo=row.is_demo_models,
        items=row.figures["items"],
        unanswered=row.figures["unanswered"],
        figures=tuple(_texts(row.figures[name]) for name in FIGURES),
        source=row.source,
        at=row.created_at,
    )


def _texts(estimate: dict[str, Any]) -> tuple[str, str]:
    return f"{estimate['value']:.3f}", f"{estimate['low']:.3f}–{estimate['high']:.3f}"
