"""Profiles say exactly which models score, and a wrong one is named with file and key."""

from __future__ import annotations

import re

import pytest

from scoring.errors import ScoringError
from scoring.metrics import load_metric
from scoring.models.files import list_profiles
from scoring.models.profile import InvalidProfile, ModelNotConfigured, UnknownProfile, load_profile
from scoring.models.store import ModelStore
from tests.scoring.tiny_models import write, write_profile


def test_the_official_profile_is_the_contests():
    official = load_profile("official")
    assert official.bertscore is not None
    assert official.bleurt is not None
    assert official.bertscore.model == "bert-base-multilingual-cased"
    assert official.bertscore.revision == "3f076fdb1ab68d5b2880cb87a0886f315b8146f8"
    assert official.bertscore.num_layers == 9
    assert official.bleurt.model == "lucadiliello/BLEURT-20"
    assert official.bleurt.revision == "e22b9eb071dcb939da9fff08b20a7e746c72a830"
    assert not official.is_demo


def test_the_small_profile_differs_in_bleurt_only():
    small, official = load_profile("small"), load_profile("official")
    assert small.bertscore == official.bertscore
    assert small.bleurt is not None
    assert small.bleurt.model == "lucadiliello/BLEURT-20-D12"
    assert small.bleurt.revision == "90ce39a8ceb3b9a046a7788f0005572301c3fe67"


def test_only_the_demo_profile_is_demo():
    assert [(status.profile.name, status.profile.is_demo) for status in list_profiles()] == [
        ("official", False),
        ("small", False),
        ("demo", True),
    ]


def test_a_path_is_relative_to_the_profile_file_not_to_where_one_stands(profile, monkeypatch):
    monkeypatch.chdir("/")
    loaded = load_profile(profile)
    assert loaded.bertscore is not None
    assert loaded.bertscore.folder == profile.parent / "bert"


def test_an_unknown_name_lists_the_known_ones_in_both_languages():
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
def test_a_wrong_profile_is_named_with_file_and_key(tmp_path, text, key):
    path = write(tmp_path / "wrong.toml", text)
    with pytest.raises(InvalidProfile) as caught:
        load_profile(path)
    assert caught.value.params["key"] == key
    assert str(path) in caught.value.message("ko")
    assert re.search("[가-힣]", caught.value.message("en")) is None or "한글" in text


def test_a_missing_section_is_named_when_it_is_needed(models):
    path = write_profile(models / "half.toml", bertscore=models / "bert")
    with pytest.raises(ModelNotConfigured, match=r"\[bleurt\]"):
        load_metric("bleurt", ModelStore(path, "cpu")).score_pairs(["가"], ["나"])


def test_a_profile_without_models_says_so(tmp_path):
    path = tmp_path / "none.toml"
    for text, refused in (
        ('name = "none"\n', "without_models = true"),
        ('name = "none"\nwithout_models = "yes"\n', "it must be true or false"),
        ('name = "none"\nwithout_models = true\n[bleurt]\nmodel = "a/b"\nrevision = "c"\n', "the file names models"),
    ):
        path.write_text(text)
        with pytest.raises(InvalidProfile) as caught:
            load_profile(path)
        assert refused in caught.value.message("en")
    path.write_text('name = "none"\nwithout_models = true\n')
    assert load_profile(path).specs() == ()
    with pytest.raises(ModelNotConfigured):
        load_profile(path).spec("bleurt")
