"""What the neural benchmarks score: submissions like the contest's, and models of real sizes with random weights.

A submission is pairs of reasons as long as the contest's: about 135 tokens a pair, the longest about 350, so uneven
that 58 % of a rectangle of 64 neighbours is padding. The texts are written here: words of real rules of spelling in
ever new order.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from pathlib import Path

from tests.scoring.tiny_models import SENTENCES, make_bert, make_sentencepiece_bleurt, write_profile

MEAN_CHARACTERS, LONGEST_CHARACTERS, SPREAD = 47, 124, 0.52  # of one reason without spaces
LAYER = 9  # of BERTScore, as in the contest


@dataclass(frozen=True)
class Submission:
    """Aligned texts: ``candidates[i]`` answers ``references[i]``."""

    references: list[str]
    candidates: list[str]

    @property
    def pairs(self) -> list[tuple[str, str]]:
        return list(zip(self.references, self.candidates, strict=True))


@dataclass(frozen=True)
class Shape:
    """A transformer's size: layers, width, heads, and the width of its embeddings where that is another."""

    layers: int
    width: int
    heads: int
    embedding: int | None = None

    def __str__(self) -> str:
        return f"{self.layers} x {self.width}"


BERT_BASE = Shape(12, 768, 12)
BLEURT_D12 = Shape(12, 768, 12, 128)
BLEURT_20 = Shape(32, 1152, 18, 256)
TINY = Shape(2, 64, 4, 32)


def submissions(items: int, count: int = 2, seed: int = 1) -> list[Submission]:
    """``count`` submissions to the same ``items`` references."""
    rng = random.Random(seed)
    references = [reason(rng) for _ in range(items)]
    return [Submission(references, [answer(rng, text) for text in references]) for _ in range(count)]


def reason(rng: random.Random) -> str:
    """A reason of the contest's length: words of real rules in ever new order, log-normally long."""
    wanted = min(LONGEST_CHARACTERS, max(12, int(MEAN_CHARACTERS * rng.lognormvariate(-0.09, SPREAD))))
    return text_of(rng, wanted)


def text_of(rng: random.Random, characters: int) -> str:
    """Words of at least so many characters without spaces."""
    words = [word for sentence in SENTENCES[:-1] for word in sentence.split()]
    chosen: list[str] = []
    while sum(map(len, chosen)) < characters:
        chosen.append(rng.choice(words))
    return " ".join(chosen) + "."


def answer(rng: random.Random, reference: str) -> str:
    """A candidate: about two thirds of the reference's words, the others replaced, dropped or doubled."""
    others = reason(rng).split()
    words: list[str] = []
    for word in reference.split():
        luck = rng.random()
        if luck < 0.68:
            words.append(word)
        elif luck < 0.92:
            words.append(rng.choice(others))
        elif luck < 0.96:
            words += [word, rng.choice(others)]
    return " ".join(words) or reference


def make_models(folder: Path, bert: Shape | None = None, bleurt: Shape | None = None) -> Path:
    """The models asked for, and the profile that names them."""
    bert_folder = bleurt_folder = None
    if bert is not None:
        bert_folder = make_bert(folder / "bert", layers=bert.layers, hidden=bert.width)
    if bleurt is not None:
        bleurt_folder = make_sentencepiece_bleurt(
            folder / "bleurt",
            layers=bleurt.layers,
            hidden=bleurt.width,
            pieces="char",
            num_attention_heads=bleurt.heads,
            embedding_size=bleurt.embedding,
        )
    layer = min(LAYER, bert.layers) if bert is not None else LAYER
    return write_profile(folder / "bench.toml", bertscore=bert_folder, num_layers=layer, bleurt=bleurt_folder)
