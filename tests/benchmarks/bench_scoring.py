"""Time and agreement of our scoring beside other implementations, in one run on one machine.

Models have the real architectures' sizes and random weights, made in a temporary folder: BERTScore on BERT-base
(12 layers, 768 wide, layer 9 as in the contest), BLEURT as wide as BLEURT-20 (1,152 wide, 18 heads, 4,608 inside) with
``--bleurt-layers`` of its 32 layers. A submission is 498 pairs of reasons like the contest's (about 135 tokens a pair,
the longest about 350). Two submissions meet the same references; runs alternate with the other implementation's:

  bert-score      bert_score.score(candidates, references, model_type, num_layers, batch_size=64)
  bleurt-pytorch  the loop of its README in batches of 64, padding="longest", with the truncation the contest needs
  rouge-metric    PyRouge pair by pair on mecab-ko morphs

"first" includes loading the models; "next" is the second submission, with references known. The others keep nothing
between submissions, so their one time stands for both. "max |diff|" compares the values of the first submission.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import random
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch

from scoring.checkpoints import Resources
from scoring.metrics import load_metric
from tests.scoring.models import SENTENCES, make_bert, make_sentencepiece_bleurt, write_profile

REFERENCE_BATCH = 64  # as the users of both packages have it
LAYER = 9
MEAN_CHARACTERS, LONGEST_CHARACTERS = 51, 132  # of one reason without spaces


@dataclass(frozen=True)
class Size:
    """What is measured: items of a submission and the sizes of the models."""

    items: int
    bert_layers: int
    bert_hidden: int
    bleurt_layers: int
    bleurt_hidden: int
    bleurt_heads: int
    bleurt_embedding: int


@dataclass(frozen=True)
class Submission:
    references: list[str]
    candidates: list[str]


@dataclass(frozen=True)
class Row:
    """One line of the table; seconds, and the largest difference of a value from the other implementation's."""

    metric: str
    peer: str
    first_s: float
    next_s: float
    peer_s: float
    difference: float


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark and print its table. Returns 0, or 1 if a value differs by more than 1e-5."""
    options = _options(arguments)
    size = (
        Size(12, 2, 64, 1, 64, 4, 32)
        if options.quick
        else Size(options.items, 12, 768, options.bleurt_layers, 1152, 18, 256)
    )
    rng = random.Random(options.seed)
    references = [reason(rng) for _ in range(size.items)]
    first, following = (Submission(references, [answer(rng, text) for text in references]) for _ in range(2))
    with tempfile.TemporaryDirectory(prefix="malpan-bench-") as folder:
        profile = make_models(Path(folder), size)
        describe(size, first, Resources(profile, "cpu"))
        rows = [
            measure("bertscore", "bert-score", profile, first, following, bert_score_of(Path(folder) / "bert", size)),
            measure("bleurt", "bleurt-pytorch", profile, first, following, bleurt_pytorch_of(Path(folder) / "bleurt")),
            measure("rouge_1", "rouge-metric", profile, first, following, rouge_metric),
        ]
    print_table(rows)
    return 0 if all(row.difference <= 1e-5 for row in rows) else 1


def reason(rng: random.Random) -> str:
    """A reason of the contest's length: words of real rules in ever new order, log-normally long."""
    words = [word for sentence in SENTENCES[:-1] for word in sentence.split()]
    wanted = min(LONGEST_CHARACTERS, max(12, int(MEAN_CHARACTERS * rng.lognormvariate(-0.09, 0.42))))
    chosen: list[str] = []
    while sum(map(len, chosen)) < wanted:
        chosen.append(rng.choice(words))
    return " ".join(chosen) + "."


def answer(rng: random.Random, reference: str) -> str:
    """A candidate: about two thirds of the reference's words, the others replaced, dropped or doubled."""
    others = reason(rng).split()
    words: list[str] = []
    for word in reference.split():
        luck = rng.random()
        if luck < 0.68:
            words.append(word)
        elif luck < 0.92:
            words.append(rng.choice(others))
        elif luck < 0.96:
            words += [word, rng.choice(others)]
    return " ".join(words) or reference


def make_models(folder: Path, size: Size) -> Path:
    """Both models and the profile that names them."""
    bert = make_bert(folder / "bert", layers=size.bert_layers, hidden=size.bert_hidden)
    bleurt = make_sentencepiece_bleurt(
        folder / "bleurt",
        layers=size.bleurt_layers,
        hidden=size.bleurt_hidden,
        pieces="char",
        num_attention_heads=size.bleurt_heads,
        embedding_size=size.bleurt_embedding,
    )
    layer = min(LAYER, size.bert_layers)
    return write_profile(folder / "bench.toml", bertscore=bert, num_layers=layer, bleurt=bleurt)


