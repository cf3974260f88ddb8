"""Profiles say exactly which models score; a model is found, named by its hash, loaded once, and never replaced."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from safetensors.torch import load_file, save_file

from scoring import checkpoints, fetching, model_files
from scoring.checkpoints import (
    DeviceUnavailable,
    FetchFailed,
    InvalidProfile,
    ModelDamaged,
    ModelFolderMissing,
    ModelNotConfigured,
    ModelNotFetched,
    ModelUnavailable,
    Resources,
    TooFewLayers,
    UnknownProfile,
    fetch,
    list_profiles,
    load_profile,
    shared_resources,
    verify,
)
from scoring.errors import ScoringError
from scoring.metrics import load_metric
from scoring.model_files import text_limit, weights_sha256
from tests.scoring.hub import Hub, serve
from tests.scoring.models import make_bert, make_sentencepiece_bleurt, one_thread, write_profile

ROOT = Path(__file__).resolve().parents[2]
REVISION = "0123456789abcdef0123456789abcdef01234567"
HUB_NAME = "malpan-test/bleurt"


@pytest.fixture(scope="module", autouse=True)
def _one_thread() -> Iterator[None]:
    with one_thread():
        yield


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with models ``bert`` and ``bleurt``; tests that change one work on a copy."""
    folder = tmp_path_factory.mktemp("made")
    make_bert(folder / "bert")
    make_sentencepiece_bleurt(folder / "bleurt")
    return folder


@pytest.fixture
def models(made: Path, tmp_path: Path) -> Path:
    subprocess.run(["cp", "-r", f"{made}/.", tmp_path], check=True)
    return tmp_path


@pytest.fixture
def profile(models: Path) -> Path:
    return write_profile(models / "mine.toml", bertscore=models / "bert", bleurt=models / "bleurt")


@pytest.fixture
def hub_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache of the hub."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    return tmp_path / "hub"


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("scoring tried to reach the network")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


