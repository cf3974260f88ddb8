"""How rich the wording of a file is: colours, adjectives and modifiers, and how varied its morphs are. On Okt's tags.

None of these looks at the references; they say how a file is worded, not whether it is right.

* ``colour_share``, ``adjective_share``, ``modifier_share``: colour words, adjectives and modifier phrases over all
  morphs but punctuation. Colour words are those of ``COLOURS`` (빨간, 빨갛고, 빨간색 and 빨강 are one colour).
  Adjectives are those of Okt by dictionary form, without the ones that only carry grammar (있다, 없다, 이다 …).
  Modifier phrases are the attributes of ``scoring.metrics.spice_ko``: a modifier with its noun, each once in a caption.
* ``colour_variety``, ``adjective_variety``, ``modifier_variety``: different ones over all of them. They fall as a file
  grows, so they compare files with the same items only.
* ``mattr``: the type-token ratio of morphs as a moving average (Covington & McFall 2010): the mean share of different
  morphs in every window of ``WINDOW`` neighbouring morphs of the file, its captions end to end in the order of their
  ids. Unlike a plain ratio it does not fall as a file grows. A file shorter than a window is one window.

Without a denominator a share is 0.0. A row is what its item adds to the items before it (by id): only all rows of one
file together have a meaning, as with ``scoring.metrics.diversity``.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Sequence
from types import MappingProxyType
from typing import Any, Final

from scoring.errors import Message
from scoring.figures import Figure, ratio
from scoring.metrics.base import CorpusMetric, PairProgress, Row, Tokenize
from scoring.metrics.spice_ko import SceneTuple, tuples_of
from scoring.text.lemmas import RULE as LEMMA_RULE
from scoring.text.lemmas import Morph, morphs_of

WINDOW: Final = 50  # morphs
NAMES: Final = (
    *("colour_share", "colour_variety", "adjective_share", "adjective_variety"),
    *("modifier_share", "modifier_variety", "mattr"),
)
ADJECTIVE: Final = "Adjective"
PUNCTUATION: Final = "Punctuation"
GRAMMATICAL: Final = frozenset({"있다", "없다", "이다", "아니다", "같다", "않다", "싶다", "이렇다", "그렇다", "어떻다"})

# By colour the lemmas that name it.
_WORDS: Final = {
    "빨강": "빨갛다 새빨갛다 시뻘겋다 뻘겋다 붉다 불그스름하다 빨강 빨강색 빨간색 붉은색 붉은빛 적색 다홍색 진홍색",
    "파랑": "파랗다 새파랗다 시퍼렇다 퍼렇다 푸르다 푸르스름하다 파랑 파랑색 파란색 푸른색 푸른빛 청색 군청색",
    "노랑": "노랗다 샛노랗다 누렇다 노랑 노랑색 노란색 누런색 황색 노란빛",
    "하양": "하얗다 새하얗다 허옇다 희다 하양 하얀색 흰색 흰빛 백색 순백색",
    "검정": "까맣다 새까맣다 시꺼멓다 거멓다 검다 검정 검정색 까만색 검은색 검은빛 흑색",
    "초록": "초록 초록색 초록빛 녹색 연두 연두색 청록색 진녹색 연녹색",
    "주황": "주황 주황색 주황빛 오렌지색 귤색",
    "분홍": "분홍 분홍색 분홍빛 핑크 핑크색 연분홍 연분홍색",
    "보라": "보라 보라색 보랏빛 연보라색 자주색 자줏빛 자색",
    "남색": "남색 남빛 곤색 네이비색",
    "하늘색": "하늘색 하늘빛 옥색 민트색",
    "회색": "회색 회색빛 잿빛 쥐색",
    "갈색": "갈색 갈색빛 밤색 고동색 황토색 황갈색",
    "금색": "금색 금빛 황금색 황금빛",
    "은색": "은색 은빛",
    "베이지": "베이지 베이지색 살구색 살색 상아색 아이보리색 크림색",
    "카키": "카키 카키색 국방색",
}
COLOURS: Final = MappingProxyType({word: colour for colour, words in _WORDS.items() for word in words.split()})


def colours_of(morphs: Iterable[Morph]) -> list[str]:
    """The colour of every colour word in order. Okt splits 붉은색 into 붉 and 은색: one word, and no silver."""
    found, before = [], ""
    for surface, _, lemma in morphs:
        if lemma in COLOURS and (before, surface) != ("붉", "은색"):
            found.append(COLOURS[lemma])
        before = surface
    return found


def adjectives_of(morphs: Iterable[Morph]) -> list[str]:
    """The dictionary forms of the adjectives in order; colour adjectives also where Okt tags them as nouns."""
    return [
        lemma
        for _, pos, lemma in morphs
        if (pos == ADJECTIVE and lemma not in GRAMMATICAL) or (lemma in COLOURS and lemma.endswith("다"))
    ]


def modifiers_of(morphs: Iterable[Morph]) -> list[SceneTuple]:
    """The (modifier, noun) pairs of a caption, each once."""
    return [pair for pair in tuples_of(morphs) if len(pair) == 2]


class MovingWindow:
    """Counts of the last ``size`` morphs."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._last: deque[str] = deque()
        self._counts: Counter[str] = Counter()

    def types_after(self, morph: str) -> int | None:
        """How many different morphs the window that ends with ``morph`` has; ``None`` while it is not full."""
        self._last.append(morph)
        self._counts[morph] += 1
        if len(self._last) > self.size:
            oldest = self._last.popleft()
            self._counts[oldest] -= 1
            if not self._counts[oldest]:
                del self._counts[oldest]
        return len(self._counts) if len(self._last) == self.size else None

    @property
    def so_far(self) -> tuple[int, int]:
        """(different morphs, morphs) in the window."""
        return len(self._counts), len(self._last)