def describe(size: Size, submission: Submission, resources: Resources) -> None:
    """Say what the figures stand for."""
    pairs = list(zip(submission.references, submission.candidates, strict=True))
    lengths = [len(pair.ids) for pair in resources.bleurt.tokenizer.encode_pairs(pairs)]
    print(
        f"{size.items} pairs, tokens a pair: mean {statistics.mean(lengths):.0f}, longest {max(lengths)}; "
        f"{torch.get_num_threads()} threads, load {os.getloadavg()[0]:.1f}, torch {torch.__version__}\n"
        f"BERT {size.bert_layers}x{size.bert_hidden} to layer {min(LAYER, size.bert_layers)}, "
        f"vocabulary {resources.bertscore.model.config.vocab_size:,}; "
        f"BLEURT {size.bleurt_layers}x{size.bleurt_hidden}, vocabulary {resources.bleurt.model.config.vocab_size:,}; "
        "random weights, float32, CPU",
        flush=True,
    )


def measure(
    name: str,
    peer: str,
    profile: Path,
    first: Submission,
    following: Submission,
    score_with_peer: Callable[[Submission], list[float]],
) -> Row:
    """Ours on the first submission, the other implementation on the same, ours on the next one."""
    metric = load_metric(name, Resources(profile, "cpu"))
    values, first_s = timed(lambda: metric.score_pairs(first.references, first.candidates))
    theirs, peer_s = timed(lambda: score_with_peer(first))
    _, next_s = timed(lambda: metric.score_pairs(following.references, following.candidates))
    difference = max(abs(one - other) for one, other in zip(values, theirs, strict=True))
    row = Row(name, peer, first_s, next_s, peer_s, difference)
    print(f"  {name}: first {first_s:.2f} s, {peer} {peer_s:.2f} s, next {next_s:.2f} s", flush=True)
    return row


def timed(work: Callable[[], list[float]]) -> tuple[list[float], float]:
    """What ``work`` returns, and the seconds it took."""
    started = time.perf_counter()
    values = work()
    return values, time.perf_counter() - started


def bert_score_of(folder: Path, size: Size) -> Callable[[Submission], list[float]]:
    """The bert-score package as its users call it: it loads the model in each call."""
    import bert_score

    def score(submission: Submission) -> list[float]:
        with contextlib.redirect_stderr(io.StringIO()):  # it warns of the pooler it never uses
            f1 = bert_score.score(
                submission.candidates,
                submission.references,
                model_type=str(folder),
                num_layers=min(LAYER, size.bert_layers),
                batch_size=REFERENCE_BATCH,
                device="cpu",
            )[2]
        return f1.tolist()

    return score


def bleurt_pytorch_of(folder: Path) -> Callable[[Submission], list[float]]:
    """The README of bleurt-pytorch, in batches; loading counts as it does in ours."""
    from bleurt_pytorch import BleurtForSequenceClassification, BleurtTokenizer
    from transformers.utils import logging

    def score(submission: Submission) -> list[float]:
        logging.set_verbosity_error()
        tokenizer = BleurtTokenizer.from_pretrained(folder)
        model = BleurtForSequenceClassification.from_pretrained(folder)
        model.eval()
        values: list[float] = []
        with torch.no_grad():
            for start in range(0, len(submission.references), REFERENCE_BATCH):
                references = submission.references[start : start + REFERENCE_BATCH]
                candidates = submission.candidates[start : start + REFERENCE_BATCH]
                inputs = tokenizer(
                    references, candidates, padding="longest", truncation=True, max_length=512, return_tensors="pt"
                )
                values += model(**inputs).logits.flatten().tolist()
        return values

    return score


def rouge_metric(submission: Submission) -> list[float]:
    """ROUGE-1 with the rouge-metric package, pair by pair, on the morphs the contest uses."""
    import mecab
    from rouge_metric import PyRouge

    from scoring.metrics.rouge import clean

    analyser = mecab.MeCab()
    rouge = PyRouge(rouge_n=(1,), rouge_l=False)
    values: list[float] = []
    for reference, candidate in zip(submission.references, submission.candidates, strict=True):
        lines = [[analyser.morphs(clean(text))] for text in (reference, candidate)]
        scores = rouge.evaluate_tokenized([lines[1]], [[lines[0]]])
        values.append(float(scores["rouge-1"]["f"]))
    return values


def print_table(rows: Sequence[Row]) -> None:
    print(
        f"\n{'metric':<10} {'first':>9} {'next':>9} {'other':>9}  {'other implementation':<20}"
        f" {'first':>7} {'next':>7} {'max |diff|':>11}"
    )
    for row in rows:
        print(
            f"{row.metric:<10} {row.first_s:>7.2f} s {row.next_s:>7.2f} s {row.peer_s:>7.2f} s  {row.peer:<20}"
            f" {row.peer_s / row.first_s:>6.2f}x {row.peer_s / row.next_s:>6.2f}x {row.difference:>11.1e}"
        )
    first, following, peers = (sum(getattr(row, name) for row in rows) for name in ("first_s", "next_s", "peer_s"))
    print(
        f"{'submission':<10} {first:>7.2f} s {following:>7.2f} s {peers:>7.2f} s  {'all three':<20}"
        f" {peers / first:>6.2f}x {peers / following:>6.2f}x"
    )


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks scoring", description=__doc__.splitlines()[0])
    parser.add_argument("--items", type=int, default=498, help="pairs of a submission (default: the contest's 498)")
    parser.add_argument("--bleurt-layers", type=int, default=3, help="of BLEURT-20's 32 (default: 3)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--quick", action="store_true", help="tiny models, 12 pairs: only to see that it works")
    return parser.parse_args(arguments)
