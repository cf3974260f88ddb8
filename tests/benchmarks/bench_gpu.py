"""On a GPU: items a second and utilisation by precision, ways of attention, batch sizes, several workers.

Utilisation is the arithmetic that the scores need (``bench_bleurt.needed_flops``) over the time taken, as a share of
the fastest square product this card computes in the same precision ("model-FLOP utilisation against the measured
peak"). "cold" is a process's first scoring with the model already on the card, "warm" a later one, "on the card" the
same without tokenizing. The deviation is from float32 on this machine's processor, over the first ``--checked`` pairs.
``--workers`` runs up to that many processes at once on the card. With ``--device cpu`` the same code runs on a
processor, to see that it works.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch.nn import functional

from scoring.metrics import PairMetric, load_metric
from scoring.models.batching import TokenBudget, run_batches
from scoring.models.bleurt import EncodedPair
from scoring.models.encoder import Attention, attend_by_blocks, attend_ragged, attend_varlen
from scoring.models.packing import Packed
from scoring.models.precision import available_precisions, exact_inference, precision_on
from scoring.models.profile import load_profile
from scoring.models.store import ModelStore
from tests.benchmarks.bench_bleurt import needed_flops
from tests.benchmarks.contest import BERT_BASE, BLEURT_20, BLEURT_D12, TINY, Shape, Submission, make_models, submissions
from tests.benchmarks.tables import deviation, markdown_table, say
from tests.paths import ROOT

COLUMNS = (
    "model, precision",
    "cold, s",
    "warm, s",
    "items a second",
    "on the card, s",
    "of peak",
    "TFLOP/s peak",
    "max diff from the processor",
)
SIZES = (8_192, 16_384, 32_768, 65_536, 131_072)
WORKER = "from tests.benchmarks.bench_gpu import work; import sys; work(sys.argv[1], sys.argv[2], int(sys.argv[3]))"


def show(arguments: Sequence[str] = ()) -> None:
    """Run the benchmark and print its tables; without a GPU say so and end with status 2."""
    options = _options(arguments)
    if options.device == "cuda" and not torch.cuda.is_available():
        sys.stderr.write("No CUDA device is here: run this where one is, or with --device cpu to try the command.\n")
        raise SystemExit(2)
    if options.device == "cuda":
        free, total = torch.cuda.mem_get_info()
        print(f"{torch.cuda.get_device_name()}, {free >> 30} of {total >> 30} GiB free; torch {torch.__version__}\n")
    options.items = 12 if options.quick else options.items
    shapes = [TINY] if options.quick else [{12: BLEURT_D12, 32: BLEURT_20}[layers] for layers in options.layers]
    with tempfile.TemporaryDirectory(prefix="malpan-bench-") as folder:
        for number, shape in enumerate(shapes):
            say(f"  making BLEURT {shape}")
            profile = make_models(Path(folder) / str(number), bert=TINY if options.quick else BERT_BASE, bleurt=shape)
            show_shape(profile, shape, options)
        columns = ("workers at once", "items a second, all", "of one worker")
        print(markdown_table(columns, worker_rows(profile, options)), flush=True)


def show_shape(profile: Path, shape: Shape, options: argparse.Namespace) -> None:
    """The tables of one size of BLEURT: precisions, ways of attention, batch sizes."""
    exact = processor_values(profile, options)
    precisions, ways, sizes = [], [], []
    for name in available_precisions(options.device):
        store = ModelStore(replace(load_profile(profile), precision=name), options.device)
        precisions += precision_rows(store, shape, exact, options)
        ways += attention_rows(store, shape, options)
        sizes.append(size_row(store, shape, options))
    print(markdown_table(COLUMNS, precisions), end="\n\n")
    print(
        markdown_table(("attention of BLEURT", "on the card, s", "beside blocks", "max diff from blocks"), ways),
        end="\n\n",
    )
    columns = ("tokens a batch", *(f"{size:,}" for size in SIZES))
    print(markdown_table(columns, sizes), end="\n\n", flush=True)


def processor_values(profile: Path, options: argparse.Namespace) -> dict[str, list[float]]:
    """What the processor computes in float32 for the first pairs, by metric."""
    first, _ = submissions(options.items)
    store = ModelStore(profile, "cpu")
    checked = Submission(first.references[: options.checked], first.candidates[: options.checked])
    return {role: scored(load_metric(role, store), checked) for role in ("bleurt", "bertscore")}


def precision_rows(
    store: ModelStore, shape: Shape, exact: dict[str, list[float]], options: argparse.Namespace
) -> list[list[str]]:
    """BLEURT of ``shape``, then BERTScore, in the store's precision."""
    first, following = submissions(options.items)
    name = store.precision.name
    peak = product_peak(name, options.device, 512 if options.quick else 8192)
    rows: list[list[str]] = []
    for role in ("bleurt", "bertscore"):
        say(f"  {role} {shape} {name}")
        metric = load_metric(role, store)
        getattr(store, role)  # loading is not timed
        cold, cold_s = timed(lambda metric=metric: scored(metric, first))
        _, warm_s = timed(lambda metric=metric: scored(metric, following))
        alone, share = "", ""
        if role == "bleurt":
            encoded = store.bleurt.tokenizer.encode_pairs(following.pairs)
            on_card_s = forward_seconds(store, encoded)
            share = f"{needed_flops(shape, [len(pair.ids) for pair in encoded]) / on_card_s / peak:.0%}"
            alone = f"{on_card_s:.3f}"
        moved = f"{deviation(cold[: options.checked], exact[role]):.1e}"
        label = f"BLEURT {shape}, {name}" if role == "bleurt" else f"BERTScore, {name}"
        cells = [f"{cold_s:.3f}", f"{warm_s:.3f}", f"{options.items / warm_s:.0f}", alone, share]
        rows.append([label, *cells, f"{peak / 1e12:.1f}", moved])
    return rows


