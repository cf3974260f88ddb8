"""The files of a model on this machine: their folder, whether they are complete, their hashes.

Nothing here touches the network or imports torch.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Final, Literal

from scoring.errors import Message, ModelUnavailable, ScoringError, WordedError
from scoring.models.demo import demo_models_root, ensure_demo_models
from scoring.models.hashes import file_sha256, remembered_sha256
from scoring.models.profile import (
    ModelFolderMissing,
    ModelNotFetched,
    ModelRole,
    ModelSpec,
    Profile,
    load_profile,
    profile_names,
)

ClipKind = Literal["clip", "siglip"]

_WEIGHT_FILES: Final = ("model.safetensors", "pytorch_model.bin")  # in the order transformers prefers them
_TOKENIZER_FILES: Final = (
    *("config.json", "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json"),
    *("vocab.txt", "vocab.json", "merges.txt", "tokenizer.json", "spm.model", "sentencepiece.bpe.model"),
)
# Further files that change how a CLIP or SigLIP model reads texts and images.
_CLIP_FILES: Final = ("spiece.model", "tokenizer.model", "preprocessor_config.json", "processor_config.json")
_CLIP_POSITIONS: Final[Mapping[str, int]] = {"clip": 77, "siglip": 64}  # for a configuration without them
# A tokenizer saved without its length has 10^30; a value above this is not a model's length.
_LARGEST_LENGTH: Final = 1_000_000


class ModelDamaged(WordedError, ModelUnavailable):
    """A model's folder is there but cannot be used: files or weights are missing, or do not parse."""

    code: ClassVar[str] = "model_damaged"
    words: ClassVar[Message] = Message(
        "모델 파일이 온전하지 않습니다: {folder} — {what}. 폴더를 지우고 모델을 다시 받으세요.",
        "The model's files are not complete: {folder} - {what}. Remove the folder and fetch the model again.",
    )


class DemoModelsFailed(WordedError, ModelUnavailable):
    """The demo models could not be written."""

    code: ClassVar[str] = "demo_models_failed"
    words: ClassVar[Message] = Message(
        "데모 모델을 만들지 못했습니다: {folder} — {what}. 쓸 수 있는 폴더를 환경 변수 MALPAN_MODELS에 지정하십시오.",
        "The demo models could not be made: {folder} - {what}. Set MALPAN_MODELS to a folder that can be written.",
    )


class ClipModelUnsupported(WordedError, ModelUnavailable):
    """The model of the role ``clip`` is neither CLIP nor SigLIP."""

    code: ClassVar[str] = "clip_model_unsupported"
    words: ClassVar[Message] = Message(
        "[clip] 모델의 종류 '{kind}'은(는) 쓸 수 없습니다: {folder}. {known} 가운데 하나인 모델을 프로필에 "
        "지정하십시오.",
        "The [clip] model is of the kind '{kind}', which cannot be used: {folder}. Name a model of one of the kinds "
        "{known} in the profile.",
    )


@dataclass(frozen=True, slots=True)
class ModelStatus:
    """One model of a profile; ``folder`` is ``None`` while it is not on this machine."""

    spec: ModelSpec
    folder: Path | None


@dataclass(frozen=True, slots=True)
class ProfileStatus:
    """A profile that comes with Malpan and its models."""

    profile: Profile
    models: tuple[ModelStatus, ...]

    @property
    def is_ready(self) -> bool:
        """Whether scoring with it can start now (demo models are made at their first use)."""
        return self.profile.is_demo or all(model.folder for model in self.models)


def find_folder(profile: Profile, spec: ModelSpec) -> Path:
    """The folder of a model on this machine; demo models are made if they are missing. Raises ``ModelUnavailable``."""
    if profile.is_demo:
        make_demo_models()
    folder = spec.folder or _hub_folder(profile, spec)
    if not folder.is_dir():
        raise ModelFolderMissing(role=spec.role, path=str(folder))
    if not (folder / "config.json").is_file() or not weight_files(folder):
        if spec.folder is None:
            raise _not_fetched(profile, spec)
        raise ModelDamaged(folder=str(folder), what=f"config.json, {' | '.join(_WEIGHT_FILES)}")
    return folder


def list_profiles() -> tuple[ProfileStatus, ...]:
    """The profiles that come with Malpan and which of their models are here. Makes and downloads nothing."""
    profiles = [load_profile(name) for name in profile_names()]
    return tuple(
        ProfileStatus(profile, tuple(ModelStatus(spec, _present(profile, spec)) for spec in profile.specs()))
        for profile in profiles
    )


def _present(profile: Profile, spec: ModelSpec) -> Path | None:
    if profile.is_demo:
        return spec.folder if spec.folder is not None and spec.folder.is_dir() else None
    try:
        return find_folder(profile, spec)
    except ScoringError:
        return None


def make_demo_models() -> Path:
    """``ensure_demo_models`` with an error a person can act on. Raises ``DemoModelsFailed``."""
    try:
        return ensure_demo_models()
    except OSError as error:
        raise DemoModelsFailed(folder=str(demo_models_root()), what=str(error)) from error


