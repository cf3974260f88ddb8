"""What is kept of an agreement: the figures, and of which judge, by which rubric, with whose scores."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from scoring.agreement.human import FEWEST_ITEMS
from scoring.errors import Message, ScoringError, WordedError
from scoring.judging.parsing import HIGHEST
from scoring.records import ScoreReport
from scoring.signature import is_demo, metric_signatures

KIND: Final = "judge-agreement"
_PROMPT: Final = ("id", "language", "sha256")


class NoJudgement(WordedError, ScoringError):
    """The result has no values of this judge."""

    code = "no_judgement"
    words = Message(
        "채점 결과에 심사 모델의 값이 없습니다({metric}). 심사 모델([judge])이 있는 프로필로 채점한 결과를 주십시오. "
        "이 결과에 있는 심사: {known}",
        "The result has no values of a judge ({metric}). Name one scored with a profile that has a [judge]. Judged in "
        "this result: {known}",
    )


class TooFewJudged(WordedError, ScoringError):
    """Agreement needs two items that both the judge and people scored."""

    code = "too_few_judged"
    words = Message(
        "심사 모델과 사람이 모두 점수를 매긴 문항이 {count}개입니다. 일치도를 내려면 2개 이상이어야 합니다.",
        "Both the judge and people scored {count} items. Agreement needs two or more.",
    )


@dataclass(frozen=True, slots=True)
class Judged:
    """A judge's values of items, which are fifths of its score; 0 means none. ``judge`` describes it."""

    metric: str
    signature: str  # the hash of the metric's signature
    judge: Mapping[str, Any]
    values: Mapping[str, float]
    is_demo: bool = False


def judged_by(report: ScoreReport, metric: str) -> Judged:
    """The judge's values in ``report``. Raises ``NoJudgement``."""
    values = {item.id: item.scores[metric] for item in report.items if metric in item.scores}
    return judged_of(report.signature, metric, values)


def judged_of(signature: Mapping[str, Any], metric: str, values: Mapping[str, float]) -> Judged:
    """``values`` of ``metric`` as scored with ``signature``, that of the whole score. Raises ``NoJudgement``."""
    part = signature.get("metrics", {}).get(metric, {})
    if not _is_judge(part) or not values:
        raise NoJudgement(metric=metric, known=", ".join(judges_in(signature)) or "-")
    return Judged(metric, metric_signatures(signature)[metric], _described(part), values, is_demo(signature))


def judges_in(signature: Mapping[str, Any]) -> list[str]:
    """The metrics of a judge that a score with ``signature`` has."""
    return [name for name, part in signature.get("metrics", {}).items() if _is_judge(part)]


def _is_judge(part: Mapping[str, Any]) -> bool:
    return "prompt" in part and "server" in part


def _described(part: Mapping[str, Any]) -> dict[str, Any]:
    server = part["server"]
    return {
        "model": part["model"],
        "version": server.get("version"),
        "quantisation": server.get("quantisation"),
        "prompt": {name: part["prompt"][name] for name in _PROMPT},
    }


def agreement(judged: Judged, human: Mapping[str, float], *, data: bytes, source: str) -> dict[str, Any]:
    """The record, as JSON, of the agreement with ``human``, read from the file ``data``, which came from ``source``.

    ``unanswered`` items have a score by people, but no answer of the judge: they are left out. Raises ``TooFewJudged``.
    """
    both = [item for item in human if judged.values.get(item, 0.0) > 0]
    if len(both) < FEWEST_ITEMS:
        raise TooFewJudged(count=len(both))
    from scoring.agreement.figures import figures  # numpy, which the site's web process starts without
    from scoring.significance.resampling import SEED, TRIALS

    found = figures([round(judged.values[item] * HIGHEST) for item in both], [human[item] for item in both])
    return {
        "kind": KIND,
        "metric": judged.metric,
        "metric_signature": judged.signature,
        "judge": dict(judged.judge),
        "is_demo": judged.is_demo,
        "source": source,
        "human_sha256": hashlib.sha256(data).hexdigest(),
        "unanswered": len(human) - len(both),
        "trials": TRIALS,
        "seed": SEED,
        **found.as_dict(),
    }