def attention_rows(store: ModelStore, shape: Shape, options: argparse.Namespace) -> list[list[str]]:
    """BLEURT with each way of attention that runs on this device in this precision; the one in use is marked."""
    _, submission = submissions(options.items)
    encoded = store.bleurt.tokenizer.encode_pairs(submission.pairs)
    layers = store.bleurt._encode.layers[:-1]  # the last one has a single query a row and needs none of them
    used = layers[0].attend
    rows: list[list[str]] = []
    expected, blocks_s = None, 0.0
    for way in WAYS:
        say(f"  {way.__name__} {shape} {store.precision.name}")
        for layer in layers:
            layer.attend = way
        label = f"{shape}, {store.precision.name}: {WAYS[way]}" + (" (used)" if way is used else "")
        try:
            found = store.bleurt.predict(encoded[: options.checked]).tolist()
            seconds = forward_seconds(store, encoded)
        except (ImportError, RuntimeError):  # this device has no such kernel for this format
            rows.append([label, "none here", "", ""])
            continue
        expected, blocks_s = expected or found, blocks_s or seconds
        rows.append([label, f"{seconds:.3f}", f"{blocks_s / seconds:.2f}x", f"{deviation(found, expected):.1e}"])
    for layer in layers:
        layer.attend = used
    return rows


def attend_padded(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, packed: Packed) -> torch.Tensor:
    """The usual way: rows filled up to the longest of the batch, and a mask."""
    filled = [packed.to_padded(states) for states in (query, key, value)]
    is_token = filled[0][1]
    own = (states.transpose(1, 2) for states, _ in filled)
    context = functional.scaled_dot_product_attention(*own, attn_mask=is_token[:, None, None])
    return context.transpose(1, 2)[is_token]


WAYS: dict[Attention, str] = {
    attend_by_blocks: "blocks of one length",
    attend_padded: "padded with a mask",
    attend_ragged: "memory-efficient, rows of any length",
    attend_varlen: "FlashAttention, rows of any length",
}


