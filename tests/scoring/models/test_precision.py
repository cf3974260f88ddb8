"""The number format is a recorded choice: in the profile, in the signature, and never where a device lacks it."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest
import torch

from scoring.metrics import load_metric
from scoring.models.precision import PrecisionUnavailable, available_precisions, exact_inference, precision_on
from scoring.models.profile import PRECISIONS, InvalidProfile, load_profile
from scoring.models.store import ModelStore
from scoring.signature import signature_hash
from tests.scoring.tiny_models import SENTENCES, make_bert, make_wordpiece_bleurt, one_thread, write_profile
from tests.threads import at_once

PAIRS = (list(SENTENCES[:4]), list(SENTENCES[1:5]))


@pytest.fixture(scope="module")
def profile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models")
    bert, bleurt = make_bert(folder / "bert"), make_wordpiece_bleurt(folder / "bleurt")
    return write_profile(folder / "profile.toml", bertscore=bert, bleurt=bleurt)


def resources_in(profile: Path, precision: str) -> ModelStore:
    path = profile.with_name(f"{precision}.toml")
    path.write_text(f'precision = "{precision}"\n' + profile.read_text(encoding="utf-8"), encoding="utf-8")
    return ModelStore(path, "cpu")


def test_without_a_word_the_profile_means_float32(profile):
    assert load_profile(profile).precision == "fp32"
    assert ModelStore(profile, "cpu").precision.dtype == "float32"


def test_an_unknown_format_is_refused_and_the_known_ones_named(profile):
    with pytest.raises(InvalidProfile) as caught:
        resources_in(profile, "fp8")
    assert all(name in caught.value.message("ko") for name in PRECISIONS)


@pytest.mark.parametrize("metric", ["bertscore", "bleurt"])
def test_half_formats_have_a_signature_of_their_own_and_move_values(profile, metric):
    with one_thread():
        exact = load_metric(metric, ModelStore(profile, "cpu"))
        half = load_metric(metric, resources_in(profile, "bf16"))
        values, moved = exact.score_pairs(*PAIRS), half.score_pairs(*PAIRS)
    assert half.signature()["dtype"] == "bfloat16"
    assert signature_hash(exact.signature()) != signature_hash(half.signature())
    assert 0 < max(abs(one - other) for one, other in zip(values, moved, strict=True)) < 0.1


def test_a_processor_is_never_said_to_compute_tf32(profile):
    assert available_precisions("cpu") == ("fp32", "bf16", "fp16")
    assert available_precisions("cuda") == PRECISIONS
    with pytest.raises(PrecisionUnavailable) as caught:
        load_metric("bleurt", resources_in(profile, "tf32")).signature()
    assert "tf32" in caught.value.message("ko")
    assert precision_on("tf32", "cuda").matmul == "high"


def test_only_tf32_lets_matrix_products_of_float32_take_the_shortcut():
    seen = {}
    for name in PRECISIONS:
        with exact_inference(precision_on(name, "cuda")):
            seen[name] = torch.get_float32_matmul_precision()
    assert seen == {"fp32": "highest", "tf32": "high", "bf16": "highest", "fp16": "highest"}


def test_threads_in_different_formats_take_turns_and_leave_nothing_behind():
    before = torch.get_float32_matmul_precision()
    tf32, inside, leave, seen = precision_on("tf32", "cuda"), threading.Event(), threading.Event(), []

    def first() -> None:
        with exact_inference(tf32):
            inside.set()
            leave.wait(10)
            seen.append(("tf32", torch.get_float32_matmul_precision()))

    def second() -> None:
        inside.wait(10)
        with exact_inference():
            seen.append(("fp32", torch.get_float32_matmul_precision()))

    threads = [threading.Thread(target=work) for work in (first, second)]
    for thread in threads:
        thread.start()
    time.sleep(0.2)  # the second has had time to come, and to change what the first computes in
    leave.set()
    for thread in threads:
        thread.join(10)
    assert seen == [("tf32", "high"), ("fp32", "highest")]
    assert torch.get_float32_matmul_precision() == before


def test_passes_of_many_threads_see_their_own_format_only():
    before, names = torch.get_float32_matmul_precision(), ["fp32", "tf32"] * 3

    def work(name: str) -> set[str]:
        seen = set()
        for _ in range(200):
            with exact_inference(precision_on(name, "cuda")):
                seen.add(torch.get_float32_matmul_precision())
                seen.add(torch.get_float32_matmul_precision())
        return seen

    found = at_once([lambda name=name: work(name) for name in names])
    assert found == [{"highest"}, {"high"}] * 3
    assert torch.get_float32_matmul_precision() == before


def test_a_pass_inside_a_pass_does_not_wait_for_itself():
    waiting = threading.Event()

    def other() -> None:
        waiting.set()
        with exact_inference(precision_on("tf32", "cuda")):
            pass

    with exact_inference():
        thread = threading.Thread(target=other)
        thread.start()
        waiting.wait(10)
        time.sleep(0.05)
        with exact_inference():
            assert torch.get_float32_matmul_precision() == "highest"
        with pytest.raises(RuntimeError, match="cannot hold"), exact_inference(precision_on("tf32", "cuda")):
            pass
    thread.join(10)
    assert not thread.is_alive()


def test_a_format_is_held_while_the_model_works_not_while_progress_is_told(profile):
    """What a progress callback does, or another thread in the meantime, is not computed in the model's format."""
    torch.set_float32_matmul_precision("medium")
    try:
        seen = []
        metric = load_metric("bleurt", ModelStore(profile, "cpu"))
        metric.score_pairs(*PAIRS, lambda *_: seen.append(torch.get_float32_matmul_precision()))
        assert set(seen) == {"medium"}
    finally:
        torch.set_float32_matmul_precision("highest")
