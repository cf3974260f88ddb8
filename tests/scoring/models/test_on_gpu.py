"""On a real GPU: the values of the processor, whatever stands beside a pair in its batch and however little memory.

They need a CUDA device and are skipped elsewhere. The models are random and small, but have heads of 64 as real ones.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from scoring.metrics import load_metric
from scoring.models.batching import DeviceMemoryExhausted, default_tokens
from scoring.models.devices import gpu_memory, resolve_device
from scoring.models.encoder import attend_by_blocks, attention_for
from scoring.models.packing import pack
from scoring.models.precision import available_precisions, exact_inference, precision_on
from scoring.models.profile import load_profile
from scoring.models.store import ModelStore
from tests.scoring.tiny_models import make_masked_bert, make_sentencepiece_bleurt, strange_pairs, write_profile

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
PAIRS = strange_pairs(160)
HALF = {"bf16": 3e-2, "fp16": 4e-3, "tf32": 4e-3}  # how far a value may be from float32
ROLES = ("bleurt", "bertscore")


@pytest.fixture(scope="module")
def profile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("on-gpu")
    bert = make_masked_bert(folder / "bert", layers=4, hidden=256)
    bleurt = make_sentencepiece_bleurt(folder / "bleurt", layers=4, hidden=256)
    return write_profile(folder / "gpu.toml", bertscore=bert, bleurt=bleurt)


@pytest.fixture
def little_memory() -> Iterator[None]:
    """This process may have a gigabyte of the card."""
    torch.cuda.empty_cache()
    total = torch.cuda.mem_get_info()[1]
    torch.cuda.set_per_process_memory_fraction(1000 * 2**20 / total)
    yield
    torch.cuda.set_per_process_memory_fraction(1.0)


def scores(store: ModelStore, role: str, pairs: list[tuple[str, str]] = PAIRS) -> torch.Tensor:
    references, candidates = map(list, zip(*pairs, strict=True))
    return torch.tensor(load_metric(role, store).score_pairs(references, candidates), dtype=torch.float64)


def in_precision(profile: Path, name: str) -> ModelStore:
    return ModelStore(replace(load_profile(profile), precision=name), "cuda")


@pytest.mark.parametrize("role", ROLES)
def test_float32_has_the_values_of_the_processor(profile, role):
    moved = (scores(ModelStore(profile, "cuda"), role) - scores(ModelStore(profile, "cpu"), role)).abs().max()
    assert moved <= 1e-5


def test_masked_words_are_as_likely_as_on_the_processor(profile):
    texts = [candidate for _, candidate in PAIRS[:40]]
    there, here = (ModelStore(profile, device).masked.score(texts, lambda _: None) for device in ("cuda", "cpu"))
    assert there == pytest.approx(here, abs=1e-4)


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("name", sorted(HALF))
def test_other_formats_move_values_a_little_and_only_a_little(profile, name, role):
    moved = (scores(in_precision(profile, name), role) - scores(ModelStore(profile, "cpu"), role)).abs()
    assert 0 < moved.max() <= HALF[name]


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("name", ["fp32", "tf32"])
def test_neighbours_in_the_batch_move_nothing_that_ranks(profile, name, role):
    together = scores(in_precision(profile, name), role)
    alone = torch.cat([scores(in_precision(profile, name), role, PAIRS[start : start + 8]) for start in (0, 80)])
    tolerance = 2e-6 if name == "fp32" else HALF[name]
    assert (alone - torch.cat([together[0:8], together[80:88]])).abs().max() <= tolerance


@pytest.mark.parametrize("role", ROLES)
def test_two_scorings_of_the_same_are_the_same_to_the_bit(profile, role):
    first, second = (scores(ModelStore(profile, "cuda"), role) for _ in range(2))
    assert torch.equal(first, second)


@pytest.mark.parametrize("name", ["fp32", "tf32", "bf16", "fp16"])
def test_this_card_has_the_fast_attention_and_its_values(name):
    precision = precision_on(name, "cuda")
    attend = attention_for("cuda", precision.weights, 64)
    if torch.cuda.get_device_capability() >= (8, 0):
        assert attend is not attend_by_blocks
    packed = pack([[1] * length for length in (200, 64, 64, 63, 17, 1)], device="cuda")
    parts = torch.randn(3, sum(packed.lengths), 2, 64, device="cuda", dtype=precision.weights)
    with exact_inference(precision):
        moved = (attend(*parts, packed) - attend_by_blocks(*parts, packed)).abs().max()
    assert moved <= {"fp32": 1e-5, "tf32": 5e-3, "bf16": 5e-2, "fp16": 5e-3}[name]


def test_threads_in_different_precisions_do_not_disturb_each_other(profile):
    names = ["fp32", "tf32", "fp32", "tf32"]
    expected = {name: scores(in_precision(profile, name), "bleurt") for name in dict.fromkeys(names)}
    begin = threading.Barrier(len(names))

    def work(name: str) -> bool:
        store = in_precision(profile, name)
        begin.wait()
        return all(torch.equal(scores(store, "bleurt"), expected[name]) for _ in range(3))

    with ThreadPoolExecutor(len(names)) as threads:
        assert all(threads.map(work, names))


@pytest.mark.parametrize("role", ROLES)
def test_batches_halve_until_they_fit_and_the_values_stay(profile, role, little_memory):
    expected = scores(ModelStore(profile, "cpu"), role)
    store = ModelStore(profile, "cuda", token_budget=4_000_000)
    many = PAIRS + [(f"{reference} {number}", candidate) for number in range(40) for reference, candidate in PAIRS]
    assert (scores(store, role, many)[: len(PAIRS)] - expected).abs().max() <= 1e-5
    assert getattr(store, role).budget.tokens < 4_000_000


def test_a_card_without_room_for_one_pair_is_named_as_the_cause(profile):
    store = ModelStore(profile, "cuda")
    scores(store, "bleurt", PAIRS[:2])
    held = torch.cuda.memory_allocated()
    torch.cuda.empty_cache()
    torch.cuda.set_per_process_memory_fraction((held + 2**20) / torch.cuda.mem_get_info()[1])
    try:
        with pytest.raises(DeviceMemoryExhausted):
            scores(store, "bleurt", [("가나다라 " * 100, "마바사 " * 100)] * 2)
    finally:
        torch.cuda.set_per_process_memory_fraction(1.0)
    assert len(scores(store, "bleurt", PAIRS[:4])) == 4  # it goes on when there is room again


FORKED = """
import json, os, sys
from scoring.metrics import load_metric
from scoring.models.store import ModelStore, import_libraries

