"""A large file cut into shards: some distinct pairs of the pair metrics, scored apart from all others.

``open_pairs`` lists what a file has to have scored, ``plan`` cuts it, ``score_shard`` scores one piece through the same
metrics with the same checks as a whole file. What the shards gave is put together by an ordinary ``engine.score`` that
asks ``GatheredValues`` first; corpus metrics, which see all items at once, run there.

Equal input gives equal shards, and what a shard gives depends on its own pairs alone: by how many workers, in which
order or how often it was scored changes no bit on one kind of machine. (A GPU that runs out of memory goes on with
smaller batches, which moves a value as any change of batches does, by less than 1e-6.) Nothing here loads a model
library before a metric needs its model.
"""

from __future__ import annotations

import json
import math
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Self

from scoring.errors import ScoringFault
from scoring.metrics import Metric, MetricOptions, is_corpus_metric, load_metric
from scoring.recipes import Pairs, Prepared, Recipe
from scoring.records import ProgressCallback
from scoring.running.pair_values import Pair, PairValues
from scoring.running.run import NEURAL_METRICS, run_metrics
from scoring.signature import json_sha256, metric_signature

if TYPE_CHECKING:
    from scoring.models.devices import DeviceName
    from scoring.models.store import ModelStore

Values = Mapping[str, Sequence[float]]  # by metric, in the order of ``Shard.pairs_of``

TRIVIAL_METRICS: Final = frozenset({"exact_match", "accuracy", "squared_error"})  # cheaper than looking a value up
BUNDLE: Final = 64  # pairs of one candidate that stay together: it is embedded and cut into morphs once for them


class ForeignShard(ScoringFault):
    """This process scores with other models or programs than those that the shard was planned for."""


@dataclass(frozen=True, slots=True)
class Shard:
    """Some distinct pairs, and by metric the places of those that it must score."""

    pairs: tuple[Pair, ...]
    wanted: Mapping[str, tuple[int, ...]]

    def pairs_of(self, metric: str) -> list[Pair]:
        """The pairs that ``metric`` must score, in order."""
        return [self.pairs[place] for place in self.wanted[metric]]

    @property
    def characters(self) -> int:
        """How much there is to read, over all metrics: what the shards of a plan have about equally much of."""
        return sum(_characters(self.pairs[place]) for places in self.wanted.values() for place in places)

    def dump(self) -> bytes:
        """As compact JSON; ``load`` reads it."""
        content = {"pairs": self.pairs, "wanted": self.wanted}
        return json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")

    @classmethod
    def load(cls, data: bytes) -> Self:
        content = json.loads(data.decode("utf-8", "surrogatepass"))
        pairs = tuple((reference, candidate) for reference, candidate in content["pairs"])
        return cls(pairs, {metric: tuple(places) for metric, places in content["wanted"].items()})


# --- planning ---------------------------------------------------------------------------------------------------------
def sharded_metrics(recipe: Recipe) -> list[str]:
    """The metrics of ``recipe`` that shards can score: its pair metrics but for the trivial ones."""
    return [name for name in recipe.metrics if name not in TRIVIAL_METRICS and not is_corpus_metric(name)]


def signature_hashes(recipe: Recipe, metrics: Mapping[str, Metric]) -> dict[str, str]:
    """The signature hash of each metric by name, as a report of the engine has it."""
    return {name: json_sha256(metric_signature(recipe, name, metric.signature())) for name, metric in metrics.items()}


def resources_for(names: Iterable[str], profile: str, device: DeviceName) -> ModelStore | None:
    """The models of ``profile``, shared by the whole process, where one of these metrics needs any."""
    if NEURAL_METRICS.isdisjoint(names):
        return None
    from scoring.models.store import shared_store

    return shared_store(profile, device)


def load_metrics(names: Iterable[str], resources: ModelStore | None) -> dict[str, Metric]:
    """The metrics by name, without loading a model."""
    return {name: load_metric(name, resources, MetricOptions()) for name in names}


def open_pairs(metric: str, prepared: Prepared, known: Container[str] = ()) -> list[Pair]:
    """The distinct pairs of ``metric`` that belong to an item that is not in ``known``, in file order."""
    pairs = prepared.pairs[metric]
    rows = zip(pairs.ids, pairs.references, pairs.candidates, strict=True)
    return list(
        dict.fromkeys(
            (reference, candidate)
            for item, references, candidate in rows
            if item not in known
            for reference in references
        )
    )


