"""The models of a profile on this machine: describes them exactly and loads each once per process.

Scoring never touches the network: a model that is not here raises ``ModelUnavailable`` with the command that fetches it
(``scoring.models.fetching``). Only the ``demo`` profile makes its models itself. torch is imported only when a model is
loaded or a GPU is looked for.
"""

from __future__ import annotations

import gc
import json
import os
import threading
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

from scoring.extras import require_extra
from scoring.judging.judge import Judge
from scoring.models.devices import DeviceName, resolve_device
from scoring.models.files import (
    ClipKind,
    bytes_per_token,
    clip_input_sha256,
    clip_kind,
    find_folder,
    has_masked_head,
    text_limit,
    tokenizer_sha256,
    weights_sha256,
)
from scoring.models.lean import without_compiler
from scoring.models.profile import TEXT_ROLES, ModelRole, Profile, load_profile

if TYPE_CHECKING:
    from scoring.models.batching import TokenBudget
    from scoring.models.bertscore import BertScoreEncoder, BertScoreTokenizer
    from scoring.models.bleurt import BleurtScorer, PairTokenizer
    from scoring.models.clip import ClipModel
    from scoring.models.masked import MaskedScorer
    from scoring.models.precision import Precision

Loaded = TypeVar("Loaded")

# The folder in which processes of this machine share embeddings of references; unset: only in each one's memory.
EMBEDDINGS_VARIABLE: Final = "MALPAN_EMBEDDINGS"
_FURTHER_LIBRARIES: Final[dict[str, tuple[str, ...]]] = {
    "bleurt": ("bleurt-pytorch", "sentencepiece"),
    "clip": ("sentencepiece", "pillow", "numpy"),  # images are scaled by Pillow and turned into numbers by numpy
}
# all that BERT and BLEURT need; what another architecture needs besides is little
_TO_IMPORT: Final = (
    "scoring.models.bertscore",
    "scoring.models.bleurt",
    "bleurt_pytorch",
    "transformers.models.auto.modeling_auto",
    "transformers.models.auto.tokenization_auto",
    "transformers.models.bert.modeling_bert",
    "transformers.models.bert.tokenization_bert_fast",
)


