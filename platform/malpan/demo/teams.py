"""The teams of the demo and their uploads, read from the TOML files beside this module."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from datetime import time, timedelta
from pathlib import Path
from typing import Any, Final

from malpan.demo.habits import CAPTIONS, CaptionHabit, DemoTeam, Habit, Packing, Prose, Upload

HERE: Final = Path(__file__).parent


def _read(name: str) -> dict[str, Any]:
    return tomllib.loads((HERE / name).read_text(encoding="utf-8"))


def _team(row: Mapping[str, Any]) -> DemoTeam:
    uploads = tuple(_upload(dict(upload)) for upload in row["uploads"])
    return DemoTeam(row["key"], row["name"], tuple(row["people"]), uploads, row.get("is_baseline", False))


def _upload(row: dict[str, Any]) -> Upload:
    """An upload to a track or, without one, of captions. The remaining keys are the habit."""
    track, name, memo = row.pop("track", CAPTIONS), row.pop("file"), row.pop("memo", "")
    clock = time.fromisoformat(row.pop("at"))
    after = timedelta(days=row.pop("day"), hours=clock.hour, minutes=clock.minute)  # a phase begins at midnight
    packing = Packing(row.pop("packing", Packing.JSON))
    return Upload(track, _habit(row, track), name, after, memo, packing)


def _habit(row: Mapping[str, Any], track: str) -> Habit | CaptionHabit:
    if track == CAPTIONS:
        shares = {name: value for name, value in row.items() if name != "says"}
        return CaptionHabit(**shares, constant=SAYINGS[row["says"]] if "says" in row else "")
    return Habit(**{**row, "prose": Prose(row.get("prose", Prose.PARAPHRASE))})


_QUESTIONS: Final = _read("teams.toml")["teams"]
_CAPTIONS: Final = _read("caption_teams.toml")
SAYINGS: Final[Mapping[str, str]] = _CAPTIONS["sayings"]

TEAMS: Final = tuple(_team(row) for row in _QUESTIONS)
PAST_TEAMS: Final = tuple(_team(row) for row in _QUESTIONS if row.get("was_in_past"))
CAPTION_TEAMS: Final = tuple(_team(row) for row in _CAPTIONS["teams"])
