"""Agreement of LLM judges with people, as the manage pages and the card of the metric show it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from malpan.submissions.models import JudgeAgreement

FIGURES: Final = ("pearson", "spearman", "kappa")  # in the order of the columns
_REASONS: Final = {  # why a figure is undefined, as ``scoring.agreement`` names it
    "constant_judge": _("심사 모델의 점수가 모두 같습니다"),
    "constant_people": _("사람의 점수가 모두 같습니다"),
    "constant_both": _("심사 모델의 점수도, 사람의 점수도 모두 같습니다"),
}


@dataclass(frozen=True, slots=True)
class AgreementLine:
    """One recorded agreement. ``figures``: value and interval of each figure, as texts; of an undefined one the reason
    in the place of the interval.
    """

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
    if estimate["value"] is None:
        return gettext("정할 수 없음"), str(_REASONS[estimate["reason"]])
    return f"{estimate['value']:.3f}", f"{estimate['low']:.3f}–{estimate['high']:.3f}"
