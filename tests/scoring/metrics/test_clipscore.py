"""CLIPScore equals what transformers computes of one caption and one image at a time, and says what it cannot do."""

from __future__ import annotations

import math
import random
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from PIL import Image, ImageDraw

from scoring.media import FrameBroken, FramesMissing
from scoring.metrics import CorpusMetric, MetricOptions, PairMetric, load_metric
from scoring.metrics.clipscore import ClipScore
from scoring.models.files import ClipModelUnsupported, ModelDamaged
from scoring.models.profile import ModelNotConfigured, load_profile
from scoring.models.store import ModelStore
from scoring.running.truncation import LimitedMetric
from scoring.verification.checks import verify
from tests.scoring.tiny_models import SENTENCES, contest_like, make_clip, make_siglip, one_thread, write, write_profile

ITEMS = 40
IDS = [f"영상{number:02d}" for number in range(ITEMS)]


@pytest.fixture(scope="module", autouse=True)
def _one_thread() -> Iterator[None]:
    with one_thread():
        yield


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Profiles ``clip.toml`` and ``siglip.toml`` with their models, and ``frames`` of 40 items."""
    folder = tmp_path_factory.mktemp("clip")
    for name, make in (("clip", make_clip), ("siglip", make_siglip)):
        write_profile(folder / f"{name}.toml", clip=make(folder / name))
    rng = random.Random(11)
    for number, item in enumerate(IDS):
        if number % 2:
            picture(rng, folder / "frames" / f"{item}.{('jpg', 'png', 'webp', 'jpeg')[number % 4]}")
        else:
            for frame in range(1 + number % 5):
                picture(rng, folder / "frames" / item / f"{frame:03d}.png")
    return folder


def picture(rng: random.Random, path: Path) -> None:
    """A picture of some size and colours."""
    path.parent.mkdir(parents=True, exist_ok=True)
    width, height = rng.randint(20, 90), rng.randint(20, 90)
    image = Image.new("RGB", (width, height), colour(rng))
    draw = ImageDraw.Draw(image)
    for _ in range(rng.randint(1, 6)):
        left, top = rng.randint(0, width - 2), rng.randint(0, height - 2)
        draw.ellipse((left, top, rng.randint(left + 1, width), rng.randint(top + 1, height)), fill=colour(rng))
    image.save(path)


def colour(rng: random.Random) -> tuple[int, int, int]:
    return rng.randrange(256), rng.randrange(256), rng.randrange(256)


def captions(seed: int = 3) -> tuple[list[tuple[str, ...]], list[str]]:
    """References, one to three an item, and candidates: short, long, English, strange."""
    rng = random.Random(seed)
    pool = [*SENTENCES, "바다", "파란 하늘 아래 산이 보인다.", "a red CAR, parked!", "😀 웃는 얼굴", "하늘 " * 200]
    references = [tuple(rng.choice(pool) for _ in range(rng.randint(1, 3))) for _ in IDS]
    candidates = [rng.choice(pool) if rng.random() < 0.7 else contest_like(rng, rng.randint(1, 3)) for _ in IDS]
    return references, candidates


def metric_of(made: Path, kind: str, frames: Path | None = None) -> ClipScore:
    metric = load_metric("clipscore", ModelStore(made / f"{kind}.toml", "cpu"), options(frames or made / "frames"))
    assert isinstance(metric, ClipScore)
    return metric


def options(frames: Path) -> MetricOptions:
    return MetricOptions(media=frames)


class Witness:
    """One text or image at a time through transformers' own calls."""

    def __init__(self, folder: Path, kind: str) -> None:
        from transformers import AutoImageProcessor, AutoModel, AutoTokenizer

        self.model = AutoModel.from_pretrained(folder).eval()
        self.tokenizer = AutoTokenizer.from_pretrained(folder)
        self.processor = AutoImageProcessor.from_pretrained(folder, use_fast=False)
        self.padding: Any = "max_length" if kind == "siglip" else True

    def text(self, text: str) -> torch.Tensor:
        inputs = self.tokenizer([text], padding=self.padding, truncation=True, return_tensors="pt")
        with torch.no_grad():
            return self._unit(self.model.get_text_features(**inputs))

    def image(self, path: Path) -> torch.Tensor:
        from transformers.image_utils import load_image

        inputs = self.processor(images=load_image(str(path)), return_tensors="pt")
        with torch.no_grad():
            return self._unit(self.model.get_image_features(**inputs))

    @staticmethod
    def _unit(features: torch.Tensor) -> torch.Tensor:
        return features[0] / features[0].norm()

    def cosines(self, made: Path, item: str, caption: str) -> list[float]:
        paths = sorted((made / "frames").glob(f"{item}.*")) or sorted((made / "frames" / item).iterdir())
        return [float(self.text(caption) @ self.image(path)) for path in paths]


