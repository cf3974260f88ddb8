"""Compares our values with those of the packages themselves on this machine.

Built-in pairs with any profile; and a real scored file, given its ``OUT.json`` and the two files it was made of. Both
sides score every distinct pair once, loaded and warm. Ours are computed in float32, as in the packages, whatever the
profile's precision: its effect is in another table (``precisions``).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Final

from scoring.errors import Message, ScoringError, WordedError
from scoring.metrics import load_pair_metric
from scoring.models.devices import DeviceName
from scoring.models.files import find_folder
from scoring.models.profile import Profile
from scoring.models.store import ModelStore
from scoring.recipes import Pairs, get_recipe
from scoring.records import Items, ScoreReport
from scoring.running.run import score_distinct
from scoring.signature import references_sha256
from scoring.verification.checks import PUBLISHED_BLEURT
from scoring.verification.packages import BertScorePackage, BleurtPackage, Package, RougePackage, name_and_version
from scoring.verification.precisions import without_kept_embeddings
from scoring.verification.samples import SAMPLES

Pair = tuple[str, str]  # (reference, candidate)

# Other batch sizes change float32 by about 1e-6, and by 1e-5 at 32 layers, also in the package's own loop.
TOLERANCES: Final[Mapping[str, float]] = {"bertscore": 1e-5, "bleurt": 3e-5, "rouge1_mecab": 1e-9}
_PACKAGES: Final[Mapping[str, type[Package]]] = {
    "bertscore": BertScorePackage,
    "bleurt": BleurtPackage,
    "rouge1_mecab": RougePackage,
}
_HARD: Final[tuple[Pair, ...]] = (
    ("조사는 앞말에 붙여 쓴다. " * 60, "의존 명사는 앞말과 띄어 쓴다. " * 60),  # longer than the models read
    ("café naïve 한국어と日本語 mixed Русский", "😀👍🏽 이모지 ①②③ ½ ㎏"),
)
BUILT_IN: Final[tuple[Pair, ...]] = (
    *SAMPLES,
    *_HARD,
    *((reference, candidate) for pairs in PUBLISHED_BLEURT.values() for reference, candidate, _ in pairs),
)


class ForeignResult(WordedError, ScoringError):
    """The scored file was made with other models or references than those it is compared with."""

    code: ClassVar[str] = "foreign_result"
    words: ClassVar[Message] = Message(
        "채점 결과 파일이 다른 것으로 만들어졌습니다: {what}. 채점할 때 쓴 프로필과 파일을 그대로 지정하십시오.",
        "The result was made with something else: {what}. Name the profile and the files it was scored with.",
    )


@dataclass(frozen=True, slots=True)
class Stored:
    """The values of the scored file for the same items: their mean, and how far the package's values are from them."""

    mean: float
    largest: float


@dataclass(frozen=True, slots=True)
class Comparison:
    """One metric by its package and by us: aligned values of distinct pairs, and the seconds of each.

    ``failure`` is what the package raised instead of values.
    """

    metric: str
    package: str
    theirs: tuple[float, ...]
    ours: tuple[float, ...]
    theirs_s: float
    ours_s: float
    stored: Stored | None = None
    failure: str = ""

    @property
    def tolerance(self) -> float:
        return TOLERANCES[self.metric]

    @property
    def largest(self) -> float:
        """The largest difference of a pair."""
        return max(map(_distance, self.theirs, self.ours), default=0.0)

    @property
    def furthest(self) -> tuple[float, float]:
        """(theirs, ours) of the pair with the largest difference."""
        return max(zip(self.theirs, self.ours, strict=True), key=lambda both: _distance(*both), default=(0.0, 0.0))

    @property
    def is_ok(self) -> bool:
        """Whether no value differs by more than the tolerance; NaN differs from everything."""
        of_file = self.stored.largest if self.stored else 0.0
        return not self.failure and self.largest <= self.tolerance and of_file <= self.tolerance


def compare_built_in(profile: Profile, device: DeviceName = "auto") -> tuple[Comparison, ...]:
    """One ``Comparison`` for each model of ``profile`` and for ROUGE-1. Raises ``ModelUnavailable``."""
    wanted = {metric: BUILT_IN for metric in _PACKAGES if metric == "rouge1_mecab" or getattr(profile, metric)}
    return _compare(profile, device, wanted)


