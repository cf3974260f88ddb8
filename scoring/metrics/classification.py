"""Accuracy and F1 of labels, one or several to an item, by the definitions of scikit-learn with ``zero_division=0``.

An item has a set of reference labels and a set of predicted ones; a task with one label an item has sets of one, and
all definitions coincide. With tp, t and p the shared, reference and predicted labels counted:

* accuracy: share of items whose two sets are equal (``accuracy_score``: equality, subset accuracy);
* F1 of a class: 2 tp / (t + p), and 0 where the denominator is 0;
* micro: the same of the counts of all classes together (with one label an item that is the accuracy);
* macro: mean over the classes; weighted: mean over the classes weighted by t, 0 where no item has a reference label;
* samples: mean over the items of their own F1, 0 where both sets are empty.

The classes are those seen in the references or the predictions of the items at hand, which is scikit-learn's default
(``unique_labels``; ``MultiLabelBinarizer`` fitted on both for sets). A predicted label that no reference has is
therefore a class with F1 0: inventing labels lowers one's own macro F1 and can raise nothing.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from scoring.metrics import PairProgress, Row
from scoring.recipes.labels import MAX_LABELS, labels_of

if TYPE_CHECKING:
    from scoring.models.store import Resources

LabelPair = tuple[frozenset[float], frozenset[float]]  # codes of the reference labels, of the predicted labels

FloatArray = NDArray[np.float64]

MAX_RESAMPLED_CLASSES: Final = 200
CODE_BITS: Final = 52  # an integer of 53 bits is the longest that a float holds exactly


@dataclass(frozen=True, slots=True)
class ClassCounts:
    """Of each class seen: how many items share it, have it in the reference, have it in the prediction."""

    shared: Counter[float]
    reference: Counter[float]
    predicted: Counter[float]

    def classes(self) -> set[float]:
        return {*self.reference, *self.predicted}


def count_classes(pairs: Mapping[LabelPair, int]) -> ClassCounts:
    """The counts of distinct (reference labels, predicted labels) pairs, each with the number of its items."""
    counts = ClassCounts(Counter(), Counter(), Counter())
    for (reference, predicted), items in pairs.items():
        for label in reference:
            counts.reference[label] += items
        for label in predicted:
            counts.predicted[label] += items
        for label in reference & predicted:
            counts.shared[label] += items
    return counts


def f1(shared: int, reference: int, predicted: int) -> float:
    """2 tp / (t + p); 0.0 where nothing is in the reference or the prediction."""
    return 2 * shared / (reference + predicted) if reference + predicted else 0.0


def accuracy(pairs: Mapping[LabelPair, int]) -> float:
    """Share of items whose two label sets are equal; 0.0 of no items."""
    equal = sum(items for (reference, predicted), items in pairs.items() if reference == predicted)
    return _share(equal, sum(pairs.values()))


def f1_micro(counts: ClassCounts) -> float:
    """F1 of the counts of all classes together."""
    return f1(counts.shared.total(), counts.reference.total(), counts.predicted.total())


def f1_macro(counts: ClassCounts) -> float:
    """Mean F1 of the classes seen."""
    values = [_class_f1(counts, label) for label in counts.classes()]
    return math.fsum(values) / len(values) if values else 0.0


def f1_weighted(counts: ClassCounts) -> float:
    """Mean F1 of the classes, weighted by how many items have them in the reference."""
    weighted = math.fsum(_class_f1(counts, label) * weight for label, weight in counts.reference.items())
    return _share(weighted, counts.reference.total())


def f1_samples(pairs: Mapping[LabelPair, int]) -> float:
    """Mean over the items of the F1 of their two sets."""
    total = math.fsum(
        items * f1(len(reference & predicted), len(reference), len(predicted))
        for (reference, predicted), items in pairs.items()
    )
    return _share(total, sum(pairs.values()))


def classification_scores(pairs: Mapping[LabelPair, int]) -> dict[str, float]:
    """Every score by name, of distinct (reference labels, predicted labels) pairs with their numbers of items."""
    counts = count_classes(pairs)
    return {
        "accuracy": accuracy(pairs),
        "f1_micro": f1_micro(counts),
        "f1_macro": f1_macro(counts),
        "f1_weighted": f1_weighted(counts),
        "f1_samples": f1_samples(pairs),
    }


def label_code(label: str) -> float:
    """A whole number below 2**52 that stands for ``label`` in a row: the head of its SHA-256.

    Codes need no table of labels, so a row means the same whichever items it is kept or resampled with. Of 10,000
    labels two share a code with a probability of about 1e-8.
    """
    head = hashlib.sha256(label.encode("utf-8", "surrogatepass")).digest()[:8]
    return float(int.from_bytes(head, "big") >> (64 - CODE_BITS))


def encode(reference: Iterable[str], predicted: Iterable[str]) -> Row:
    """The row of an item: the number of its reference labels, their codes, then the codes of the predicted ones."""
    codes = sorted(map(label_code, reference))
    return (float(len(codes)), *codes, *sorted(map(label_code, predicted)))


def decode(row: Row) -> LabelPair:
    """The two sets of codes of a row."""
    end = 1 + int(row[0])
    return frozenset(row[1:end]), frozenset(row[end:])


def resampled_classes(rows: Iterable[Row], limit: int = MAX_RESAMPLED_CLASSES) -> list[float]:
    """The ``limit`` commonest label codes of these rows: by the references, then by the predictions."""
    counts = count_classes(Counter(map(decode, rows)))
    seen = sorted(counts.classes(), key=lambda code: (-counts.reference[code], -counts.predicted[code], code))
    return seen[:limit]


def additive(rows: Sequence[Row], classes: Sequence[float]) -> FloatArray:
    """Rows that can be summed, (items, 6 + 3 * classes): 1, sets equal, F1 of the item, then t, p and tp of each class.

    For resampling. ``classes`` are the label codes that count, normally ``resampled_classes`` of both systems' rows.
    All others together are one further class, the last: were each free text a column, memory would have no bound.
    That leaves micro F1, accuracy and the F1 of items as they are; macro and weighted F1 then are approximations.
    """
    place = {code: position for position, code in enumerate(classes)}
    table = np.zeros((len(rows), 3, len(place) + 1))
    items = np.ones((len(rows), 3))
    for number, (reference, predicted) in enumerate(map(decode, rows)):
        shared = reference & predicted
        items[number, 1:] = reference == predicted, f1(len(shared), len(reference), len(predicted))
        for part, labels in enumerate((reference, predicted, shared)):
            for code in labels:
                table[number, part, place.get(code, -1)] += 1
    return np.hstack([items, table.reshape(len(rows), -1)])


def scores_of_sums(sums: FloatArray) -> dict[str, FloatArray]:
    """Every score, (trials,) each, of summed ``additive`` rows (trials, 6 + 3 * classes)."""
    counted, equal, of_items = sums[:, 0], sums[:, 1], sums[:, 2]
    reference, predicted, shared = np.moveaxis(sums[:, 3:].reshape(len(sums), 3, -1), 1, 0)
    by_class = _divided(2 * shared, reference + predicted)
    return {
        "accuracy": _divided(equal, counted),
        "f1_micro": _divided(2 * shared.sum(axis=1), (reference + predicted).sum(axis=1)),
        "f1_macro": _divided(by_class.sum(axis=1), (reference + predicted > 0).sum(axis=1)),
        "f1_weighted": _divided((by_class * reference).sum(axis=1), reference.sum(axis=1)),
        "f1_samples": _divided(of_items, counted),
    }


def _divided(part: FloatArray, whole: NDArray[Any]) -> FloatArray:
    """``part / whole``, 0 where ``whole`` is 0."""
    quotients: FloatArray = np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)
    return quotients


def _class_f1(counts: ClassCounts, label: float) -> float:
    return f1(counts.shared[label], counts.reference[label], counts.predicted[label])


def _share(part: float, whole: int) -> float:
    return part / whole if whole else 0.0


class Classification:
    """Accuracy and F1 of labels. Texts are label texts as ``scoring.recipes.labels.labels_of`` reads them.

    An item has one reference text, which holds all its labels; further ones are not looked at. Rows differ in length.
    """

    name = "classification"
    score_names = ("accuracy", "f1_micro", "f1_macro", "f1_weighted", "f1_samples")
    has_item_values = False

    def __init__(self, resources: Resources | None = None) -> None:
        """``resources`` is ignored: no model is needed."""

    def signature(self) -> dict[str, Any]:
        return {
            "metric": self.name,
            "rule": "label-sets@1",
            "classes": "seen",
            "zero_division": 0,
            "max_labels": MAX_LABELS,
            "code_bits": CODE_BITS,
        }

    def statistics(
        self,
        ids: Sequence[str],
        references: Sequence[Sequence[str]],
        candidates: Sequence[str],
        progress: PairProgress | None = None,
    ) -> list[Row]:
        """One row an item: see ``encode``. Raises ``UnreadableAnswer`` for a text that is no label text."""
        rows = [
            encode(labels_of(texts[0]), labels_of(candidate))
            for _, texts, candidate in zip(ids, references, candidates, strict=True)
        ]
        if progress is not None:
            progress(len(rows), len(ids))
        return rows

    def aggregate(self, rows: Sequence[Row]) -> Mapping[str, float]:
        """The scores of these items; equal rows are worked out once, so resampling thousands of times stays cheap."""
        return classification_scores({decode(row): items for row, items in Counter(rows).items()})
