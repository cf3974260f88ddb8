"""The base classes of metrics: what a metric declares, and what a run calls.

A metric is one file: pure functions first, then a thin class that declares what it reads and what it needs, so that
nothing elsewhere lists metrics. There are two kinds:

* a *pair metric* gives every (reference, candidate) pair a value. An item with several references has the best of its
  values; the corpus score is the mean over the items.
* a *corpus metric* sees all references of all items. It gives each item a row of numbers (its statistics) and makes
  its scores of their sums: BLEU, which adds up counts; CIDEr-D, whose document frequencies need the whole set.

``scores`` computes the scores from summed rows. The same formula serves the score, the bootstrap and the significance
test: it uses figures (``scoring.figures``), one number or one for each of thousands of resamplings.

The web process reads only the declarations and must start fast: no module of this package imports torch, transformers
or numpy before it computes.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal

from scoring.errors import Message
from scoring.figures import Figure, ratio
from scoring.records import ScoreWarning
from scoring.text.run_tokens import TEXT, remembering
from scoring.text.tokenization import tokenizer_signature

if TYPE_CHECKING:
    from scoring.judging.asking import TurnsOf
    from scoring.judging.budget import Ledger
    from scoring.models.store import ModelStore

PairProgress = Callable[[int, int], None]  # (pairs done, pairs in all)
Row = tuple[float, ...]
Tokenize = Callable[[str], Any]
CardGroup = Literal["exact", "overlap", "meaning", "picture", "file"]

LEXICAL_PAIR_TOKENS: Final = 4  # what a pair costs a metric without a model, as if it were tokens: milliseconds


@dataclass(frozen=True, slots=True)
class MetricOptions:
    """What a metric may need besides its models.

    ``synonyms`` is the TSV of METEOR's synonym stage (``None``: the built-in one). ``media`` is the folder with the
    frames of each item, for CLIPScore. ``ledger`` counts the requests to a judge (``None``: one of the metric's own).
    """

    synonyms: Path | None = None
    media: Path | None = None
    ledger: Ledger | None = None


@dataclass(frozen=True, slots=True)
class Summable:
    """Rows of systems, item by item, that can be summed; ``scores`` takes their sums.

    ``approximate`` names the scores for which such sums are only approximate.
    """

    systems: tuple[Any, ...]  # (items, width) numbers each
    approximate: tuple[str, ...] = ()


class Metric(ABC):
    """The declarations of a metric. Its scores are called by ``score_names``, which several metrics may share."""

    name: ClassVar[str]
    label: ClassVar[Message]
    rule: ClassVar[str]  # name and version of what it computes
    group: ClassVar[CardGroup] = "overlap"
    card: ClassVar[str] = ""  # the card that explains it; default: its name
    score_names: ClassVar[tuple[str, ...]] = ()  # default: its name
    reads: ClassVar[str] = TEXT  # a tokenizer's name, or ``TEXT`` for the text as it is
    reads_whole: ClassVar[bool] = False  # compares texts, also very long ones; others get their beginning
    model: ClassVar[str | None] = None  # the role in the model profile of the model that it needs
    texts: ClassVar[Literal["text", "number", "targets", "opinions", "essays"]] = "text"  # what its texts hold
    needs_media: ClassVar[bool] = False
    needs_synonyms: ClassVar[bool] = False  # looks words up in a table, which always exists
    is_remote: ClassVar[bool] = False  # computed by a server, by ``RemoteMetric``
    is_cheap: ClassVar[bool] = False  # computing a value is faster than looking up a stored one
    higher_is_better: ClassVar[bool] = True
    has_item_values: ClassVar[bool] = True  # a row is one number, the item's value, and the score its mean
    needs_corpus: ClassVar[bool] = False  # the value of a corpus of one item means nothing
    warning_texts: ClassVar[Mapping[str, Message]] = {}
    not_configured: ClassVar[str | None] = None  # for an optional metric: the warning when it cannot run

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "name" in vars(cls):
            cls.card = vars(cls).get("card") or cls.name
            cls.score_names = vars(cls).get("score_names") or (cls.name,)

    def __init__(self, store: ModelStore | None = None, options: MetricOptions | None = None) -> None:
        """``store`` holds the models of a profile, for a metric that declares that it needs one."""
        self.options = options or MetricOptions()

    def signature(self) -> dict[str, Any]:
        """What can change its numbers, as JSON."""
        analyser = {} if self.reads == TEXT else {"tokenizer": tokenizer_signature(self.reads)}
        return {"metric": self.name, "rule": self.rule, **self.parameters(), **analyser}

    @classmethod
    def is_configured(cls, store: ModelStore | None, options: MetricOptions) -> bool:
        """Whether it can run where it is optional: its model is named, and there are frames if it needs any."""
        if cls.needs_media and options.media is None:
            return False
        return cls.model is None or getattr(store and store.profile, cls.model, None) is not None

    def parameters(self) -> dict[str, Any]:
        """The rest of its signature: settings, tables, models."""
        return {}

    @classmethod
    def cost(cls, references: Sequence[Sequence[str]], candidates: Sequence[str]) -> int:
        """The estimated cost of scoring these items in model tokens; ``references`` are those of each item."""
        return LEXICAL_PAIR_TOKENS * len(candidates)

    def pieces(self, text: str) -> Sequence[str]:
        """The parts of ``text`` to analyse: the text itself, unless a metric cleans it or splits it into lines."""
        return (text,)

    def tokens(self, text: str, tokenize: Tokenize) -> Any:
        """``text`` as the metric's functions take it; ``tokenize`` gives the tokens of each of its pieces."""
        (piece,) = self.pieces(text)
        return tokenize(piece)

    def reader(self, tokenize: Tokenize | None) -> Tokenize:
        """A function from a text to its tokens; without ``tokenize`` the process's own tokenizer gives them."""
        if self.reads == TEXT:
            return lambda text: text
        analyse = tokenize or remembering(self.reads)
        return lambda text: self.tokens(text, analyse)

    @classmethod
    def sums(cls, rows: Sequence[Row]) -> Sequence[float]:
        """The sums that ``scores`` takes, exact: the order of the items cannot change a score.

        For item values (value,) they are (sum of the values, number of items).
        """
        summed = [math.fsum(column) for column in zip(*rows, strict=True)]
        return [*summed, len(rows)] if cls.has_item_values else summed

    @classmethod
    def scores(cls, sums: Sequence[Figure]) -> dict[str, Figure]:
        """The scores of these sums, by name; for item values their mean."""
        values, items = sums
        return {cls.score_names[0]: ratio(values, items)}

    @classmethod
    def aggregate(cls, rows: Sequence[Row]) -> dict[str, float]:
        """The scores of the items with these rows. Without rows every score is 0.0."""
        return dict(cls.scores(cls.sums(rows))) if rows else dict.fromkeys(cls.score_names, 0.0)

    def reported(self) -> tuple[str, ...]:
        """The scores that a report shows: all, unless that depends on the model."""
        return self.score_names

    def warnings(self, rows: Sequence[Row]) -> list[ScoreWarning]:
        """Warnings for the reader of the scores, from the rows of the items."""
        return []

    def about(self) -> dict[str, Any]:
        """What the reader of a score may want to know of the computation; it enters no hash."""
        return {}


class PairMetric(Metric):
    """One value for each aligned (reference, candidate) pair."""

    @abstractmethod
    def score_pairs(
        self,
        references: Sequence[str],
        candidates: Sequence[str],
        progress: PairProgress | None = None,
        *,
        tokenize: Tokenize | None = None,
    ) -> list[float]:
        """The value of each aligned pair. ``tokenize`` gives the tokens that the metric ``reads`` of a text."""


class RemoteMetric(PairMetric):
    """A pair metric whose values another server computes, one by one and at a price: each is stored as it comes."""

    is_remote = True

    @abstractmethod
    def values(
        self,
        references: Sequence[str],
        candidates: Sequence[str],
        each_turn: Callable[[], None],
        turns: TurnsOf | None = None,
    ) -> Iterator[tuple[int, float]]:
        """The value of each pair as it comes, by its place. ``each_turn`` is called now and then; it may raise.

        ``turns`` says right before pairs are asked about whether they still are to be (``scoring.judging.asking``):
        those that are known meanwhile have no value here.
        """

    @classmethod
    def value_unasked(cls, reference: str, candidate: str) -> float | None:
        """The value of a pair that the server is never asked about; ``None`` for one that it is. No store keeps it."""
        return None

    @classmethod
    def is_answer(cls, value: float) -> bool:
        """Whether the server gave ``value``; for one that means no answer, another scoring asks again."""
        return True

    def pair_warnings(
        self,
        ids: Sequence[str],
        references: Sequence[Sequence[str]],
        candidates: Sequence[str],
        values: Mapping[str, float],
    ) -> list[ScoreWarning]:
        """Warnings for the reader of the scores, from the texts and the values of the items."""
        return []

    def score_pairs(
        self,
        references: Sequence[str],
        candidates: Sequence[str],
        progress: PairProgress | None = None,
        *,
        tokenize: Tokenize | None = None,
    ) -> list[float]:
        unasked = list(map(self.value_unasked, references, candidates))
        found = {place: value for place, value in enumerate(unasked) if value is not None}
        asked = [place for place in range(len(references)) if place not in found]

        def report() -> None:
            if progress is not None:
                progress(len(found), len(references))

        texts, others = ([side[place] for place in asked] for side in (references, candidates))
        for number, value in self.values(texts, others, report):
            found[asked[number]] = value
        return [found[place] for place in range(len(references))]


class LexicalMetric(PairMetric):
    """A pair metric that computes the value of a pair from the tokens of its two texts."""

    @abstractmethod
    def value(self, reference: Any, candidate: Any) -> float:
        """The value of one pair, from what ``tokens`` returns for its texts."""

    def score_pairs(
        self,
        references: Sequence[str],
        candidates: Sequence[str],
        progress: PairProgress | None = None,
        *,
        tokenize: Tokenize | None = None,
    ) -> list[float]:
        read = self.reader(tokenize)
        values: list[float] = []
        for reference, candidate in zip(references, candidates, strict=True):
            values.append(self.value(read(reference), read(candidate)))
            if progress is not None:
                progress(len(values), len(references))
        return values


class CorpusMetric(Metric):
    """One row of numbers for each item, computed with all references.

    A subclass whose rows are not item values defines ``scores``.
    """

    has_item_values = False
    is_resampled: ClassVar[bool] = True  # whether rows keep their meaning when items are resampled

    @abstractmethod
    def statistics(
        self,
        ids: Sequence[str],
        references: Sequence[Sequence[str]],
        candidates: Sequence[str],
        progress: PairProgress | None = None,
        *,
        tokenize: Tokenize | None = None,
    ) -> list[Row]:
        """One row for each item. ``references[i]`` are the texts of item ``ids[i]``; an unanswered item has ``""``."""

    @classmethod
    def summable(cls, *systems: Sequence[Row]) -> Summable:
        """The rows of systems as rows that can be summed, all of one width."""
        return Summable(systems)


class RowMetric(CorpusMetric):
    """A corpus metric whose row of an item does not depend on other items."""

    @abstractmethod
    def row(self, references: Sequence[Any], candidate: Any) -> Row:
        """The row of one item, from what ``tokens`` returns for its texts."""

    def statistics(
        self,
        ids: Sequence[str],
        references: Sequence[Sequence[str]],
        candidates: Sequence[str],
        progress: PairProgress | None = None,
        *,
        tokenize: Tokenize | None = None,
    ) -> list[Row]:
        read = self.reader(tokenize)
        rows: list[Row] = []
        for texts, candidate in zip(references, candidates, strict=True):
            rows.append(self.row(list(map(read, texts)), read(candidate)))
            if progress is not None:
                progress(len(rows), len(references))
        return rows
