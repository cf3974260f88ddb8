"""What organisers upload beside references: questions, people's scores of items, synonyms, and scores of a stage.

``read`` reads one as a site would, and ``outcome_of`` looks at what comes of it.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from django.utils import translation
from hypothesis import strategies as st

from malpan.core.messages import text_of
from malpan.stages.errors import TableInvalid, TableUnreadable
from malpan.stages.tables import PROBLEMS_MAX, Participant, decoded, read_table
from scoring.agreement.human import read_human
from scoring.errors import InvalidFile
from scoring.judging.parsing import HIGHEST, LOWEST
from scoring.matching.synonyms import COLUMNS, PARTS_OF_SPEECH, InvalidSynonyms, Synonyms, parse_synonyms
from scoring.reading.questions import read_questions
from scoring.records import Items
from tests.fuzz.files import arranged, loose_bytes
from tests.fuzz.mutations import Draw, broken_bytes, number, pick, texts
from tests.fuzz.verdicts import check_errors, line_count

IDS: Final = ("q1", "q2", "7", "글 4")
TEAMS: Final = (Participant(1, '"가나다"'), Participant(2, "=합계, 팀"), Participant(3, "12"))
SCALE: Final = (0.0, 100.0)
MANY: Final = 20_000  # lines of a long table

Table = list[list[str]]
REFUSALS: Final = (InvalidFile, InvalidSynonyms, TableInvalid, TableUnreadable)


@dataclass(frozen=True)
class OrganiserFile:
    """A file and the name of its reader."""

    data: bytes
    reader: str

    def __str__(self) -> str:
        return self.reader


def _read_stage(data: bytes) -> dict[int, float]:
    return read_table(decoded(data), TEAMS, SCALE)


READERS: Final[dict[str, Callable[[bytes], Any]]] = {
    "questions": read_questions,
    "scores": lambda data: read_human(data, IDS),
    "synonyms": lambda data: parse_synonyms(data, "s.tsv"),
    "stages": _read_stage,
}


# --- JSON: questions, people's scores --------------------------------------------------------------------------------
_ASKED: Final[tuple[Any, ...]] = (
    {"question_type": "선택형", "question": "알맞은 것은?", "choices": ["가", "나"]},
    {"conversation": [{"speaker": "갑", "utterance": "안녕?"}, {"speaker": "을", "utterance": "응."}]},
    *("무엇이 옳은가?", ["가", "나"], 3, {"a": {"b": [1, None, True]}}),
)
_SCORES: Final = (1, 5, 3, 2.5, 4.0, 1.0)


@st.composite
def _questions(draw: Draw) -> bytes:
    answered = {"output": pick(draw, ("답", {"answer": "답"}, None))} if draw(st.booleans()) else {}
    return arranged(draw, [{"id": item_id, "input": pick(draw, _ASKED)} | answered for item_id in IDS])


@st.composite
def _scores(draw: Draw) -> bytes:
    """Of some of the items; one in sixteen is the agreement that was computed of them."""
    rows = [{"id": item_id, "score": pick(draw, _SCORES), "rater": "갑"} for item_id in IDS[number(draw, 0, 2) :]]
    rows[0]["id"] = pick(draw, (rows[0]["id"], 7)) if len(rows) == 2 else rows[0]["id"]  # an id may be a number
    return arranged(draw, [{"human_sha256": "0" * 64}] if number(draw, 0, 15) == 0 else rows)


# --- tables: synonyms, scores of a stage -----------------------------------------------------------------------------
_WORDS: Final = ("바다", "해변", "사람", "Sea", "걷다", "달리다", "푸르다", "e\u0301", "가#나", "ｗｉｄｅ")
_ENDS: Final = ("\n", "\n", "\r\n")
_HEADINGS: Final[tuple[tuple[str, ...], ...]] = (
    *(("팀 번호", "점수"), ("팀", "점수"), ("Number", "Team", "Score"), ("점수", "비고", "팀", "번호")),
    (),  # none
)


@st.composite
def _synonyms(draw: Draw) -> bytes:
    """Groups of two or three words, with or without the line of headings and a remark."""
    table: Table = [[*COLUMNS]] if draw(st.booleans()) else []
    for group in range(number(draw, 1, 4)):
        first = number(draw, 0, 9)
        words = [_WORDS[(first + place) % len(_WORDS)] for place in range(number(draw, 2, 3))]
        table += [[f"g{group}", word, pick(draw, PARTS_OF_SPEECH), pick(draw, ("", "사전"))] for word in words]
    if draw(st.booleans()):
        table.insert(number(draw, 0, len(table)), ["# 묶음"])
    how = _how(draw)
    if how == "long":
        table += [[("g", "g0")[line % 2], f"낱말{line}", "noun", ""] for line in range(MANY)]
    text = pick(draw, _ENDS).join("\t".join(cells) for cells in _changed(draw, table, how))
    return _as_bytes(draw, text, how, pick(draw, ("utf-8", "utf-8", "utf-8-sig")))


@st.composite
def _stages(draw: Draw) -> bytes:
    """As a spreadsheet writes it: parted by tabs, commas or semicolons, in any order of teams, columns by a heading."""
    headings, delimiter = pick(draw, _HEADINGS), pick(draw, "\t,;")
    start = number(draw, 0, 2)
    teams = [*TEAMS[start:], *TEAMS[:start]]
    names = headings or pick(draw, (("팀", "점수"), ("번호", "팀", "점수")))
    table = [[_cell(draw, name, team) for name in names] for team in teams]
    how = _how(draw)
    if how == "long":
        table += [[*table[line % len(teams)][:-1], str(line)] for line in range(MANY)]
    changed = _changed(draw, [[*headings], *table] if headings else table, how)
    text = _as_spreadsheets_write(changed, delimiter, pick(draw, _ENDS))
    return _as_bytes(draw, text, how, pick(draw, ("utf-8", "utf-8-sig", "cp949", "utf-16")))


def _cell(draw: Draw, heading: str, team: Participant) -> str:
    if heading in ("점수", "Score"):
        return pick(draw, ("0", "100", "87.5", "90.25", "+3", "９０", " 5 ", "1.", ".5"))
    if heading in ("팀", "Team"):
        return pick(draw, (team.name, team.name, f" {team.name} "))
    return pick(draw, (str(team.number), f"#{team.number}")) if heading != "비고" else "좋음"


def _as_spreadsheets_write(table: Table, delimiter: str, end: str) -> str:
    target = io.StringIO()
    csv.writer(target, delimiter=delimiter, lineterminator=end).writerows(table)
    return target.getvalue()


def _how(draw: Draw) -> str:
    """What is done to a table, one in four nothing."""
    return pick(draw, ("sound",) * 30 + ("cells",) * 45 + ("bytes",) * 30 + ("both",) * 14 + ("long",))


def _changed(draw: Draw, table: Table, how: str) -> Table:
    """``table`` with some cells changed, or lines dropped, doubled, moved or empty."""
    if how not in ("cells", "both"):
        return table
    for _ in range(number(draw, 1, 3)):
        at = number(draw, 0, len(table) - 1)
        cells, change = table[at], pick(draw, ("text",) * 4 + ("other", "drop", "double", "cut", "more", "empty"))
        place = number(draw, 0, len(cells) - 1) if cells else 0
        if change == "text" and cells:
            table[at] = [*cells[:place], draw(texts()), *cells[place + 1 :]]
        elif change == "other" and cells:  # of another line
            there = pick(draw, table)
            table[at] = [*cells[:place], *there[place : place + 1], *cells[place + 1 :]]
        elif change == "drop" and len(table) > 1:
            del table[at]
        elif change == "double":
            table.insert(number(draw, 0, len(table)), [*cells])
        elif change in ("cut", "more"):
            table[at] = cells[:-1] if change == "cut" else [*cells, draw(texts())]
        else:
            table.insert(at, [])
    return table


def _as_bytes(draw: Draw, text: str, how: str, encoding: str) -> bytes:
    data = text.encode(encoding, "replace")
    return broken_bytes(draw, data) if how in ("bytes", "both") else data


_MADE: Final = {"questions": _questions(), "scores": _scores(), "synonyms": _synonyms(), "stages": _stages()}


@st.composite
def organiser_files(draw: Draw, reader: str) -> OrganiserFile:
    """Files for ``reader``, one in nine of which is no such file at all."""
    return OrganiserFile(draw(_MADE[reader] if number(draw, 0, 8) else loose_bytes()), reader)


# --- what comes of it ------------------------------------------------------------------------------------------------
def read(file: OrganiserFile) -> Any:
    """What the reader makes of ``file``, or its refusal."""
    try:
        return READERS[file.reader](file.data)
    except REFUSALS as refusal:
        return refusal


def outcome_of(file: OrganiserFile, found: Any) -> str:
    """A word for what was ``found``. Raises ``AssertionError`` for what must not be."""
    again = read(file)
    if isinstance(found, REFUSALS):
        assert type(again) is type(found)
        if isinstance(found, InvalidFile):
            check_errors(file.data, found, again)
        else:
            assert _said(found, file.data) == _said(again, file.data), "refused otherwise the second time"
        return f"rejected: {type(found).__name__}"
    assert found == again, "read differently the second time"
    _check(found)
    return "accepted"


def _said(refusal: InvalidSynonyms | TableInvalid | TableUnreadable, data: bytes) -> list[str]:
    """What a refusal says in both languages, which can be shown; its lines are those of the file."""
    said = []
    problems = refusal.problems[:PROBLEMS_MAX] if isinstance(refusal, TableInvalid) else ()
    lines = [refusal.params["line"]] if isinstance(refusal, InvalidSynonyms) else [each.line for each in problems]
    assert all(line is None or 1 <= line <= line_count(data) for line in lines), lines
    for language in ("ko", "en"):
        with translation.override(language):
            message = refusal.message(language) if isinstance(refusal, InvalidSynonyms) else text_of(refusal)
            said += [message, *(f"{each.line}: {each.text} {each.value}" for each in problems)]
    assert all(text.strip() and text.encode() for text in said)
    assert max(map(len, said)) < 4_000
    return said


def _check(found: Any) -> None:
    """What was accepted is whole."""
    if isinstance(found, Items):
        assert len(found.by_id()) == len(found.items)
        assert all(item.text.strip() and item.text.encode() for item in found.items)
    elif isinstance(found, Synonyms):
        assert all(groups and max(groups) < found.count for groups in found.groups.values())
    elif all(isinstance(key, str) for key in found):
        assert found.keys() <= {*IDS}
        assert all(LOWEST <= score <= HIGHEST for score in found.values())
    else:
        assert found.keys() == {team.number for team in TEAMS}
        assert all(SCALE[0] <= score <= SCALE[1] for score in found.values())
