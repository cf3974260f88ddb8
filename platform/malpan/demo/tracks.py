"""The three kinds of track in the demo: questions with answers, scenes with captions, and essays with scores."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from malpan.demo import captions, documents, essays
from malpan.demo.answers import answer_file
from malpan.demo.captions import Scene
from malpan.demo.content import Item
from malpan.demo.essay_answers import essay_file
from malpan.demo.essays import Essay
from malpan.demo.habits import DemoTeam, Upload


@dataclass(frozen=True, slots=True)
class PublicFile:
    """A file for download. ``kind`` is a value of ``DataFile.Kind``."""

    kind: Literal["data", "sample", "document"]
    title_ko: str
    title_en: str
    file_name: str
    data: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class TrackSpec(ABC):
    """A track: its names, how it is scored and shown, and its files."""

    slug: str
    recipe: str
    title_ko: str
    title_en: str
    description_ko: str
    description_en: str
    score_scale: int = 100
    score_decimals: int = 7
    has_published_targets: bool = False

    @abstractmethod
    def references(self) -> bytes:
        """The reference file: only for ``publish_reference_version``."""

    @abstractmethod
    def public_files(self) -> tuple[PublicFile, ...]:
        """The files that participants download. None contains a reference answer."""

    @abstractmethod
    def upload_bytes(self, team: DemoTeam, upload: Upload) -> bytes:
        """The file that ``team`` uploads to this track."""

    def _files(self, *data: PublicFile, sample: bytes, ending: str = "json") -> tuple[PublicFile, ...]:
        stem = documents.file_stem(self.slug)
        return (
            *data,
            PublicFile("sample", "제출 예시", "Sample submission", f"{stem}_sample.{ending}", sample),
            PublicFile(
                "document",
                "제출 형식 안내",
                "Notes on the format",
                f"{stem}_README.md",
                documents.readme_file(self.slug),
            ),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionTrack(TrackSpec):
    """Questions in the official format."""

    items: Callable[[], Sequence[Item]]

    def references(self) -> bytes:
        return documents.references_file(self.items())

    def public_files(self) -> tuple[PublicFile, ...]:
        items, stem = self.items(), documents.file_stem(self.slug)
        questions = documents.questions_file(items)
        return self._files(
            PublicFile("data", "문항", "Questions", f"{stem}_questions.json", questions),
            sample=documents.sample_file(items),
        )

    def upload_bytes(self, team: DemoTeam, upload: Upload) -> bytes:
        return answer_file(team, upload, self.items())


@dataclass(frozen=True, slots=True, kw_only=True)
class CaptionTrack(TrackSpec):
    """Scenes to describe."""

    scenes: Callable[[], Sequence[Scene]]

    def references(self) -> bytes:
        return captions.references_file(self.scenes())

    def public_files(self) -> tuple[PublicFile, ...]:
        scenes, stem = self.scenes(), documents.file_stem(self.slug)
        cards = captions.cards_file(scenes)
        return self._files(
            PublicFile("data", "장면 설명 카드", "Scene cards", f"{stem}_cards.json", cards),
            sample=captions.sample_file(scenes),
        )

    def upload_bytes(self, team: DemoTeam, upload: Upload) -> bytes:
        return captions.caption_file(team, upload, self.scenes())


@dataclass(frozen=True, slots=True, kw_only=True)
class EssayTrack(TrackSpec):
    """Essays to score: ``published`` ones are handed out with their scores, ``essays`` without."""

    essays: Callable[[], Sequence[Essay]]
    published: Callable[[], Sequence[Essay]]

    def references(self) -> bytes:
        return essays.scored_file(self.essays())

    def public_files(self) -> tuple[PublicFile, ...]:
        items, stem = self.essays(), documents.file_stem(self.slug)
        scored = essays.scored_file(self.published())
        return self._files(
            PublicFile("data", "채점할 글", "Essays to score", f"{stem}_test.jsonl", essays.essays_file(items)),
            PublicFile("data", "점수가 있는 글", "Essays with scores", f"{stem}_train.jsonl", scored),
            sample=essays.sample_file(items),
            ending="jsonl",
        )

    def upload_bytes(self, team: DemoTeam, upload: Upload) -> bytes:
        return essay_file(team, upload, self.essays())