class TestProfiles:
    def test_the_official_profile_is_the_contests(self):
        official = load_profile("official")
        assert official.bertscore is not None
        assert official.bleurt is not None
        assert official.bertscore.model == "bert-base-multilingual-cased"
        assert official.bertscore.revision == "3f076fdb1ab68d5b2880cb87a0886f315b8146f8"
        assert official.bertscore.num_layers == 9
        assert official.bleurt.model == "lucadiliello/BLEURT-20"
        assert official.bleurt.revision == "e22b9eb071dcb939da9fff08b20a7e746c72a830"
        assert not official.is_demo

    def test_the_small_profile_differs_in_bleurt_only(self):
        small, official = load_profile("small"), load_profile("official")
        assert small.bertscore == official.bertscore
        assert small.bleurt is not None
        assert small.bleurt.model == "lucadiliello/BLEURT-20-D12"
        assert small.bleurt.revision == "90ce39a8ceb3b9a046a7788f0005572301c3fe67"

    def test_only_the_demo_profile_is_demo(self):
        assert [(status.profile.name, status.profile.is_demo) for status in list_profiles()] == [
            ("official", False),
            ("small", False),
            ("demo", True),
        ]

    def test_a_path_is_relative_to_the_profile_file_not_to_where_one_stands(self, profile, monkeypatch):
        monkeypatch.chdir("/")
        loaded = load_profile(profile)
        assert loaded.bertscore is not None
        assert loaded.bertscore.folder == profile.parent / "bert"

    def test_an_unknown_name_lists_the_known_ones_in_both_languages(self):
        with pytest.raises(UnknownProfile) as caught:
            load_profile("offical")
        for language in ("ko", "en"):
            assert "'offical'" in caught.value.message(language)
            assert "official, small, demo" in caught.value.message(language)
        assert isinstance(caught.value, ScoringError)
        assert caught.value.code == "unknown_profile"

    @pytest.mark.parametrize(
        ("text", "key"),
        [
            ("name = ", "TOML"),
            ('[bertscore]\nmodel = "./bert"\nnum_layers = 2\n', "name"),
            ('name = "mine"\n', "[bertscore]"),
            ('name = "mine"\nmodels = 3\n', "models"),
            ('name = "mine"\nbertscore = "bert"\n', "[bertscore]"),
            ('name = "mine"\n[bertscore]\nmodel = "./bert"\nnum_layer = 9\n', "bertscore.num_layer"),
            ('name = "mine"\n[bertscore]\nmodel = "./bert"\n', "bertscore.num_layers"),
            ('name = "mine"\n[bertscore]\nmodel = "./bert"\nnum_layers = 0\n', "bertscore.num_layers"),
            ('name = "mine"\n[bertscore]\nmodel = "./bert"\nnum_layers = true\n', "bertscore.num_layers"),
            ('name = "mine"\n[bleurt]\nrevision = "1"\n', "bleurt.model"),
            ('name = "mine"\n[bleurt]\nmodel = "lucadiliello/BLEURT-20"\n', "bleurt.revision"),
            ('name = "mine"\n[bleurt]\nmodel = "a/b/c"\nrevision = "1"\n', "bleurt.model"),
            ('name = "mine"\n[bleurt]\nmodel = "한글 모델"\nrevision = "1"\n', "bleurt.model"),
            ('name = "mine"\nis_demo = "yes"\n', "is_demo"),
            ('name = "mine"\nis_demo = true\n[bleurt]\nmodel = "lucadiliello/BLEURT-20"\n', "bleurt.model"),
        ],
    )
    def test_a_wrong_profile_is_named_with_file_and_key(self, tmp_path, text, key):
        path = write(tmp_path / "wrong.toml", text)
        with pytest.raises(InvalidProfile) as caught:
            load_profile(path)
        assert caught.value.params["key"] == key
        assert str(path) in caught.value.message("ko")
        assert re.search("[가-힣]", caught.value.message("en")) is None or "한글" in text

    def test_a_missing_section_is_named_when_it_is_needed(self, models):
        path = write_profile(models / "half.toml", bertscore=models / "bert")
        with pytest.raises(ModelNotConfigured, match=r"\[bleurt\]"):
            load_metric("bleurt", Resources(path, "cpu")).score_pairs(["가"], ["나"])


class TestMissingModels:
    @pytest.mark.usefixtures("hub_cache", "no_network")
    @pytest.mark.parametrize("name", ["bertscore", "bleurt"])
    def test_official_models_that_are_not_here_are_asked_for_by_command_never_replaced(self, name):
        metric = load_metric(name, Resources("official", "cpu"))
        for use in (metric.signature, lambda: metric.score_pairs(["가"], ["나"])):
            with pytest.raises(ModelUnavailable) as caught:
                use()
            assert isinstance(caught.value, ModelNotFetched)
            for language in ("ko", "en"):
                assert "python -m scoring models fetch official" in caught.value.message(language)

    @pytest.mark.usefixtures("no_network")
    def test_a_half_fetched_model_counts_as_missing(self, hub_cache):
        official = load_profile("official")
        assert official.bleurt is not None
        snapshot = hub_cache / "models--lucadiliello--BLEURT-20" / "snapshots" / official.bleurt.revision
        snapshot.mkdir(parents=True)
        write(snapshot / "config.json", "{}")
        with pytest.raises(ModelNotFetched):
            Resources(official, "cpu").bleurt  # noqa: B018 - the property loads

    def test_a_path_where_nothing_lies_is_named_as_a_path(self, tmp_path):
        path = write(tmp_path / "mine.toml", 'name = "mine"\n[bleurt]\nmodel = "./nowhere"\n')
        with pytest.raises(ModelFolderMissing, match="nowhere"):
            Resources(path, "cpu").describe()

    def test_cuda_asked_for_and_not_there_is_an_error_not_a_slow_cpu(self, profile, monkeypatch):
        monkeypatch.setattr("torch.cuda.is_available", lambda: False)
        with pytest.raises(DeviceUnavailable, match="--device cpu"):
            Resources(profile, "cuda").describe()
        assert Resources(profile, "auto").device == "cpu"