def plan(wanted: Mapping[str, Sequence[Pair]], pairs_per_shard: int) -> list[Shard]:
    """Shards of about ``pairs_per_shard`` distinct pairs with about equally many characters; none of no pair.

    ``wanted`` are the pairs by metric. Bundles of pairs are dealt out in turn, the longest first: every shard gets
    short and long ones in the same mixture. The order of ``wanted`` changes nothing.
    """
    if pairs_per_shard < 1:
        raise ValueError(f"a shard holds at least one pair, not {pairs_per_shard}")
    places = {metric: frozenset(pairs) for metric, pairs in sorted(wanted.items()) if pairs}
    distinct = sorted(frozenset[Pair]().union(*places.values()), key=lambda pair: (pair[1], pair[0]))
    bundles = sorted(_bundles(distinct), key=lambda bundle: (-sum(map(_characters, bundle)), bundle[0]))
    count = math.ceil(len(distinct) / pairs_per_shard)
    dealt = [[pair for bundle in bundles[start::count] for pair in bundle] for start in range(count)]
    return [_shard(pairs, places) for pairs in dealt if pairs]


def _bundles(pairs: Sequence[Pair]) -> list[list[Pair]]:
    """Pairs sorted by candidate in runs of the same one, of at most ``BUNDLE`` pairs."""
    bundles: list[list[Pair]] = []
    for pair in pairs:
        if not bundles or bundles[-1][0][1] != pair[1] or len(bundles[-1]) == BUNDLE:
            bundles.append([])
        bundles[-1].append(pair)
    return bundles


def _shard(pairs: Sequence[Pair], places: Mapping[str, frozenset[Pair]]) -> Shard:
    wanted = {
        metric: tuple(place for place, pair in enumerate(pairs) if pair in of_metric)
        for metric, of_metric in places.items()
    }
    return Shard(tuple(pairs), {metric: chosen for metric, chosen in wanted.items() if chosen})


def _characters(pair: Pair) -> int:
    return len(pair[0]) + len(pair[1])


# --- scoring ----------------------------------------------------------------------------------------------------------
def score_shard(
    shard: Shard,
    recipe: Recipe,
    signatures: Mapping[str, str],
    *,
    resources: ModelStore | None = None,
    progress: ProgressCallback | None = None,
) -> dict[str, list[float]]:
    """One finite value by metric for each of its pairs, in the order of ``Shard.pairs_of``.

    ``signatures`` are the metrics' signature hashes as planned. Raises ``ForeignShard`` where this process has others:
    its values would be of another score. Raises ``MetricFault`` and ``ModelUnavailable``.
    """
    metrics = load_metrics(shard.wanted, resources)
    hashes = signature_hashes(recipe, metrics)
    foreign = sorted(name for name, found in hashes.items() if found != signatures.get(name))
    if foreign:
        raise ForeignShard(f"planned with another signature of {', '.join(foreign)}")
    with _embeddings_of_its_own(resources if "bertscore" in metrics else None):
        scored = run_metrics(metrics, _as_items(shard), hashes, known={}, progress=progress)
    return {name: [scored.values[name][str(place)] for place in places] for name, places in shard.wanted.items()}


@contextmanager
def _embeddings_of_its_own(resources: ModelStore | None) -> Iterator[None]:
    """Let BERTScore remember no reference from before, and none of these afterwards.

    An embedding made in another batch differs in its last bits, and a large file would drive out those of the
    references that come again.
    """
    if resources is None:
        yield
        return
    from scoring.models.cache import EmbeddingCache

    encoder = resources.bertscore
    kept, encoder.references = encoder.references, EmbeddingCache(encoder.references.max_bytes)
    try:
        yield
    finally:
        encoder.references = kept


def _as_items(shard: Shard) -> Prepared:
    """Each pair as an item of its own, called by its place."""
    pairs = {
        metric: Pairs(
            tuple(map(str, places)),
            tuple((shard.pairs[place][0],) for place in places),
            tuple(shard.pairs[place][1] for place in places),
        )
        for metric, places in shard.wanted.items()
    }
    return Prepared(tuple(map(str, range(len(shard.pairs)))), pairs)


# --- gathering --------------------------------------------------------------------------------------------------------
class GatheredValues:
    """What the shards of a run gave, for the engine; ``further`` answers for other pairs and keeps new values."""

    def __init__(self, signatures: Mapping[str, str], further: PairValues | None = None) -> None:
        self._signatures = signatures
        self._values: dict[str, dict[Pair, float]] = {}
        self._further = further

    def add(self, shard: Shard, values: Values) -> None:
        """Take the values of one finished shard. Raises ``ValueError`` where there are not as many as pairs."""
        for metric in shard.wanted:
            of_metric = self._values.setdefault(metric, {})
            of_metric.update(zip(shard.pairs_of(metric), values[metric], strict=True))

    def get(self, metric: str, signature: str, pairs: Sequence[Pair]) -> dict[Pair, float]:
        ours = self._values.get(metric, {}) if self._signatures.get(metric) == signature else {}
        found = {pair: ours[pair] for pair in pairs if pair in ours}
        others = [pair for pair in pairs if pair not in found]
        if self._further is not None and others:
            found |= self._further.get(metric, signature, others)
        return found

    def put(self, metric: str, signature: str, values: Mapping[Pair, float]) -> None:
        if self._further is not None:
            self._further.put(metric, signature, values)
