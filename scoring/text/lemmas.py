"""Morphs with part of speech and lemma, for metrics that ignore inflection (파란, 파랗고: 파랗다).

Lemmas are Open Korean Text's, through konlpy (``scoring.text.okt``). It tags some inflected verbs and adjectives of
everyday captions as nouns (푸른, 타고) and gives a few the lemma of another word (추운: 추다). Those among the common
forms of 190 verbs and adjectives are corrected here, by surface. The table is part of the rule: when it changes, so
does ``RULE``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from scoring.text.okt import Tagged

RULE: Final = "okt-lemmas@1"
JOSA: Final = "Josa"


class Morph(NamedTuple):
    """One morph as in the text, its part of speech by Okt, and its dictionary form."""

    surface: str
    pos: str
    lemma: str


# By lemma, its forms to which Okt gives another lemma or none. Without forms that are also other words in captions
# (가게, 사고, 판다).
_MISTAKEN: Final[Mapping[str, str]] = {
    "가다": "간다",
    "걷다": "걸어 걸었다 걸으며 걸으면서 걸은",
    "걸어다니다": "걸어다니고 걸어다니며 걸어다니면서 걸어다니게",
    "고요하다": "고요한",
    "길다": "긴 길면서",
    "껴안다": "껴안고 껴안으며 껴안으면서 껴안아 껴안았다 껴안는 껴안는다 껴안은",
    "내리다": "내려",
    "놀다": "논다",
    "눕다": "누운 누우",
    "달리다": "달리 달려 달린다",
    "마시다": "마시고 마시며 마시면서 마신다 마신",
    "맑다": "맑은",
    "모이다": "모이",
    "물들다": "물든",
    "밀다": "밀고 미는",
    "보다": "보고",
    "보이다": "보이",
    "부르다": "불러",
    "불다": "분다",
    "빠르다": "빨라 빨랐다",
    "서다": "서고",
    "쉬다": "쉬",
    "쓰다": "써 썼다 쓴다 쓴",
    "썰다": "썰며 써는 썬다 썬",
    "안다": "안고",
    "어둡다": "두운 두우 어두우",
    "움직이다": "움직",
    "이어지다": "이어진",
    "자다": "자고",
    "자라다": "자랐다",
    "작다": "작고",
    "잡다": "잡고",
    "줍다": "주운 주우면서 주우",
    "지다": "지고",
    "채우다": "채운",
    "춥다": "춥고 춥게 추운 추우며 추우면서",
    "크다": "크게",
    "타다": "타고",
    "파랗다": "파란",
    "팔다": "팔고 팔았다",
    "푸르다": "푸른 푸르렀다",
    "피다": "피고",
}
LEMMA_OF: Final[Mapping[str, str]] = MappingProxyType(
    {form: lemma for lemma, forms in _MISTAKEN.items() for form in forms.split()}
)


def morphs_of(tagged: Iterable[Tagged]) -> tuple[Morph, ...]:
    """The morphs of a text that Okt tagged, as many and in that order, with corrected lemmas."""
    return tuple([Morph(surface, pos, LEMMA_OF.get(surface, lemma)) for surface, pos, lemma in tagged])


def without_josa(morphs: tuple[Morph, ...]) -> tuple[Morph, ...]:
    """``morphs`` without the particles (이, 가, 을, 에서 …)."""
    return tuple(morph for morph in morphs if morph.pos != JOSA)
