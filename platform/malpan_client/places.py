"""Which competition, track and phase a command is about: ``COMPETITION[/TRACK[/PHASE]]``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from malpan_client.failing import NOT_FOUND, WRONG_USAGE, Failure
from malpan_client.site import Site, each_of
from malpan_client.words import say


@dataclass(frozen=True)
class Place:
    """The names of the addresses; ``track`` and ``phase`` may be empty."""

    competition: str
    track: str = ""
    phase: str = ""

    @property
    def name(self) -> str:
        return "/".join(part for part in (self.competition, self.track, self.phase) if part)

    def path(self, rest: str = "") -> str:
        """Of the competition or, where one is named, of its track."""
        track = f"tracks/{quote(self.track, safe='')}/" if self.track else ""
        return f"competitions/{quote(self.competition, safe='')}/{track}{rest}"

    def manage(self, rest: str) -> str:
        return f"competitions/{quote(self.competition, safe='')}/manage/{rest}"

    def manage_track(self, rest: str) -> str:
        return self.manage(f"tracks/{quote(self.track, safe='')}/{rest}")


def place_of(text: str) -> Place:
    """Raises ``Failure`` for what names none."""
    parts = text.strip("/").split("/")
    if len(parts) > 3 or not all(parts):
        raise Failure(WRONG_USAGE, say("no_place", text=text))
    return Place(*parts)


def submission_path(public_id: str, rest: str = "") -> str:
    return f"submissions/{quote(public_id, safe='')}/{rest}"


def with_track(site: Site, place: Place) -> Place:
    """``place`` with its track: the only one of the competition where it names none."""
    if place.track:
        return place
    names = [str(each["slug"]) for each in each_of(site.get(place.path())["tracks"])]
    if len(names) != 1:
        raise Failure(WRONG_USAGE, say("which_track", names=", ".join(names) or "–"))
    return Place(place.competition, names[0], place.phase)


def managed_phase(site: Site, place: Place) -> Any:
    """The phase as organisers see it: the only one that ``place`` may mean."""
    phases = [
        each
        for each in each_of(site.get(place.manage("phases/")))
        if place.track in ("", each["track"]) and place.phase in ("", each["slug"])
    ]
    if len(phases) == 1:
        return phases[0]
    if not phases:
        raise Failure(NOT_FOUND, say("no_phase", place=place.name))
    raise Failure(
        WRONG_USAGE, say("which_phase", names=", ".join(f"{each['track']}/{each['slug']}" for each in phases))
    )
