"""Models of a profile on this machine: find them, say exactly which they are, load each once per process.

Scoring never touches the network: a model that is not here raises ``ModelUnavailable`` with the command that fetches it
(``fetch``). Only the ``demo`` profile makes its models itself. torch is imported when a model is loaded or a
device is chosen, not before.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final, TypeVar

from scoring.errors import Message, ModelUnavailable
from scoring.models.demo import demo_models_root, ensure_demo_models
from scoring.models.devices import DeviceName, DeviceUnavailable, resolve_device, use_gpu
from scoring.models.fetching import Check, FetchFailed, ModelStatus, ProfileStatus, fetch, list_profiles, verify
from scoring.models.files import (
    ClipKind,
    ClipModelUnsupported,
    ModelDamaged,
    bytes_per_token,
    clip_input_sha256,
    clip_kind,
    find_folder,
    text_limit,
    tokenizer_sha256,
    weights_sha256,
)
from scoring.models.profile import (
    InvalidProfile,
    ModelFolderMissing,
    ModelNotConfigured,
    ModelNotFetched,
    ModelSpec,
    Profile,
    Role,
    UnknownProfile,
    WordedError,
    load_profile,
    profile_names,
)

if TYPE_CHECKING:
    from scoring.metrics.bertscore import BertScoreEncoder
    from scoring.metrics.bleurt import BleurtScorer
    from scoring.models.batching import TokenBudget
    from scoring.models.clip import ClipModel
    from scoring.models.precision import Precision

__all__ = [
    "Check",
    "ClipModelUnsupported",
    "DeviceName",
    "DeviceUnavailable",
    "FetchFailed",
    "InvalidProfile",
    "ModelDamaged",
    "ModelFolderMissing",
    "ModelNotConfigured",
    "ModelNotFetched",
    "ModelSpec",
    "ModelStatus",
    "Profile",
    "ProfileStatus",
    "Resources",
    "TooFewLayers",
    "UnknownProfile",
    "demo_models_root",
    "ensure_demo_models",
    "fetch",
    "list_profiles",
    "load_pretrained",
    "load_profile",
    "load_tokenizer",
    "profile_names",
    "require",
    "resolve_device",
    "shared_resources",
    "use_gpu",
    "verify",
]

Loaded = TypeVar("Loaded")

# The folder where processes of this machine share what references became; unset, each keeps them in its memory alone.
EMBEDDINGS_VARIABLE: Final = "MALPAN_EMBEDDINGS"
_FURTHER_LIBRARIES: Final[dict[str, tuple[str, ...]]] = {
    "bleurt": ("bleurt-pytorch",),
    "clip": ("sentencepiece", "pillow", "numpy"),  # images are scaled by Pillow and turned into numbers by numpy
}


class TooFewLayers(WordedError, ModelUnavailable):
    """The profile asks for a layer that the model does not have."""

    code: ClassVar[str] = "too_few_layers"
    words: ClassVar[Message] = Message(
        "프로필의 num_layers가 {wanted}인데 모델에는 층이 {has}개뿐입니다: {folder}. 프로필의 num_layers를 고치세요.",
        "The profile asks for num_layers = {wanted}, but the model has {has} layers: {folder}. Mend num_layers.",
    )


class Resources:
    """The models of one profile on one device, each loaded at its first use and kept.

    ``token_budget`` is how many tokens a batch may hold; by default what suits the device.
    """

    def __init__(
        self, profile: Profile | str | Path, device: DeviceName = "auto", token_budget: int | None = None
    ) -> None:
        self.profile = profile if isinstance(profile, Profile) else load_profile(profile)
        self._wanted_device = device
        self._token_budget = token_budget
        self._lock = threading.RLock()
        self._loaded: dict[str, Any] = {}

    @property
    def device(self) -> str:
        """``"cpu"`` or ``"cuda"``. Raises ``DeviceUnavailable``."""
        return self._once("device", lambda: resolve_device(self._wanted_device))

    @property
    def precision(self) -> Precision:
        """The number format of BERTScore and BLEURT. Raises ``PrecisionUnavailable`` where the device lacks it."""
        from scoring.models.precision import precision_on

        return self._once("precision", lambda: precision_on(self.profile.precision, self.device))

    @property
    def bertscore(self) -> BertScoreEncoder:
        """The encoder of BERTScore. Raises ``ModelUnavailable``."""
        return self._once("bertscore", self._load_bertscore)

    @property
    def bleurt(self) -> BleurtScorer:
        """The scorer of BLEURT. Raises ``ModelUnavailable``."""
        return self._once("bleurt", self._load_bleurt)

    @property
    def clip(self) -> ClipModel:
        """The CLIP or SigLIP model. Raises ``ModelUnavailable``."""
        return self._once("clip", self._load_clip)

    @property
    def clip_kind(self) -> ClipKind:
        """``"clip"`` or ``"siglip"``, without loading the model. Raises ``ModelUnavailable``."""
        return self._once("kind of clip", lambda: clip_kind(find_folder(self.profile, self.profile.spec("clip"))))

    def describe(self) -> dict[str, Any]:
        """Everything about these models that can change a number, without loading them."""
        models = {str(spec.role): self.describe_model(spec.role) for spec in self.profile.specs()}
        return {"profile": self.profile.name, "is_demo": self.profile.is_demo, **models}

    def describe_model(self, role: Role) -> dict[str, Any]:
        """The same for one model: name, revision, hashes, layer, length, libraries, number format, device class.

        A model named by path is called by its folder's name: where it lies changes no number.
        """
        return dict(self._once(f"description of {role}", lambda: self._describe_model(role)))

    def _describe_model(self, role: Role) -> dict[str, Any]:
        spec = self.profile.spec(role)
        folder = find_folder(self.profile, spec)
        libraries = ("torch", "transformers", "tokenizers", *_FURTHER_LIBRARIES.get(role, ()))
        return {
            "model": spec.folder.name if spec.folder else spec.model,
            "revision": spec.revision,
            "weights_sha256": weights_sha256(folder),
            "tokenizer_sha256": clip_input_sha256(folder) if role == "clip" else tokenizer_sha256(folder),
            **({"num_layers": spec.num_layers} if spec.num_layers is not None else {}),
            **({"kind": clip_kind(folder)} if role == "clip" else {}),
            "max_length": text_limit(folder, role),
            "libraries": {name: version(name).split("+")[0] for name in libraries},
            "dtype": "float32" if role == "clip" else self.precision.dtype,
            "device_class": self.device,
        }

    def _load_bertscore(self) -> BertScoreEncoder:
        from scoring.metrics.bertscore import CACHE_BYTES, VERSION, load_encoder
        from scoring.models.cache import EmbeddingCache

        spec = self.profile.spec("bertscore")
        folder = find_folder(self.profile, spec)
        num_layers, limit = spec.num_layers or 1, text_limit(folder, "bertscore")
        encoder = load_encoder(folder, num_layers, limit, self.device, self._budget(folder), self.precision)
        if kept := os.environ.get(EMBEDDINGS_VARIABLE):
            made_by = json.dumps([VERSION, self.describe_model("bertscore")], sort_keys=True)
            encoder.references = EmbeddingCache(CACHE_BYTES, Path(kept), namespace=made_by, device=self.device)
        return encoder

    def _load_bleurt(self) -> BleurtScorer:
        from scoring.metrics.bleurt import load_scorer

        folder = find_folder(self.profile, self.profile.spec("bleurt"))
        return load_scorer(folder, text_limit(folder, "bleurt"), self.device, self._budget(folder), self.precision)

    def _load_clip(self) -> ClipModel:
        from scoring.models.clip import load_clip

        folder = find_folder(self.profile, self.profile.spec("clip"))
        limit = text_limit(folder, "clip")
        return load_clip(folder, self.clip_kind, limit, self.device, self._budget(folder))

    def _budget(self, folder: Path) -> TokenBudget:
        from scoring.models.batching import TokenBudget, default_tokens

        return TokenBudget(self._token_budget or default_tokens(self.device, bytes_per_token(folder)))

    def _once(self, name: str, load: Callable[[], Loaded]) -> Loaded:
        with self._lock:
            if name not in self._loaded:
                self._loaded[name] = load()
            loaded: Loaded = self._loaded[name]
            return loaded


_shared: dict[tuple[Profile, str], Resources] = {}
_shared_lock = threading.Lock()


def shared_resources(profile: str | Path = "demo", device: DeviceName = "auto") -> Resources:
    """The one ``Resources`` of this profile and device in this process, so that models are loaded once."""
    loaded = load_profile(profile)
    with _shared_lock:
        return _shared.setdefault((loaded, device), Resources(loaded, device))


def require(resources: Resources | None, metric: str) -> Resources:
    """``resources``, or an error that names the metric which was asked for without any."""
    if resources is None:
        raise TypeError(f"the metric '{metric}' needs models: load_metric('{metric}', shared_resources(profile))")
    return resources


def load_tokenizer(loader: Any, folder: Path, **options: Any) -> Any:
    """The tokenizer in ``folder``. Raises ``ModelDamaged`` where its files are missing or do not parse."""
    try:
        with _quiet_transformers():  # bleurt-pytorch tries one class after the other and each complains
            return loader.from_pretrained(folder, local_files_only=True, **options)
    except (OSError, ValueError, TypeError, RuntimeError) as error:
        raise ModelDamaged(folder=str(folder), what=f"tokenizer: {error}") from error


def load_pretrained(loader: Any, folder: Path, config: Any, optional: Iterable[str]) -> Any:
    """A model in float32, ready for inference, with every weight from its file.

    transformers fills weights missing from a file with random numbers and only logs it; here that is ``ModelDamaged``.
    ``optional`` are prefixes of names that may be missing, because they are not used or not learnt.
    """
    import torch
    from safetensors import SafetensorError

    try:
        with _quiet_transformers():  # weights of the layers left out would be reported as unused
            model, info = loader.from_pretrained(
                folder, config=config, dtype=torch.float32, local_files_only=True, output_loading_info=True
            )
    except (OSError, ValueError, RuntimeError, SafetensorError) as error:
        raise ModelDamaged(folder=str(folder), what=str(error)) from error
    missing = [name for name in info["missing_keys"] if not name.startswith(tuple(optional))]
    if missing or info["mismatched_keys"]:
        raise ModelDamaged(folder=str(folder), what=", ".join([*missing, *map(str, info["mismatched_keys"])][:3]))
    for parameter in model.parameters():
        # A safetensors file is mapped into memory as it lies there. The last bit of a matrix product depends on how its
        # operands are aligned, so a copy makes values the same whatever file the weights came from.
        parameter.data = parameter.data.clone()
    return model.eval()


@contextmanager
def _quiet_transformers() -> Iterator[None]:
    """Only errors of transformers are logged inside."""
    from transformers.utils import logging

    verbosity = logging.get_verbosity()
    logging.set_verbosity_error()
    try:
        yield
    finally:
        logging.set_verbosity(verbosity)
