"""Korean captions with several references, made up in the test: the same in every run."""

import random
from typing import NamedTuple


def pool(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(","))


PLACES = pool(
    "푸른 바다 위로, 눈 덮인 산 아래에서, 좁은 골목길을 따라, 비 내리는 거리에서, 넓은 들판 한가운데, 강가 나무 옆에서"
)
ADJECTIVES = pool("하얀, 커다란, 작은, 붉은, 노란, 낡은, 젊은, 어두운, 밝은, 긴, 따뜻한, 조용한, 울창한, 파란")
NOUNS = pool(
    "파도, 구름, 사람들, 아이, 강아지, 고양이, 자전거, 버스, 건물, 다리, 나무, 꽃, 새, 배, 기차, 여자, 남자, 노을"
)
HELD = pool("우산을, 가방을, 모자를, 꽃다발을, 사진기를, 공을, 풍선을, 책을, 손을")
ADVERBS = pool("천천히, 빠르게, 나란히, 조용히, 한가롭게, 힘차게, 멀리, 함께")
DOING = pool("바라보며, 기다리며, 가로질러, 향해, 앞질러, 둘러싸고, 피해, 뒤쫓으며")
WITH_HELD = pool("들고, 흔들면서, 안은 채, 잡고, 놓고")
ENDINGS = pool("걸어간다, 지나간다, 서 있다, 부서진다, 날아간다, 뛰어논다, 쉬고 있다, 흘러간다, 달리고 있다")


class Item(NamedTuple):
    references: tuple[str, ...]
    candidate: str


def with_particle(noun: str, closed: str, opened: str) -> str:
    """``noun`` with the particle that follows a final consonant, or the one that follows a vowel."""
    return noun + (closed if (ord(noun[-1]) - ord("가")) % 28 else opened)


def caption(source: random.Random) -> str:
    """One scene in about 12 words."""
    pick = source.choice
    subject = with_particle(pick(NOUNS), *pick((("이", "가"), ("은", "는"))))
    words = [pick(PLACES), pick(ADJECTIVES), subject, pick(ADJECTIVES), with_particle(pick(NOUNS), "을", "를")]
    words += [pick(DOING), pick(HELD), pick(WITH_HELD), pick(ADVERBS), pick(ENDINGS)]
    return " ".join(words)


def changed(source: random.Random, text: str) -> str:
    """``text`` told by somebody else: a third of the words replaced, dropped or moved."""
    others = caption(source).split()
    words = [source.choice(others) if source.random() < 0.25 else word for word in text.split()]
    words = [word for word in words if source.random() > 0.08]
    if source.random() < 0.3:
        source.shuffle(words)
    return " ".join(words) or text


def caption_items(count: int, seed: int = 20261121, edges: bool = True) -> list[Item]:
    """Items of one to three references. With ``edges`` some candidates are empty, one word, copied, or of elsewhere."""
    source = random.Random(seed)
    items = []
    for _ in range(count):
        scene = caption(source)
        references = (scene, *(changed(source, scene) for _ in range(source.randint(0, 2))))
        luck = source.random() if edges else 1.0
        if luck < 0.05:
            candidate = source.choice(["", "파도", "은 는 이 가", "😀 🌊"])
        elif luck < 0.15:
            candidate = source.choice(references)
        elif luck < 0.3:
            candidate = caption(source)
        else:
            candidate = changed(source, source.choice(references))
        items.append(Item(references, candidate))
    return items


LONG = "파도가 하얀 바다 위로 부서진다 " * 1_000
"""A caption of 5,000 words and more morphs."""

STRANGE = ("", "가", "은 는 이 가 을 를", "😀😀 👨‍👩‍👧 🌊", LONG)
"""Captions that must not break a metric: empty, one token, only particles, only emoji, 5,000 words."""


class BySpace:
    """A metric that is given the words between spaces for tokens, so that a test can say them."""

    def __init__(self, metric):
        self.aggregate = metric.aggregate
        self._metric = metric

    def score_pairs(self, *args):
        return self._metric.score_pairs(*args, tokenize=str.split)

    def statistics(self, *args):
        return self._metric.statistics(*args, tokenize=lambda text: tuple(text.split()))


def metric_rows(metric, references, candidates):
    """The statistics of a corpus metric, with ids made up."""
    return metric.statistics([str(number) for number in range(len(candidates))], references, candidates)
