"""What others have for captions: nltk, pycocoevalcap, rouge-metric and sacrebleu on Okt morphs, as users run them.

``python -m tests.benchmarks.caption_peers REFERENCES PREDICTIONS`` is a script such a user would write: it reads both
JSON files, splits every text with konlpy's Okt and prints METEOR, CIDEr-D, BLEU-1 to BLEU-4, ROUGE-L and chrF as JSON.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import mecab
from pycocoevalcap.bleu.bleu import Bleu
from pycocoevalcap.cider.cider import Cider
from pycocoevalcap.rouge.rouge import Rouge
from rouge_metric import PyRouge
from sacrebleu.metrics import CHRF

from scoring.metrics.rouge import clean
from scoring.text.jvm import start_jvm

References = Sequence[Sequence[list[str]]]  # the morphs of each text of each item
Candidates = Sequence[list[str]]


class NoWordNet:
    """METEOR's synonym stage without a synonym: nltk wants an object to ask, and its corpus is not to be had."""

    def synsets(self, word: str) -> list[Any]:
        return []


class NoStemmer:
    """Korean morphs as they are."""

    def stem(self, word: str) -> str:
        return word


def okt_morphs() -> Callable[[str], list[str]]:
    """konlpy's own Okt."""
    start_jvm()  # konlpy alone finds no Java on a machine without one
    from konlpy.tag import Okt

    morphs: Callable[[str], list[str]] = Okt().morphs
    return lambda text: morphs(text) if text.strip() else []


def meteor(references: References, candidates: Candidates) -> list[float]:
    """nltk's METEOR of each item, best reference. The first call imports nltk: seconds, most of them for scipy."""
    from nltk.translate.meteor_score import meteor_score

    return [
        float(meteor_score(texts, tokens, stemmer=NoStemmer(), wordnet=NoWordNet()))
        for texts, tokens in zip(references, candidates, strict=True)
    ]


def cider(references: References, candidates: Candidates) -> list[float]:
    """pycocoevalcap's CIDEr-D of each item."""
    return [float(value) for value in Cider().compute_score(*_coco(references, candidates))[1]]


def bleu(references: References, candidates: Candidates) -> list[float]:
    """pycocoevalcap's corpus BLEU-1 to BLEU-4."""
    return [float(value) for value in Bleu(4).compute_score(*_coco(references, candidates), verbose=0)[0]]


def coco_rouge_l(references: References, candidates: Candidates) -> list[float]:
    """pycocoevalcap's ROUGE-L of each item, with its beta and its rule for several references."""
    return [float(value) for value in Rouge().compute_score(*_coco(references, candidates))[1]]


def rouge_n(n: int) -> Callable[[References, Candidates], list[float]]:
    """rouge-metric's ROUGE-N F of each item: the best of its references."""
    return lambda references, candidates: _best_f(n, references, candidates)


def rouge_l(references: References, candidates: Candidates) -> list[float]:
    """rouge-metric's ROUGE-L F of each item: the best of its references."""
    return _best_f("l", references, candidates)


def _best_f(kind: int | str, references: References, candidates: Candidates) -> list[float]:
    rouge = PyRouge(rouge_n=False if kind == "l" else (kind,), rouge_l=kind == "l")
    return [
        max(float(rouge.evaluate_tokenized([[tokens]], [[[text]]])[f"rouge-{kind}"]["f"]) for text in texts)
        for texts, tokens in zip(references, candidates, strict=True)
    ]


def mecab_rouge_n(n: int) -> Callable[[Sequence[str], Sequence[str]], list[float]]:
    """rouge-metric's ROUGE-N F of pairs of texts, cleaned as the contest does and split by mecab-ko."""
    morphs = mecab.MeCab().morphs

    def score(references: Sequence[str], candidates: Sequence[str]) -> list[float]:
        texts = [[morphs(clean(text))] for text in references]
        return _best_f(n, texts, [morphs(clean(text)) for text in candidates])

    return score


def chrf(references: Sequence[Sequence[str]], candidates: Sequence[str]) -> list[float]:
    """sacrebleu's corpus chrF2 of texts, 0-1."""
    most = max(map(len, references))
    columns = [[texts[n] if n < len(texts) else None for texts in references] for n in range(most)]
    return [CHRF().corpus_score(list(candidates), columns).score / 100]


def _coco(references: References, candidates: Candidates) -> tuple[dict[int, list[str]], dict[int, list[str]]]:
    truth = {number: [" ".join(tokens) for tokens in texts] for number, texts in enumerate(references)}
    return truth, {number: [" ".join(tokens)] for number, tokens in enumerate(candidates)}


def scores_of(references: Mapping[str, Sequence[str]], predictions: Mapping[str, str]) -> dict[str, float]:
    """All scores of two files' content."""
    morphs = okt_morphs()
    texts, captions = list(references.values()), [predictions[key] for key in references]
    tokens, answers = [[morphs(text) for text in item] for item in texts], [morphs(text) for text in captions]
    scores = {
        name: sum(values) / len(values)
        for name, values in (
            ("meteor", meteor(tokens, answers)),
            ("cider", cider(tokens, answers)),
            ("coco_rouge_l", coco_rouge_l(tokens, answers)),
            ("chrf", chrf(texts, captions)),
        )
    }
    return scores | {f"bleu_{n}": value for n, value in enumerate(bleu(tokens, answers), start=1)}


if __name__ == "__main__":
    files = [json.loads(Path(name).read_text(encoding="utf-8")) for name in sys.argv[1:3]]
    print(json.dumps(scores_of(*files)))
