"""Models are fetched from a hub on this machine, over real HTTP, and verified as the ones the profile names."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from scoring.metrics import load_metric
from scoring.models import fetching
from scoring.models.store import FetchFailed, Resources, fetch, list_profiles, load_profile, verify
from tests.scoring.hub import Hub, serve
from tests.scoring.tiny_models import one_thread, write

REVISION = "0123456789abcdef0123456789abcdef01234567"
HUB_NAME = "malpan-test/bleurt"


@pytest.fixture(scope="module", autouse=True)
def _one_thread() -> Iterator[None]:
    with one_thread():
        yield


@pytest.fixture
def hub(models, hub_cache) -> Iterator[Hub]:
    with serve(Hub(HUB_NAME, REVISION, models / "bleurt")) as hub:
        yield hub


@pytest.fixture
def remote(tmp_path) -> Path:
    text = f'name = "remote"\n[bleurt]\nmodel = "{HUB_NAME}"\nrevision = "{REVISION}"\n'
    return write(tmp_path / "remote.toml", text)


def test_a_fetched_model_scores_as_the_one_it_was_copied_from(hub, remote, profile):
    (status,) = fetch(remote, endpoint=hub.endpoint)
    assert status.folder is not None
    assert status.folder.name == REVISION
    pair = (["한글 맞춤법"], ["표준어 규정"])
    here = load_metric("bleurt", Resources(remote, "cpu"))
    copied = load_metric("bleurt", Resources(profile, "cpu"))
    assert here.score_pairs(*pair) == copied.score_pairs(*pair)
    assert here.signature()["weights_sha256"] == copied.signature()["weights_sha256"]
    assert here.signature()["model"] == HUB_NAME


def test_one_format_of_the_weights_is_fetched_and_nothing_twice(hub, remote):
    hub.files |= {"pytorch_model.bin": b"the same again", "tf_model.h5": b"and again", "README.md": b"words"}
    fetch(remote, endpoint=hub.endpoint)
    fetch(remote, endpoint=hub.endpoint)
    assert sorted(hub.downloaded) == sorted(
        ["config.json", "model.safetensors", "special_tokens_map.json", "spm.model", "tokenizer_config.json"]
    )


@pytest.mark.parametrize("break_it", ["revision", "weights", "connection"])
def test_a_failed_fetch_says_which_model_and_what_to_check(hub, remote, break_it):
    endpoint = hub.endpoint
    if break_it == "revision":
        hub.revision = "f" * 40
    elif break_it == "weights":
        del hub.files["model.safetensors"]
    else:
        with socket.socket() as unused:
            unused.bind(("127.0.0.1", 0))
            endpoint = f"http://127.0.0.1:{unused.getsockname()[1]}"
    with pytest.raises(FetchFailed, match=HUB_NAME):
        fetch(remote, endpoint=endpoint)


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
    checks = verify(profile, device="cpu")
    assert [(check.role, check.name) for check in checks] == [
        ("bertscore", "weights"),
        ("bertscore", "identity"),
        ("bleurt", "weights"),
        ("bleurt", "finite"),
    ]
    assert all(check.ok for check in checks)


@pytest.mark.parametrize(("shift", "ok"), [(0.0, True), (0.01, False)])
def test_published_values_must_be_reproduced(profile, monkeypatch, shift, ok):
    """As for BLEURT-20-D12, whose two values the package's README prints."""
    pairs = [(reference, candidate) for reference, candidate, _ in fetching.PUBLISHED_BLEURT[d12()]]
    references, candidates = zip(*pairs, strict=True)
    values = load_metric("bleurt", Resources(profile, "cpu")).score_pairs(references, candidates)
    told = tuple((*pair, value + shift) for pair, value in zip(pairs, values, strict=True))
    monkeypatch.setitem(fetching.PUBLISHED_BLEURT, "bleurt", told)
    (check,) = [check for check in verify(profile, device="cpu") if check.name == "published_values"]
    assert check.ok is ok
    assert f"{values[0]:.7f}" in check.message("en")


def d12() -> str:
    small = load_profile("small").bleurt
    assert small is not None
    return small.model


def test_the_published_values_are_those_of_the_readme():
    values = [value for _, _, value in fetching.PUBLISHED_BLEURT[d12()]]
    assert values == [0.9604414105415344, 0.8080050349235535]


@pytest.mark.usefixtures("hub_cache", "no_network")
def test_missing_models_are_failed_checks_each_of_them():
    assert [(check.role, check.name, check.ok) for check in verify("official", device="cpu")] == [
        ("bertscore", "model_not_fetched", False),
        ("bleurt", "model_not_fetched", False),
    ]


@pytest.mark.usefixtures("hub_cache", "no_network")
def test_a_list_of_profiles_says_what_is_here_without_making_or_fetching(tmp_path, monkeypatch):
    monkeypatch.setenv("MALPAN_MODELS", str(tmp_path / "none"))
    assert [(status.profile.name, status.is_ready) for status in list_profiles()] == [
        ("official", False),
        ("small", False),
        ("demo", True),
    ]
    assert all(model.folder is None for status in list_profiles() for model in status.models)
    assert not (tmp_path / "none").exists()
