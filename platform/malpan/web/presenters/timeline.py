"""The turns of a competition in the order of time: which phase opens or ends when, and what comes next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby

from django.utils.translation import gettext as _

from malpan.competitions.models import Track


@dataclass(frozen=True, slots=True)
class Turn:
    """``is_next``: the first that is still to come."""

    moment: datetime
    events: tuple[str, ...]
    is_over: bool
    is_next: bool


def timeline_of(tracks: Sequence[Track], now: datetime) -> list[Turn]:
    """Beginnings and ends of all phases, those of one moment together."""
    many = len(tracks) > 1
    events = []
    for track in tracks:
        for phase in track.phases.all():
            name = f"{track.title} · {phase.title}" if many else phase.title
            events.append((phase.starts_at, _("%(phase)s 시작") % {"phase": name}))
            events.append((phase.ends_at, _("%(phase)s 마감") % {"phase": name}))
    events.sort(key=lambda each: each[0])
    turns: list[Turn] = []
    for moment, together in groupby(events, key=lambda each: each[0]):
        is_first = moment > now and all(turn.is_over for turn in turns)
        turns.append(Turn(moment, tuple(text for _moment, text in together), moment <= now, is_first))
    return turns
