"""Reference captions and honest, simple and dishonest answers to them: made in memory, the same in every run."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence

from scoring.records import Item, Items

PEOPLE = [
    "남자가", "여자가", "아이가", "노인이", "학생이", "선수가", "요리사가",
    "관광객이", "농부가", "어부가", "가수가", "경찰관이",
]  # fmt: skip
PLACES = [
    "공원에서", "거리에서", "부엌에서", "바닷가에서", "운동장에서", "시장에서",
    "교실에서", "산길에서", "강가에서", "무대에서", "역에서",
]  # fmt: skip
THINGS = [
    "공을", "책을", "그림을", "자전거를", "꽃을", "음식을", "사진을",
    "그물을", "노래를", "짐을", "악기를", "우산을", "신문을",
]  # fmt: skip
ACTS = ["들고", "보고", "옮기고", "닦고", "고치고", "나르고", "바라보고", "펼치고", "만들고", "건네고"]
LOOKS = ["빨간", "파란", "커다란", "낡은", "새로운", "작은", "하얀", "화려한", "무거운", "오래된"]
MANNERS = ["천천히", "조심스럽게", "즐겁게", "바쁘게", "조용히", "힘차게", "열심히", "혼자", "함께"]


def scenes(count: int, seed: int = 20261121) -> list[dict[str, str]]:
    """What is to be seen in each item."""
    source = random.Random(seed)
    lists = {"who": PEOPLE, "where": PLACES, "what": THINGS, "act": ACTS, "look": LOOKS, "how": MANNERS}
    return [{name: source.choice(words) for name, words in lists.items()} for _ in range(count)]


def captions(shown: Sequence[dict[str, str]], frame: str) -> list[str]:
    """The scenes told after ``frame``."""
    return [frame.format(**scene) for scene in shown]


REFERENCE = "{who} {where} {look} {what} {how} {act} 있다."
HONEST_FRAMES = {
    "who, what and act": "{who} {what} {act} 있다.",
    "who, where and act": "{who} {where} {act} 있다.",
    "who, where and what": "{where} {who} {what} {act} 있는 모습",
    "without manner": "{who} {where} {look} {what} {act} 있다.",
    "without place": "{who} {look} {what} {how} {act} 있다.",
    "other order": "{where} {look} {what} {how} {act} 있는 {who}",
    "plain what": "{look} {what} {how} {act} 있음",
    "a frame before": "영상에는 {who} {where} {what} {act} 있는 장면이 나온다.",
    "two sentences": "{who} {where} 있다. {look} {what} {act} 있다.",
    "just like the reference": REFERENCE,
}


def answers(texts: Sequence[str]) -> Items:
    """A file of ``texts``, with the ids 0, 1, …"""
    rows = tuple(Item(str(number), text, number + 1) for number, text in enumerate(texts))
    return Items(rows, "json-array", "0" * 64)


def several(*columns: Sequence[str]) -> Items:
    """References with a text of every column to an item."""
    rows = tuple(
        Item(str(number), texts[0], number + 1, others=tuple(texts[1:]))
        for number, texts in enumerate(zip(*columns, strict=True))
    )
    return Items(rows, "json-array", "0" * 64)


def stuffed(references: Items, words: int = 30) -> str:
    """One caption of the commonest words of the references, for every item."""
    counted = Counter(word for answer in references.items for text in answer.texts for word in text.split())
    return " ".join(word for word, _ in counted.most_common(words))