class TestDamagedModels:
    @pytest.mark.parametrize("name", ["bert", "bleurt"])
    def test_weights_missing_from_the_file_are_never_filled_with_random_ones(self, profile, name):
        path = profile.parent / name / "model.safetensors"
        tensors = load_file(path)
        gone = next(key for key in tensors if key.endswith("layer.1.output.dense.weight"))
        del tensors[gone]
        save_file(tensors, path, metadata={"format": "pt"})
        role = "bertscore" if name == "bert" else name
        with pytest.raises(ModelDamaged, match=re.escape(gone.split("layer.1")[1])):
            getattr(Resources(profile, "cpu"), role)

    @pytest.mark.parametrize("name", ["bertscore", "bleurt"])
    @pytest.mark.parametrize("file", ["model.safetensors", "config.json", "vocabulary"])
    def test_a_cut_file_is_named(self, profile, name, file):
        folder = profile.parent / {"bertscore": "bert", "bleurt": "bleurt"}[name]
        path = folder / {"vocabulary": {"bertscore": "vocab.txt", "bleurt": "spm.model"}[name]}.get(file, file)
        if file == "vocabulary":
            path.unlink()
        else:
            path.write_bytes(path.read_bytes()[:100])
        with pytest.raises(ModelDamaged, match=re.escape(str(folder))):
            getattr(Resources(profile, "cpu"), name)

    def test_a_layer_the_model_does_not_have_is_refused(self, models):
        path = write_profile(models / "deep.toml", bertscore=models / "bert", num_layers=4)
        with pytest.raises(TooFewLayers, match="num_layers"):
            Resources(path, "cpu").bertscore  # noqa: B018 - the property loads

    def test_buffers_that_are_not_learnt_may_be_missing(self, profile):
        """Checkpoints saved by other versions leave the position numbers out."""
        path = profile.parent / "bleurt" / "model.safetensors"
        pair = (["한글 맞춤법"], ["표준어 규정"])
        expected = load_metric("bleurt", Resources(profile, "cpu")).score_pairs(*pair)
        tensors = load_file(path)
        tensors.pop("bleurt.embeddings.position_ids")
        save_file(tensors, path, metadata={"format": "pt"})
        assert load_metric("bleurt", Resources(profile, "cpu")).score_pairs(*pair) == expected

    def test_weights_in_pytorchs_own_format_load_too(self, profile):
        """The hub's BLEURT-20 is a ``pytorch_model.bin``."""
        import torch

        folder = profile.parent / "bleurt"
        pair = (["한글 맞춤법"], ["표준어 규정"])
        expected = load_metric("bleurt", Resources(profile, "cpu")).score_pairs(*pair)
        torch.save(load_file(folder / "model.safetensors"), folder / "pytorch_model.bin")
        (folder / "model.safetensors").unlink()
        assert load_metric("bleurt", Resources(profile, "cpu")).score_pairs(*pair) == expected


