"""Warnings that a score may be better than the answers: one caption for all, loops, copies, invisible characters.

They are no accusation: a weak but honest model can cause any of them, and an organiser who reads one then reads a few
answers. Everything is counted on white-space words and characters of the NFC texts, without analyser or model, in time
linear in the texts. If a reference set is itself formulaic, short or repetitive, answers are compared with that.

``form`` says what an answer is. Captions and descriptive answers (``answers``) get every check. Choices and short
answers are often equal, so the checks of sameness, length and copying skip them: items of the question types in
``SHORT_TYPES``, and in ``answers`` those with fewer than ``LONG_CHARS`` characters. ``labels`` and ``number`` are
checked for invisible and unnormalised characters only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Final

from scoring.integrity.loops import is_loop
from scoring.invisible import code_point_name, invisible_characters, looks_empty
from scoring.metrics.ngrams import closest_length
from scoring.recipes import AnswerForm
from scoring.records import Item, Items, ScoreWarning

SHORT_TYPES: Final = frozenset({"선다형", "단답형"})
LONG_CHARS: Final = 10
MIN_ITEMS: Final = 10  # fewer answers make no statistics

REPEATED_PERCENT: Final = 20.0
REPEATED_ITEMS: Final = 5
UNIQUE_PERCENT: Final = 10.0
UNIQUE_ITEMS: Final = 30
NEAR_CONSTANT_SHARE: Final = 0.65
NEAR_CONSTANT_EXCESS: Final = 0.2  # over the references' own
LENGTH_LOW: Final = 0.5
LENGTH_HIGH: Final = 2.0
FEW_ITEMS: Final = 3  # loops and copies: so many items at least, and so many percent
FEW_PERCENT: Final = 5.0
NORMALIZED_PERCENT: Final = 20.0

SHINGLE_WORDS: Final = 8
COPY_WORDS: Final = 16
COPY_SHARE: Final = 0.8
REFERENCE_COPY_SHARE: Final = 0.5
SAMPLED_SHINGLES: Final = 30
PROBES: Final = 5
NAMED_CODE_POINTS: Final = 3


@dataclass(frozen=True, slots=True)
class Answered:
    """A reference and the answer to it, not blank, without surrounding white space."""

    reference: Item
    text: str

    @property
    def words(self) -> list[str]:
        return self.text.split()


def integrity_warnings(form: AnswerForm, references: Items, predictions: Items) -> tuple[ScoreWarning, ...]:
    """The warnings about ``predictions``, in a fixed order. Pure.

    Items are matched by id; blank and missing answers, which other warnings count, are left out. The params of a
    warning are numbers and names of code points, never text.
    """
    items = list(_answered(references, predictions))
    texts = [item for item in items if _is_text(form, item)]
    found: Iterable[ScoreWarning | None] = (
        _repeated(texts),
        _few_unique(texts),
        _near_constant(texts),
        _length_ratio(texts),
        _loops(texts),
        _copied(texts),
        _normalized(predictions),
        _invisible(items),
        _looks_empty(items),
    )
    return tuple(warning for warning in found if warning is not None)


def _answered(references: Items, predictions: Items) -> Iterator[Answered]:
    predicted = predictions.by_id()
    for reference in references.items:
        answer = predicted.get(reference.id)
        if answer is not None and (text := answer.text.strip()):
            yield Answered(reference, text)


def _is_text(form: AnswerForm, item: Answered) -> bool:
    """Whether two honest answers to this item are rarely equal."""
    if form == "captions":
        return True
    is_short = item.reference.question_type in SHORT_TYPES or len(item.reference.text) < LONG_CHARS
    return form == "answers" and not is_short


def _repeated(items: Sequence[Answered]) -> ScoreWarning | None:
    """One text answers a fifth of the items, and the most common reference is less than half as common."""
    if len(items) < MIN_ITEMS:
        return None
    count = _commonest(item.text for item in items)
    reference_count = _commonest(item.reference.text for item in items)
    percent, reference_percent = (100 * n / len(items) for n in (count, reference_count))
    if count < REPEATED_ITEMS or percent < REPEATED_PERCENT or percent < 2 * reference_percent:
        return None
    params = {"count": count, "items": len(items), "percent": percent, "reference_percent": reference_percent}
    return ScoreWarning("answer_repeated", params)


def _few_unique(items: Sequence[Answered]) -> ScoreWarning | None:
    """At most a tenth of the answers are distinct, and less than a quarter of the references' share."""
    if len(items) < UNIQUE_ITEMS:
        return None
    unique = len({item.text for item in items})
    reference_percent = 100 * len({item.reference.text for item in items}) / len(items)
    percent = 100 * unique / len(items)
    if percent > UNIQUE_PERCENT or percent > reference_percent / 4:
        return None
    params = {"unique": unique, "items": len(items), "percent": percent, "reference_percent": reference_percent}
    return ScoreWarning("few_unique", params)


def _near_constant(items: Sequence[Answered]) -> ScoreWarning | None:
    """Most words of an answer are in any other answer too, far more than among the references.

    The share of an answer's words found in another, over all pairs of answers, follows from how many answers contain
    each word: no pair is compared. The decision weights words by how rare they are in the references, so that the frame
    of a formulaic set ("… 있다.") counts for nothing and a small vocabulary in changing combinations gives no warning.
    """
    if len(items) < MIN_ITEMS:
        return None
    frequency, reference_frequency = Counter[str](), Counter[str]()
    for item in items:
        frequency.update(set(item.words))
        reference_frequency.update(chain.from_iterable(set(text.split()) for text in item.reference.texts))
    reference_count = sum(len(item.reference.texts) for item in items)
    rarity = {word: 1 - reference_frequency[word] / reference_count for word in frequency}
    shared = _shared_share(frequency, len(items))
    reference_shared = _shared_share(reference_frequency, reference_count)
    if _shared_share(frequency, len(items), rarity) < NEAR_CONSTANT_SHARE:
        return None
    if shared < reference_shared + NEAR_CONSTANT_EXCESS:
        return None
    return ScoreWarning("near_constant", {"percent": 100 * shared, "reference_percent": 100 * reference_shared})


