"""Groups of words that METEOR's synonym stage treats as equal, from a TSV table.

    group<TAB>word<TAB>pos<TAB>source

One row for each word; a header line, empty lines and lines beginning with ``#`` are allowed. ``group`` is any name;
rows of one group need not be adjacent. A word may be in several groups: it is then a synonym of the words of each of
them, but words of different groups do not become synonyms. Words are compared in NFC and lower case, as METEOR compares
tokens. A word is one morph as the analyser gives it, or the lemma of one, so it contains no white space. ``pos`` and
``source`` are for the reader.

The built-in table (``synonyms.tsv`` beside this module) was written for Malpan: words that replace each other in a
caption of a picture, without broader or narrower terms.
"""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from scoring.errors import Message, ScoringError, WordedError, quoted

BUILT_IN: Final = Path(__file__).resolve().parent / "synonyms.tsv"
COLUMNS: Final = ("group", "word", "pos", "source")
PARTS_OF_SPEECH: Final = ("noun", "verb", "adjective", "adverb", "other")


class InvalidSynonyms(WordedError, ScoringError):
    """The table of synonyms has a defect; ``where`` is its path, ``line`` is 1-based."""

    code = "invalid_synonyms"
    words = Message(
        "유의어 표가 잘못되었습니다: {where} {line}번째 줄 — {what_ko}. 파일을 고친 뒤 다시 실행하십시오.",
        "The table of synonyms is not valid: line {line} of {where} - {what_en}. Mend the file and run again.",
    )


class SynonymsUnreadable(WordedError, ScoringError):
    """The table cannot be opened."""

    code = "synonyms_unreadable"
    words = Message(
        "유의어 표를 읽을 수 없습니다: {where}. 경로와 읽기 권한을 확인하십시오.",
        "The table of synonyms cannot be read: {where}. Check the path and the permission to read it.",
    )


@dataclass(frozen=True, slots=True)
class Synonyms:
    """``groups`` by word (NFC, lower case): the numbers of the groups it is in. ``sha256`` is of the file's bytes."""

    groups: Mapping[str, tuple[int, ...]]
    count: int
    sha256: str

    def of(self, word: str) -> tuple[int, ...]:
        """The groups of ``word``, none if it is in none. ``word`` is NFC and in lower case."""
        return self.groups.get(word, ())

    def signature(self) -> dict[str, Any]:
        return {"sha256": self.sha256, "groups": self.count, "words": len(self.groups)}


class _Row(NamedTuple):
    line: int
    group: str
    word: str


def load_synonyms(path: Path | None = None) -> Synonyms:
    """The table at ``path``, or the built-in one. Raises ``SynonymsUnreadable`` and ``InvalidSynonyms``."""
    return _built_in() if path is None else _load(path)


@lru_cache(maxsize=1)
def _built_in() -> Synonyms:
    return _load(BUILT_IN)


def _load(path: Path) -> Synonyms:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise SynonymsUnreadable(where=str(path)) from error
    return parse_synonyms(content, str(path))


def parse_synonyms(content: bytes, where: str = "") -> Synonyms:
    """The table in ``content``, UTF-8. ``where`` names it in errors. Raises ``InvalidSynonyms``."""
    words_of: dict[str, dict[str, int]] = {}  # the words of each group, with their lines
    for row in _rows(_decoded(content, where), where):
        words = words_of.setdefault(row.group, {})
        if row.word in words:
            what_ko = f"'{quoted(row.word)}'이(가) 같은 묶음에 이미 있습니다 ({words[row.word]}번째 줄)"
            what_en = f"'{quoted(row.word)}' is in this group already (line {words[row.word]})"
            raise _invalid(where, row.line, what_ko, what_en)
        words[row.word] = row.line
    groups: dict[str, tuple[int, ...]] = {}
    for number, (group, words) in enumerate(words_of.items()):
        if len(words) < 2:
            what_ko = f"묶음 '{quoted(group)}'에 낱말이 하나뿐입니다"
            raise _invalid(where, min(words.values()), what_ko, f"group '{quoted(group)}' has only one word")
        for word in words:
            groups[word] = (*groups.get(word, ()), number)
    return Synonyms(MappingProxyType(groups), len(words_of), hashlib.sha256(content).hexdigest())


def _decoded(content: bytes, where: str) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise _invalid(where, line, "UTF-8이 아닙니다", "it is not UTF-8") from error


def _rows(text: str, where: str) -> Iterator[_Row]:
    # Split at line feeds only: str.splitlines() would also break at characters that editors do not count as lines.
    is_first = True
    for line, content in enumerate(text.split("\n"), start=1):
        content = content.removesuffix("\r")
        if not content.strip() or content.startswith("#"):
            continue
        cells = tuple(unicodedata.normalize("NFC", cell).strip() for cell in content.split("\t"))
        if is_first and cells == COLUMNS:
            is_first = False
            continue
        is_first = False
        yield _row(line, cells, where)


def _row(line: int, cells: tuple[str, ...], where: str) -> _Row:
    if len(cells) != len(COLUMNS):
        what_ko = f"탭으로 나뉜 칸이 {len(COLUMNS)}개(group, word, pos, source)여야 하는데 {len(cells)}개입니다"
        what_en = (
            f"{len(COLUMNS)} columns set apart by tabs are needed (group, word, pos, source), there are {len(cells)}"
        )
        raise _invalid(where, line, what_ko, what_en)
    group, word, pos, _ = cells
    if not group or not word:
        raise _invalid(where, line, "group 또는 word 칸이 비어 있습니다", "the group or the word is empty")
    if any(not character.isprintable() or character.isspace() for character in word):
        what_ko = f"낱말 '{quoted(word)}'에 공백이나 보이지 않는 문자가 있습니다"
        raise _invalid(where, line, what_ko, f"the word '{quoted(word)}' contains white space or an unseen character")
    if pos not in PARTS_OF_SPEECH:
        known = ", ".join(PARTS_OF_SPEECH)
        what_ko = f"pos '{quoted(pos)}'은(는) {known} 가운데 하나여야 합니다"
        raise _invalid(where, line, what_ko, f"pos '{quoted(pos)}' must be one of {known}")
    return _Row(line, group, word.lower())


def _invalid(where: str, line: int, what_ko: str, what_en: str) -> InvalidSynonyms:
    return InvalidSynonyms(where=where, line=line, what_ko=what_ko, what_en=what_en)
