"""METEOR for Korean captions: NLTK's value on Okt morphs, with synonyms, and a variant that ignores inflection.

The formula is that of Lavie & Agarwal (2007), as in ``nltk.translate.meteor_score``. With m matches in c chunks:

    P = m / candidate tokens    R = m / reference tokens    F = P·R / (alpha·P + (1 - alpha)·R)
    METEOR = F · (1 - gamma·(c/m)^beta)          alpha 0.9, beta 3, gamma 0.5

so a perfect match of n tokens scores 1 - 0.5/n³ (0.9990 for eight), never 1. No match scores 0, and so does an empty
text. Tokens are compared in lower case, NLTK's default. Of several references the best value counts; the corpus score
is the mean over the items (the METEOR program itself adds up counts over the corpus instead).

* ``meteor``: equal morphs, NLTK's greedy alignment. NLTK's stem stage is the identity: a Porter stemmer does nothing to
  Hangul.
* ``meteor_synonym``: then morphs that share a group of the synonym table, looked up by surface, and by lemma if the
  table does not have the surface. Equal to NLTK's value with a WordNet of the same groups.
* ``meteor_ko``: without particles; equal morphs, then equal lemmas, then synonyms, in the alignment with the fewest
  chunks (``scoring.matching.alignment``). 파도가 푸르다 and 푸른 물결이 differ only in order. No other program computes
  this value.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any, Final

from scoring.errors import Message
from scoring.matching.alignment import Method, Stage, align, greedy_counts
from scoring.matching.search import BEAM_WIDTH, LOOKAHEAD, SEARCH_BUDGET
from scoring.matching.synonyms import Synonyms, load_synonyms
from scoring.metrics.base import LexicalMetric, MetricOptions
from scoring.text import lemmas
from scoring.text.lemmas import Morph, morphs_of, without_josa
from scoring.text.okt import Tagged

if TYPE_CHECKING:
    from scoring.models.store import ModelStore

ALPHA: Final = 0.9
BETA: Final = 3.0
GAMMA: Final = 0.5


def meteor(
    reference_tokens: Sequence[Any],
    candidate_tokens: Sequence[Any],
    stages: Sequence[Stage],
    alpha: float = ALPHA,
    beta: float = BETA,
    gamma: float = GAMMA,
    alignment: Method = "greedy",
) -> float:
    """METEOR of two token lists, 0-1. ``stages`` give a token's keys; tokens that share one match (see ``align``)."""
    aligned = align(reference_tokens, candidate_tokens, stages, alignment)
    lengths = len(reference_tokens), len(candidate_tokens)
    return meteor_of_counts(len(aligned.matches), aligned.chunks, *lengths, alpha, beta, gamma)


def exact_meteor(reference_tokens: Sequence[str], candidate_tokens: Sequence[str]) -> float:
    """``meteor`` of plain strings with one stage, their lower case, several times as fast."""
    reference, candidate = list(map(str.lower, reference_tokens)), list(map(str.lower, candidate_tokens))
    return meteor_of_counts(*greedy_counts(reference, candidate), len(reference), len(candidate))


def meteor_of_counts(
    matches: int,
    chunks: int,
    reference_length: int,
    candidate_length: int,
    alpha: float = ALPHA,
    beta: float = BETA,
    gamma: float = GAMMA,
) -> float:
    """The formula: METEOR of this many matches in this many chunks, 0-1. Lengths in tokens."""
    if matches == 0:
        return 0.0
    precision = matches / candidate_length
    recall = matches / reference_length
    f_mean = (precision * recall) / (alpha * precision + (1 - alpha) * recall)
    penalty: float = gamma * (chunks / matches) ** beta
    return (1 - penalty) * f_mean


def same_surface(morph: Morph) -> tuple[str]:
    """Exact stage for analysed morphs."""
    return (morph.surface.lower(),)


def same_lemma(morph: Morph) -> tuple[str]:
    """Stem stage for analysed morphs."""
    return (morph.lemma.lower(),)


def synonym_stage(synonyms: Synonyms) -> Stage:
    """Synonym stage for analysed morphs: the groups of the surface; if it has none, of the lemma."""

    def keys(morph: Morph) -> tuple[Hashable, ...]:
        return synonyms.of(morph.surface.lower()) or synonyms.of(morph.lemma.lower())

    return keys


class _Meteor(LexicalMetric):
    """What the three have in common: the formula."""

    def parameters(self) -> dict[str, Any]:
        return {"alpha": ALPHA, "beta": BETA, "gamma": GAMMA, **self.matching()}

    @abstractmethod
    def matching(self) -> dict[str, Any]:
        """Stages, alignment and table: what decides which tokens match."""


class Meteor(_Meteor):
    """METEOR of equal morphs: the value used for ranking."""

    name = "meteor"
    label = Message("METEOR", "METEOR")
    rule = "nltk-meteor@1"
    reads = "okt"

    def value(self, reference: Sequence[str], candidate: Sequence[str]) -> float:
        return exact_meteor(reference, candidate)

    def matching(self) -> dict[str, Any]:
        return {"stages": ["exact"], "alignment": "greedy"}


class MeteorSynonym(_Meteor):
    """METEOR of equal morphs, then of synonyms."""

    name = "meteor_synonym"
    label = Message("METEOR(유의어)", "METEOR (synonyms)")
    rule = "nltk-meteor-synonym@1"
    reads = "okt-tagged"
    needs_synonyms = True

    def __init__(self, store: ModelStore | None = None, options: MetricOptions | None = None) -> None:
        """``options.synonyms`` is the table, the built-in one if ``None``.

        Raises ``SynonymsUnreadable`` and ``InvalidSynonyms``.
        """
        super().__init__(store, options)
        self._synonyms = load_synonyms(self.options.synonyms)
        self._stages = (same_surface, synonym_stage(self._synonyms))

    def value(self, reference: Sequence[Tagged], candidate: Sequence[Tagged]) -> float:
        return meteor(morphs_of(reference), morphs_of(candidate), self._stages)

    def matching(self) -> dict[str, Any]:
        return {
            "stages": ["exact", "synonym"],
            "alignment": "greedy",
            "lemmas": lemmas.RULE,
            "synonyms": self._synonyms.signature(),
        }


class MeteorKo(MeteorSynonym):
    """METEOR without particles: equal morphs, equal lemmas, synonyms, in as few chunks as possible."""

    name = "meteor_ko"
    label = Message("METEOR-ko", "METEOR-ko")
    rule = "meteor-ko@1"

    def value(self, reference: Sequence[Tagged], candidate: Sequence[Tagged]) -> float:
        stages = (same_surface, same_lemma, self._stages[1])
        words = without_josa(morphs_of(reference)), without_josa(morphs_of(candidate))
        return meteor(*words, stages, alignment="optimal")

    def matching(self) -> dict[str, Any]:
        search = {"name": "optimal", "beam": BEAM_WIDTH, "lookahead": LOOKAHEAD, "budget": SEARCH_BUDGET}
        stages = ["exact", "lemma", "synonym"]
        return {**super().matching(), "stages": stages, "alignment": search, "dropped": [lemmas.JOSA]}
