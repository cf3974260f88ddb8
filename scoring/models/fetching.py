"""Bring a profile's models onto this machine, and prove that what lies here is what the profile names.

The only part of the instrument that speaks to the network, and only in ``fetch``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

from scoring.errors import Language, Message, ScoringError
from scoring.metrics import MetricOptions, load_pair_metric
from scoring.models.files import find_folder, make_demo_models, weight_files, weights_sha256
from scoring.models.profile import ModelSpec, Profile, Role, WordedError, load_profile, profile_names

if TYPE_CHECKING:
    from scoring.models.store import DeviceName, Resources

_BESIDE_WEIGHTS: Final = ("*.json", "*.txt", "*.model")
_WEIGHTS: Final = (
    *("model.safetensors", "model.safetensors.index.json"),
    *("pytorch_model.bin", "pytorch_model.bin.index.json"),
)
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


class FetchFailed(WordedError, ScoringError):
    """The hub could not be reached, or has no such model or revision."""

    code = "fetch_failed"
    words = Message(
        "모델 '{model}' (revision {revision})을 받지 못했습니다: {what}. 인터넷 연결과 프로필의 이름·revision을 "
        "확인한 뒤 다시 실행하십시오.",
        "The model '{model}' (revision {revision}) could not be fetched: {what}. Check the connection and the name and "
        "revision in the profile, then run again.",
    )


@dataclass(frozen=True, slots=True)
class ModelStatus:
    """One model of a profile; ``folder`` is where it lies, or ``None`` while it is not on this machine."""

    spec: ModelSpec
    folder: Path | None


@dataclass(frozen=True, slots=True)
class ProfileStatus:
    """A profile that comes with Malpan and its models."""

    profile: Profile
    models: tuple[ModelStatus, ...]

    @property
    def is_ready(self) -> bool:
        """Whether scoring with it can start now: demo models are made at their first use."""
        return self.profile.is_demo or all(model.folder for model in self.models)


@dataclass(frozen=True, slots=True)
class Check:
    """One thing ``verify`` looked at. ``role`` names the model; ``detail`` is in Korean and English."""

    role: Role
    name: str
    ok: bool
    detail: Message

    def message(self, language: Language = "ko") -> str:
        return self.detail.text(language)


def list_profiles() -> tuple[ProfileStatus, ...]:
    """The profiles that come with Malpan, with what is here of each. Makes and fetches nothing."""
    profiles = [load_profile(name) for name in profile_names()]
    return tuple(
        ProfileStatus(profile, tuple(ModelStatus(spec, _present(profile, spec)) for spec in profile.specs()))
        for profile in profiles
    )


def fetch(profile: Profile | str | Path, *, endpoint: str | None = None) -> tuple[ModelStatus, ...]:
    """Download every model of ``profile`` that the hub has, at its exact revision; make the demo models.

    What is complete already is not downloaded again, and a broken download is continued. ``endpoint`` is a mirror of
    the hub. Raises ``FetchFailed`` and, for a model named by path that is not there, ``ModelUnavailable``.
    """
    loaded = profile if isinstance(profile, Profile) else load_profile(profile)
    if loaded.is_demo:
        make_demo_models()
    for spec in loaded.specs():
        if spec.folder is None:
            _download(spec, endpoint)
    return tuple(ModelStatus(spec, find_folder(loaded, spec)) for spec in loaded.specs())


def verify(profile: Profile | str | Path, *, device: DeviceName = "auto") -> tuple[Check, ...]:
    """Check every model of ``profile``: files whole, weights all there, known values reproduced.

    A defect is a failed check, not an exception, so that one run shows all of them.
    """
    from scoring.models.store import Resources

    loaded = profile if isinstance(profile, Profile) else load_profile(profile)
    resources = Resources(loaded, device)
    return tuple(check for spec in loaded.specs() for check in _verify_model(resources, spec))


def _verify_model(resources: Resources, spec: ModelSpec) -> list[Check]:
    checks: list[Check] = []
    try:
        checks.append(_check_weights(resources.profile, spec))
        if spec.role == "bertscore":
            checks.append(_check_identity(resources))
        elif spec.role == "bleurt":
            checks.append(_check_bleurt(resources, spec))
        elif spec.role == "clip":
            checks.append(_check_clip(resources))
    except WordedError as error:
        checks.append(Check(spec.role, error.code, False, Message(error.message("ko"), error.message("en"))))
    return checks


def _check_weights(profile: Profile, spec: ModelSpec) -> Check:
    """The hub's cache names a large file by its SHA-256: a file that no longer hashes to its name is damaged."""
    folder = find_folder(profile, spec)
    names = [path.resolve().name for path in weight_files(folder)]
    digest = weights_sha256(folder)
    expected = names[0] if len(names) == 1 and _SHA256.fullmatch(names[0]) else digest
    if digest != expected:
        detail = Message(f"SHA-256이 {expected}이어야 하는데 {digest}입니다", f"SHA-256 is {digest}, not {expected}")
        return Check(spec.role, "weights", False, detail)
    return Check(spec.role, "weights", True, Message(f"SHA-256 {digest}", f"SHA-256 {digest}"))


