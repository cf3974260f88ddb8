"""Time against the number of items (up to 100,000) and against the length of the texts, ours alone.

The first curve is a whole ``rag-qa@1`` scoring with the demo's tiny models: what the engine itself costs an item, with
the peak of the process's memory. The second is a whole ``captioning-lexical@1`` scoring of captions with five
references each, every text another, of 10,000 different words. The third is BLEURT as wide as the 12-layer one, with
three layers, on 64 pairs of equal length each: seconds for 1,000 tokens should hardly grow with the length, as
attention inside a row is small beside the matrix products of its tokens.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from scoring.metrics import PairMetric, load_pair_metric
from scoring.models.store import ModelStore
from tests.benchmarks.contest import TINY, Shape, Submission, make_models, text_of
from tests.benchmarks.tables import markdown_table, say
from tests.paths import ROOT

ITEMS = (100, 1_000, 10_000, 100_000)
CAPTIONS = (1_000, 2_000, 5_000, 10_000, 20_000, 50_000)
CHARACTERS = (15, 30, 60, 120, 240)  # of one text without spaces
THREE_LAYERS = Shape(3, 768, 12, 128)
ONE_RUN = """
import json, resource, sys, time
from scoring.engine import score
from tests.benchmarks.bench_run import answer_file
from tests.benchmarks.contest import submissions
(given,) = submissions(int(sys.argv[1]), count=1)
files = answer_file(given.references), answer_file(given.candidates)
score("rag-qa@1", answer_file(given.references[:5]), answer_file(given.candidates[:5]), profile="demo", device="cpu")
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
started = time.perf_counter()
score("rag-qa@1", *files, profile="demo", device="cpu")
took = time.perf_counter() - started
print(json.dumps([took, before, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss]))
"""
CAPTION_RUN = """
import json, random, resource, sys, time
from scoring.engine import score
from scoring.records import Item, Items
from scoring.text.okt import okt
chance = random.Random(1)
words = [chr(ord("가") + 28 * n) + chr(ord("나") + 28 * m) for n in range(100) for m in range(100)]
def text():
    return " ".join(chance.choices(words, k=14))
def given(items):
    gold = [Item(f"c{n}", text(), n + 1, others=tuple(text() for _ in range(4))) for n in range(items)]
    new = [Item(each.id, " ".join(chance.sample(each.text.split(), 8)), each.line) for each in gold]
    return [Items(tuple(answers), "coco", "0" * 64) for answers in (gold, new)]
okt().tokenize_all([text() for _ in range(100)], lambda _: None)  # Java starts, and compiles what it needs
files = given(int(sys.argv[1]))
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
started = time.perf_counter()
score("captioning-lexical@1", *files)
took = time.perf_counter() - started
print(json.dumps([took, before, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss]))
"""


def show(arguments: Sequence[str] = ()) -> None:
    """Run the benchmark and print its tables."""
    options = _options(arguments)
    for what, program, sizes in (
        ("items, demo models", ONE_RUN, ITEMS),
        ("captions, 5 references each", CAPTION_RUN, CAPTIONS),
    ):
        columns = (what, "seconds", "ms an item", "MB before", "MB at most")
        rows = [items_row(items, program) for items in ((20, 40) if options.quick else sizes)]
        print(markdown_table(columns, rows), end="\n\n", flush=True)
    columns = ("BLEURT 3 x 768, tokens a pair", "seconds for 64 pairs", "ms for 1,000 tokens")
    print(markdown_table(columns, length_rows(options.quick)), flush=True)


def items_row(items: int, program: str) -> list[str]:
    """One scoring in a process of its own, so that memory is that of this run."""
    say(f"  {items} items")
    command = [sys.executable, "-c", program, str(items)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    took, before, most = json.loads(done.stdout.splitlines()[-1])
    return [f"{items:,}", f"{took:.2f}", f"{1000 * took / items:.2f}", f"{before / 1024:.0f}", f"{most / 1024:.0f}"]


def length_rows(is_quick: bool) -> list[list[str]]:
    """The median of three scorings of texts of each length."""
    import random

    rng, rows = random.Random(1), []
    with tempfile.TemporaryDirectory(prefix="malpan-bench-") as folder:
        profile = make_models(Path(folder), bleurt=TINY if is_quick else THREE_LAYERS)
        metric = load_pair_metric("bleurt", ModelStore(profile, "cpu"))
        for characters in CHARACTERS[:2] if is_quick else CHARACTERS:
            texts = [text_of(rng, characters) for _ in range(128)]
            given = Submission(texts[:64], texts[64:])
            encoded = metric._store.bleurt.tokenizer.encode_pairs(given.pairs)
            tokens = sum(len(pair.ids) for pair in encoded)
            took = statistics.median(timed(metric, given) for _ in range(3))
            rows.append([f"{tokens / 64:.0f}", f"{took:.2f}", f"{1e6 * took / tokens:.1f}"])
    return rows


def timed(metric: PairMetric, given: Submission) -> float:
    started = time.perf_counter()
    metric.score_pairs(given.references, given.candidates)
    return time.perf_counter() - started


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks curve", description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="few items: only to see that it works")
    return parser.parse_args(arguments)
