"""BERTScore (the size of BERT-base, layer 9) beside ``bert_score.score`` and a ``BERTScorer`` that is used again.

"first" is a submission whose references are new, "next" another one to the same references. ``bert_score.score`` loads
the model in each call; ours is then timed from an empty process's state too.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Sequence
from pathlib import Path

from scoring.metrics import load_metric
from scoring.models.bertscore import CACHE_BYTES
from scoring.models.cache import EmbeddingCache
from scoring.models.store import ModelStore
from tests.benchmarks.contest import BERT_BASE, LAYER, TINY, Submission, make_models, submissions
from tests.benchmarks.contest_peers import bert_score_of, bert_scorer_of
from tests.benchmarks.tables import Row, deviation, interleaved

PEERS = {
    "first submission, loading": "bert_score.score",
    "first submission": "BERTScorer used again, first",
    "next submission": "BERTScorer used again, next",
}


def rows(arguments: Sequence[str] = ()) -> list[Row]:
    """Measure; a row for each way of meeting the references."""
    options = _options(arguments)
    shape = TINY if options.quick else BERT_BASE
    first, following = submissions(12 if options.quick else options.items)
    with tempfile.TemporaryDirectory(prefix="malpan-bench-") as folder:
        profile = make_models(Path(folder), bert=shape)
        package = bert_score_of(Path(folder) / "bert", shape.layers)
        scorer = bert_scorer_of(Path(folder) / "bert", shape.layers)
        warm = ModelStore(profile, "cpu")
        ways = interleaved(
            {
                "first submission, loading": lambda: scored(ModelStore(profile, "cpu"), first),
                "bert_score.score": lambda: package(first),
                "first submission": lambda: scored(forgetful(warm), first),
                "BERTScorer used again, first": lambda: scorer(first),
                "next submission": lambda: scored(warm, following),
                "BERTScorer used again, next": lambda: scorer(following),
            },
            options.rounds,
            in_order=True,
        )
    return [
        Row(
            case=f"BERTScore {shape}, layer {min(LAYER, shape.layers)}, {case}",
            ours_s=ways[case].median_s,
            peer=peer,
            peer_s=ways[peer].median_s,
            difference=deviation(ways[case].result, ways[peer].result),
        )
        for case, peer in PEERS.items()
    ]


def scored(store: ModelStore, submission: Submission) -> list[float]:
    return load_metric("bertscore", store).score_pairs(submission.references, submission.candidates)


def forgetful(store: ModelStore) -> ModelStore:
    """The same loaded model without the references it knows."""
    store.bertscore.references = EmbeddingCache(CACHE_BYTES)
    return store


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks bertscore", description=__doc__.splitlines()[0])
    parser.add_argument("--items", type=int, default=498, help="pairs of a submission (default: the contest's 498)")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--quick", action="store_true", help="a tiny model, 12 pairs: only to see that it works")
    return parser.parse_args(arguments)
