"""Tells everything that is wrong with a contest's file before anything is done: what the command sees of it, and what
the site would refuse.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from malpan_client.contest_file import Fault
from malpan_client.failing import WRONG_INPUT, Failure
from malpan_client.places import Place
from malpan_client.site import Site
from malpan_client.words import say

NAME = re.compile(r"[-a-zA-Z0-9_]{1,50}")  # what addresses have


@dataclass(frozen=True)
class Asked:
    """What an operation would be sent: ``track`` and ``phase`` are those that it makes or changes."""

    operation: str
    track: str = ""
    phase: str = ""
    values: Mapping[str, Any] = field(default_factory=dict)

    @property
    def place(self) -> str:
        return "/".join(filter(None, (self.track, self.phase)))

    def as_json(self) -> dict[str, Any]:
        places = {"track": self.track, "phase": self.phase}
        named = {name: value for name, value in places.items() if value}
        return {"operation": self.operation, **named, "values": dict(self.values)}


def rehearse(site: Site, place: Place, asked: Sequence[Asked], faults: Sequence[Fault]) -> None:
    """Raises ``Failure`` with ``faults`` and everything that the site would refuse; nothing is changed."""
    errors = [*faults, *_refusals(site, place, asked)]
    if errors:
        problem = {"errors": [asdict(each) for each in errors], "total": len(errors)}
        raise Failure(
            WRONG_INPUT, say("would_be_refused", count=len(errors)), hint=say("nothing_begun"), problem=problem
        )


def _refusals(site: Site, place: Place, asked: Sequence[Asked]) -> Iterator[Fault]:
    """A competition whose name no address can have is tried under another one, which nobody has."""
    if not asked:
        return
    there = place if NAME.fullmatch(place.competition) else Place(f"rehearsal-{secrets.token_hex(8)}")
    answer = site.change("POST", there.manage("rehearsal/"), {"steps": [each.as_json() for each in asked]})
    for refusal in answer["refusals"]:
        yield from _faults_of(asked[refusal["step"]].place or place.competition, refusal["problem"])


def _faults_of(place: str, problem: Mapping[str, Any]) -> Iterator[Fault]:
    """The single values that are wrong, or what is wrong with the whole."""
    found = [each for each in problem.get("errors", []) if "message" in each]
    for each in found:
        name = str(each.get("field", ""))
        yield Fault(place, "" if name == "body" else name.replace("body.", "", 1), each["message"])
    if not found:
        yield Fault(place, "", str(problem["detail"]))
