"""``python -m scoring panel VOTES.jsonl``: strengths of systems from the votes of people on pairs, a line each.

A line is ``{"judge", "item", "left", "right", "choice": "left" | "right" | "tie"}``; ``left`` and ``right`` name
systems, and what else is in it is not read. The result is that of ``arena`` for the same votes, by name.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from typing import Any, Final

from scoring.arena.comparable import NoResult
from scoring.arena.result import ArenaResult, compute
from scoring.arena.vote_defects import Defects, shown
from scoring.arena.vote_records import ArenaItem, Judge, System, Vote, Votes
from scoring.arena.votes import VotesInvalid
from scoring.cli.arena import shown_result
from scoring.cli.files import read_bytes, require_folder_of, write_whole
from scoring.cli.words import say
from scoring.errors import Language
from scoring.report import ReportFormat

FORMAT: Final = "malpan-panel@1"
CHOICES: Final = {"left": "first", "right": "second", "tie": "tie"}
NAMES: Final = ("judge", "item", "left", "right")
COUNTS: Final = ("votes", "wins", "ties", "losses", "points")


def panel(path: str, output: str | None, form: ReportFormat, language: Language) -> int:
    """Print the result of the votes at ``path``, and store it at ``output``, if given. Returns 0, or 1 if a line is no
    vote or the votes compare no two systems. Raises ``CannotUse``.
    """
    if output:
        require_folder_of(output)
    data = read_bytes(path)
    try:
        result = compute(votes_of(data, language))
    except (VotesInvalid, NoResult) as error:
        sys.stderr.write(say("arena_invalid", language, path=path, detail=error.message(language)) + "\n")
        return 1
    text = json.dumps(document(result), ensure_ascii=False, allow_nan=False, indent=2) + "\n"
    if output:
        write_whole(output, text)
        sys.stderr.write(say("saved", language, path=output) + "\n")
    sys.stdout.write(text if form == "json" else shown_result(result, form, language))
    return 0


def document(result: ArenaResult) -> dict[str, Any]:
    """What is stored: the systems by name, best first, in logits with mean 0; the order effect in logits as well."""
    found = result.document()
    order = found["parameters"]["order"]
    return {
        "format": FORMAT,
        "systems": {row["label"]: _system(row) for row in found["systems"]},
        "order_effect": order["value"],
        "order_effect_low": order["low"],
        "order_effect_high": order["high"],
        **{name: found[name] for name in ("level", "numbers", "agreement", "warnings", "signature", "signature_hash")},
    }


def _system(row: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "strength": row["score"],
        "low": row["low"],
        "high": row["high"],
        "rank": row["rank"],
        "rank_low": row["best_rank"],
        "rank_high": row["worst_rank"],
        **{name: row[name] for name in COUNTS},
    }


def votes_of(data: bytes, language: Language) -> Votes:
    """The votes in the lines of ``data``. Raises ``VotesInvalid``, which names every wrong line."""
    defects = Defects()
    rows = list(_rows(data, defects, language))
    defects.raise_any()
    systems = sorted({row[side] for row in rows for side in ("left", "right")})
    return Votes(
        campaign={},
        protocol="pairwise",
        systems=tuple(map(System, systems)),
        items=tuple(map(ArenaItem, sorted({row["item"] for row in rows}))),
        judges=tuple(map(Judge, sorted({row["judge"] for row in rows}))),
        votes=tuple(
            Vote(number, row["judge"], row["item"], (row["left"], row["right"]), {"choice": CHOICES[row["choice"]]})
            for number, row in enumerate(rows, start=1)
        ),
    )


def _rows(data: bytes, defects: Defects, language: Language) -> Iterator[dict[str, str]]:
    """The sound lines; numbers are names as well. Blank lines are none."""
    try:
        lines = data.decode("utf-8-sig").split("\n")
    except UnicodeDecodeError as error:
        at = data.count(b"\n", 0, error.start) + 1
        defects.note(say("panel_line", language, line=at), "panel_not_utf8")
        return
    for number, line in enumerate(lines, start=1):
        if line.strip():
            before = defects.total
            row = _row(line, number, defects, language)
            if defects.total == before:
                yield row


def _row(line: str, number: int, defects: Defects, language: Language) -> dict[str, str]:
    """The line as names and a choice; what is wrong in it is noted."""
    at = say("panel_line", language, line=number)
    try:
        raw = json.loads(line)
    except (json.JSONDecodeError, RecursionError):
        defects.note(at, "panel_not_json")
        return {}
    if not isinstance(raw, Mapping):
        defects.note(at, "wrong_type", expected="object", found=shown(raw))
        return {}
    found = {name: _name(raw, name, f"{at} {name}", defects) for name in NAMES}
    choice = raw.get("choice")
    if not isinstance(choice, str) or choice not in CHOICES:
        code = "not_one_of" if "choice" in raw else "missing"
        defects.note(f"{at} choice", code, known=", ".join(CHOICES), found=shown(choice))
    if found["left"] and found["left"] == found["right"]:
        defects.note(f"{at} right", "panel_same_system", found=shown(found["right"]))
    return found | {"choice": str(choice)}


def _name(raw: Mapping[str, Any], name: str, place: str, defects: Defects) -> str:
    value = raw.get(name)
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if name not in raw or value == "":
        defects.note(place, "missing")
    elif not isinstance(value, str):
        defects.note(place, "wrong_type", expected="string", found=shown(value))
    return value if isinstance(value, str) else ""
