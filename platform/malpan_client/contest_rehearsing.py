"""Asks the site what it would refuse of a contest, all of it at once and before anything is done."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from malpan_client.failing import WRONG_INPUT, Failure
from malpan_client.places import Place
from malpan_client.site import Site
from malpan_client.words import say


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


def rehearse(site: Site, place: Place, asked: Sequence[Asked]) -> None:
    """Raises ``Failure`` with everything that the site would refuse; nothing is changed."""
    if not asked:
        return
    answer = site.change("POST", place.manage("rehearsal/"), {"steps": [each.as_json() for each in asked]})
    errors = [
        error
        for refusal in answer["refusals"]
        for error in _errors(asked[refusal["step"]].place or place.competition, refusal["problem"])
    ]
    if errors:
        lines = [": ".join(filter(None, (each["place"], each["field"], each["message"]))) for each in errors]
        text = "\n  ".join([say("would_be_refused", count=len(errors)), *lines])
        raise Failure(WRONG_INPUT, text, hint=say("nothing_begun"), problem={"errors": errors, "total": len(errors)})


def _errors(place: str, problem: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    """The single values that are wrong, or what is wrong with the whole."""
    found = [each for each in problem.get("errors", []) if "message" in each]
    for each in found:
        field = str(each.get("field", ""))
        yield {"place": place, "field": field[5:] if field.startswith("body.") else field, "message": each["message"]}
    if not found:
        yield {"place": place, "field": "", "message": str(problem["detail"])}
