"""CLIPScore and RefCLIPScore of captions, by a CLIP or SigLIP model that the organiser configures.

CLIPScore (Hessel et al. 2021, "CLIPScore: A Reference-free Evaluation Metric for Image Captioning", eq. 1) of a caption
and an image is w * max(cos, 0) with w = 2.5; of an item with several frames (a film) it is the mean over its frames.
RefCLIPScore (eq. 2) is the harmonic mean of that and of max(cos, 0) of the caption and its nearest reference text. In
theory the first is 0-2.5 and the second 0-1.43 (10/7); with the model of the paper both are mostly below 1.

Departures from the paper's program, on purpose: no prompt ("A photo depicts") is put before a caption, as Korean models
were not trained with it, and everything is float32. Values are therefore comparable between submissions scored with one
model, not with published ones.

With SigLIP the raw cosine is reported instead, the mean over the frames, which may be negative: w was chosen for the
cosines of CLIP ViT-B/32, and those of a model trained with a sigmoid loss are in another range.

A caption longer than the model reads is cut; ``clip_truncated`` is the share of items with such a caption. An
unanswered item scores 0. A missing frame is the organiser's error, not a zero.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from scoring.errors import Message
from scoring.figures import Figure, ratio
from scoring.media import MediaSet, frames_of, open_frame
from scoring.media.archive import media_folder
from scoring.metrics.base import CorpusMetric, MetricOptions, PairProgress, Row, Summable, Tokenize
from scoring.models.store import ModelStore, require
from scoring.records import ScoreWarning

if TYPE_CHECKING:
    import torch

    from scoring.models.clip import Frame

VERSION: Final = 1  # raised whenever a change here could change a value
WEIGHT: Final = 2.5
REPORTED: Final = {  # by the kind of model
    "clip": ("clipscore", "refclipscore", "clip_truncated"),
    "siglip": ("clip_cosine", "clip_truncated"),
}


class ClipRow(NamedTuple):
    """The statistics of one item; SigLIP leaves the first two at 0."""

    clipscore: float
    refclipscore: float
    clip_cosine: float  # mean over the frames, -1 to 1
    clip_truncated: float  # 1 where the caption was cut


UNANSWERED: Final = ClipRow(0.0, 0.0, 0.0, 0.0)


def clip_score(cosines: Sequence[float]) -> float:
    """CLIPScore of one caption, from its cosine with each frame."""
    return math.fsum(WEIGHT * max(cosine, 0.0) for cosine in cosines) / len(cosines)


def ref_clip_score(clip: float, reference_cosines: Sequence[float]) -> float:
    """RefCLIPScore from the CLIPScore and the cosines of the caption with each reference text."""
    nearest = max(reference_cosines, default=0.0)
    return 2 * clip * nearest / (clip + nearest) if clip > 0 and nearest > 0 else 0.0


def cosines(point: torch.Tensor, others: Sequence[torch.Tensor]) -> list[float]:
    """Cosine of a point of the sphere with each of ``others``, within -1 and 1."""
    return [min(1.0, max(-1.0, float(point.double() @ other.double()))) for other in others]


class ClipScore(CorpusMetric):
    """CLIPScore with the ``clip`` model of the profile and the frames at ``options.media`` (a folder or a zip)."""

    name = "clipscore"
    label = Message("CLIPScore", "CLIPScore")
    rule = f"clipscore@{VERSION}"
    group = "picture"
    score_names = ClipRow._fields
    model = "clip"
    needs_media = True
    not_configured = "clip_not_configured"
    warning_texts = {
        "clip_not_configured": Message(
            "CLIP 모델이나 영상 프레임이 준비되지 않아 CLIPScore와 RefCLIPScore를 계산하지 않았습니다. 다른 점수에는 "
            "영향이 없습니다.",
            "CLIPScore and RefCLIPScore were not computed: no CLIP model or no frames are configured. The other scores "
            "are not affected.",
        ),
        "clip_truncated": Message(
            "캡션 {count}개가 CLIP 모델이 읽는 길이보다 길어, CLIPScore와 RefCLIPScore에는 앞부분만 반영되었습니다.",
            "Captions longer than the CLIP model reads: {count}. CLIPScore and RefCLIPScore saw only their beginnings.",
        ),
    }

    def __init__(self, store: ModelStore | None = None, options: MetricOptions | None = None) -> None:
        if options is None or options.media is None:
            raise TypeError(f"the metric '{self.name}' needs frames: MetricOptions(media=folder)")
        self._store = require(store, self.name)
        self._path: Path = options.media

    @cached_property
    def media(self) -> MediaSet:
        """The frames of all items. Raises ``MediaFault``."""
        return MediaSet(frames_of(media_folder(self._path)))

    def parameters(self) -> dict[str, Any]:
        return {
            "weight": WEIGHT if self._store.clip_kind == "clip" else None,
            "frames": "mean",
            "prompt": "",
            "frames_sha256": self.media.sha256,
            **self._store.describe_model("clip"),
        }

    def statistics(
        self,
        ids: Sequence[str],
        references: Sequence[Sequence[str]],
        candidates: Sequence[str],
        progress: PairProgress | None = None,
        *,
        tokenize: Tokenize | None = None,
    ) -> list[Row]:
        """One ``ClipRow`` for each item. ``progress`` gets items done, in proportion to texts and frames done.

        Raises ``FramesMissing``, ``FrameBroken``, ``ModelUnavailable``.
        """
        self.media.require(ids)
        answered = [index for index, candidate in enumerate(candidates) if candidate.strip()]
        if not answered:
            return [UNANSWERED] * len(ids)
        model, is_clip = self._store.clip, self._store.clip_kind == "clip"
        frames = {index: self._frames(ids[index]) for index in answered}
        captions = [candidates[index] for index in answered]
        texts_of = {index: tuple(references[index]) if is_clip else () for index in answered}
        known = [text for texts in texts_of.values() for text in texts]
        units = len({*captions, *known}) + len({frame.sha256 for each in frames.values() for frame in each})
        report = _in_items(units, len(ids), progress)
        texts = model.text_points(captions, known, report)
        images = model.image_points([frame for each in frames.values() for frame in each], report)
        rows: list[Row] = [UNANSWERED] * len(ids)
        for index in answered:
            point = texts.points[candidates[index]]
            seen = cosines(point, [images[frame.sha256] for frame in frames[index]])
            near = cosines(point, [texts.points[text] for text in texts_of[index]])
            clip = clip_score(seen) if is_clip else 0.0
            is_cut = float(candidates[index] in texts.cut)
            rows[index] = ClipRow(clip, ref_clip_score(clip, near), math.fsum(seen) / len(seen), is_cut)
        return rows

    @classmethod
    def sums(cls, rows: Sequence[Row]) -> Sequence[float]:
        return [*super().sums(rows), len(rows)]

    @classmethod
    def scores(cls, sums: Sequence[Figure]) -> dict[str, Figure]:
        """The mean of each column, for CLIP and SigLIP alike."""
        *columns, items = sums
        return {name: ratio(column, items) for name, column in zip(cls.score_names, columns, strict=True)}

    @classmethod
    def summable(cls, *systems: Sequence[Row]) -> Summable:
        return Summable(tuple([(*row, 1.0) for row in rows] for rows in systems))

    def reported(self) -> tuple[str, ...]:
        return REPORTED[self._store.clip_kind]

    def warnings(self, rows: Sequence[Row]) -> list[ScoreWarning]:
        """A warning with the number of captions that the model cut."""
        count = sum(ClipRow(*row).clip_truncated > 0 for row in rows)
        return [ScoreWarning("clip_truncated", {"count": count})] if count else []

    def _frames(self, item: str) -> list[Frame]:
        from scoring.models.clip import Frame

        return [Frame(self.media.digests[path], partial(open_frame, path, item)) for path in self.media.of(item)]


def _in_items(units: int, items: int, progress: PairProgress | None) -> Callable[[int], None]:
    """A function that takes the number of further units done and reports the items done."""
    done = 0

    def report(more: int) -> None:
        nonlocal done
        done += more
        if progress is not None:
            progress(items * done // units, items)

    return report
