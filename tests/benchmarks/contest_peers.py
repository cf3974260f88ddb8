"""What the contest's teams run today: bert-score, the README loop of bleurt-pytorch, rouge-metric pair by pair."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable
from pathlib import Path

from scoring.verification.packages import BATCH, BertScorePackage, BleurtPackage, RougePackage
from tests.benchmarks.contest import LAYER, Submission

Score = Callable[[Submission], list[float]]


def bert_score_of(folder: Path, layers: int) -> Score:
    """``bert_score.score`` as its users call it: it loads the model in each call."""
    import bert_score

    options = {"model_type": str(folder), "num_layers": min(LAYER, layers), "device": "cpu", "batch_size": BATCH}

    def score(submission: Submission) -> list[float]:
        with contextlib.redirect_stderr(io.StringIO()):  # it warns of the pooler it never uses
            f1 = bert_score.score(submission.candidates, submission.references, **options)[2]
        return [float(value) for value in f1]

    return score


def bert_scorer_of(folder: Path, layers: int) -> Score:
    """A ``BERTScorer`` made once and used again: the package's own way of not loading the model each time."""
    scorer = BertScorePackage(folder, min(LAYER, layers))
    return lambda submission: scorer.score(submission.references, submission.candidates)


class BleurtLoop:
    """The README of bleurt-pytorch in batches of 64, with the truncation the contest needs."""

    def __init__(self, folder: Path) -> None:
        self._package = BleurtPackage(folder, max_length=512)

    def __call__(self, submission: Submission) -> list[float]:
        """In the order of the file."""
        return self._package.score(submission.references, submission.candidates)

    def by_length(self, submission: Submission) -> list[float]:
        """The same loop over pairs sorted by length, which spares most of the padding."""
        pairs = submission.pairs
        order = sorted(range(len(pairs)), key=lambda index: -len(pairs[index][0]) - len(pairs[index][1]))
        values = self._package.score(*zip(*(pairs[index] for index in order), strict=True))
        return [value for _, value in sorted(zip(order, values, strict=True))]

    def padding_share(self, submission: Submission) -> float:
        """Share of this loop's tokens that are padding, in the order of the file."""
        real = padded = 0
        for start in range(0, len(submission.references), BATCH):
            part = slice(start, start + BATCH)
            mask = self._package.inputs(submission.references[part], submission.candidates[part])["attention_mask"]
            real, padded = real + int(mask.sum()), padded + mask.numel()
        return 1 - real / padded


def bleurt_of(folder: Path) -> Score:
    """The README of bleurt-pytorch from its first line: loading the model, then the loop."""
    return lambda submission: BleurtLoop(folder)(submission)


def rouge_metric(submission: Submission) -> list[float]:
    """ROUGE-1 with the rouge-metric package, pair by pair, on the morphs the contest uses."""
    return RougePackage().score(submission.references, submission.candidates)
