"""The votes file: all that people said in a campaign, without anything that names a judge.

One JSON document in canonical form (sorted keys, no white space, UTF-8, whole numbers as integers), so that equal votes
are equal bytes. The names of its parts are those of the records in ``scoring.arena.vote_records``. By protocol, the
``value`` of a vote is:

* pairwise: ``{"choice": "first" | "second" | "tie" | "both_bad", "reasons": [...]}`` of the outputs as shown;
* rubric: ``{"scores": {criterion: number}}``;
* ranking: ``{"ranks": [1, 2, 2, 4]}`` in the order shown, 1 is best, equal ranks allowed;
* errors: ``{"score": 0-100, "spans": [{"output", "start", "end", "severity", "category"}]}``.

Votes that are excluded or show a system that does not count stay in the file and are not counted. ``design``, where it
is given, is what the queues of the opening can be drawn again from (``scoring.arena.redrawing``).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from scoring.arena.vote_checks import FORMAT, check_document
from scoring.arena.vote_defects import Defect, VotesInvalid
from scoring.arena.vote_records import (
    CHOICES,
    KINDS,
    PROTOCOLS,
    SEVERITIES,
    ArenaItem,
    Criterion,
    DrawnDesign,
    Exclusion,
    Judge,
    Kind,
    Protocol,
    System,
    Vote,
    Votes,
    VoteSettings,
)
from scoring.signature import canonical_json

__all__ = [
    "CHOICES",
    "FORMAT",
    "KINDS",
    "PROTOCOLS",
    "SEVERITIES",
    "ArenaItem",
    "Criterion",
    "Defect",
    "DrawnDesign",
    "Exclusion",
    "Judge",
    "Kind",
    "Protocol",
    "System",
    "Vote",
    "VoteSettings",
    "Votes",
    "VotesInvalid",
    "read_votes",
    "votes_bytes",
    "votes_document",
]

_LARGEST_WHOLE: Final = 2**53


def read_votes(data: bytes) -> Votes:
    """The votes in a votes file. Raises ``VotesInvalid`` with every defect and its place."""
    try:
        raw = json.loads(data.decode("utf-8-sig"))
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise VotesInvalid([Defect("$", "not_json", {"detail": _where(error)})]) from error
    check_document(raw)
    return _votes(_whole(raw))


def _where(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"line {error.lineno}, column {error.colno}"
    return "UTF-8" if isinstance(error, UnicodeDecodeError) else "nesting"


def _votes(raw: Mapping[str, Any]) -> Votes:
    return Votes(
        campaign=raw["campaign"],
        protocol=raw["protocol"],
        systems=tuple(System(**row) for row in raw["systems"]),
        items=tuple(ArenaItem(**row) for row in raw["items"]),
        judges=tuple(Judge(**row) for row in raw["judges"]),
        votes=tuple(Vote(**{**row, "systems": tuple(row["systems"])}) for row in raw["votes"]),
        criteria=tuple(Criterion(**row) for row in raw["criteria"]),
        exclusions=tuple(Exclusion(**row) for row in raw["exclusions"]),
        settings=VoteSettings(**raw["settings"]),
        design=DrawnDesign(**raw["design"]) if "design" in raw else None,
    )


def votes_document(votes: Votes) -> dict[str, Any]:
    """The content of the votes file, as JSON values."""
    document: dict[str, Any] = _whole(
        {
            "format": FORMAT,
            "campaign": dict(votes.campaign),
            "protocol": votes.protocol,
            "criteria": [_row(one, "key", "low", "high", "weight") for one in votes.criteria],
            "settings": _row(votes.settings, "resamples", "seed", "level"),
            "systems": [_system(one) for one in votes.systems],
            "items": [_row(one, "label", "stratum") for one in votes.items],
            "judges": [_row(one, "label", "institution_group") for one in votes.judges],
            "votes": [_row(one, *_OF_VOTE) for one in votes.votes],
            "exclusions": [_exclusion(one) for one in votes.exclusions],
            **({"design": _row(votes.design, *_OF_DESIGN)} if votes.design else {}),
        }
    )
    return document


_OF_DESIGN: Final = tuple(DrawnDesign.__slots__)
_OF_VOTE: Final = ("number", "judge", "item", "kind", "systems", "bad", "repeats", "seconds", "value")


def votes_bytes(votes: Votes) -> bytes:
    """The votes file: canonical JSON, equal for equal votes."""
    return canonical_json(votes_document(votes))


def _row(record: object, *names: str) -> dict[str, Any]:
    return {name: getattr(record, name) for name in names}


def _system(system: System) -> dict[str, Any]:
    row = _row(system, "label", "name", "team_number", "counts")
    return row if system.counts else {**row, "reason": system.reason}


def _exclusion(one: Exclusion) -> dict[str, Any]:
    named = {"judge": one.judge} if one.vote is None else {"vote": one.vote}
    return {**named, "reason": one.reason}


def _whole(value: Any) -> Any:
    """``value`` as JSON values, with whole numbers as integers."""
    if isinstance(value, float):
        return int(value) if value.is_integer() and abs(value) <= _LARGEST_WHOLE else value
    if value is None or isinstance(value, (str, int)):
        return value
    if isinstance(value, Mapping):
        return {key: _whole(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_whole(each) for each in value]
    return value
