"""The packages that the contest's own code calls, called in the same way, to compare our values with.

bert-score and bleurt-pytorch read the model's folder themselves, with their own tokenizers, batches and forward passes;
rouge-metric counts morphs of mecab-ko. Each loads once and scores aligned texts in the order given.
"""

from __future__ import annotations

import contextlib
import io
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any, ClassVar, Final, Protocol

from scoring.models.loading import quiet_transformers
from scoring.models.precision import exact_inference

BATCH: Final = 64  # as usual with both packages
ROUGE_WORDS: Final = 1_000
ROUGE_REMOVED: Final = re.compile("[^A-Za-z0-9가-힣]")


class Package(Protocol):
    """One package with its model loaded."""

    distribution: ClassVar[str]

    def score(self, references: Sequence[str], candidates: Sequence[str]) -> list[float]:
        """One value for each aligned pair."""


class BertScorePackage:
    """``bert_score.BERTScorer``: F1 without idf and without rescaling."""

    distribution: ClassVar[str] = "bert-score"

    def __init__(self, folder: Path, num_layers: int, device: str = "cpu") -> None:
        import bert_score

        with _quietly():
            self._scorer = bert_score.BERTScorer(model_type=str(folder), num_layers=num_layers, device=device)

    def score(self, references: Sequence[str], candidates: Sequence[str]) -> list[float]:
        with _quietly(), exact_inference():
            f1 = self._scorer.score(list(candidates), list(references), batch_size=BATCH)[2]
        return [float(value) for value in f1]


class BleurtPackage:
    """The loop of bleurt-pytorch's README in batches, with the truncation that the contest needs."""

    distribution: ClassVar[str] = "bleurt-pytorch"

    def __init__(self, folder: Path, max_length: int, device: str = "cpu") -> None:
        from bleurt_pytorch import BleurtForSequenceClassification, BleurtTokenizer

        self._max_length, self._device = max_length, device
        with _quietly():
            self._tokenizer = BleurtTokenizer.from_pretrained(folder)
            self._model = BleurtForSequenceClassification.from_pretrained(folder).to(device).eval()

    def score(self, references: Sequence[str], candidates: Sequence[str]) -> list[float]:
        values: list[float] = []
        with _quietly(), exact_inference():
            for start in range(0, len(references), BATCH):
                part = slice(start, start + BATCH)
                values += self._model(**self.inputs(references[part], candidates[part])).logits.flatten().tolist()
        return values

    def inputs(self, references: Sequence[str], candidates: Sequence[str]) -> Any:
        """One padded batch."""
        encoded = self._tokenizer(
            list(references),
            list(candidates),
            padding="longest",
            truncation=True,
            max_length=self._max_length,
            return_tensors="pt",
        )
        return encoded.to(self._device)


class RougePackage:
    """ROUGE-1 F by rouge-metric, pair by pair, on the morphs of the first words of the cleaned texts."""

    distribution: ClassVar[str] = "rouge-metric"

    def __init__(self) -> None:
        import mecab
        from rouge_metric import PyRouge

        self._analyser = mecab.MeCab()
        self._rouge = PyRouge(rouge_n=(1,), rouge_l=False)

    def score(self, references: Sequence[str], candidates: Sequence[str]) -> list[float]:
        return [self._f(*map(self._morphs, pair)) for pair in zip(references, candidates, strict=True)]

    def _f(self, reference: list[str], candidate: list[str]) -> float:
        return float(self._rouge.evaluate_tokenized([[candidate]], [[[reference]]])["rouge-1"]["f"])

    def _morphs(self, text: str) -> list[str]:
        words = " ".join(text.split()[:ROUGE_WORDS])
        return list(self._analyser.morphs(ROUGE_REMOVED.sub(" ", words.lower()).strip()))


def name_and_version(package: type[Package]) -> str:
    """The name and version of the package for a table."""
    return f"{package.distribution} {version(package.distribution)}"


@contextmanager
def _quietly() -> Iterator[None]:
    """Suppress their warnings of the unused pooler and of every pair that is cut."""
    with contextlib.redirect_stderr(io.StringIO()), quiet_transformers():
        yield
