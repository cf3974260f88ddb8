"""CLIPScore and RefCLIPScore of captions, by a CLIP or SigLIP model that the organiser configures.

CLIPScore (Hessel et al. 2021, "CLIPScore: A Reference-free Evaluation Metric for Image Captioning", eq. 1) of a caption
and an image is w * max(cos, 0) with w = 2.5; of an item with several frames (a film) it is the mean over its frames.
RefCLIPScore (eq. 2) is the harmonic mean of that and of max(cos, 0) of the caption and its nearest reference text: of
several references the best counts. In theory the first is 0-2.5 and the second 0-1.43 (10/7); with the model of the
paper both are mostly below 1.

Departures from the paper's program, on purpose: no prompt ("A photo depicts") is put before a caption, as Korean models
were not trained with it, and everything is float32. Values are therefore comparable between submissions scored with one
model, not with published ones.

With SigLIP the raw cosine is reported instead, mean over the frames, below zero too: w was chosen for the cosines of
CLIP ViT-B/32, and those of a model trained with a sigmoid loss lie elsewhere.

A caption longer than the model reads is cut; ``clip_truncated`` is the share of items with such a caption. An
unanswered item scores 0. A missing frame is the organiser's error, not a zero.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from scoring.media import MediaSet, frames_of, open_frame
from scoring.media.archive import media_folder
from scoring.metrics import MetricOptions, PairProgress, Row
from scoring.models.clip import Frame
from scoring.models.store import ModelStore, require

if TYPE_CHECKING:
    import torch

VERSION: Final = 1  # raised whenever a change here could change a value
WEIGHT: Final = 2.5
SCORE_NAMES: Final = {
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


class ClipScore:
    """CLIPScore with the ``clip`` model of the profile and the frames at ``options.media`` (a folder or a zip)."""

    name = "clipscore"
    has_item_values = False

    def __init__(self, store: ModelStore | None, options: MetricOptions) -> None:
        if options.media is None:
            raise TypeError(f"the metric '{self.name}' needs frames: MetricOptions(media=folder)")
        self._store = require(store, self.name)
        self._path: Path = options.media

    @cached_property
    def media(self) -> MediaSet:
        """The frames of all items. Raises ``MediaFault``."""
        return MediaSet(frames_of(media_folder(self._path)))

    @property
    def score_names(self) -> tuple[str, ...]:
        return SCORE_NAMES[self._store.clip_kind]

    def signature(self) -> dict[str, Any]:
        return {
            "metric": self.name,
            "rule": f"clipscore@{VERSION}",
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
    ) -> list[Row]:
        """One ``ClipRow`` an item. ``progress`` hears items done in proportion to texts and frames done.

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

    def aggregate(self, rows: Sequence[Row]) -> Mapping[str, float]:
        """The mean of each column that the kind of model reports."""
        columns = [ClipRow(*row) for row in rows]
        return {
            name: math.fsum(getattr(row, name) for row in columns) / len(columns) if columns else 0.0
            for name in self.score_names
        }

    def _frames(self, item: str) -> list[Frame]:
        return [Frame(self.media.digests[path], partial(open_frame, path, item)) for path in self.media.of(item)]


def _in_items(units: int, items: int, progress: PairProgress | None) -> Callable[[int], None]:
    """A function that is told of units done one after the other and reports them as items done."""
    done = 0

    def report(more: int) -> None:
        nonlocal done
        done += more
        if progress is not None:
            progress(items * done // units, items)

    return report
