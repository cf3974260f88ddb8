"""What CLIPScore makes of the points of captions, references and frames, without a model: two numbers are a point."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from hashlib import sha256
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest

from scoring.media import FramesMissing
from scoring.metrics.base import MetricOptions, Row
from scoring.metrics.clipscore import ClipScore, clip_score, cosines, ref_clip_score
from scoring.records import ScoreWarning

NOTHING = (0.0, 0.0, 0.0, 0.0)
IDS = ("나", "가", "다")
CAPTIONS = ("긴 배", "배", " ")
REFERENCES = (("산",), ("산", "강"), ("배",))


class Point(tuple[float, float]):
    """In the place of a tensor."""

    def double(self) -> Point:
        return self

    def __matmul__(self, other: Point) -> float:
        return self[0] * other[0] + self[1] * other[1]


TEXTS = {"배": Point((0.6, 0.8)), "긴 배": Point((0.6, 0.8)), "강": Point((0.8, 0.6)), "산": Point((-1.0, 0.0))}
FRAMES = {"가.png": Point((1.0, 0.0)), "나/1.png": Point((0.0, 1.0)), "나/2.png": Point((-1.0, 0.0)), "다.png": Point()}


class Frame(NamedTuple):
    """As that of ``scoring.models.clip``, whose import takes seconds."""

    sha256: str
    open: Callable[[], Any]


class Model:
    """Knows the points above; what the captions say twice it tells once."""

    def __init__(self) -> None:
        self.references: Sequence[str] = ()

    def text_points(self, captions: Sequence[str], references: Sequence[str], on_done: Callable[[int], None]) -> Any:
        self.references = references
        for _text in {*captions, *references}:
            on_done(1)
        return SimpleNamespace(points=TEXTS, cut=frozenset({"긴 배"}))

    def image_points(self, frames: Sequence[Frame], on_done: Callable[[int], None]) -> dict[str, Point]:
        on_done(len(frames))
        return {sha256(name.encode()).hexdigest(): point for name, point in FRAMES.items()}


def store(kind: str, **parts: Any) -> Any:
    profile = SimpleNamespace(clip="a model")
    return SimpleNamespace(clip_kind=kind, profile=profile, describe_model=lambda role: {"role": role}, **parts)


@pytest.fixture
def media(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> MetricOptions:
    """The frames of three items; each file holds its name."""
    monkeypatch.setitem(sys.modules, "scoring.models.clip", SimpleNamespace(Frame=Frame))
    for name in FRAMES:
        path = tmp_path / "frames" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(name.encode())
    return MetricOptions(media=tmp_path / "frames")


def rows_of(kind: str, media: MetricOptions, progress: Any = None) -> tuple[list[Row], Model]:
    model = Model()
    return ClipScore(store(kind, clip=model), media).statistics(IDS, REFERENCES, CAPTIONS, progress), model


# --- rows -------------------------------------------------------------------------------------------------------------
def test_a_row_is_of_all_frames_and_of_the_nearest_reference(media: MetricOptions) -> None:
    [film, picture, unanswered], model = rows_of("clip", media)
    assert film == pytest.approx((2.5 * 0.8 / 2, 0.0, (0.8 - 0.6) / 2, 1.0))
    assert picture == pytest.approx((2.5 * 0.6, 2 * 1.5 * 0.96 / (1.5 + 0.96), 0.6, 0.0))
    assert unanswered == NOTHING
    assert sorted(model.references) == ["강", "산", "산"]


def test_siglip_has_the_cosine_alone_and_reads_no_reference(media: MetricOptions) -> None:
    [film, picture, unanswered], model = rows_of("siglip", media)
    assert film == pytest.approx((0.0, 0.0, 0.1, 1.0))
    assert picture == pytest.approx((0.0, 0.0, 0.6, 0.0))
    assert unanswered == NOTHING
    assert model.references == []


@pytest.mark.parametrize(("kind", "heard"), [("clip", [0, 0, 1, 1, 3]), ("siglip", [0, 1, 3])])
def test_progress_is_in_proportion_to_texts_and_frames(media: MetricOptions, kind: str, heard: list[int]) -> None:
    """Two captions with two references, or without, and three frames."""
    told: list[tuple[int, int]] = []
    rows_of(kind, media, lambda done, total: told.append((done, total)))
    assert told == [(done, 3) for done in heard]


def test_without_an_answer_no_model_is_asked(media: MetricOptions) -> None:
    assert ClipScore(store("clip"), media).statistics(IDS[:2], REFERENCES[:2], ["", " "]) == [NOTHING] * 2


def test_an_item_without_frames_is_named_also_if_it_is_unanswered(media: MetricOptions) -> None:
    with pytest.raises(FramesMissing, match="라"):
        ClipScore(store("clip"), media).statistics(["가", "라"], REFERENCES[:2], ["", ""])


# --- numbers ----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("cosines", "expected"), [([0.4], 1.0), ([0.4, 0.0], 0.5), ([0.2, -0.9], 0.25), ([-1.0], 0.0), ([1.0], 2.5)]
)
def test_clipscore_by_hand(cosines: list[float], expected: float) -> None:
    assert clip_score(cosines) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("clip", "references", "expected"),
    [
        (1.0, [0.5], 2 / 3),
        (0.5, [0.1, 0.5], 0.5),
        (0.0, [0.9], 0.0),
        (1.0, [-0.5], 0.0),
        (0.5, [-0.5, 1.0], 2 / 3),
        (0.0, [0.0], 0.0),
        (1.0, [], 0.0),
    ],
)
def test_refclipscore_is_the_harmonic_mean_with_the_nearest_reference(
    clip: float, references: list[float], expected: float
) -> None:
    assert ref_clip_score(clip, references) == pytest.approx(expected)


def test_a_cosine_is_never_beyond_1() -> None:
    """Points of the sphere are of length 1 but for rounding."""
    others = [Point((1.0, 1.0)), Point((-1.0, -1.0)), Point((0.5, -0.5))]
    assert cosines(Point((1.0, 0.5)), others) == [1.0, -1.0, 0.25]


# --- scores -----------------------------------------------------------------------------------------------------------
def test_scores_are_the_means_of_the_rows_also_of_those_that_can_be_summed() -> None:
    rows: list[Row] = [(1.0, 0.5, 0.4, 1.0), (0.0, 0.0, -0.2, 0.0)]
    means = {"clipscore": 0.5, "refclipscore": 0.25, "clip_cosine": 0.1, "clip_truncated": 0.5}
    assert ClipScore.aggregate(rows) == pytest.approx(means)
    [summable] = ClipScore.summable(rows).systems
    assert ClipScore.scores([sum(column) for column in zip(*summable, strict=True)]) == pytest.approx(means)
    assert ClipScore.aggregate([]) == dict.fromkeys(means, 0.0)


def test_a_report_shows_what_the_kind_of_model_has(media: MetricOptions) -> None:
    assert ClipScore(store("clip"), media).reported() == ("clipscore", "refclipscore", "clip_truncated")
    assert ClipScore(store("siglip"), media).reported() == ("clip_cosine", "clip_truncated")


def test_captions_that_were_cut_are_counted(media: MetricOptions) -> None:
    metric, cut = ClipScore(store("clip"), media), (0.5, 0.5, 0.2, 1.0)
    assert metric.warnings([NOTHING, cut, cut]) == [ScoreWarning("clip_truncated", {"count": 2})]
    assert metric.warnings([NOTHING]) == []


# --- what it needs and says -------------------------------------------------------------------------------------------
def test_it_needs_frames(media: MetricOptions) -> None:
    for options in (None, MetricOptions()):
        with pytest.raises(TypeError, match="MetricOptions"):
            ClipScore(store("clip"), options)
    assert not ClipScore.is_configured(store("clip"), MetricOptions())
    assert ClipScore.is_configured(store("clip"), media)


@pytest.mark.parametrize(("kind", "weight"), [("clip", 2.5), ("siglip", None)])
def test_the_signature_has_the_weight_that_clip_alone_has(
    media: MetricOptions, kind: str, weight: float | None
) -> None:
    signature = ClipScore(store(kind), media).signature()
    assert signature.pop("frames_sha256") == ClipScore(store(kind), media).media.sha256
    assert signature == {
        "metric": "clipscore", "rule": "clipscore@1", "weight": weight, "frames": "mean", "prompt": "", "role": "clip",
    }  # fmt: skip
