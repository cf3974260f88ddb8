"""Models are fetched from a hub on this machine, over real HTTP, at the revision that the profile names."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest

from scoring.metrics import load_metric
from scoring.models.fetching import FetchFailed, HubUnreachable, fetch
from scoring.models.files import list_profiles
from scoring.models.store import ModelStore
from tests.scoring.hub import HUB_NAME, REVISION
from tests.scoring.tiny_models import one_thread


@pytest.fixture(scope="module", autouse=True)
def _one_thread() -> Iterator[None]:
    with one_thread():
        yield


def test_a_fetched_model_scores_as_the_one_it_was_copied_from(hub, remote, profile):
    (status,) = fetch(remote, endpoint=hub.endpoint)
    assert status.folder is not None
    assert status.folder.name == REVISION
    pair = (["한글 맞춤법"], ["표준어 규정"])
    here = load_metric("bleurt", ModelStore(remote, "cpu"))
    copied = load_metric("bleurt", ModelStore(profile, "cpu"))
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
    kind = HubUnreachable if break_it == "connection" else FetchFailed
    with pytest.raises(kind, match=HUB_NAME):
        fetch(remote, endpoint=endpoint)


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