def _hub_folder(profile: Profile, spec: ModelSpec) -> Path:
    """The folder of this revision in the cache of the Hugging Face hub, without asking the hub."""
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import LocalEntryNotFoundError

    try:
        return Path(snapshot_download(spec.model, revision=spec.revision, local_files_only=True))
    except LocalEntryNotFoundError as error:
        raise _not_fetched(profile, spec) from error


def _not_fetched(profile: Profile, spec: ModelSpec) -> ModelNotFetched:
    command = f"python -m scoring models fetch {profile.reference}"
    return ModelNotFetched(role=spec.role, model=spec.model, revision=spec.revision, command=command)


def weight_files(folder: Path) -> tuple[Path, ...]:
    """The files transformers takes the weights from, or none: one file, or the shards that an index names."""
    for name in _WEIGHT_FILES:
        index = folder / f"{name}.index.json"
        if (folder / name).is_file():
            return (folder / name,)
        if index.is_file():
            parts = sorted(set(_read_json(index)["weight_map"].values()))
            return tuple(folder / part for part in parts) if all((folder / part).is_file() for part in parts) else ()
    return ()


def weights_sha256(folder: Path) -> str:
    """SHA-256 of the model's weights: of the file, or of the hashes of its shards in order."""
    hashes = [remembered_sha256(path) for path in weight_files(folder)]
    return hashes[0] if len(hashes) == 1 else hashlib.sha256("\n".join(hashes).encode()).hexdigest()


def tokenizer_sha256(folder: Path) -> str:
    """SHA-256 over the files that determine a model's input: configuration, tokenizer, vocabulary."""
    return _files_sha256(folder, _TOKENIZER_FILES)


def clip_input_sha256(folder: Path) -> str:
    """As ``tokenizer_sha256``, for CLIP and SigLIP: includes the files that define how images are cut and scaled."""
    return _files_sha256(folder, (*_TOKENIZER_FILES, *_CLIP_FILES))


def _files_sha256(folder: Path, names: Sequence[str]) -> str:
    present = [(name, folder / name) for name in names if (folder / name).is_file()]
    return hashlib.sha256("\n".join(f"{name} {file_sha256(path)}" for name, path in present).encode()).hexdigest()


def clip_kind(folder: Path) -> ClipKind:
    """Whether the model in ``folder`` is CLIP or SigLIP, by its configuration. Raises ``ClipModelUnsupported``."""
    kind = _read_json(folder / "config.json").get("model_type")
    if kind == "clip":
        return "clip"
    if kind == "siglip":
        return "siglip"
    raise ClipModelUnsupported(kind=kind, folder=str(folder), known=", ".join(_CLIP_POSITIONS))


def text_limit(folder: Path, role: ModelRole) -> int:
    """How many tokens one input may have, special ones included.

    BLEURT: the model's positions. BERTScore: the tokenizer's ``model_max_length``, as in the bert-score package; if a
    tokenizer was saved without one, or with more than the model has positions, the positions. CLIP and SigLIP: the
    positions of the text half.
    """
    config = _read_json(folder / "config.json")
    if role == "clip":
        text = config.get("text_config") or {}
        return int(text.get("max_position_embeddings", _CLIP_POSITIONS[clip_kind(folder)]))
    positions = int(config.get("max_position_embeddings", 512))
    if str(config.get("model_type", "")).endswith("roberta") or config.get("model_type") == "camembert":
        positions -= int(config.get("pad_token_id", 1)) + 1  # these count their positions from the padding id on
    if role != "bertscore":
        return positions
    tokenizer_config = folder / "tokenizer_config.json"
    stated = _read_json(tokenizer_config).get("model_max_length") if tokenizer_config.is_file() else None
    return min(positions, int(stated)) if stated and 0 < stated <= _LARGEST_LENGTH else positions


def has_masked_head(folder: Path) -> bool:
    """Whether the checkpoint says that it was saved with a head for masked words: in training, or before another use.

    Loading one that says so without having it fails.
    """
    names = _read_json(folder / "config.json").get("architectures") or []
    return any(str(name).endswith(("ForMaskedLM", "ForPreTraining")) for name in names)


def bytes_per_token(folder: Path) -> int:
    """Memory of a token's intermediate results in one layer, in bytes, with four bytes for each number.

    At most the layer's input, query, key, value and their copies, and the wide part before and after its activation
    exist at once.
    """
    config = _read_json(folder / "config.json")
    width = int(config.get("hidden_size", 1024))
    return 4 * (8 * width + 2 * int(config.get("intermediate_size", 4 * width)))


def _read_json(path: Path) -> Mapping[str, Any]:
    """A JSON object. Raises ``ModelDamaged`` if the file holds anything else."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ModelDamaged(folder=str(path.parent), what=f"{path.name}: {error}") from error
    if not isinstance(value, dict):
        raise ModelDamaged(folder=str(path.parent), what=path.name)
    return value
