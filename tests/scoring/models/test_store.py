"""A model is loaded whole or not at all, once per process, without the network."""

from __future__ import annotations

import gc
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module

import pytest
from safetensors.torch import load_file, save_file

from scoring.metrics import load_metric
from scoring.models import store as store_module
from scoring.models.devices import DeviceUnavailable, use_gpu
from scoring.models.files import ModelDamaged
from scoring.models.loading import TooFewLayers
from scoring.models.store import ModelStore, shared_store
from tests.paths import ROOT
from tests.scoring.tiny_models import one_thread, write_profile


@pytest.fixture(scope="module", autouse=True)
def _one_thread() -> Iterator[None]:
    with one_thread():
        yield


@pytest.mark.parametrize("name", ["bert", "bleurt"])
def test_weights_missing_from_the_file_are_never_filled_with_random_ones(profile, name):
    path = profile.parent / name / "model.safetensors"
    tensors = load_file(path)
    gone = next(key for key in tensors if key.endswith("layer.1.output.dense.weight"))
    del tensors[gone]
    save_file(tensors, path, metadata={"format": "pt"})
    role = "bertscore" if name == "bert" else name
    with pytest.raises(ModelDamaged, match=re.escape(gone.split("layer.1")[1])):
        getattr(ModelStore(profile, "cpu"), role)


@pytest.mark.parametrize("name", ["bertscore", "bleurt"])
@pytest.mark.parametrize("file", ["model.safetensors", "config.json", "vocabulary"])
def test_a_cut_file_is_named(profile, name, file):
    folder = profile.parent / {"bertscore": "bert", "bleurt": "bleurt"}[name]
    path = folder / {"vocabulary": {"bertscore": "vocab.txt", "bleurt": "spm.model"}[name]}.get(file, file)
    if file == "vocabulary":
        path.unlink()
    else:
        path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(ModelDamaged, match=re.escape(str(folder))):
        getattr(ModelStore(profile, "cpu"), name)


def test_a_layer_the_model_does_not_have_is_refused(models):
    path = write_profile(models / "deep.toml", bertscore=models / "bert", num_layers=4)
    with pytest.raises(TooFewLayers, match="num_layers"):
        ModelStore(path, "cpu").bertscore  # noqa: B018 - the property loads


def test_buffers_that_are_not_learnt_may_be_missing(profile):
    """Checkpoints saved by other versions leave the position numbers out."""
    path = profile.parent / "bleurt" / "model.safetensors"
    pair = (["한글 맞춤법"], ["표준어 규정"])
    expected = load_metric("bleurt", ModelStore(profile, "cpu")).score_pairs(*pair)
    tensors = load_file(path)
    tensors.pop("bleurt.embeddings.position_ids")
    save_file(tensors, path, metadata={"format": "pt"})
    assert load_metric("bleurt", ModelStore(profile, "cpu")).score_pairs(*pair) == expected


def test_weights_in_pytorchs_own_format_load_too(profile):
    """The hub's BLEURT-20 is a ``pytorch_model.bin``."""
    import torch

    folder = profile.parent / "bleurt"
    pair = (["한글 맞춤법"], ["표준어 규정"])
    expected = load_metric("bleurt", ModelStore(profile, "cpu")).score_pairs(*pair)
    torch.save(load_file(folder / "model.safetensors"), folder / "pytorch_model.bin")
    (folder / "model.safetensors").unlink()
    assert load_metric("bleurt", ModelStore(profile, "cpu")).score_pairs(*pair) == expected


def test_a_process_has_one_set_of_models_for_a_profile_and_device(profile):
    shared = shared_store(profile, "cpu")
    assert shared_store(str(profile), "cpu") is shared
    assert shared.bleurt is shared_store(profile, "cpu").bleurt


@pytest.mark.parametrize(("has_gpu", "device"), [(False, "cpu"), (True, "cuda")])
def test_auto_is_the_device_it_stands_for_and_loads_nothing_again(profile, monkeypatch, has_gpu, device):
    monkeypatch.setattr("torch.cuda.is_available", lambda: has_gpu)
    assert shared_store(profile, "auto") is shared_store(profile, device)


def test_a_changed_profile_file_is_another_profile(profile):
    shared = shared_store(profile, "cpu")
    write_profile(profile, bertscore=profile.parent / "bert", num_layers=1)
    assert shared_store(profile, "cpu") is not shared


@pytest.mark.usefixtures("no_network", "hub_cache")
def test_scoring_never_reaches_for_the_network(profile):
    store = ModelStore(profile, "cpu")
    for name in ("bertscore", "bleurt"):
        metric = load_metric(name, store)
        metric.signature()
        assert len(metric.score_pairs(["한글 맞춤법"], ["표준어 규정"])) == 1


def test_asking_for_profiles_imports_no_torch():
    script = (
        "import sys, scoring.models.store, scoring.models.files as f; f.list_profiles(); f.load_profile('official');"
        "assert not {'torch', 'transformers', 'numpy'} & set(sys.modules), sorted(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", script], cwd=ROOT, env=dict(os.environ), check=True)


def test_cuda_asked_for_and_not_there_is_an_error_not_a_slow_cpu(profile, monkeypatch):
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    with pytest.raises(DeviceUnavailable, match="--device cpu"):
        ModelStore(profile, "cuda").describe()
    assert ModelStore(profile, "auto").device == "cpu"


@pytest.mark.parametrize(("worker", "gpus", "taken"), [(0, 4, 0), (3, 4, 3), (5, 4, 1), (2, 1, None), (0, 0, None)])
def test_workers_take_the_gpus_in_turn(monkeypatch, worker, gpus, taken):
    chosen: list[int] = []
    monkeypatch.setattr("torch.cuda.device_count", lambda: gpus)
    monkeypatch.setattr("torch.cuda.set_device", chosen.append)
    assert use_gpu(worker) == taken
    assert chosen == ([] if taken is None else [taken])


def test_libraries_that_cannot_be_imported_leave_the_garbage_collector_on(monkeypatch: pytest.MonkeyPatch) -> None:
    collected: list[bool] = []

    def note(name: str) -> None:
        collected.append(gc.isenabled())
        import_module(name)

    monkeypatch.setattr(store_module, "_TO_IMPORT", ("no_such_library",))
    monkeypatch.setattr(store_module, "import_module", note)
    with pytest.raises(ModuleNotFoundError, match="no_such_library"):
        store_module.import_libraries()
    assert (collected, gc.isenabled()) == ([False], True)


def test_models_loaded_by_threads_at_once_have_all_their_weights(profile):
    begin = threading.Barrier(4)

    def load(_: int) -> list[float]:
        begin.wait()
        return load_metric("bleurt", ModelStore(profile, "cpu")).score_pairs(["말은 쉽다."], ["말이 쉽다."])

    with ThreadPoolExecutor(4) as threads:
        first, *others = threads.map(load, range(4))
    assert others == [first] * 3