class ModelStore:
    """The models of one profile on one device, each loaded at its first use and kept.

    ``token_budget`` is how many tokens a batch may hold; the default depends on the device.
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
    def bertscore_tokenizer(self) -> BertScoreTokenizer:
        """The tokenizer of BERTScore, without its model. Raises ``ModelUnavailable``."""
        return self._once("tokenizer of bertscore", self._load_bertscore_tokenizer)

    @property
    def bleurt_tokenizer(self) -> PairTokenizer:
        """The tokenizer of BLEURT, without its model. Raises ``ModelUnavailable``."""
        return self._once("tokenizer of bleurt", self._load_bleurt_tokenizer)

    @property
    def masked(self) -> MaskedScorer:
        """The model of BERTScore with all layers and its head for masked words. Raises ``ModelUnavailable``."""
        return self._once("masked", self._load_masked)

    @property
    def has_masked_head(self) -> bool:
        """Whether that model has such a head, trained, without loading it. Raises ``ModelUnavailable``."""
        return self._once("head of masked", lambda: has_masked_head(self._folder("bertscore")))

    @property
    def clip(self) -> ClipModel:
        """The CLIP or SigLIP model. Raises ``ModelUnavailable``."""
        return self._once("clip", self._load_clip)

    @property
    def clip_kind(self) -> ClipKind:
        """``"clip"`` or ``"siglip"``, without loading the model. Raises ``ModelUnavailable``."""
        return self._once("kind of clip", lambda: clip_kind(self._folder("clip")))

    @property
    def judge(self) -> Judge:
        """The judge, an LLM behind a server. Raises ``ModelNotConfigured``."""
        return self._once("judge", lambda: Judge(self.profile.judge_spec()))

    def take_judge_of(self, profile: Profile) -> None:
        """Use the judge of ``profile``, which is otherwise the profile of this store."""
        with self._lock:
            if profile.judge != self.profile.judge:
                self._loaded.pop("judge", None)
            self.profile = profile

    def text_limit(self, role: ModelRole) -> int:
        """The maximum input of the model of ``role`` in tokens, without loading it. Raises ``ModelUnavailable``."""
        return self._once(f"limit of {role}", lambda: text_limit(self._folder(role), role))

    def describe(self) -> dict[str, Any]:
        """Everything about these models that can change a number, without loading them."""
        models = {str(spec.role): self.describe_model(spec.role) for spec in self.profile.specs()}
        return {"profile": self.profile.name, "is_demo": self.profile.is_demo, **models}

    def describe_model(self, role: ModelRole) -> dict[str, Any]:
        """The same for one model: name, revision, hashes, layer, length, libraries, number format, device class.

        A model named by path has its folder's name: the rest of the path changes no number.
        """
        return dict(self._once(f"description of {role}", lambda: self._describe_model(role)))

    def _describe_model(self, role: ModelRole) -> dict[str, Any]:
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

    def computed_with(self) -> dict[str, Any]:
        """The kernel and number of threads of the models that read texts; empty until one of them is loaded.

        For the reader of a score: different kernels agree to about 1e-6.
        """
        if self._loaded.keys().isdisjoint(TEXT_ROLES):
            return {}
        import torch

        from scoring.models.products import fastest_linear

        kernel = fastest_linear(self.device, self.precision.weights).name
        return {"kernel": kernel, "threads": torch.get_num_threads()}

    def _load_bertscore_tokenizer(self) -> BertScoreTokenizer:
        from scoring.models.bertscore import BertScoreTokenizer

        return BertScoreTokenizer(self._folder("bertscore"), self.text_limit("bertscore"))

    def _load_bertscore(self) -> BertScoreEncoder:
        from scoring.models.bertscore import CACHE_BYTES, VERSION, load_encoder
        from scoring.models.cache import EmbeddingCache

        folder, layers = self._folder("bertscore"), self.profile.spec("bertscore").num_layers or 1
        tokenizer, budget = self.bertscore_tokenizer, self._budget(folder)
        encoder = load_encoder(folder, layers, tokenizer, self.device, budget, self.precision)
        if kept := os.environ.get(EMBEDDINGS_VARIABLE):
            made_by = json.dumps([VERSION, self.describe_model("bertscore")], sort_keys=True)
            encoder.references = EmbeddingCache(CACHE_BYTES, Path(kept), namespace=made_by, device=self.device)
        return encoder

    def _load_masked(self) -> MaskedScorer:
        from scoring.models.masked import MaskedHeadMissing, load_masked

        folder, tokenizer = self._folder("bertscore"), self.bertscore_tokenizer
        if not self.has_masked_head:
            raise MaskedHeadMissing(folder=str(folder))
        return load_masked(folder, tokenizer, self.device, self._budget(folder), self.precision)

    def _load_bleurt_tokenizer(self) -> PairTokenizer:
        from scoring.models.bleurt import PairTokenizer

        return PairTokenizer(self._folder("bleurt"), self.text_limit("bleurt"))

    def _load_bleurt(self) -> BleurtScorer:
        from scoring.models.bleurt import load_scorer

        folder = self._folder("bleurt")
        return load_scorer(folder, self.bleurt_tokenizer, self.device, self._budget(folder), self.precision)

    def _load_clip(self) -> ClipModel:
        from scoring.models.clip import load_clip

        folder = self._folder("clip")
        return load_clip(folder, self.clip_kind, self.text_limit("clip"), self.device, self._budget(folder))

    def _folder(self, role: ModelRole) -> Path:
        return find_folder(self.profile, self.profile.spec(role))

    def _budget(self, folder: Path) -> TokenBudget:
        from scoring.models.batching import TokenBudget, default_tokens

        return TokenBudget(self._token_budget or default_tokens(self.device, bytes_per_token(folder)))

    def _once(self, name: str, load: Callable[[], Loaded]) -> Loaded:
        with self._lock:
            if name not in self._loaded:
                self._loaded[name] = load()
            loaded: Loaded = self._loaded[name]
            return loaded


def import_libraries() -> None:
    """Import what the models for texts need and load none: starts no thread of torch, touches no GPU.

    For a process that forks others that load models: those find seconds of work done, in memory that they share.

    All of it stays to the end, so the garbage collector does not look through it: not now, which took a second of five,
    and never again, which would copy the shared memory in every process.
    """
    collects = gc.isenabled()
    gc.disable()
    try:
        with without_compiler():
            for name in _TO_IMPORT:
                import_module(name)
    finally:
        if collects:
            gc.enable()
    gc.freeze()


_shared: dict[tuple[Profile, str], ModelStore] = {}
_shared_lock = threading.Lock()


def shared_store(profile: str | Path = "demo", device: DeviceName = "auto") -> ModelStore:
    """The one store of this profile and device in this process, so that models are loaded once.

    ``auto`` and the device it resolves to share one store. A judge is what the profile says now: its budget may have
    been raised. Raises ``DeviceUnavailable`` and ``ExtraMissing``.
    """
    loaded = load_profile(profile)
    if loaded.specs():
        require_extra("neural")
    resolved = resolve_device(device) if loaded.specs() else "cpu"  # a judge alone computes nothing here
    with _shared_lock:
        store = _shared.setdefault((replace(loaded, judge=None), resolved), ModelStore(loaded, resolved))
        store.take_judge_of(loaded)
        return store


def require(store: ModelStore | None, metric: str) -> ModelStore:
    """``store``, or an error that names the metric that needs one."""
    if store is None:
        raise TypeError(f"the metric '{metric}' needs models: load_metric('{metric}', shared_store(profile))")
    return store
