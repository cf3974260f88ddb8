"""The metrics of a call by name, with the models and the tokenizer that it names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Final

from scoring.extras import require_extra
from scoring.lists.errors import (
    BareMetric,
    NeedsMedia,
    NoMetricsNamed,
    NoModelsNamed,
    NotForLists,
    TokenizerUnfit,
    UnknownMetric,
    UnknownTokenizer,
)
from scoring.metrics import METRICS, Metric, MetricOptions
from scoring.models.profile import profile_names
from scoring.models.store import shared_store
from scoring.text.okt import Okt
from scoring.text.run_tokens import TEXT
from scoring.text.tokenization import TOKENIZERS

if TYPE_CHECKING:
    from pathlib import Path

    from scoring.models.devices import DeviceName
    from scoring.models.store import ModelStore

TokensOf = Callable[[str], Sequence[str]]
TAGGED: Final = Okt.name


def chosen_metrics(
    names: Iterable[str], *, tokenize: str | TokensOf | None, options: MetricOptions, store: ModelStore | None
) -> dict[str, Metric]:
    """The metrics called ``names``, each once, in that order. Raises ``WrongArgument``."""
    kinds = {name: _as_called(METRICS[name], tokenize) for name in names}
    return {name: kind(store, options) for name, kind in kinds.items()}


def checked_names(metrics: Any, options: MetricOptions) -> list[str]:
    """The names of ``metrics``, each once. Raises ``WrongArgument`` for what lists of texts cannot be scored by."""
    if isinstance(metrics, str):
        raise BareMetric(given=metrics)
    names = list(dict.fromkeys(metrics))
    if not names:
        raise NoMetricsNamed
    for name in names:
        if name not in METRICS:
            raise UnknownMetric(name=name, known=", ".join(_meant(name)))
        _refuse_unfit(name, options)
    return names


def metric_names() -> tuple[str, ...]:
    """The metrics that lists of texts can be scored by, built in or of plug-ins."""
    return tuple(name for name, kind in METRICS.items() if kind.texts == "text" and not kind.is_remote)


def store_of(names: Iterable[str], models: str | Path | None, device: DeviceName) -> ModelStore | None:
    """The models for the metrics called ``names``; ``None`` if they need none. Raises ``NoModelsNamed``."""
    neural = [name for name in names if METRICS[name].model is not None]
    if not neural:
        return None
    if models is None:
        raise NoModelsNamed(metrics=", ".join(neural), profiles=", ".join(profile_names()))
    require_extra("neural")
    if "clip" in {METRICS[name].model for name in neural}:
        require_extra("clip")
    return shared_store(models, device)


def _meant(name: str) -> Sequence[str]:
    """The metrics that have a score of this name, else those with a name like it, else all."""
    known = metric_names()
    return [each for each in known if name in METRICS[each].score_names] or get_close_matches(name, known) or known


def _refuse_unfit(name: str, options: MetricOptions) -> None:
    kind = METRICS[name]
    if kind.is_remote:
        raise NotForLists(
            name=name, why_ko="심사 모델이 과제의 원자료를 읽습니다", why_en="a judge reads the task's input"
        )
    if kind.texts != "text":
        raise NotForLists(name=name, why_ko="글이 아닌 답을 읽습니다", why_en="its answers are no texts")
    if kind.needs_media and options.media is None:
        raise NeedsMedia(name=name)


def _as_called(kind: type[Metric], tokenize: str | TokensOf | None) -> type[Metric]:
    """The metric that reads ``tokenize`` where it read another tokenizer; one that reads texts stays as it is."""
    if tokenize is None or kind.reads == TEXT or kind.reads == tokenize:
        return kind
    plain = [name for name in TOKENIZERS if name != TAGGED]
    if isinstance(tokenize, str) and tokenize not in plain:
        raise UnknownTokenizer(name=tokenize, known=", ".join(plain))
    if kind.reads == TAGGED:
        raise TokenizerUnfit(metric=kind.name, reads=TAGGED)
    if isinstance(tokenize, str):
        return type(kind.__name__, (kind,), {"reads": tokenize})
    return type(kind.__name__, (kind,), _reading_with(kind, tokenize))


def _reading_with(kind: type[Metric], tokenize: TokensOf) -> dict[str, Any]:
    """What changes in a metric whose tokens a function of the caller gives: its name is in the signature."""

    def tokens_of(piece: str) -> tuple[str, ...]:
        return tuple(tokenize(piece))

    def reader(self: Metric, _run: Any) -> Callable[[str], Any]:
        return lambda text: self.tokens(text, tokens_of)

    def parameters(self: Metric) -> dict[str, Any]:
        module = getattr(tokenize, "__module__", None) or "builtins"
        function = getattr(tokenize, "__qualname__", type(tokenize).__name__)
        return {**kind.parameters(self), "tokenizer": {"function": f"{module}.{function}"}}

    return {"reads": TEXT, "reader": reader, "parameters": parameters}
