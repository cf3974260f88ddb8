"""Checks that the models on this machine are those of a profile: complete files and weights, known values."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from scoring.errors import Language, Message, WordedError
from scoring.metrics import MetricOptions, load_pair_metric
from scoring.metrics.clipscore import ClipScore
from scoring.models.devices import DeviceName
from scoring.models.files import find_folder, weight_files, weights_sha256
from scoring.models.profile import ModelRole, ModelSpec, Profile, load_profile
from scoring.models.store import ModelStore

_SHA256: Final = re.compile(r"[0-9a-f]{64}")

# What the README of bleurt-pytorch 0.0.1 publishes for its two example pairs: (reference, candidate, score).
PUBLISHED_BLEURT: Final[dict[str, tuple[tuple[str, str, float], ...]]] = {
    "lucadiliello/BLEURT-20-D12": (
        ("a bird chirps by the window", "a bird chirps by the window", 0.9604414105415344),
        ("this is a random sentence", "this looks like a random sentence", 0.8080050349235535),
    )
}
PUBLISHED_TOLERANCE: Final = 1e-4  # the published digits were made with another torch
SAMPLE: Final = "'-대'는 다른 사람이 말한 내용을 전할 때 쓰는 말이다."


@dataclass(frozen=True, slots=True)
class Check:
    """One result of ``verify``. ``role`` names the model; ``detail`` is in Korean and English."""

    role: ModelRole
    name: str
    ok: bool
    detail: Message

    def message(self, language: Language = "ko") -> str:
        return self.detail.text(language)


def verify(profile: Profile | str | Path, *, device: DeviceName = "auto") -> tuple[Check, ...]:
    """Check every model of ``profile``: complete files and weights, known values reproduced.

    A defect is a failed check, not an exception, so that one run shows all of them.
    """
    loaded = profile if isinstance(profile, Profile) else load_profile(profile)
    store = ModelStore(loaded, device)
    return tuple(check for spec in loaded.specs() for check in _verify_model(store, spec))


def _verify_model(store: ModelStore, spec: ModelSpec) -> list[Check]:
    checks: list[Check] = []
    try:
        checks.append(_check_weights(store.profile, spec))
        if spec.role == "bertscore":
            checks.append(_check_identity(store))
        elif spec.role == "bleurt":
            checks.append(_check_bleurt(store, spec))
        elif spec.role == "clip":
            checks.append(_check_clip(store))
    except WordedError as error:
        checks.append(Check(spec.role, error.code, False, Message(error.message("ko"), error.message("en"))))
    return checks


def _check_weights(profile: Profile, spec: ModelSpec) -> Check:
    """The hub's cache names a large file by its SHA-256: a file with another hash is damaged."""
    folder = find_folder(profile, spec)
    names = [path.resolve().name for path in weight_files(folder)]
    digest = weights_sha256(folder)
    expected = names[0] if len(names) == 1 and _SHA256.fullmatch(names[0]) else digest
    if digest != expected:
        detail = Message(f"SHA-256이 {expected}이어야 하는데 {digest}입니다", f"SHA-256 is {digest}, not {expected}")
        return Check(spec.role, "weights", False, detail)
    return Check(spec.role, "weights", True, Message(f"SHA-256 {digest}", f"SHA-256 {digest}"))


def _check_identity(store: ModelStore) -> Check:
    """A text is its own best match: BERTScore of a pair of equal texts is 1 with any model."""
    (value,) = load_pair_metric("bertscore", store).score_pairs([SAMPLE], [SAMPLE])
    detail = Message(f"같은 글의 BERTScore {value:.7f} (기대 1)", f"BERTScore of equal texts {value:.7f} (expected 1)")
    return Check("bertscore", "identity", math.isclose(value, 1, abs_tol=1e-5), detail)


def _check_bleurt(store: ModelStore, spec: ModelSpec) -> Check:
    """Compares with published values if there are any; otherwise the value must be finite."""
    published = PUBLISHED_BLEURT.get(spec.model, ())
    pairs = [(reference, candidate) for reference, candidate, _ in published] or [(SAMPLE, SAMPLE)]
    references, candidates = zip(*pairs, strict=True)
    values = load_pair_metric("bleurt", store).score_pairs(references, candidates)
    shown = ", ".join(f"{value:.7f}" for value in values)
    if not published:
        ok = all(map(math.isfinite, values))
        return Check("bleurt", "finite", ok, Message(f"같은 글의 BLEURT {shown}", f"BLEURT of equal texts {shown}"))
    expected = [value for _, _, value in published]
    detail = Message(
        f"공개된 값 {_listed(expected)}, 계산한 값 {shown}", f"published {_listed(expected)}, computed {shown}"
    )
    return Check("bleurt", "published_values", _close(values, expected), detail)


def _check_clip(store: ModelStore) -> Check:
    """The model gives finite values for a text and an image: both halves and the image processor work."""
    from PIL import Image

    with TemporaryDirectory() as folder:
        Image.linear_gradient("L").save(Path(folder) / "sample.png")
        metric = ClipScore(store, MetricOptions(media=Path(folder)))
        ((_, _, cosine, _),) = metric.statistics(["sample"], [[SAMPLE]], [SAMPLE])
    detail = Message(f"글과 이미지의 코사인 {cosine:.7f}", f"cosine of a text and an image {cosine:.7f}")
    return Check("clip", "finite", math.isfinite(cosine), detail)


def _close(values: Sequence[float], expected: Sequence[float]) -> bool:
    return all(abs(one - other) <= PUBLISHED_TOLERANCE for one, other in zip(values, expected, strict=True))


def _listed(values: Sequence[float]) -> str:
    return ", ".join(f"{value:.7f}" for value in values)
