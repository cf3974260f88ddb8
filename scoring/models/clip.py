"""Texts and images as points on the unit sphere of one CLIP or SigLIP model, as transformers computes them.

Texts go through the checkpoint's own tokenizer. CLIP: cut to the model's positions, padded only within a batch
(attention in the text half is causal, so padding changes nothing). SigLIP: always padded to the full length, with a
mask only if the checkpoint's tokenizer gives one, as transformers documents; the tokenizer lower-cases and cleans.
Images go through Pillow and the checkpoint's own image processor in its Pillow and numpy form (``use_fast=False``): the
torchvision form scales slightly differently, so a value would depend on whether torchvision is installed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import torch
from torch.nn import functional

from scoring.lru import LruCache
from scoring.models.batching import TokenBudget, pad, run_batches
from scoring.models.files import ClipKind, ModelDamaged
from scoring.models.loading import load_pretrained, load_tokenizer
from scoring.models.precision import exact_inference

if TYPE_CHECKING:
    from PIL.Image import Image

CACHE_BYTES: Final = 256 * 1024 * 1024  # 55,000 frames with 1,152 numbers each


class TextIds(NamedTuple):
    """A text as the model reads it. ``mask`` is empty if the model takes none."""

    ids: list[int]
    mask: list[int]
    is_cut: bool


class Frame(NamedTuple):
    """One image: the SHA-256 of its file, and a function that opens it (in RGB; raises if it is no image)."""

    sha256: str
    open: Callable[[], Image]


class ClipTokenizer:
    """The tokenizer of a CLIP or SigLIP checkpoint."""

    def __init__(self, folder: Path, kind: ClipKind, max_length: int) -> None:
        from transformers import AutoTokenizer

        self._tokenizer = load_tokenizer(AutoTokenizer, folder)
        self._pads_fully = kind == "siglip"
        self.max_length = max_length
        self.pad_id: int = self._tokenizer.pad_token_id or 0

    def encode(self, texts: Sequence[str]) -> list[TextIds]:
        """The ids of each text, at most ``max_length`` of them, special ones included."""
        if not texts:
            return []
        whole = self._tokenizer(list(texts), verbose=False)["input_ids"]
        cut = self._tokenizer(
            list(texts),
            truncation=True,
            max_length=self.max_length,
            padding="max_length" if self._pads_fully else False,
        )
        masks = cut.get("attention_mask") or [[]] * len(texts)
        return [
            TextIds(ids, mask, len(full) > self.max_length)
            for ids, mask, full in zip(cut["input_ids"], masks, whole, strict=True)
        ]


@dataclass(frozen=True, slots=True)
class TextPoints:
    """Texts on the sphere: ``points[text]`` has shape (width,); ``cut`` are the texts that were cut."""

    points: dict[str, torch.Tensor]
    cut: frozenset[str]


class ClipModel:
    """One CLIP or SigLIP checkpoint on one device, with its tokenizer and image processor."""

    def __init__(
        self, model: Any, tokenizer: ClipTokenizer, processor: Any, folder: Path, device: str, budget: TokenBudget
    ) -> None:
        vision = model.config.vision_config
        self.model = model
        self.tokenizer = tokenizer
        self.device = device
        self.budget = budget
        # the points of frames and of reference texts, kept across submissions
        self.cache: LruCache[tuple[str, str], torch.Tensor] = LruCache(CACHE_BYTES, lambda point: point.nbytes)
        self._processor = processor
        self._folder = folder
        self._image_size: int = vision.image_size
        self._image_tokens = (vision.image_size // vision.patch_size) ** 2 + 1

    def text_points(
        self, candidates: Sequence[str], references: Sequence[str], on_done: Callable[[int], None]
    ) -> TextPoints:
        """Every distinct text on the sphere; those of ``references`` are kept for the next submission.

        ``on_done`` gets the number of texts added.
        """
        texts = sorted({*candidates, *references})  # sorted, so that shuffled input gives equal batches
        points = {text: point for text in texts if (point := self.cache.get(("text", text))) is not None}
        on_done(len(points))
        rows = self.tokenizer.encode(texts)
        wanted = [index for index, text in enumerate(texts) if text not in points]

        def forward(batch: Sequence[int]) -> None:
            chosen = [wanted[index] for index in batch]
            found = self._embed_texts([rows[index] for index in chosen])
            points.update(zip((texts[index] for index in chosen), found, strict=True))

        with exact_inference():
            run_batches(
                [len(rows[index].ids) for index in wanted], self.budget, forward, lambda batch: on_done(len(batch))
            )
        for text in set(references):
            self.cache.put(("text", text), points[text].clone())  # a view would keep the whole batch alive
        return TextPoints(points, frozenset(text for text, row in zip(texts, rows, strict=True) if row.is_cut))

    def image_points(self, frames: Sequence[Frame], on_done: Callable[[int], None]) -> dict[str, torch.Tensor]:
        """Every distinct image on the sphere, (width,) each, by its SHA-256. Raises what opening an image raises."""
        distinct = [frame for _, frame in sorted({frame.sha256: frame for frame in frames}.items())]
        points = {
            frame.sha256: point for frame in distinct if (point := self.cache.get(("image", frame.sha256))) is not None
        }
        on_done(len(points))
        wanted = [frame for frame in distinct if frame.sha256 not in points]

        def forward(batch: Sequence[int]) -> None:
            chosen = [wanted[index] for index in batch]
            for frame, point in zip(chosen, self._embed_images(chosen), strict=True):
                points[frame.sha256] = point
                self.cache.put(("image", frame.sha256), point.clone())

        with exact_inference():
            run_batches([self._image_tokens] * len(wanted), self.budget, forward, lambda batch: on_done(len(batch)))
        return points

    def _embed_texts(self, rows: Sequence[TextIds]) -> torch.Tensor:
        inputs = {"input_ids": pad([row.ids for row in rows], self.tokenizer.pad_id).to(self.device)}
        if rows[0].mask:
            inputs["attention_mask"] = pad([row.mask for row in rows], 0).to(self.device)
        return _on_sphere(self.model.get_text_features(**inputs))

    def _embed_images(self, frames: Sequence[Frame]) -> torch.Tensor:
        pixels = torch.cat([self._pixels(frame) for frame in frames])
        return _on_sphere(self.model.get_image_features(pixel_values=pixels.to(self.device)))

    def _pixels(self, frame: Frame) -> torch.Tensor:
        """(1, 3, height, width). One image at a time: frames of a film may be large before they are scaled."""
        image = frame.open()
        pixels: torch.Tensor = self._processor(images=image, return_tensors="pt")["pixel_values"]
        if pixels.shape[-2:] != (self._image_size, self._image_size):
            what = f"preprocessor_config.json: {tuple(pixels.shape[-2:])} != {self._image_size}"
            raise ModelDamaged(folder=str(self._folder), what=what)
        return pixels


def load_clip(folder: Path, kind: ClipKind, max_length: int, device: str, budget: TokenBudget) -> ClipModel:
    """Load the checkpoint in ``folder``. Raises ``ModelDamaged`` if files or weights are missing or do not parse."""
    import transformers

    names = {"clip": ("CLIPConfig", "CLIPModel"), "siglip": ("SiglipConfig", "SiglipModel")}[kind]
    config_class, model_class = (getattr(transformers, name) for name in names)
    config = config_class.from_pretrained(folder, local_files_only=True)
    model = load_pretrained(model_class, folder, config, optional=())
    processor = _load_processor(folder)
    return ClipModel(model.to(device), ClipTokenizer(folder, kind, max_length), processor, folder, device, budget)


def _load_processor(folder: Path) -> Any:
    from transformers import AutoImageProcessor

    try:
        return AutoImageProcessor.from_pretrained(folder, local_files_only=True, use_fast=False)
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise ModelDamaged(folder=str(folder), what=f"preprocessor_config.json: {error}") from error


def _on_sphere(features: torch.Tensor) -> torch.Tensor:
    """Rows of length 1, on the processor: (rows, width)."""
    return functional.normalize(features.float(), dim=-1).cpu()