class TestHashes:
    def test_other_weights_have_another_hash(self, profile):
        before = Resources(profile, "cpu").describe()
        path = profile.parent / "bert" / "model.safetensors"
        tensors = load_file(path)
        tensors["encoder.layer.0.output.dense.bias"][0] += 1
        save_file(tensors, path, metadata={"format": "pt"})
        after = Resources(profile, "cpu").describe()
        assert after["bertscore"]["weights_sha256"] != before["bertscore"]["weights_sha256"]
        assert after["bleurt"] == before["bleurt"]

    def test_another_vocabulary_has_another_hash(self, profile):
        before = Resources(profile, "cpu").describe_model("bertscore")
        path = profile.parent / "bert" / "vocab.txt"
        write(path, path.read_text(encoding="utf-8") + "새말\n")
        after = Resources(profile, "cpu").describe_model("bertscore")
        assert after["tokenizer_sha256"] != before["tokenizer_sha256"]
        assert after["weights_sha256"] == before["weights_sha256"]

    def test_an_unchanged_file_is_hashed_once(self, models, monkeypatch):
        first = weights_sha256(models / "bert")
        monkeypatch.setattr(model_files, "_sha256", lambda _: pytest.fail("hashed again"))
        assert weights_sha256(models / "bert") == first

    def test_a_folder_that_cannot_be_written_is_hashed_all_the_same(self, models):
        (models / "bert" / model_files.HASH_CACHE).mkdir()
        assert re.fullmatch("[0-9a-f]{64}", weights_sha256(models / "bert"))

    def test_weights_in_parts_are_hashed_together(self, models):
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
        assert model_files.weight_files(folder) == ()

    def test_no_path_of_this_machine_stands_in_a_signature(self, profile):
        described = json.dumps(Resources(profile, "cpu").describe())
        assert str(profile.parent) not in described
        assert json.loads(described)["bertscore"]["model"] == "bert"

    def test_describing_loads_no_model(self, profile, monkeypatch):
        monkeypatch.setattr(checkpoints, "load_pretrained", lambda *_: pytest.fail("a model was loaded"))
        assert Resources(profile, "cpu").describe()["bleurt"]["dtype"] == "float32"


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


class TestSharing:
    def test_a_process_has_one_set_of_models_for_a_profile_and_device(self, profile):
        shared = shared_resources(profile, "cpu")
        assert shared_resources(str(profile), "cpu") is shared
        assert shared_resources(profile, "auto") is not shared
        assert shared.bleurt is shared_resources(profile, "cpu").bleurt

    def test_a_changed_profile_file_is_another_profile(self, profile):
        shared = shared_resources(profile, "cpu")
        write_profile(profile, bertscore=profile.parent / "bert", num_layers=1)
        assert shared_resources(profile, "cpu") is not shared

    @pytest.mark.usefixtures("no_network", "hub_cache")
    def test_scoring_never_reaches_for_the_network(self, profile):
        resources = Resources(profile, "cpu")
        for name in ("bertscore", "bleurt"):
            metric = load_metric(name, resources)
            metric.signature()
            assert len(metric.score_pairs(["한글 맞춤법"], ["표준어 규정"])) == 1

    def test_asking_for_profiles_imports_no_torch(self):
        script = (
            "import sys, scoring.checkpoints as c; c.list_profiles(); c.load_profile('official');"
            "assert not {'torch', 'transformers', 'numpy'} & set(sys.modules), sorted(sys.modules)"
        )
        subprocess.run([sys.executable, "-c", script], cwd=ROOT, env=dict(os.environ), check=True)


