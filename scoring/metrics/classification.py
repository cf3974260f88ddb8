"""Accuracy and F1 of labels, one or several for each item, by the definitions of scikit-learn with ``zero_division=0``.

An item has a set of reference labels and a set of predicted ones; in a task with one label for each item they have one
element. With tp, t and p the counts of shared, reference and predicted labels:

* accuracy: share of items whose two sets are equal (``accuracy_score``: equality, subset accuracy);
* F1 of a class: 2 tp / (t + p), and 0 where the denominator is 0;
* micro: the same from the counts of all classes together (with one label for each item it equals the accuracy);
* macro: mean over the classes; weighted: mean over the classes weighted by t, 0 where no item has a reference label;
* samples: mean of the F1 of each item, 0 where both sets are empty.

The classes are those in the references or the predictions of the scored items, which is scikit-learn's default
(``unique_labels``; ``MultiLabelBinarizer`` fitted on both for sets). A predicted label that no reference has is
therefore a class with F1 0: inventing labels lowers the macro F1 and raises nothing.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from scoring.errors import Message
from scoring.figures import Figure, ratio, total
from scoring.metrics.base import Row, RowMetric, Summable
from scoring.text.answers import MAX_LABELS, labels_of

LabelPair = tuple[frozenset[float], frozenset[float]]  # codes of the reference labels, of the predicted labels

MAX_RESAMPLED_CLASSES: Final = 200
CODE_BITS: Final = 52  # a float represents integers of up to 53 bits exactly


@dataclass(frozen=True, slots=True)
class ClassCounts:
    """For each class: how many items have it in both, in the reference, in the prediction."""

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


def f1(shared: Figure, reference: Figure, predicted: Figure) -> Figure:
    """2 tp / (t + p); 0.0 where nothing is in the reference or the prediction."""
    return ratio(2 * shared, reference + predicted)


def scores_of_sums(sums: Sequence[Figure]) -> dict[str, Figure]:
    """Every score by name, from sums of the rows of ``additive``."""
    items, equal, of_items = sums[:3]
    classes = (len(sums) - 3) // 3
    reference, predicted, shared = (sums[3 + part * classes : 3 + (part + 1) * classes] for part in range(3))
    by_class = list(map(f1, shared, reference, predicted))
    seen = total([(t + p > 0) * 1.0 for t, p in zip(reference, predicted, strict=True)])
    weighted = total([value * weight for value, weight in zip(by_class, reference, strict=True)])
    return {
        "accuracy": ratio(equal, items),
        "f1_micro": f1(total(shared), total(reference), total(predicted)),
        "f1_macro": ratio(total(by_class), seen),
        "f1_weighted": ratio(weighted, total(reference)),
        "f1_samples": ratio(of_items, items),
    }


def sums_of(pairs: Mapping[LabelPair, int]) -> list[float]:
    """The sums that ``scores_of_sums`` takes, from distinct pairs of label sets with their numbers of items."""
    counts = count_classes(pairs)
    classes = sorted(counts.classes())
    of_items = [items * f1(len(r & p), len(r), len(p)) for (r, p), items in pairs.items()]
    return [
        sum(pairs.values()),
        sum(items for (reference, predicted), items in pairs.items() if reference == predicted),
        total(of_items),
        *(of_class[code] for of_class in (counts.reference, counts.predicted, counts.shared) for code in classes),
    ]


def label_code(label: str) -> float:
    """A whole number below 2**52 that represents ``label`` in a row: the first bits of its SHA-256.

    Codes need no table of labels, so the meaning of a row does not depend on the items it is kept or resampled with.
    The probability that two of 10,000 labels share a code is about 1e-8.
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


def additive(rows: Sequence[Row], classes: Sequence[float]) -> Any:
    """Rows that can be summed, (items, 6 + 3 * classes): 1, sets equal, F1 of the item, then t, p and tp of each class.

    For resampling. ``classes`` are the label codes that count, normally ``resampled_classes`` of both systems' rows.
    All others together are one further class, the last: with a column for each free text, memory would be unlimited.
    Micro F1, accuracy and the F1 of items stay exact; macro and weighted F1 are then approximations.
    """
    import numpy as np

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


class Classification(RowMetric):
    """Accuracy and F1 of labels. Texts are label texts (see ``scoring.text.answers.labels_of``).

    An item has one reference text, which contains all its labels; further ones are ignored. Rows differ in length.
    """

    name = "classification"
    label = Message("분류 지표", "Classification")
    rule = "label-sets@1"
    group = "exact"
    reads_whole = True
    score_names = ("accuracy", "f1_micro", "f1_macro", "f1_weighted", "f1_samples")

    def parameters(self) -> dict[str, Any]:
        return {"classes": "seen", "zero_division": 0, "max_labels": MAX_LABELS, "code_bits": CODE_BITS}

    def row(self, references: Sequence[str], candidate: str) -> Row:
        """See ``encode``. Raises ``UnreadableAnswer`` for a text that is no label text."""
        return encode(labels_of(references[0]), labels_of(candidate))

    @classmethod
    def sums(cls, rows: Sequence[Row]) -> Sequence[float]:
        """The sums of the rows, computed once for equal rows and only for classes that occur."""
        return sums_of({decode(row): items for row, items in Counter(rows).items()})

    @classmethod
    def scores(cls, sums: Sequence[Figure]) -> dict[str, Figure]:
        return scores_of_sums(sums)

    @classmethod
    def summable(cls, *systems: Sequence[Row]) -> Summable:
        every = [row for rows in systems for row in rows]
        seen = resampled_classes(every, MAX_RESAMPLED_CLASSES + 1)
        approximate: tuple[str, ...] = ()
        if len(seen) > MAX_RESAMPLED_CLASSES:  # the first class left out is the most common of those
            has_weight = any(seen[-1] in decode(row)[0] for row in every)
            approximate = ("f1_macro", "f1_weighted") if has_weight else ("f1_macro",)
        return Summable(tuple(additive(rows, seen[:MAX_RESAMPLED_CLASSES]) for rows in systems), approximate)
