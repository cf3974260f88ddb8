"""Whether a JSON document is a sound votes file: every defect with its place, before anything is read from it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from scoring.arena.vote_defects import Defects, shown
from scoring.arena.vote_records import CHOICES, HIGHEST_SCORE, KINDS, PROTOCOLS, SEVERITIES

Check = Callable[[Any, str], object]

FORMAT: Final = "malpan-votes@1"
SYSTEMS_OF: Final = {"pairwise": 2, "rubric": 1, "errors": 1}  # outputs in a unit; a ranking has two or more
_FEWEST_RESAMPLES: Final = 10
_MOST_RESAMPLES: Final = 100_000
_LEVELS: Final = (0.001, 0.5)
_LARGEST: Final = 2**53
_MOST_JUDGES: Final = 10_000  # that queues are drawn for again
_TYPES: Final[dict[type, str]] = {
    dict: "object",
    list: "list",
    str: "string",
    bool: "boolean",
    int: "integer",
    float: "number",
}
_PARTS: Final = (
    *("format", "campaign", "protocol", "criteria", "settings"),
    *("systems", "items", "judges", "votes", "exclusions"),
)


@dataclass(slots=True)
class Checker:
    """Checks one document. The labels seen so far are what later parts may name."""

    defects: Defects = field(default_factory=Defects)
    protocol: str = ""
    criteria: dict[str, tuple[float, float]] = field(default_factory=dict)
    systems: set[str] = field(default_factory=set)
    items: set[str] = field(default_factory=set)
    judges: set[str] = field(default_factory=set)
    votes: dict[int, Mapping[str, Any] | None] = field(default_factory=dict)  # None: one with a defect

    def document(self, raw: Any) -> None:
        """Check the whole document. Raises ``VotesInvalid`` with every defect."""
        if self.typed(raw, "$", dict):
            self.fields(raw, "", {**dict.fromkeys(_PARTS), **self.head()}, {"design": None})
            self.protocol = str(raw.get("protocol"))
            self.table(raw, "criteria", self.criterion)
            self.table(raw, "systems", self.system, least=1)
            self.table(raw, "items", self.labelled(self.items, {"stratum": self.text}))
            self.table(raw, "judges", self.labelled(self.judges, {"institution_group": self.text}))
            self.table(raw, "votes", self.vote)
            self.table(raw, "exclusions", self.exclusion)
            if "design" in raw:
                self.design(raw["design"], "design")
        self.defects.raise_any()

    def typed(self, value: Any, place: str, kind: type) -> bool:
        """Whether ``value`` is a ``kind``; a whole number is a number, and true is none."""
        wanted = (int, float) if kind is float else kind
        sound = isinstance(value, wanted) and (kind is bool or not isinstance(value, bool))
        if sound and kind in (int, float):
            sound = math.isfinite(value) and abs(value) <= _LARGEST
        if not sound:
            self.defects.note(place, "wrong_type", expected=_TYPES[kind], found=shown(value))
        return sound

    def fields(
        self, value: Any, place: str, required: Mapping[str, Check | None], optional: Mapping[str, Check | None]
    ) -> bool:
        """Whether ``value`` is an object with the names ``required``, no others than these and ``optional``, and sound
        values; a name without a check is checked elsewhere.
        """
        if not self.typed(value, place, dict):
            return False
        before = self.defects.total
        for name in required:
            if name not in value:
                self.defects.note(_join(place, name), "missing")
        for name, content in value.items():
            if name not in required and name not in optional:
                self.defects.note(_join(place, shown(name)), "unknown_key")
            elif check := required.get(name) or optional.get(name):
                check(content, _join(place, name))
        return self.defects.total == before

    def table(self, raw: Mapping[str, Any], name: str, check: Check, least: int = 0) -> None:
        rows = raw.get(name, [])
        if self.typed(rows, name, list):
            if len(rows) < least:
                self.defects.note(name, "nothing")
            for index, row in enumerate(rows):
                check(row, f"{name}[{index}]")

    # values

    def text(self, value: Any, place: str) -> bool:
        return self.typed(value, place, str)

    def number(self, value: Any, place: str) -> bool:
        return self.typed(value, place, float)

    def flag(self, value: Any, place: str) -> bool:
        return self.typed(value, place, bool)

    def within(self, low: float, high: float, kind: type = float) -> Check:
        def check(value: Any, place: str) -> bool:
            if not self.typed(value, place, kind):
                return False
            if not low <= value <= high:
                self.defects.note(place, "out_of_range", low=low, high=high, found=value)
            return bool(low <= value <= high)

        return check

    def or_null(self, check: Check) -> Check:
        return lambda value, place: value is None or check(value, place)

    def one_of(self, known: tuple[str, ...]) -> Check:
        def check(value: Any, place: str) -> bool:
            if value not in known:
                self.defects.note(place, "not_one_of", known=", ".join(known), found=shown(value))
            return value in known

        return check

    def known(self, labels: set[str]) -> Check:
        def check(value: Any, place: str) -> bool:
            if not self.typed(value, place, str):
                return False
            if value not in labels:
                self.defects.note(place, "unknown_label", found=shown(value))
            return value in labels

        return check

    def list_of(self, check: Check, count: int | None = None) -> Check:
        def whole(value: Any, place: str) -> bool:
            if not self.typed(value, place, list):
                return False
            if count is not None and len(value) != count:
                self.defects.note(place, "wrong_count", expected=count, found=len(value))
            found = [check(each, f"{place}[{index}]") for index, each in enumerate(value)]
            return False not in found

        return whole

    def new(self, value: Any, place: str, seen: set[str]) -> None:
        if value in seen:
            self.defects.note(place, "duplicate", found=shown(value))
        seen.add(value)

    # parts of the document

    def head(self) -> dict[str, Check | None]:
        """The checks of all that is no table."""
        settings = {
            "resamples": self.within(_FEWEST_RESAMPLES, _MOST_RESAMPLES, int),
            "seed": self.text,
            "level": self.within(*_LEVELS),
        }
        return {
            "format": self.one_of((FORMAT,)),
            "protocol": self.one_of(PROTOCOLS),
            "campaign": lambda value, place: self.typed(value, place, dict),
            "settings": lambda value, place: self.fields(value, place, settings, {}),
        }

    def labelled(self, seen: set[str], others: Mapping[str, Check | None]) -> Check:
        def check(row: Any, place: str) -> None:
            if self.fields(row, place, {"label": self.text, **others}, {}):
                self.new(row["label"], f"{place}.label", seen)

        return check

    def system(self, row: Any, place: str) -> None:
        team = self.or_null(self.within(0, _LARGEST, int))
        required = {"label": self.text, "name": self.text, "team_number": team, "counts": self.flag}
        if self.fields(row, place, required, {"reason": self.text}):
            self.new(row["label"], f"{place}.label", self.systems)

    def design(self, value: Any, place: str) -> None:
        required: dict[str, Check | None] = {
            **dict.fromkeys(("group", "units_per_item", "judges_per_unit"), self.within(1, _LARGEST, int)),
            **dict.fromkeys(("control_share", "repeat_share"), self.within(0, 1)),
            "judges": self.within(1, _MOST_JUDGES, int),
            "sha256": self.text,
        }
        self.fields(value, place, required, {})

    def criterion(self, row: Any, place: str) -> None:
        required = {"key": self.text, "low": self.number, "high": self.number, "weight": self.within(0, _LARGEST)}
        if self.fields(row, place, required, {}):
            if row["key"] in self.criteria:
                self.defects.note(f"{place}.key", "duplicate", found=shown(row["key"]))
            if row["low"] >= row["high"]:
                self.defects.note(f"{place}.high", "out_of_range", low=row["low"], high="∞", found=row["high"])
            self.criteria[row["key"]] = (row["low"], row["high"])

    def vote(self, row: Any, place: str) -> None:
        required = {
            "number": self.within(1, _LARGEST, int),
            "judge": self.known(self.judges),
            "item": self.known(self.items),
            "kind": self.one_of(KINDS),
            "systems": self.list_of(self.known(self.systems), SYSTEMS_OF.get(self.protocol)),
            "bad": None,
            "repeats": None,
            "seconds": self.or_null(self.within(0, _LARGEST)),
            "value": None,
        }
        before = self.defects.total
        if self.fields(row, place, required, {}):
            self.said(row, place)
        number = row.get("number") if isinstance(row, dict) else None
        if isinstance(number, int):
            self.votes.setdefault(number, row if self.defects.total == before else None)

    def said(self, row: Mapping[str, Any], place: str) -> None:
        """Check what a vote of the right form says, against its protocol and the earlier votes."""
        if row["number"] in self.votes:
            self.defects.note(f"{place}.number", "duplicate", found=row["number"])
        shown_systems = row["systems"]
        if len(set(shown_systems)) < max(len(shown_systems), 2 if self.protocol == "ranking" else 1):
            self.defects.note(f"{place}.systems", "duplicate", found=shown(", ".join(shown_systems)))
        self.control(row, place)
        self.repeat(row, place)
        self.value(row["value"], f"{place}.value", len(shown_systems))

    def control(self, row: Mapping[str, Any], place: str) -> None:
        bad = row["bad"]
        if (bad is not None) != (row["kind"] == "control"):
            self.defects.note(f"{place}.bad", "bad_only_of_controls")
        elif bad is not None:
            self.within(0, len(row["systems"]) - 1, int)(bad, f"{place}.bad")

    def repeat(self, row: Mapping[str, Any], place: str) -> None:
        number = row["repeats"]
        if (number is not None) != (row["kind"] == "repeat"):
            self.defects.note(f"{place}.repeats", "repeats_only_of_repeats")
        elif number is not None and not self.is_earlier(number, row):
            self.defects.note(f"{place}.repeats", "repeats_other", found=shown(number))

    def is_earlier(self, number: Any, row: Mapping[str, Any]) -> bool:
        """Whether ``number`` is an earlier vote on the unit of ``row``; one with a defect of its own may be."""
        if not isinstance(number, int) or number not in self.votes:
            return False
        first = self.votes[number]
        return first is None or _unit(first) == _unit(row)

    def value(self, value: Any, place: str, outputs: int) -> None:
        """What was said, by the protocol."""
        if self.protocol == "pairwise":
            self.fields(value, place, {"choice": self.one_of(CHOICES)}, {"reasons": self.list_of(self.text)})
        elif self.protocol == "rubric":
            self.fields(value, place, {"scores": self.scores}, {})
        elif self.protocol == "ranking":
            self.fields(value, place, {"ranks": self.list_of(self.within(1, outputs, int), outputs)}, {})
        elif self.protocol == "errors":
            score = self.within(0, HIGHEST_SCORE)
            self.fields(value, place, {"score": score}, {"spans": self.list_of(self.span)})

    def scores(self, value: Any, place: str) -> None:
        self.fields(value, place, {key: self.within(*ends) for key, ends in self.criteria.items()}, {})

    def span(self, value: Any, place: str) -> None:
        where = {name: self.within(0, _LARGEST, int) for name in ("output", "start", "end")}
        required = {**where, "severity": self.one_of(SEVERITIES), "category": self.text}
        if self.fields(value, place, required, {}) and value["end"] <= value["start"]:
            self.defects.note(f"{place}.end", "out_of_range", low=value["start"] + 1, high="∞", found=value["end"])

    def exclusion(self, row: Any, place: str) -> None:
        def known_vote(number: Any, at: str) -> None:
            if not isinstance(number, int) or number not in self.votes:
                self.defects.note(at, "unknown_label", found=shown(number))

        named = {"judge": self.known(self.judges), "vote": known_vote}
        if self.fields(row, place, {"reason": self.text}, named) and ("judge" in row) == ("vote" in row):
            self.defects.note(place, "one_of_two")


def check_document(raw: Any) -> None:
    """Raise ``VotesInvalid`` with every defect of ``raw``, the content of a votes file."""
    Checker().document(raw)


def _join(place: str, name: str) -> str:
    return f"{place}.{name}" if place else name


def _unit(vote: Mapping[str, Any]) -> tuple[Any, ...]:
    return vote["judge"], vote["item"], sorted(vote["systems"])
