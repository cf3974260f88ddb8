"""The teams of the demo and their uploads, read from the TOML files beside this module."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from datetime import time, timedelta
from pathlib import Path
from typing import Any, Final

from malpan.demo.habits import (
    CAPTIONS,
    ESSAYS,
    CaptionHabit,
    DemoTeam,
    EssayHabit,
    Frame,
    Grain,
    Habit,
    Packing,
    Prose,
    Rationale,
    Upload,
)

HERE: Final = Path(__file__).parent


def _read(name: str) -> dict[str, Any]:
    return tomllib.loads((HERE / name).read_text(encoding="utf-8"))


def _team(row: Mapping[str, Any], track: str = "") -> DemoTeam:
    """A team, all of whose uploads go to ``track`` unless they name theirs."""
    uploads = tuple(_upload({"track": track, **upload}) for upload in row["uploads"])
    return DemoTeam(row["key"], row["name"], tuple(row["people"]), uploads, row.get("is_baseline", False))


def _upload(row: dict[str, Any]) -> Upload:
    """An upload. The keys beside track, file, moment, memo and packing are the habit."""
    track, name, memo = row.pop("track"), row.pop("file"), row.pop("memo", "")
    clock = time.fromisoformat(row.pop("at"))
    after = timedelta(days=row.pop("day"), hours=clock.hour, minutes=clock.minute)  # a phase begins at midnight
    packing = Packing(row.pop("packing", Packing.JSON))
    return Upload(track, _habit(row, track), name, after, memo, packing)


def _habit(row: Mapping[str, Any], track: str) -> Habit | CaptionHabit | EssayHabit:
    if track == CAPTIONS:
        shares = {name: value for name, value in row.items() if name != "says"}
        return CaptionHabit(**shares, constant=SAYINGS[row["says"]] if "says" in row else "")
    if track == ESSAYS:
        chosen: dict[str, Any] = {name: kind(row[name]) for name, kind in _CHOICES.items() if name in row}
        return EssayHabit(**{**row, **chosen})
    return Habit(**{**row, "prose": Prose(row.get("prose", Prose.PARAPHRASE))})


_CHOICES: Final = {"grain": Grain, "rationale": Rationale, "frame": Frame}
_QUESTIONS: Final = _read("teams.toml")["teams"]
_CAPTIONS: Final = _read("caption_teams.toml")
SAYINGS: Final[Mapping[str, str]] = _CAPTIONS["sayings"]

TEAMS: Final = tuple(_team(row) for row in _QUESTIONS)
PAST_TEAMS: Final = tuple(_team(row) for row in _QUESTIONS if row.get("was_in_past"))
CAPTION_TEAMS: Final = tuple(_team(row, CAPTIONS) for row in _CAPTIONS["teams"])
ESSAY_TEAMS: Final = tuple(_team(row, ESSAYS) for row in _read("essay_teams.toml")["teams"])
