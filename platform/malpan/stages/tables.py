"""A table of scores as organisers paste or upload it: read with located errors, and compared with another version.

A line is a team and its score, parted by tabs, commas or semicolons. With a line of headings the columns may be in any
order (``팀 번호``, ``팀``, ``점수``; others are passed over); without one they are team and score, or number, team and
score. A team is named by its number or by its name; where both are given they must agree.
"""

from __future__ import annotations

import csv
import io
import math
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from malpan.core.text import one_line, without_unseen
from malpan.stages.errors import Problem, TableInvalid, TableUnreadable
from scoring.errors import quoted

CHARS_MAX: Final = 500_000
PROBLEMS_MAX: Final = 100  # shown; a table of another kind has one in each line
HEADINGS: Final = {
    "number": ("팀 번호", "팀번호", "번호", "team_number", "team number", "number", "no"),
    "team": ("팀", "팀 이름", "팀이름", "팀명", "team", "team name", "name"),
    "score": ("점수", "score", "평점", "총점"),
}
_NUMBER: Final = re.compile(r"[+-]?(\d{1,15}(\.\d{0,15})?|\.\d{1,15})")
_FORMULA_MARK: Final = "'"  # before a name that a spreadsheet would run; ``csv_export`` writes it


@dataclass(frozen=True, slots=True)
class Participant:
    """A team that takes part in a stage."""

    number: int
    name: str


@dataclass(frozen=True, slots=True)
class Difference:
    """A team in two versions of a table; a score is ``None`` where the version does not have the team."""

    number: int
    name: str
    before: float | None
    after: float | None

    @property
    def is_changed(self) -> bool:
        return self.before != self.after


def decoded(data: bytes) -> str:
    """The text of a file as spreadsheets save it. Raises ``TableUnreadable``."""
    is_wide = data.startswith((b"\xff\xfe", b"\xfe\xff"))
    for encoding in ("utf-16",) if is_wide else ("utf-8-sig", "cp949"):
        try:
            return data.decode(encoding)
        except UnicodeDecodeError:
            continue
    raise TableUnreadable(limit=f"{CHARS_MAX:,}")


def read_table(text: str, participants: Sequence[Participant], scale: tuple[float, float]) -> dict[int, float]:
    """The score of every team, by its number. Raises ``TableUnreadable`` and ``TableInvalid`` with every problem."""
    if len(text) > CHARS_MAX:
        raise TableUnreadable(limit=f"{CHARS_MAX:,}")
    try:
        lines = _lines(text)
    except csv.Error:
        raise TableInvalid([Problem("quotes")]) from None
    if not lines:
        raise TableInvalid([Problem("empty")])
    columns = _columns(lines[0][1])
    if columns is None:
        raise TableInvalid([Problem("headings", lines[0][0], _shown(" ".join(lines[0][1])))])
    body = lines[1:] if columns.has_heading else lines
    return _Reading(participants, scale, columns).read(body)


def differences(before: Mapping[int, float], after: Mapping[int, float], names: Mapping[int, str]) -> list[Difference]:
    """Every team of either version, by number."""
    numbers = sorted({*before, *after})
    return [Difference(each, names.get(each, ""), before.get(each), after.get(each)) for each in numbers]


def template(participants: Iterable[Participant], scores: Mapping[int, float], headings: Sequence[str]) -> str:
    """The table to fill in, parted by tabs: ``headings``, then each team with its score, if there is one."""
    written = io.StringIO()
    writer = csv.writer(written, delimiter="\t", lineterminator="\n")
    writer.writerow(headings)
    for each in participants:
        score = scores.get(each.number)
        writer.writerow([each.number, each.name, "" if score is None else plain_number(score)])
    return written.getvalue()


def plain_number(value: float) -> str:
    """``87.5``, ``88``: the shortest form that reads back as the same number, without an exponent."""
    text = repr(value)
    if "e" in text:
        text = f"{value:.15f}".rstrip("0")
    return text.removesuffix(".0").removesuffix(".")


@dataclass(frozen=True, slots=True)
class _Columns:
    """Where the cells are; with ``has_heading`` the first line says so. ``number`` or ``team`` may be absent."""

    number: int | None
    team: int | None
    score: int
    has_heading: bool