def _shared_share(frequency: Mapping[str, int], count: int, weights: Mapping[str, float] | None = None) -> float:
    """The chance that a word of one of ``count`` texts is in another; ``frequency`` counts the texts with a word."""
    if count < 2:
        return 0.0
    weighted = [(n, weights[word] if weights else 1.0) for word, n in frequency.items()]
    total = sum(weight * n for n, weight in weighted)
    return sum(weight * n * (n - 1) for n, weight in weighted) / (count - 1) / total if total else 0.0


def _length_ratio(items: Sequence[Answered]) -> ScoreWarning | None:
    """All answers together are half as long as the references closest to them in length, or twice."""
    if len(items) < MIN_ITEMS:
        return None
    length = sum(len(item.text) for item in items)
    reference_length = sum(_closest_length(item) for item in items)
    ratio = length / reference_length if reference_length else 0.0
    if LENGTH_LOW <= ratio <= LENGTH_HIGH or not reference_length:
        return None
    return ScoreWarning("length_ratio", {"ratio": ratio, "low": LENGTH_LOW, "high": LENGTH_HIGH})


def _closest_length(item: Answered) -> int:
    return closest_length((len(text.strip()) for text in item.reference.texts), len(item.text))


def _loops(items: Sequence[Answered]) -> ScoreWarning | None:
    """Answers that repeat a phrase, unless a reference of the item does."""
    count = sum(is_loop(item.text) and not any(map(is_loop, item.reference.texts)) for item in items)
    return _few("repeated_phrases", count, len(items))


def _copied(items: Sequence[Answered]) -> ScoreWarning | None:
    """Long answers whose word runs are in the item's input, unless those of a reference are too."""
    long = [item for item in items if len(item.words) >= COPY_WORDS and item.reference.input]
    return _few("copied_input", sum(map(_is_copied, long)), len(long))


def _is_copied(item: Answered) -> bool:
    source = f" {' '.join(' '.join(_strings(item.reference.input)).split())} "
    if copied_share(item.words, source) <= COPY_SHARE:
        return False
    return all(copied_share(text.split(), source) <= REFERENCE_COPY_SHARE for text in item.reference.texts)


def copied_share(words: Sequence[str], source: str) -> float:
    """Share of the runs of ``SHINGLE_WORDS`` words that ``source`` contains: words one space apart, one at each end.

    Of many runs only ``SAMPLED_SHINGLES``, evenly spread, are looked up, so the time is linear in the texts. If none of
    ``PROBES`` is found, no more are looked up. 0.0 for fewer words than a run has.
    """
    runs = _spread(range(len(words) - SHINGLE_WORDS + 1), SAMPLED_SHINGLES)
    if not any(_is_in_source(words, start, source) for start in _spread(runs, PROBES)):
        return 0.0
    return sum(_is_in_source(words, start, source) for start in runs) / len(runs)


def _is_in_source(words: Sequence[str], start: int, source: str) -> bool:
    return f" {' '.join(words[start : start + SHINGLE_WORDS])} " in source


def _spread(values: Sequence[int], most: int) -> Sequence[int]:
    """``most`` of ``values`` at even distances, or all if there are no more."""
    if len(values) <= most:
        return values
    return [values[number * (len(values) - 1) // (most - 1)] for number in range(most)]


def _strings(value: Any) -> Iterator[str]:
    """Every string in a JSON value, keys left out."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        yield from chain.from_iterable(map(_strings, value.values()))
    elif isinstance(value, Sequence):
        yield from chain.from_iterable(map(_strings, value))


def _normalized(predictions: Items) -> ScoreWarning | None:
    count, items = len(predictions.normalized_ids), len(predictions.items)
    if not items or 100 * count / items < NORMALIZED_PERCENT:
        return None
    return ScoreWarning("many_normalized", {"count": count, "items": items, "percent": 100 * count / items})


def _invisible(items: Sequence[Answered]) -> ScoreWarning | None:
    """Answers with invisible characters that neither a reference of the item nor its input holds."""
    total, count = Counter[int](), 0
    for item in items:
        characters = invisible_characters(item.text)
        if characters:
            given = "".join(chain(item.reference.texts, _strings(item.reference.input)))
            strange = {code: number for code, number in characters.items() if chr(code) not in given}
            total.update(strange)
            count += bool(strange)
    if not count:
        return None
    commonest = sorted(total, key=lambda code: (-total[code], code))[:NAMED_CODE_POINTS]
    names = ", ".join(map(code_point_name, commonest))
    return ScoreWarning("invisible_characters", {"count": count, "items": len(items), "code_points": names})


def _looks_empty(items: Sequence[Answered]) -> ScoreWarning | None:
    count = sum(looks_empty(item.text) for item in items)
    return ScoreWarning("looks_empty", {"count": count}) if count else None


def _few(code: str, count: int, items: int) -> ScoreWarning | None:
    """The warning ``code`` if ``count`` reaches ``FEW_ITEMS`` and ``FEW_PERCENT`` of ``items``."""
    if count < FEW_ITEMS or 100 * count / items < FEW_PERCENT:
        return None
    return ScoreWarning(code, {"count": count, "items": items, "percent": 100 * count / items})


def _commonest(texts: Iterable[str]) -> int:
    return max(Counter(texts).values())
