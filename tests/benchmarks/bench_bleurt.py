"""BLEURT of 12 and of 32 layers beside the loop of bleurt-pytorch's README, and that loop sorted by length.

Random weights, float32, 498 pairs as long as the contest's. Models are loaded before the clock starts. GFLOP/s counts
the arithmetic that the scores need (real tokens, the last layer only for [CLS]) over the time taken, and the share is
of the fastest square product of this machine's own matrix library in the same process; where the processor's tile units
multiply for us, it may be more than the whole. With ``CC=false`` before the command they do not.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import torch

from scoring.metrics import load_metric
from scoring.models.products import fastest_linear
from scoring.models.store import ModelStore
from tests.benchmarks.contest import BLEURT_20, BLEURT_D12, TINY, Shape, Submission, make_models, submissions
from tests.benchmarks.contest_peers import BleurtLoop
from tests.benchmarks.tables import Measured, Row, deviation, interleaved, say

LIMITS = {12: 1e-5, 32: 3e-5}  # the package's own loop moves by 1e-5 at 32 layers when its batches change


def rows(arguments: Sequence[str] = ()) -> list[Row]:
    """Measure; two rows a model: beside the README loop and beside the same loop sorted by length."""
    options = _options(arguments)
    shapes = [TINY] if options.quick else [{12: BLEURT_D12, 32: BLEURT_20}[layers] for layers in options.layers]
    (submission,) = submissions(12 if options.quick else options.items, count=1)
    peak = sgemm_peak(512 if options.quick else 3072)
    return [row for shape in shapes for row in measure(shape, submission, options.rounds, peak)]


def measure(shape: Shape, submission: Submission, rounds: int, peak: float) -> list[Row]:
    """Measure one model, and print what its rows stand for beside ``peak`` FLOP/s."""
    say(f"BLEURT {shape}: making the model")
    with tempfile.TemporaryDirectory(prefix="malpan-bench-") as folder:
        profile = make_models(Path(folder), bleurt=shape)
        ours, loop = load_metric("bleurt", ModelStore(profile, "cpu")), BleurtLoop(Path(folder) / "bleurt")
        lengths = [len(pair.ids) for pair in ours._store.bleurt.tokenizer.encode_pairs(submission.pairs)]
        padding = loop.padding_share(submission)
        ways = interleaved(
            {
                "ours": lambda: ours.score_pairs(submission.references, submission.candidates),
                "sorted loop": lambda: loop.by_length(submission),
                "README loop": lambda: loop(submission),
            },
            rounds,
        )
    print(
        f"BLEURT {shape}: {len(lengths)} pairs, tokens a pair: mean {statistics.mean(lengths):.0f}, longest "
        f"{max(lengths)}; {padding:.0%} of the README loop's tokens are padding; sorting moves that loop's own values "
        f"by {deviation(ways['sorted loop'].result, ways['README loop'].result):.1e}; sgemm peak {peak / 1e9:.0f} "
        f"GFLOP/s; products by {products_by()}; rounds: {rounds}"
    )
    return compared(shape, ways, needed_flops(shape, lengths) / peak)


def products_by() -> str:
    """Who multiplies for us."""
    return "the tile units" if fastest_linear("cpu", torch.float32).name == "amx" else "the float32 units"


def compared(shape: Shape, ways: dict[str, Measured], least_s: float) -> list[Row]:
    """The rows; ``least_s`` is how long the needed arithmetic takes at the machine's peak."""
    ours = ways["ours"]
    return [
        Row(
            case=f"BLEURT {shape}",
            ours_s=ours.median_s,
            peer=peer,
            peer_s=ways[way].median_s,
            difference=deviation(ours.result, ways[way].result),
            limit=LIMITS.get(shape.layers, 1e-5),
            note=f"{least_s / ours.median_s:.0%} of sgemm peak, the loop {least_s / ways[way].median_s:.0%}",
        )
        for way, peer in (("README loop", "README loop, batches of 64"), ("sorted loop", "that loop sorted by length"))
    ]


def needed_flops(shape: Shape, lengths: Sequence[int]) -> float:
    """Multiplications and additions of the matrix products for rows of ``lengths`` tokens; [CLS] in the last layer."""
    width, wide, heads = shape.width, 4 * shape.width, shape.heads
    projection = 2 * (shape.embedding or 0) * width
    per_token = 2 * (4 * width * width + 2 * width * wide)
    total = 0.0
    for length in lengths:
        inner = length * per_token + 4 * length * length * width
        last = 4 * length * width * heads + per_token  # keys and values are not needed for one query a row
        total += length * projection + (shape.layers - 1) * inner + last
    return total


def sgemm_peak(size: int, tries: int = 5) -> float:
    """FLOP/s of the fastest of some float32 products of square matrices."""
    one, other = torch.randn(size, size), torch.randn(size, size)
    torch.mm(one, other)
    best = float("inf")
    for _ in range(tries):
        started = time.perf_counter()
        torch.mm(one, other)
        best = min(best, time.perf_counter() - started)
    return 2 * size**3 / best


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks bleurt", description=__doc__.splitlines()[0])
    parser.add_argument("--items", type=int, default=498, help="pairs of a submission (default: the contest's 498)")
    parser.add_argument("--layers", type=int, nargs="+", choices=(12, 32), default=[12], help="which models")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--quick", action="store_true", help="a tiny model, 12 pairs: only to see that it works")
    return parser.parse_args(arguments)
