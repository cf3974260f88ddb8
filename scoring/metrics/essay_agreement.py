"""How predicted scores of essays agree with the references, beside RMSE and Spearman; it ranks nobody.

* ``rmse_<trait>``, ``spearman_<trait>``: of the rounded trait against the trait's own reference.
* ``kappa``, ``kappa_<trait>``: Cohen's kappa with quadratic weights of the values rounded half up, as scikit-learn's
  ``cohen_kappa_score(weights="quadratic")`` computes it: the classes are the values that occur on either side, and
  their distance is that of their places among these. ``kappa`` is of the averages. 0.0 where it is undefined.
* ``mae`` and ``bias``: means of |prediction - average| and of prediction - average.
* ``integer_share``: of the trait scores that could be read, the share that are whole numbers before rounding.

The prediction of an answer that cannot be read is 0, here too. Nothing of this is resampled: more tests would only make
the correction of those that rank harsher.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any, Final

from scoring.errors import Message
from scoring.figures import Figure, ratio
from scoring.metrics.base import Row, RowMetric
from scoring.metrics.essay_rank import spearman
from scoring.text.essays import RULE, TRAITS, answer_of, predicted_average, predicted_trait, rounded

NAMES: Final = (
    *(f"{score}_{trait}" for trait in TRAITS for score in ("rmse", "spearman", "kappa")),
    *("mae", "kappa", "bias", "integer_share"),
)


def root_mean_square(differences: Sequence[float]) -> float:
    return math.sqrt(math.fsum(value * value for value in differences) / len(differences)) if differences else 0.0


def quadratic_kappa(one: Sequence[int], other: Sequence[int]) -> float:
    """Cohen's kappa of two aligned sequences of classes, weighted by the squared distance of their places."""
    places = {value: place for place, value in enumerate(sorted({*one, *other}))}
    left, right = [places[value] for value in one], [places[value] for value in other]
    observed = sum((a - b) ** 2 for a, b in zip(left, right, strict=True))
    squares = sum(place * place for place in (*left, *right))
    expected = len(left) * squares - 2 * sum(left) * sum(right)  # of independent sides, times the number of items
    return 1.0 - observed * len(left) / expected if expected else 0.0


def agreement(rows: Sequence[Row]) -> list[float]:
    """The scores in the order of ``NAMES``."""
    columns = [list(column) for column in zip(*rows, strict=True)]
    found: list[float] = []
    for start in range(0, 2 * len(TRAITS), 2):
        reference, predicted = columns[start : start + 2]
        errors = [b - a for a, b in zip(reference, predicted, strict=True)]
        kappa = quadratic_kappa(list(map(rounded, reference)), list(map(rounded, predicted)))
        found += [root_mean_square(errors), spearman(reference, predicted), kappa]
    reference, predicted, whole, scores = columns[2 * len(TRAITS) :]
    errors = [b - a for a, b in zip(reference, predicted, strict=True)]
    kappa = quadratic_kappa(list(map(rounded, reference)), list(map(rounded, predicted)))
    mean_error, bias = (math.fsum(values) / len(rows) for values in (map(abs, errors), errors))
    return [*found, mean_error, kappa, bias, ratio(math.fsum(whole), math.fsum(scores))]


class EssayAgreement(RowMetric):
    """Scores for reference. A row is (reference, prediction) of each trait and of the average, then the numbers of
    whole scores and of scores.
    """

    name = "essay_agreement"
    label = Message("영역별 일치도", "Agreement by trait")
    rule = "essay-agreement@1"
    group = "exact"
    score_names = NAMES
    texts = "essays"
    reads_whole = True
    is_cheap = True
    is_resampled = False

    def parameters(self) -> dict[str, Any]:
        return {"answers": RULE, "kappa": "quadratic, classes seen"}

    def row(self, references: Sequence[str], candidate: str) -> Row:
        reference, answer = json.loads(references[0]), answer_of(candidate)
        traits = [number for trait in TRAITS for number in (float(reference[trait]), predicted_trait(answer, trait))]
        scores = [] if answer is None else [answer[trait].score for trait in TRAITS]
        whole = sum(score.is_integer() for score in scores)
        return (*traits, float(reference["average"]), predicted_average(answer), float(whole), float(len(scores)))

    @classmethod
    def sums(cls, rows: Sequence[Row]) -> Sequence[float]:
        """The scores themselves: they are not sums of the rows."""
        return agreement(rows)

    @classmethod
    def scores(cls, sums: Sequence[Figure]) -> dict[str, Figure]:
        return dict(zip(NAMES, sums, strict=True))
