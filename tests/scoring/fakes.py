"""Stand-ins for the neural metrics, so that the engine's own rules can be tested without models."""

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, ClassVar

from scoring.errors import Message
from scoring.metrics import PairMetric

STORE = SimpleNamespace(profile=SimpleNamespace(name="fake", is_demo=False, clip=None), computed_with=dict)
DEMO_STORE = SimpleNamespace(profile=SimpleNamespace(name="demo", is_demo=True, clip=None), computed_with=dict)


class FakeNeural(PairMetric):
    """Scores a pair by the lengths of its texts and remembers what it was asked."""

    name = "fake"
    label = Message("가짜", "Fake")
    rule = "fake@1"
    version: ClassVar[int] = 1
    asked: ClassVar[list[tuple[str, str, str]]] = []

    def __init__(self, store: Any = None, options: Any = None) -> None:
        self.store = store

    def signature(self) -> dict[str, Any]:
        return {"metric": self.name, "model": "fake", "version": self.version}

    def score_pairs(self, references: Sequence[str], candidates: Sequence[str], progress: Any = None) -> list[float]:
        FakeNeural.asked += [(self.name, *pair) for pair in zip(references, candidates, strict=True)]
        return [
            len(candidate) / (len(reference) + len(candidate))
            for reference, candidate in zip(references, candidates, strict=True)
        ]


class FakeBertScore(FakeNeural):
    name = "bertscore"
    model = "bertscore"


class FakeBleurt(FakeNeural):
    name = "bleurt"
    model = "bleurt"


class ShortBleurt(FakeBleurt):
    """Loses a value."""

    def score_pairs(self, references: Sequence[str], candidates: Sequence[str], progress: Any = None) -> list[float]:
        return super().score_pairs(references, candidates)[1:]


class NanBleurt(FakeBleurt):
    """Returns what is no number."""

    def score_pairs(self, references: Sequence[str], candidates: Sequence[str], progress: Any = None) -> list[float]:
        return [float("nan")] * len(references)


class ChattyBleurt(FakeBleurt):
    """Reports every pair, and the end twice."""

    def score_pairs(self, references: Sequence[str], candidates: Sequence[str], progress: Any = None) -> list[float]:
        for done in range(1, len(references) + 1):
            progress(done, len(references))
        progress(len(references), len(references))
        return super().score_pairs(references, candidates)


class UnloadableBleurt(FakeBleurt):
    """Must not be run."""

    def score_pairs(self, references: Sequence[str], candidates: Sequence[str], progress: Any = None) -> list[float]:
        raise AssertionError("no pair needs this metric")
