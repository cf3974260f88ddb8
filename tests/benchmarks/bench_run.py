"""A whole ``rag-qa@1`` scoring of 498 items beside the sum of the packages as the contest's own code calls them.

The packages: ``bert_score.score``, the README loop of bleurt-pytorch in batches of 64, rouge-metric pair by pair on
mecab-ko morphs; each loads its model and keeps nothing, so their one time stands for all three of ours:

* cold: models are loaded and the references are new;
* second submission: another team's answers to the same references, in the same worker;
* re-upload: the second submission again with 10 answers changed; pairs scored before are known.

Models have the sizes of BERT-base (layer 9) and of the 12-layer BLEURT, with random weights, float32.
"""

from __future__ import annotations

import argparse
import random
import tempfile
from collections.abc import Sequence
from pathlib import Path

from scoring.engine import score
from scoring.models.store import ModelStore
from scoring.records import Item, Items, ScoreReport
from tests.benchmarks.contest import BERT_BASE, BLEURT_D12, TINY, Submission, answer, make_models, submissions
from tests.benchmarks.contest_peers import bert_score_of, bleurt_of, rouge_metric
from tests.benchmarks.tables import Row, deviation, interleaved
from tests.scoring.memory_store import MemoryPairValues

VERDICT = "'돼요'가 옳다. "
CHANGED = 10


def rows(arguments: Sequence[str] = ()) -> list[Row]:
    """Measure; a row for each of the three scorings."""
    options = _options(arguments)
    bert, bleurt = (TINY, TINY) if options.quick else (BERT_BASE, BLEURT_D12)
    first, second = submissions(12 if options.quick else options.items)
    again = with_changes(second, 2 if options.quick else CHANGED)
    with tempfile.TemporaryDirectory(prefix="malpan-bench-") as folder:
        profile = make_models(Path(folder), bert, bleurt)
        packages = {
            "bertscore": bert_score_of(Path(folder) / "bert", bert.layers),
            "bleurt": bleurt_of(Path(folder) / "bleurt"),
            "rouge_1": rouge_metric,
        }
        worker = Worker(profile)
        ways = interleaved(
            {
                "cold": lambda: worker.cold(first),
                "packages": lambda: {name: run(first) for name, run in packages.items()},
                "second submission": lambda: worker.next(second),
                "re-upload with 10 changes": lambda: worker.next(again),
            },
            options.rounds,
            in_order=True,
        )
    theirs = ways["packages"]
    moved = max(deviation(values_of(ways["cold"].result, name), theirs.result[name]) for name in packages)
    return [
        Row(
            case=f"rag-qa@1, {len(first.references)} items, {name}",
            ours_s=ways[name].median_s,
            peer="bert-score + bleurt-pytorch + rouge-metric",
            peer_s=theirs.median_s,
            difference=moved if name == "cold" else None,
        )
        for name in ways
        if name != "packages"
    ]


class Worker:
    """A scoring worker: models and what it knows of pairs live from one run to the next, until it starts anew."""

    def __init__(self, profile: Path) -> None:
        self._profile = profile
        self._store, self._known = ModelStore(profile, "cpu"), MemoryPairValues()

    def cold(self, submission: Submission) -> ScoreReport:
        self._store, self._known = ModelStore(self._profile, "cpu"), MemoryPairValues()
        return self.next(submission)

    def next(self, submission: Submission) -> ScoreReport:
        files = (answer_file(submission.references), answer_file(submission.candidates))
        return score("rag-qa@1", *files, store=self._store, pair_values=self._known)


def answer_file(reasons: Sequence[str]) -> Items:
    answers = tuple(Item(str(number), VERDICT + text, number + 1) for number, text in enumerate(reasons))
    return Items(answers, "json-array", sha256="0" * 64)


def values_of(report: ScoreReport, metric: str) -> list[float]:
    return [item.scores[metric] for item in report.items]


def with_changes(submission: Submission, count: int) -> Submission:
    """The same candidates but for ``count`` of them, spread over the file."""
    rng = random.Random(9)
    candidates = list(submission.candidates)
    for index in rng.sample(range(len(candidates)), count):
        candidates[index] = answer(rng, submission.references[index]) + " 그래서 그렇다."
    return Submission(submission.references, candidates)


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks run", description=__doc__.splitlines()[0])
    parser.add_argument("--items", type=int, default=498, help="pairs of a submission (default: the contest's 498)")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--quick", action="store_true", help="tiny models, 12 pairs: only to see that it works")
    return parser.parse_args(arguments)
