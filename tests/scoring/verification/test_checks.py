"""``verify`` proves that what lies on this machine is what a profile names, and gives the values that are known."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from scoring.metrics import load_metric
from scoring.models.fetching import fetch
from scoring.models.profile import load_profile
from scoring.models.store import ModelStore
from scoring.verification import checks
from scoring.verification.checks import verify
from tests.scoring.tiny_models import one_thread


@pytest.fixture(scope="module", autouse=True)
def _one_thread() -> Iterator[None]:
    with one_thread():
        yield


def test_verify_passes_on_what_was_fetched(hub, remote):
    fetch(remote, endpoint=hub.endpoint)
    assert [(check.role, check.name, check.ok) for check in verify(remote, device="cpu")] == [
        ("bleurt", "weights", True),
        ("bleurt", "finite", True),
    ]


def test_verify_finds_a_file_that_changed_after_it_was_fetched(hub, remote):
    (status,) = fetch(remote, endpoint=hub.endpoint)
    assert status.folder is not None
    weights = (status.folder / "model.safetensors").resolve()
    content = bytearray(weights.read_bytes())
    content[-1] ^= 1
    weights.write_bytes(content)
    failed = [check for check in verify(remote, device="cpu") if not check.ok]
    assert [check.name for check in failed] == ["weights"]
    assert weights.name in failed[0].message("ko")


def test_a_sound_profile_passes_every_check(profile):
    found = verify(profile, device="cpu")
    assert [(check.role, check.name) for check in found] == [
        ("bertscore", "weights"),
        ("bertscore", "identity"),
        ("bleurt", "weights"),
        ("bleurt", "finite"),
    ]
    assert all(check.ok for check in found)


@pytest.mark.parametrize(("shift", "ok"), [(0.0, True), (0.01, False)])
def test_published_values_must_be_reproduced(profile, monkeypatch, shift, ok):
    """As for BLEURT-20-D12, whose two values the package's README prints."""
    pairs = [(reference, candidate) for reference, candidate, _ in checks.PUBLISHED_BLEURT[d12()]]
    references, candidates = zip(*pairs, strict=True)
    values = load_metric("bleurt", ModelStore(profile, "cpu")).score_pairs(references, candidates)
    published = tuple((*pair, value + shift) for pair, value in zip(pairs, values, strict=True))
    monkeypatch.setitem(checks.PUBLISHED_BLEURT, "bleurt", published)
    (check,) = [check for check in verify(profile, device="cpu") if check.name == "published_values"]
    assert check.ok is ok
    assert f"{values[0]:.7f}" in check.message("en")


def d12() -> str:
    small = load_profile("small").bleurt
    assert small is not None
    return small.model


def test_the_published_values_are_those_of_the_readme():
    values = [value for _, _, value in checks.PUBLISHED_BLEURT[d12()]]
    assert values == [0.9604414105415344, 0.8080050349235535]


@pytest.mark.usefixtures("hub_cache", "no_network")
def test_missing_models_are_failed_checks_each_of_them():
    assert [(check.role, check.name, check.ok) for check in verify("official", device="cpu")] == [
        ("bertscore", "model_not_fetched", False),
        ("bleurt", "model_not_fetched", False),
    ]