def _check_identity(resources: Resources) -> Check:
    """A text is its own best match: BERTScore of a pair of equal texts is 1 with any model."""
    (value,) = load_pair_metric("bertscore", resources).score_pairs([SAMPLE], [SAMPLE])
    detail = Message(f"같은 글의 BERTScore {value:.7f} (기대 1)", f"BERTScore of equal texts {value:.7f} (expected 1)")
    return Check("bertscore", "identity", math.isclose(value, 1, abs_tol=1e-5), detail)


def _check_bleurt(resources: Resources, spec: ModelSpec) -> Check:
    """The published values where there are any; else that the model gives a finite one."""
    published = PUBLISHED_BLEURT.get(spec.model, ())
    pairs = [(reference, candidate) for reference, candidate, _ in published] or [(SAMPLE, SAMPLE)]
    references, candidates = zip(*pairs, strict=True)
    values = load_pair_metric("bleurt", resources).score_pairs(references, candidates)
    shown = ", ".join(f"{value:.7f}" for value in values)
    if not published:
        ok = all(map(math.isfinite, values))
        return Check("bleurt", "finite", ok, Message(f"같은 글의 BLEURT {shown}", f"BLEURT of equal texts {shown}"))
    expected = [value for _, _, value in published]
    detail = Message(
        f"공개된 값 {_listed(expected)}, 계산한 값 {shown}", f"published {_listed(expected)}, computed {shown}"
    )
    return Check("bleurt", "published_values", _close(values, expected), detail)


def _check_clip(resources: Resources) -> Check:
    """A text and an image come out of the model as numbers: both halves and the image processor are there."""
    from PIL import Image

    from scoring.metrics.clipscore import ClipScore

    with TemporaryDirectory() as folder:
        Image.linear_gradient("L").save(Path(folder) / "sample.png")
        metric = ClipScore(resources, MetricOptions(media=Path(folder)))
        ((_, _, cosine, _),) = metric.statistics(["sample"], [[SAMPLE]], [SAMPLE])
    detail = Message(f"글과 이미지의 코사인 {cosine:.7f}", f"cosine of a text and an image {cosine:.7f}")
    return Check("clip", "finite", math.isfinite(cosine), detail)


def _close(values: Sequence[float], expected: Sequence[float]) -> bool:
    return all(abs(one - other) <= PUBLISHED_TOLERANCE for one, other in zip(values, expected, strict=True))


def _listed(values: Sequence[float]) -> str:
    return ", ".join(f"{value:.7f}" for value in values)


def _present(profile: Profile, spec: ModelSpec) -> Path | None:
    if profile.is_demo:
        return spec.folder if spec.folder is not None and spec.folder.is_dir() else None
    try:
        return find_folder(profile, spec)
    except ScoringError:
        return None


def _download(spec: ModelSpec, endpoint: str | None) -> None:
    """The configuration, the tokenizer and one format of weights: safetensors where the revision has it."""
    from huggingface_hub import HfApi, snapshot_download

    try:
        siblings = HfApi(endpoint=endpoint).model_info(spec.model, revision=spec.revision).siblings or []
        files = {sibling.rfilename for sibling in siblings}
        weights = next((name for name in _WEIGHTS if name in files), None)
        if weights is None:
            raise FetchFailed(model=spec.model, revision=spec.revision, what=" | ".join(_WEIGHTS))
        parts = [weights.removesuffix(".index.json").replace(".", "-*.", 1)] if weights.endswith(".index.json") else []
        wanted = [weights, *parts, *_BESIDE_WEIGHTS]
        snapshot_download(spec.model, revision=spec.revision, allow_patterns=wanted, endpoint=endpoint)
    except OSError as error:  # what the hub's client and requests raise are all OSErrors
        raise FetchFailed(model=spec.model, revision=spec.revision, what=str(error).splitlines()[0]) from error
