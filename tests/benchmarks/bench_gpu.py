"""On a GPU: items a second and utilisation by precision, cold and warm, several workers, compiled layers.

Utilisation is the arithmetic that the scores need (``bench_bleurt.needed_flops``) over the time taken, as a share of
the fastest square product this card computes in the same precision ("model-FLOP utilisation against the measured
peak"). "cold" is a process's first scoring with the model already on the card, "warm" a later one. The deviation is
from this card's own fp32. ``--workers`` runs up to that many processes at once on the card; ``--compile`` adds layers
compiled by torch.compile. With ``--device cpu`` the same code runs on a processor, to see that it works.
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

from scoring.metrics import PairMetric, load_metric
from scoring.models.precision import available_precisions, exact_inference, precision_on
from scoring.models.profile import load_profile
from scoring.models.store import ModelStore
from tests.benchmarks.bench_bleurt import needed_flops
from tests.benchmarks.contest import BERT_BASE, BLEURT_20, BLEURT_D12, TINY, Shape, Submission, make_models, submissions
from tests.benchmarks.tables import deviation, markdown_table, say
from tests.paths import ROOT

COLUMNS = ("model, precision", "cold, s", "warm, s", "items a second", "of peak", "TFLOP/s peak", "max diff from fp32")
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
    items = 12 if options.quick else options.items
    shapes = [TINY] if options.quick else [BLEURT_D12, BLEURT_20]
    with tempfile.TemporaryDirectory(prefix="malpan-bench-") as folder:
        rows = []
        for number, shape in enumerate(shapes):
            profile = make_models(Path(folder) / str(number), bert=TINY if options.quick else BERT_BASE, bleurt=shape)
            rows += precision_rows(profile, shape, items, options)
        print(markdown_table(COLUMNS, rows), end="\n\n", flush=True)
        columns = ("workers at once", "items a second, all", "of one worker")
        print(markdown_table(columns, worker_rows(profile, items, options)), flush=True)


def precision_rows(profile: Path, shape: Shape, items: int, options: argparse.Namespace) -> list[list[str]]:
    """A row for each precision of the device: BLEURT of ``shape``, then BERTScore."""
    first, following = submissions(items)
    rows: list[list[str]] = []
    exact: dict[str, list[float]] = {}
    for name in available_precisions(options.device):
        peak = product_peak(name, options.device, 512 if options.quick else 8192)
        store = ModelStore(replace(load_profile(profile), precision=name), options.device)
        for role in ("bleurt", "bertscore"):
            say(f"  {role} {shape} {name}")
            metric = load_metric(role, store)
            getattr(store, role)  # loading is not timed
            cold, cold_s = timed(lambda metric=metric: scored(metric, first))
            _, warm_s = timed(lambda metric=metric: scored(metric, following))
            share = ""
            if role == "bleurt":
                lengths = [len(pair.ids) for pair in store.bleurt.tokenizer.encode_pairs(following.pairs)]
                share = f"{needed_flops(shape, lengths) / warm_s / peak:.0%}"
            moved = deviation(cold, exact.setdefault(role, cold))
            label = f"BLEURT {shape}, {name}" if role == "bleurt" else f"BERTScore, {name}"
            rows.append(
                [
                    label,
                    f"{cold_s:.3f}",
                    f"{warm_s:.3f}",
                    f"{items / warm_s:.0f}",
                    share,
                    f"{peak / 1e12:.2f}",
                    f"{moved:.1e}",
                ]
            )
        if options.compile:
            rows.append(compiled_row(store, shape, name, following, items, peak))
    return rows


def compiled_row(
    store: ModelStore, shape: Shape, name: str, submission: Submission, items: int, peak: float
) -> list[str]:
    """BLEURT again with its layers compiled for rows of any length; "cold" is the compilation."""
    encode: Any = store.bleurt._encode
    encode.layers = [torch.compile(layer, dynamic=True) for layer in encode.layers]
    metric = load_metric("bleurt", store)
    _, cold_s = timed(lambda: scored(metric, submission))
    _, warm_s = timed(lambda: scored(metric, submission))
    lengths = [len(pair.ids) for pair in store.bleurt.tokenizer.encode_pairs(submission.pairs)]
    share = f"{needed_flops(shape, lengths) / warm_s / peak:.0%}"
    label = f"BLEURT {shape}, {name}, compiled"
    return [label, f"{cold_s:.3f}", f"{warm_s:.3f}", f"{items / warm_s:.0f}", share, f"{peak / 1e12:.2f}", ""]


def worker_rows(profile: Path, items: int, options: argparse.Namespace) -> list[list[str]]:
    """Items a second of 1, 2, … processes that score on one device at the same time."""
    rows: list[list[str]] = []
    alone = 0.0
    for count in range(1, options.workers + 1):
        say(f"  workers: {count}")
        command = [sys.executable, "-c", WORKER, str(profile), options.device, str(items)]
        pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        running = [subprocess.Popen(command, cwd=ROOT, **pipes) for _ in range(count)]
        for process in running:
            process.stdout.readline()  # "ready": all begin together
        for process in running:
            process.stdin.write("go\n")
            process.stdin.flush()
        spans = [json.loads(process.communicate()[0].splitlines()[-1]) for process in running]
        took = max(end for _, end in spans) - min(start for start, _ in spans)
        rate = count * items / took
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
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    parser.add_argument("--workers", type=int, default=3, help="at most so many processes at once on the device")
    parser.add_argument("--compile", action="store_true", help="measure layers compiled by torch.compile as well")
    parser.add_argument("--quick", action="store_true", help="a tiny model, 12 pairs: only to see that it works")
    return parser.parse_args(arguments)
