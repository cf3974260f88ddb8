"""A model is found or asked for by command, named by its hash, and cut to its length."""

from __future__ import annotations

import json
import re

import pytest
from safetensors.torch import load_file, save_file

from scoring.errors import ModelUnavailable
from scoring.metrics import load_metric
from scoring.models import files, hashes, loading
from scoring.models.files import text_limit, weights_sha256
from scoring.models.profile import ModelFolderMissing, ModelNotFetched, load_profile
from scoring.models.store import ModelStore
from tests.scoring.tiny_models import write


@pytest.mark.usefixtures("hub_cache", "no_network")
@pytest.mark.parametrize("name", ["bertscore", "bleurt"])
def test_official_models_that_are_not_here_are_asked_for_by_command_never_replaced(name):
    metric = load_metric(name, ModelStore("official", "cpu"))
    for use in (metric.signature, lambda: metric.score_pairs(["가"], ["나"])):
        with pytest.raises(ModelUnavailable) as caught:
            use()
        assert isinstance(caught.value, ModelNotFetched)
        for language in ("ko", "en"):
            assert "python -m scoring models fetch official" in caught.value.message(language)


@pytest.mark.usefixtures("no_network")
def test_a_half_fetched_model_counts_as_missing(hub_cache):
    official = load_profile("official")
    assert official.bleurt is not None
    snapshot = hub_cache / "models--lucadiliello--BLEURT-20" / "snapshots" / official.bleurt.revision
    snapshot.mkdir(parents=True)
    write(snapshot / "config.json", "{}")
    with pytest.raises(ModelNotFetched):
        ModelStore(official, "cpu").bleurt  # noqa: B018 - the property loads


def test_a_path_where_nothing_lies_is_named_as_a_path(tmp_path):
    path = write(tmp_path / "mine.toml", 'name = "mine"\n[bleurt]\nmodel = "./nowhere"\n')
    with pytest.raises(ModelFolderMissing, match="nowhere"):
        ModelStore(path, "cpu").describe()


def test_other_weights_have_another_hash(profile):
    before = ModelStore(profile, "cpu").describe()
    path = profile.parent / "bert" / "model.safetensors"
    tensors = load_file(path)
    tensors["encoder.layer.0.output.dense.bias"][0] += 1
    save_file(tensors, path, metadata={"format": "pt"})
    after = ModelStore(profile, "cpu").describe()
    assert after["bertscore"]["weights_sha256"] != before["bertscore"]["weights_sha256"]
    assert after["bleurt"] == before["bleurt"]


def test_another_vocabulary_has_another_hash(profile):
    before = ModelStore(profile, "cpu").describe_model("bertscore")
    path = profile.parent / "bert" / "vocab.txt"
    write(path, path.read_text(encoding="utf-8") + "새말\n")
    after = ModelStore(profile, "cpu").describe_model("bertscore")
    assert after["tokenizer_sha256"] != before["tokenizer_sha256"]
    assert after["weights_sha256"] == before["weights_sha256"]


@pytest.fixture
def own_folder(tmp_path, monkeypatch):
    """The instrument's folder of models, and a process that has hashed nothing yet."""
    monkeypatch.setenv("MALPAN_MODELS", str(tmp_path / "own"))
    monkeypatch.setattr(hashes, "_known", {})
    return tmp_path / "own"


def test_an_unchanged_file_is_hashed_once_and_the_next_process_knows(models, own_folder, monkeypatch):
    first = weights_sha256(models / "bert")
    monkeypatch.setattr(hashes, "file_sha256", lambda _: pytest.fail("hashed again"))
    assert weights_sha256(models / "bert") == first
    monkeypatch.setattr(hashes, "_known", {})
    assert weights_sha256(models / "bert") == first


def test_hashing_writes_nothing_into_the_folder_of_a_model(models, own_folder):
    before = sorted((models / "bert").iterdir())
    weights_sha256(models / "bert")
    assert sorted((models / "bert").iterdir()) == before
    assert [path.name for path in own_folder.iterdir()] == [hashes.HASH_CACHE]