class _Reading:
    """One reading of a table: the teams it may name, what was found, what is wrong."""

    def __init__(self, participants: Sequence[Participant], scale: tuple[float, float], columns: _Columns) -> None:
        self.by_number = {each.number: each for each in participants}
        self.by_name = {_name_key(each.name): each for each in participants}
        self.scale = scale
        self.columns = columns
        self.scores: dict[int, float] = {}
        self.first_line: dict[int, int] = {}
        self.problems: list[Problem] = []

    def read(self, lines: Iterable[tuple[int, list[str]]]) -> dict[int, float]:
        for number, cells in lines:
            self._read_line(number, cells)
        missing = [each for number, each in sorted(self.by_number.items()) if number not in self.first_line]
        self.problems += [Problem("team_missing", None, f"{each.number} {each.name}") for each in missing]
        if self.problems:
            raise TableInvalid(self.problems)
        return self.scores

    def _read_line(self, line: int, cells: list[str]) -> None:
        width = max(
            index for index in (self.columns.number, self.columns.team, self.columns.score) if index is not None
        )
        if len(cells) <= width:
            self.problems.append(_too_few(line, " ".join(cells)))
            return
        team = self._team(line, cells)
        score = self._score(line, cells[self.columns.score])
        if team is None:
            return
        if team.number in self.first_line:
            params = (("first", self.first_line[team.number]),)
            self.problems.append(Problem("team_twice", line, _shown(team.name), params))
            return
        self.first_line[team.number] = line
        if score is not None:
            self.scores[team.number] = score

    def _team(self, line: int, cells: list[str]) -> Participant | None:
        name = "" if self.columns.team is None else _cell(cells[self.columns.team])
        if self.columns.number is not None:
            number = _cell(cells[self.columns.number])
            found = self._numbered(number)
            if found is not None and name and self._named(name) != found:
                self.problems.append(Problem("team_mismatch", line, _shown(f"{number} {name}")))
                return None
        else:
            number = name
            found, other = self._named(name), self._numbered(name)
            if found is not None and other is not None and found != other:
                self.problems.append(Problem("team_ambiguous", line, _shown(name)))
                return None
            found = found or other
        if found is None:
            self.problems.append(
                Problem("team_unknown" if number or name else "team_empty", line, _shown(number or name))
            )
        return found

    def _numbered(self, cell: str) -> Participant | None:
        digits = unicodedata.normalize("NFKC", cell).removeprefix("#")
        return self.by_number.get(int(digits)) if digits.isdecimal() and len(digits) < 10 else None

    def _named(self, cell: str) -> Participant | None:
        unmarked = cell.removeprefix(_FORMULA_MARK)
        return self.by_name.get(_name_key(cell)) or self.by_name.get(_name_key(unmarked))

    def _score(self, line: int, cell: str) -> float | None:
        written = unicodedata.normalize("NFKC", _cell(cell)).replace("\u2212", "-")
        if not written:
            self.problems.append(Problem("score_empty", line))
            return None
        if not _NUMBER.fullmatch(written):
            self.problems.append(Problem("score_not_number", line, _shown(cell)))
            return None
        value, (low, high) = float(written) + 0.0, self.scale
        if not (math.isfinite(value) and low <= value <= high):
            params = (("low", plain_number(low)), ("high", plain_number(high)))
            self.problems.append(Problem("score_out_of_scale", line, _shown(cell), params))
            return None
        return value


def _lines(text: str) -> list[tuple[int, list[str]]]:
    """The lines that are not empty, with their numbers from 1. Raises ``csv.Error``."""
    plain = text.replace("\r\n", "\n").replace("\r", "\n").removeprefix("\ufeff")
    first = next((line for line in plain.split("\n") if line.strip()), "")
    delimiter = next((mark for mark in "\t,;" if mark in first), ",")
    reader = csv.reader(io.StringIO(plain), delimiter=delimiter, strict=True)
    found, start = [], 1
    for cells in reader:
        if any(_cell(cell) for cell in cells):
            found.append((start, cells))
        start = reader.line_num + 1
    return found


def _columns(cells: Sequence[str]) -> _Columns | None:
    """The columns that the first line names, or those of a table without headings; ``None`` for wrong headings."""
    named = [_heading(cell) for cell in cells]
    if not any(named):
        wide = len([cell for cell in cells if _cell(cell)]) > 2
        return _Columns(0, 1, 2, has_heading=False) if wide else _Columns(None, 0, 1, has_heading=False)
    twice = any(named.count(each) > 1 for each in HEADINGS)
    if twice or "score" not in named or not {"number", "team"} & set(named):
        return None
    place = {each: named.index(each) for each in HEADINGS if each in named}
    return _Columns(place.get("number"), place.get("team"), place["score"], has_heading=True)


def _too_few(line: int, text: str) -> Problem:
    """What is wrong with a line that has too few cells: it may be a team and a score with a space between them."""
    team, _space, score = _cell(text).rpartition(" ")
    if team and _NUMBER.fullmatch(score):
        return Problem("separator", line, _shown(text), (("example", _shown(f"{team}, {score}")),))
    return Problem("columns", line, _shown(text))


def _heading(cell: str) -> str:
    written = _cell(cell).casefold()
    return next((column for column, words in HEADINGS.items() if written in words), "")


def _cell(text: str) -> str:
    return without_unseen(one_line(text))


def _name_key(name: str) -> str:
    return _cell(name).casefold()


def _shown(text: str) -> str:
    """What the table has, short enough to show."""
    return quoted(_cell(text))
