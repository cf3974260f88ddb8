"""The number format is a recorded choice: in the profile, in the signature, and never where a device lacks it."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from scoring.metrics import load_metric
from scoring.models.precision import PrecisionUnavailable, available_precisions, exact_inference, precision_on
from scoring.models.profile import PRECISIONS, InvalidProfile, load_profile
from scoring.models.store import Resources
from scoring.signature import signature_hash
from tests.scoring.tiny_models import SENTENCES, make_bert, make_wordpiece_bleurt, one_thread, write_profile

PAIRS = (list(SENTENCES[:4]), list(SENTENCES[1:5]))


@pytest.fixture(scope="module")
def profile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models")
    bert, bleurt = make_bert(folder / "bert"), make_wordpiece_bleurt(folder / "bleurt")
    return write_profile(folder / "profile.toml", bertscore=bert, bleurt=bleurt)


def resources_in(profile: Path, precision: str) -> Resources:
    path = profile.with_name(f"{precision}.toml")
    path.write_text(f'precision = "{precision}"\n' + profile.read_text(encoding="utf-8"), encoding="utf-8")
    return Resources(path, "cpu")


def test_without_a_word_the_profile_means_float32(profile):
    assert load_profile(profile).precision == "fp32"
    assert Resources(profile, "cpu").precision.dtype == "float32"


def test_an_unknown_format_is_refused_and_the_known_ones_named(profile):
    with pytest.raises(InvalidProfile) as caught:
        resources_in(profile, "fp8")
    assert all(name in caught.value.message("ko") for name in PRECISIONS)


@pytest.mark.parametrize("metric", ["bertscore", "bleurt"])
def test_half_formats_have_a_signature_of_their_own_and_move_values(profile, metric):
    with one_thread():
        exact = load_metric(metric, Resources(profile, "cpu"))
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