def test_a_changed_file_is_hashed_again(models, own_folder, monkeypatch):
    path = models / "bert" / "model.safetensors"
    first = weights_sha256(path.parent)
    path.write_bytes(b"other weights")
    assert weights_sha256(path.parent) != first
    monkeypatch.setattr(hashes, "_known", {})
    assert weights_sha256(path.parent) == hashes.file_sha256(path)


@pytest.mark.parametrize("broken", ["", "[]", '{"PATH": 3}', '{"PATH": {"stamp": [0, 0], "sha256": "0"}}'])
def test_a_broken_list_of_hashes_is_written_anew(models, own_folder, broken):
    path = models / "bert" / "model.safetensors"
    own_folder.mkdir()
    (own_folder / hashes.HASH_CACHE).write_text(broken.replace("PATH", str(path)), encoding="utf-8")
    assert weights_sha256(path.parent) == hashes.file_sha256(path)
    stored = json.loads((own_folder / hashes.HASH_CACHE).read_text(encoding="utf-8"))
    assert stored[str(path)]["sha256"] == hashes.file_sha256(path)


def test_a_folder_that_cannot_be_written_is_hashed_all_the_same(models, own_folder):
    (own_folder / hashes.HASH_CACHE).mkdir(parents=True)
    assert re.fullmatch("[0-9a-f]{64}", weights_sha256(models / "bert"))
    assert [path.name for path in own_folder.iterdir()] == [hashes.HASH_CACHE]  # no draft is left


def test_weights_in_parts_are_hashed_together(models):
    folder = models / "bert"
    tensors = load_file(folder / "model.safetensors")
    names = sorted(tensors)
    halves = {"model-1.safetensors": names[::2], "model-2.safetensors": names[1::2]}
    for file, keys in halves.items():
        save_file({key: tensors[key] for key in keys}, folder / file, metadata={"format": "pt"})
    (folder / "model.safetensors").unlink()
    weight_map = {key: file for file, keys in halves.items() for key in keys}
    write(folder / "model.safetensors.index.json", json.dumps({"metadata": {}, "weight_map": weight_map}))
    together = weights_sha256(folder)
    (folder / "model-2.safetensors").write_bytes(b"other")
    assert weights_sha256(folder) != together
    (folder / "model-2.safetensors").unlink()
    assert files.weight_files(folder) == ()


def test_no_path_of_this_machine_stands_in_a_signature(profile):
    described = json.dumps(ModelStore(profile, "cpu").describe())
    assert str(profile.parent) not in described
    assert json.loads(described)["bertscore"]["model"] == "bert"


def test_describing_loads_no_model(profile, monkeypatch):
    monkeypatch.setattr(loading, "load_pretrained", lambda *_: pytest.fail("a model was loaded"))
    assert ModelStore(profile, "cpu").describe()["bleurt"]["dtype"] == "float32"


@pytest.mark.parametrize(
    ("config", "tokenizer", "limit"),
    [
        ({"max_position_embeddings": 512}, {"model_max_length": 256}, 256),
        ({"max_position_embeddings": 512}, {"model_max_length": 1000000000000000019884624838656}, 512),
        ({"max_position_embeddings": 512}, {}, 512),
        ({"max_position_embeddings": 512}, None, 512),
        ({"max_position_embeddings": 128}, {"model_max_length": 512}, 128),
        ({"max_position_embeddings": 514, "model_type": "xlm-roberta", "pad_token_id": 1}, {}, 512),
    ],
)
def test_the_length_of_a_text_is_the_tokenizers_within_the_models_positions(tmp_path, config, tokenizer, limit):
    write(tmp_path / "config.json", json.dumps(config))
    if tokenizer is not None:
        write(tmp_path / "tokenizer_config.json", json.dumps(tokenizer))
    assert text_limit(tmp_path, "bertscore") == limit