class Richness(CorpusMetric):
    """Shares and variety of colours, adjectives and modifiers, and the moving-average type-token ratio."""

    name = "richness"
    label = Message("표현의 풍부함", "Richness")
    rule = "caption-richness@1"
    group = "file"
    score_names = NAMES
    reads = "okt-tagged"
    is_resampled = False

    def parameters(self) -> dict[str, Any]:
        return {"window": WINDOW, "order": "id", "lemmas": LEMMA_RULE}

    def statistics(
        self,
        ids: Sequence[str],
        references: Sequence[Sequence[str]],
        candidates: Sequence[str],
        progress: PairProgress | None = None,
        *,
        tokenize: Tokenize | None = None,
    ) -> list[Row]:
        """For each item (new, all) of colours, adjectives and modifiers, its morphs, and the sums of its windows."""
        read, window = self.reader(tokenize), MovingWindow(WINDOW)
        seen: list[set[Any]] = [set(), set(), set()]
        rows: list[Row] = [()] * len(ids)
        by_id = sorted(range(len(ids)), key=ids.__getitem__)
        is_full = False
        for done, place in enumerate(by_id, start=1):
            marked = morphs_of(read(candidates[place]))
            morphs = [morph for morph in marked if morph.pos != PUNCTUATION]
            words: list[Sequence[Any]] = [colours_of(morphs), adjectives_of(morphs), modifiers_of(marked)]
            numbers: list[int] = []
            for known, found in zip(seen, words, strict=True):
                before = len(known)
                known.update(found)
                numbers += [len(known) - before, len(found)]
            windows = [types for morph in morphs if (types := window.types_after(morph.surface)) is not None]
            is_full = is_full or bool(windows)
            in_windows = (sum(windows), WINDOW * len(windows))
            if done == len(ids) and not is_full:
                in_windows = window.so_far
            rows[place] = (*numbers, len(morphs), *in_windows)
            if progress is not None:
                progress(done, len(ids))
        return rows

    @classmethod
    def scores(cls, sums: Sequence[Figure]) -> dict[str, Figure]:
        """The scores of the summed rows of one whole file."""
        *counts, morphs, types, in_windows = sums
        shares: list[Figure] = []
        for new, found in zip(counts[::2], counts[1::2], strict=True):
            shares += [ratio(found, morphs), ratio(new, found)]
        return dict(zip(NAMES, (*shares, ratio(types, in_windows)), strict=True))