import_libraries()
if child := os.fork():
    sys.exit(os.waitpid(child, 0)[1] != 0)
print(json.dumps(load_metric("bleurt", ModelStore(sys.argv[1], "cuda")).score_pairs(*json.load(sys.stdin))), flush=True)
os._exit(0)
"""


def test_a_worker_that_forks_scores_in_its_child(profile):
    """The libraries are imported before the fork, which must not touch the card: a child could not use it then."""
    texts = json.dumps([list(side) for side in zip(*PAIRS[:8], strict=True)])
    command = [sys.executable, "-c", FORKED, str(profile)]
    done = subprocess.run(command, input=texts, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[-2000:]
    there = torch.tensor(json.loads(done.stdout), dtype=torch.float64)
    assert (there - scores(ModelStore(profile, "cpu"), "bleurt", PAIRS[:8])).abs().max() <= 1e-5


def test_what_a_score_says_of_the_card(profile):
    store = ModelStore(profile, "auto")
    assert resolve_device("auto") == store.device == "cuda"
    assert store.describe_model("bleurt")["device_class"] == "cuda"
    scores(store, "bleurt", PAIRS[:2])
    assert store.computed_with()["kernel"] == "torch"
    used, total = gpu_memory(torch.cuda.current_device())
    assert 0 < used < total
    assert 512 <= default_tokens("cuda", 100_000) <= 65_536
    assert available_precisions("cuda")[0] == "fp32"