def compare_file(
    profile: Profile, report: ScoreReport, references: Items, predictions: Items, device: DeviceName = "auto"
) -> tuple[Comparison, ...]:
    """The same for the pairs of a scored file, together with the values in ``report``.

    Raises ``ForeignResult``, ``UnknownRecipe``, ``MismatchedFiles`` and ``ModelUnavailable``.
    """
    _require_same(profile, report, references, device)
    recipe = get_recipe(report.recipe)
    layout = recipe.prepare(references, predictions)
    by_metric = {metric: layout.pairs[metric] for metric in recipe.metrics if metric in _PACKAGES}
    found = _compare(profile, device, {metric: _distinct(pairs) for metric, pairs in by_metric.items()})
    return tuple(replace(one, stored=_stored(one, by_metric[one.metric], report)) for one in found)


def _compare(profile: Profile, device: DeviceName, wanted: Mapping[str, Sequence[Pair]]) -> tuple[Comparison, ...]:
    with without_kept_embeddings():
        store = ModelStore(replace(profile, precision="fp32"), device)
        return tuple(_compare_one(store, metric, pairs) for metric, pairs in wanted.items())


def _compare_one(store: ModelStore, name: str, pairs: Sequence[Pair]) -> Comparison:
    metric = load_pair_metric(name, store)
    ours, ours_s = _timed(lambda some: score_distinct(metric, some, lambda *_: None), pairs)
    theirs: list[float] = []
    failure, theirs_s = "", 0.0
    try:
        witness = _load(name, store)
        theirs, theirs_s = _timed(lambda some: witness.score(*map(list, zip(*some, strict=True))), pairs)
    except Exception as error:  # noqa: BLE001 (any failure of the package is its result)
        failure = f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
    package = name_and_version(_PACKAGES[name])
    return Comparison(name, package, tuple(theirs), tuple(ours), theirs_s, ours_s, failure=failure)


def _load(name: str, store: ModelStore) -> Package:
    """The package with the same model folder as ours."""
    if name == "rouge1_mecab":
        return RougePackage()
    spec = store.profile.bertscore if name == "bertscore" else store.profile.bleurt
    assert spec is not None, "a metric is compared only where the profile has its model"
    folder = find_folder(store.profile, spec)
    if name == "bertscore":
        return BertScorePackage(folder, spec.num_layers or 1, store.device)
    return BleurtPackage(folder, store.text_limit("bleurt"), store.device)


def _timed(score: Callable[[Sequence[Pair]], list[float]], pairs: Sequence[Pair]) -> tuple[list[float], float]:
    """The values of ``pairs``, and the seconds they took, after a warm-up with another pair."""
    if not pairs:
        return [], 0.0
    score([(SAMPLES[0][1], SAMPLES[0][0])])
    started = time.perf_counter()
    values = score(pairs)
    return values, time.perf_counter() - started


def _require_same(profile: Profile, report: ScoreReport, references: Items, device: DeviceName) -> None:
    signature = report.signature
    if signature.get("references", {}).get("sha256") != references_sha256(references):
        raise ForeignResult(what="references.sha256")
    store = ModelStore(profile, device)
    for spec in profile.specs():
        of_file, ours = signature.get("metrics", {}).get(spec.role), store.describe_model(spec.role)
        different = [
            key
            for key in ("weights_sha256", "tokenizer_sha256", "num_layers")
            if of_file and of_file.get(key) != ours.get(key)
        ]
        if different:
            raise ForeignResult(what=f"{spec.role}: {', '.join(different)}")


def _distinct(pairs: Pairs) -> list[Pair]:
    rows = zip(pairs.references, pairs.candidates, strict=True)
    return list(dict.fromkeys((reference, candidate) for references, candidate in rows for reference in references))


def _stored(found: Comparison, pairs: Pairs, report: ScoreReport) -> Stored | None:
    """The file's values of the items; with several references the best counts."""
    theirs = dict(zip(_distinct(pairs), found.theirs, strict=False))
    name, scored = get_recipe(report.recipe).score_name(found.metric), set(pairs.ids)
    kept = {item.id: item.scores[name] for item in report.items if name in item.scores and item.id in scored}
    if not theirs or not kept:
        return None
    rows = zip(pairs.ids, pairs.references, pairs.candidates, strict=True)
    best = {item: max(theirs[reference, candidate] for reference in texts) for item, texts, candidate in rows}
    largest = max(_distance(best[item], kept[item]) if item in kept else float("inf") for item in best)
    return Stored(sum(kept.values()) / len(kept), largest)


def _distance(one: float, other: float) -> float:
    """Infinite if either is NaN."""
    distance = abs(one - other)
    return distance if distance == distance else float("inf")