def size_row(store: ModelStore, shape: Shape, options: argparse.Namespace) -> list[str]:
    """Seconds on the card by the number of tokens a batch may hold."""
    _, submission = submissions(options.items)
    encoded = store.bleurt.tokenizer.encode_pairs(submission.pairs) * 2
    usual = store.bleurt.budget
    cells = []
    for size in SIZES:
        store.bleurt.budget = TokenBudget(size)
        cells.append(f"{forward_seconds(store, encoded, tries=1):.3f}")
    store.bleurt.budget = usual
    return [f"BLEURT {shape}, {store.precision.name}, {len(encoded)} pairs", *cells]


def forward_seconds(store: ModelStore, encoded: list[EncodedPair], tries: int = 3) -> float:
    """The least seconds of some passes of all rows through BLEURT, in batches as a scoring makes them."""
    scorer = store.bleurt

    def once() -> None:
        run_batches([len(row.ids) for row in encoded], scorer.budget, forward)
        settle(scorer.device)

    def forward(batch: Sequence[int]) -> None:
        scorer.predict([encoded[index] for index in batch])

    return min(timed(once)[1] for _ in range(tries))


def worker_rows(profile: Path, options: argparse.Namespace) -> list[list[str]]:
    """Items a second of 1, 2, … processes that score on one device at the same time."""
    rows: list[list[str]] = []
    alone = 0.0
    for count in range(1, options.workers + 1):
        say(f"  workers: {count}")
        command = [sys.executable, "-c", WORKER, str(profile), options.device, str(options.items)]
        pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        running = [subprocess.Popen(command, cwd=ROOT, **pipes) for _ in range(count)]
        for process in running:
            process.stdout.readline()  # "ready": all begin together
        for process in running:
            process.stdin.write("go\n")
            process.stdin.flush()
        spans = [json.loads(process.communicate()[0].splitlines()[-1]) for process in running]
        took = max(end for _, end in spans) - min(start for start, _ in spans)
        rate = count * options.items / took
        alone = alone or rate
        rows.append([str(count), f"{rate:.0f}", f"{rate / alone:.2f}x"])
    return rows


def work(profile: str, device: Any, items: int) -> None:
    """One worker: load, warm up, wait for the word, then score; prints when that began and ended, of one clock."""
    first, following = submissions(items)
    metric = load_metric("bleurt", ModelStore(profile, device))
    scored(metric, first)
    print("ready", flush=True)
    sys.stdin.readline()
    started = time.monotonic()
    scored(metric, following)
    print(json.dumps([started, time.monotonic()]))


def product_peak(precision: str, device: str, size: int, tries: int = 5) -> float:
    """FLOP/s of the fastest product of square matrices in ``precision``."""
    chosen = precision_on(precision, device)
    one, other = (torch.randn(size, size, device=device, dtype=chosen.weights) for _ in range(2))
    with exact_inference(chosen):
        torch.mm(one, other)
        seconds = min(timed(lambda: (torch.mm(one, other), settle(device)))[1] for _ in range(tries))
    return 2 * size**3 / seconds


def settle(device: str) -> None:
    """Wait until the device has done what it was given."""
    if device == "cuda":
        torch.cuda.synchronize()


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    """What ``work`` returns, and the seconds it took."""
    started = time.perf_counter()
    done = work()
    return done, time.perf_counter() - started


def scored(metric: PairMetric, submission: Submission) -> list[float]:
    return metric.score_pairs(submission.references, submission.candidates)


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks gpu", description=__doc__.splitlines()[0])
    parser.add_argument("--items", type=int, default=498, help="pairs of a submission (default: the contest's 498)")
    parser.add_argument("--checked", type=int, default=48, help="pairs compared with the processor")
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    parser.add_argument("--workers", type=int, default=3, help="at most so many processes at once on the device")
    parser.add_argument("--layers", type=int, nargs="+", choices=(12, 32), default=[32, 12], help="which models")
    parser.add_argument("--quick", action="store_true", help="a tiny model, 12 pairs: only to see that it works")
    return parser.parse_args(arguments)