def test_clipscore_equals_one_direct_forward_an_item(made):
    witness = Witness(made / "clip", "clip")
    references, candidates = captions()
    rows = metric_of(made, "clip").statistics(IDS, references, candidates)
    for item, texts, caption, row in zip(IDS, references, candidates, rows, strict=True):
        seen = witness.cosines(made, item, caption)
        clip = sum(2.5 * max(cosine, 0) for cosine in seen) / len(seen)
        near = max(float(witness.text(caption) @ witness.text(text)) for text in texts)
        both = 2 * clip * near / (clip + near) if clip > 0 and near > 0 else 0
        assert row[:3] == pytest.approx((clip, both, sum(seen) / len(seen)), abs=1e-5)
    assert sum(row[0] > 0 for row in rows) > ITEMS / 4, "the models made here must not only see cosines below zero"


def test_siglip_reports_the_raw_cosine_of_texts_padded_to_the_full_length(made):
    witness = Witness(made / "siglip", "siglip")
    references, candidates = captions()
    metric = metric_of(made, "siglip")
    rows = metric.statistics(IDS, references, candidates)
    for item, caption, row in zip(IDS, candidates, rows, strict=True):
        seen = witness.cosines(made, item, caption)
        assert row[:3] == pytest.approx((0, 0, sum(seen) / len(seen)), abs=1e-5)
    assert min(row[2] for row in rows) < 0
    assert metric.reported() == ("clip_cosine", "clip_truncated")
    assert metric.aggregate(rows)["clip_cosine"] == pytest.approx(math.fsum(row[2] for row in rows) / ITEMS)
    assert metric.signature()["weight"] is None


def test_scores_are_the_means_of_the_rows(made):
    metric = metric_of(made, "clip")
    rows = [(1.0, 0.5, 0.4, 1.0), (0.0, 0.0, -0.2, 0.0)]
    found = metric.aggregate(rows)
    assert {name: found[name] for name in metric.reported()} == {
        "clipscore": 0.5,
        "refclipscore": 0.25,
        "clip_truncated": 0.5,
    }
    assert metric.aggregate([]) == dict.fromkeys(metric.score_names, 0.0)
    assert isinstance(metric, CorpusMetric)


@pytest.mark.parametrize("kind", ["clip", "siglip"])
def test_a_long_caption_is_cut_and_counted(made, kind):
    metric = metric_of(made, kind)
    long, short = "하늘이 파랗고 바다가 넓다 " * 100, "바다"
    tokens = metric._store.clip.tokenizer.encode([long, short])
    assert [(len(row.ids) == metric._store.clip.tokenizer.max_length, row.is_cut) for row in tokens] == [
        (True, True),
        (kind == "siglip", False),
    ]
    rows = metric.statistics(IDS[:3], [(short,)] * 3, [long, short, ""])
    assert [row[3] for row in rows] == [1.0, 0.0, 0.0]
    assert metric.aggregate(rows)["clip_truncated"] == pytest.approx(1 / 3)


@pytest.mark.parametrize("caption", ["", "  ", "은 는 이 가", "😀😀", "말", "가나다라마 " * 5000])
def test_any_caption_gives_finite_values_and_none_gives_zero(made, caption):
    (row,) = metric_of(made, "clip").statistics(IDS[:1], [("바다",)], [caption])
    assert all(map(math.isfinite, row))
    assert any(row) == bool(caption.strip())


@pytest.mark.parametrize("kind", ["clip", "siglip"])
def test_neighbours_in_a_batch_change_no_value(made, kind):
    references, candidates = captions(8)
    whole = metric_of(made, kind).statistics(IDS, references, candidates)
    tight = ClipScore(ModelStore(made / f"{kind}.toml", "cpu", token_budget=1), options(made / "frames"))
    assert tight.statistics(IDS, references, candidates) == [pytest.approx(row, abs=1e-5) for row in whole]
    order = random.Random(1).sample(range(ITEMS), ITEMS)
    again = metric_of(made, kind).statistics(
        *([column[index] for index in order] for column in (IDS, references, candidates))
    )
    assert again == [whole[index] for index in order]


def test_frames_are_embedded_once_for_all_submissions(made, monkeypatch):
    resources = ModelStore(made / "clip.toml", "cpu")
    references, candidates = captions()
    first = ClipScore(resources, options(made / "frames")).statistics(IDS, references, candidates)
    monkeypatch.setattr("scoring.metrics.clipscore.open_frame", lambda *_: pytest.fail("opened again"))
    second = ClipScore(resources, options(made / "frames")).statistics(IDS, references, candidates)
    assert second == [pytest.approx(row, abs=1e-6) for row in first]