class TestFetching:
    """Against a hub on this machine, over real HTTP."""

    @pytest.fixture
    def hub(self, models, hub_cache) -> Iterator[Hub]:
        with serve(Hub(HUB_NAME, REVISION, models / "bleurt")) as hub:
            yield hub

    @pytest.fixture
    def remote(self, tmp_path) -> Path:
        text = f'name = "remote"\n[bleurt]\nmodel = "{HUB_NAME}"\nrevision = "{REVISION}"\n'
        return write(tmp_path / "remote.toml", text)

    def test_a_fetched_model_scores_as_the_one_it_was_copied_from(self, hub, remote, profile):
        (status,) = fetch(remote, endpoint=hub.endpoint)
        assert status.folder is not None
        assert status.folder.name == REVISION
        pair = (["한글 맞춤법"], ["표준어 규정"])
        here = load_metric("bleurt", Resources(remote, "cpu"))
        copied = load_metric("bleurt", Resources(profile, "cpu"))
        assert here.score_pairs(*pair) == copied.score_pairs(*pair)
        assert here.signature()["weights_sha256"] == copied.signature()["weights_sha256"]
        assert here.signature()["model"] == HUB_NAME

    def test_one_format_of_the_weights_is_fetched_and_nothing_twice(self, hub, remote):
        hub.files |= {"pytorch_model.bin": b"the same again", "tf_model.h5": b"and again", "README.md": b"words"}
        fetch(remote, endpoint=hub.endpoint)
        fetch(remote, endpoint=hub.endpoint)
        assert sorted(hub.downloaded) == sorted(
            ["config.json", "model.safetensors", "special_tokens_map.json", "spm.model", "tokenizer_config.json"]
        )

    @pytest.mark.parametrize("break_it", ["revision", "weights", "connection"])
    def test_a_failed_fetch_says_which_model_and_what_to_check(self, hub, remote, break_it):
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

    def test_verify_passes_on_what_was_fetched(self, hub, remote):
        fetch(remote, endpoint=hub.endpoint)
        assert [(check.role, check.name, check.ok) for check in verify(remote, device="cpu")] == [
            ("bleurt", "weights", True),
            ("bleurt", "finite", True),
        ]

    def test_verify_finds_a_file_that_changed_after_it_was_fetched(self, hub, remote):
        (status,) = fetch(remote, endpoint=hub.endpoint)
        assert status.folder is not None
        weights = (status.folder / "model.safetensors").resolve()
        content = bytearray(weights.read_bytes())
        content[-1] ^= 1
        weights.write_bytes(content)
        failed = [check for check in verify(remote, device="cpu") if not check.ok]
        assert [check.name for check in failed] == ["weights"]
        assert weights.name in failed[0].message("ko")


class TestVerify:
    def test_a_sound_profile_passes_every_check(self, profile):
        checks = verify(profile, device="cpu")
        assert [(check.role, check.name) for check in checks] == [
            ("bertscore", "weights"),
            ("bertscore", "identity"),
            ("bleurt", "weights"),
            ("bleurt", "finite"),
        ]
        assert all(check.ok for check in checks)

    @pytest.mark.parametrize(("shift", "ok"), [(0.0, True), (0.01, False)])
    def test_published_values_must_be_reproduced(self, profile, monkeypatch, shift, ok):
        """As for BLEURT-20-D12, whose two values the package's README prints."""
        pairs = [(reference, candidate) for reference, candidate, _ in fetching.PUBLISHED_BLEURT[self.d12()]]
        references, candidates = zip(*pairs, strict=True)
        values = load_metric("bleurt", Resources(profile, "cpu")).score_pairs(references, candidates)
        told = tuple((*pair, value + shift) for pair, value in zip(pairs, values, strict=True))
        monkeypatch.setitem(fetching.PUBLISHED_BLEURT, "bleurt", told)
        (check,) = [check for check in verify(profile, device="cpu") if check.name == "published_values"]
        assert check.ok is ok
        assert f"{values[0]:.7f}" in check.message("en")

    def d12(self) -> str:
        small = load_profile("small").bleurt
        assert small is not None
        return small.model

    def test_the_published_values_are_those_of_the_readme(self):
        values = [value for _, _, value in fetching.PUBLISHED_BLEURT[self.d12()]]
        assert values == [0.9604414105415344, 0.8080050349235535]

    @pytest.mark.usefixtures("hub_cache", "no_network")
    def test_missing_models_are_failed_checks_each_of_them(self):
        assert [(check.role, check.name, check.ok) for check in verify("official", device="cpu")] == [
            ("bertscore", "model_not_fetched", False),
            ("bleurt", "model_not_fetched", False),
        ]

    @pytest.mark.usefixtures("hub_cache", "no_network")
    def test_a_list_of_profiles_says_what_is_here_without_making_or_fetching(self, tmp_path, monkeypatch):
        monkeypatch.setenv("MALPAN_MODELS", str(tmp_path / "none"))
        assert [(status.profile.name, status.is_ready) for status in list_profiles()] == [
            ("official", False),
            ("small", False),
            ("demo", True),
        ]
        assert all(model.folder is None for status in list_profiles() for model in status.models)
        assert not (tmp_path / "none").exists()
