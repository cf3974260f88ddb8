"""Download a profile's models: the only part of the instrument that uses the network."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from scoring.errors import Message, ScoringError, WordedError
from scoring.extras import require_extra
from scoring.models.files import ModelStatus, find_folder, make_demo_models
from scoring.models.profile import ModelSpec, Profile, load_profile

_BESIDE_WEIGHTS: Final = ("*.json", "*.txt", "*.model")
_WEIGHTS: Final = (
    *("model.safetensors", "model.safetensors.index.json"),
    *("pytorch_model.bin", "pytorch_model.bin.index.json"),
)


class FetchFailed(WordedError, ScoringError):
    """The hub could not be reached, or has no such model or revision."""

    code = "fetch_failed"
    words = Message(
        "모델 '{model}' (revision {revision})을 받지 못했습니다: {what}. 인터넷 연결과 프로필의 이름·revision을 "
        "확인한 뒤 다시 실행하십시오.",
        "The model '{model}' (revision {revision}) could not be fetched: {what}. Check the connection and the name and "
        "revision in the profile, then run again.",
    )


class HubUnreachable(FetchFailed):
    """No connection to the hub: this machine is offline, or the hub does not answer."""

    code = "hub_unreachable"
    words = Message(
        "모델 '{model}' (revision {revision})을 받지 못했습니다: 모델 허브 {hub}에 연결할 수 없습니다. 인터넷 연결과 "
        "프록시, 환경 변수 HF_ENDPOINT·HF_HUB_OFFLINE을 확인한 뒤 다시 실행하십시오. 받던 것은 이어서 받습니다.",
        "The model '{model}' (revision {revision}) could not be fetched: the model hub {hub} cannot be reached. Check "
        "the connection, the proxy, HF_ENDPOINT and HF_HUB_OFFLINE, then run again; what was fetched stays.",
    )


def fetch(profile: Profile | str | Path, *, endpoint: str | None = None) -> tuple[ModelStatus, ...]:
    """Download every model of ``profile`` that the hub has, at its exact revision; make the demo models.

    Complete files are not downloaded again, and an interrupted download is continued. ``endpoint`` is a mirror of the
    hub. Raises ``FetchFailed`` and, if a model named by path is missing, ``ModelUnavailable``.
    """
    loaded = profile if isinstance(profile, Profile) else load_profile(profile)
    if loaded.is_demo:
        make_demo_models()
    for spec in loaded.specs():
        if spec.folder is None:
            _download(spec, endpoint)
    return tuple(ModelStatus(spec, find_folder(loaded, spec)) for spec in loaded.specs())


def _download(spec: ModelSpec, endpoint: str | None) -> None:
    """The configuration, the tokenizer and one format of weights: safetensors if the revision has it."""
    require_extra("neural")
    from huggingface_hub import HfApi, constants, snapshot_download

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
        if getattr(error, "response", None) is None and not isinstance(error.errno, int):  # no answer, nor a full disk
            hub = endpoint or constants.ENDPOINT
            raise HubUnreachable(model=spec.model, revision=spec.revision, hub=hub) from error
        raise FetchFailed(model=spec.model, revision=spec.revision, what=str(error).splitlines()[0]) from error