def test_progress_ends_with_every_item(made):
    heard: list[tuple[int, int]] = []
    references, candidates = captions()
    metric_of(made, "clip").statistics(IDS, references, candidates, lambda done, total: heard.append((done, total)))
    assert heard[-1] == (ITEMS, ITEMS)
    assert heard == sorted(heard)


def test_items_without_frames_are_the_organisers_error_and_named(made):
    with pytest.raises(FramesMissing, match="영상99") as caught:
        metric_of(made, "clip").statistics([*IDS, "영상99"], [("바다",)] * 41, ["바다"] * 41)
    assert "41" in caught.value.message("ko")


@pytest.mark.parametrize("content", [b"", b"no image", "cut"])
def test_a_broken_image_is_named_with_its_item(made, tmp_path, content):
    frames = tmp_path / "frames"
    shutil.copytree(made / "frames", frames)
    path = frames / f"{IDS[1]}.png"
    path.write_bytes(path.read_bytes()[:-60] if content == "cut" else content)
    with pytest.raises(FrameBroken, match=IDS[1]):
        metric_of(made, "clip", frames).statistics(IDS[:2], [("바다",)] * 2, ["바다"] * 2)


def test_the_signature_names_model_and_frames(made, tmp_path):
    signature = metric_of(made, "clip").signature()
    assert (signature["kind"], signature["max_length"], signature["weight"]) == ("clip", 77, 2.5)
    assert {"weights_sha256", "tokenizer_sha256", "frames_sha256", "libraries"} <= signature.keys()
    frames = tmp_path / "frames"
    shutil.copytree(made / "frames", frames)
    assert metric_of(made, "clip", frames).signature() == signature
    shutil.copy(frames / f"{IDS[1]}.png", frames / f"{IDS[5]}.png")
    assert metric_of(made, "clip", frames).signature()["frames_sha256"] != signature["frames_sha256"]


def test_how_images_are_scaled_is_part_of_the_signature(made, tmp_path):
    folder = tmp_path / "clip"
    shutil.copytree(made / "clip", folder)
    profile = write_profile(tmp_path / "clip.toml", clip=folder)
    before = ModelStore(profile, "cpu").describe_model("clip")
    settings = folder / "preprocessor_config.json"
    write(settings, settings.read_text(encoding="utf-8").replace('"resample": 3', '"resample": 2'))
    assert ModelStore(profile, "cpu").describe_model("clip")["tokenizer_sha256"] != before["tokenizer_sha256"]


def test_a_profile_without_clip_says_so(made, tmp_path):
    bert = tmp_path / "bert"
    bert.mkdir()
    resources = ModelStore(write_profile(tmp_path / "plain.toml", bertscore=bert), "cpu")
    assert resources.profile.clip is None
    with pytest.raises(ModelNotConfigured, match="clip"):
        load_metric("clipscore", resources, options(made / "frames")).signature()


@pytest.mark.parametrize(
    ("file", "content", "error"),
    [
        ("config.json", '{"model_type": "bert"}', ClipModelUnsupported),
        ("preprocessor_config.json", None, ModelDamaged),
        ("preprocessor_config.json", '{"image_processor_type": "CLIPImageProcessor", "crop_size": 16}', ModelDamaged),
        ("model.safetensors", "cut", ModelDamaged),
        ("vocab.json", None, ModelDamaged),
    ],
)
def test_a_model_that_cannot_be_used_is_named(made, tmp_path, file, content, error):
    folder = tmp_path / "clip"
    shutil.copytree(made / "clip", folder)
    if file == "vocab.json":
        (folder / "tokenizer.json").unlink()
    if content is None:
        (folder / file).unlink()
    else:
        write(folder / file, content)
    metric = ClipScore(ModelStore(write_profile(tmp_path / "p.toml", clip=folder), "cpu"), options(made / "frames"))
    with pytest.raises(error, match="clip"):
        metric.statistics(IDS[:1], [("바다",)], ["바다"])


@pytest.mark.parametrize("kind", ["clip", "siglip"])
def test_models_verify_runs_a_clip_model(made, kind):
    checks = verify(load_profile(made / f"{kind}.toml"), device="cpu")
    assert [(check.role, check.name, check.ok) for check in checks] == [
        ("clip", "weights", True),
        ("clip", "finite", True),
    ]


def test_what_kind_of_metric_it_is_can_be_asked_without_its_model(made, tmp_path):
    """The model of the profile is not on this machine: asking must not look for it."""
    write_profile(tmp_path / "gone.toml", clip=tmp_path / "nowhere")
    metric = ClipScore(ModelStore(tmp_path / "gone.toml", "cpu"), options(made / "frames"))
    assert isinstance(metric, CorpusMetric)
    assert not isinstance(metric, PairMetric)
    assert not isinstance(metric, LimitedMetric)  # a protocol: it looks at attributes, and so calls properties
