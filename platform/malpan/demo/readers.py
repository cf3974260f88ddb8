"""Simulated judges of the demo's campaigns, who read what they compare or rate: an output that is nearer to the
reference is better, and two equal ones are tied, whoever of them reads at all (``scoring.arena.simulated_judges``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any, Final, cast

import numpy as np

from malpan.arena.models import Assignment, Campaign
from malpan.arena.queue import texts_of
from scoring.arena.simulated_judges import Behaviour, Judges, Panel, Seen
from scoring.arena.vote_records import Protocol

MERIT: Final = 4.0  # logits between an output like the reference and one that has nothing of it
ORDER_EFFECT: Final = 0.2
ALTERNATIVES: Final = "#"  # between the references of a short answer


class Readers:
    """The judges of one campaign, by their place in ``behaviours``."""

    def __init__(self, behaviours: Sequence[Behaviour], campaign: Campaign, seed: int) -> None:
        items = list(campaign.items.order_by("label"))
        self._items = {item.label: place for place, item in enumerate(items)}
        self._systems = {
            label: place for place, label in enumerate(sorted({key for row in items for key in row.outputs}))
        }
        self._reasons = [row["key"] for row in campaign.rubric.reasons]
        self._random = np.random.default_rng(seed)
        panel = Panel(
            strengths=(-MERIT / 2,) * len(self._systems),  # in the middle of a scale
            judges=tuple(behaviours),
            items=len(items),
            order_effect=ORDER_EFFECT,
            protocol=cast("Protocol", campaign.protocol),
        )
        self._judges = Judges(panel, self._random)
        self._judges.by_item = np.asarray([self._merits(item.outputs, item.reference_text) for item in items])

    def value(self, place: int, assignment: Assignment, progress: float) -> dict[str, Any]:
        """What the judge at ``place`` says of ``assignment``; ``progress`` 0-1 in the queue."""
        seen = Seen(
            judge=place,
            item=self._items[assignment.item.label],
            shown=tuple(self._systems[label] for label in assignment.systems),
            progress=progress,
            bad=assignment.bad_index,
        )
        if self._judges.panel.protocol != "pairwise":
            return self._judges.value(seen)
        reads = self._judges.panel.judges[place] != "random"
        if reads and len(set(texts_of(assignment))) == 1:
            return {"choice": "tie", "reasons": []}
        value = self._judges.value(seen)
        gives_reason = reads and value["choice"] in ("first", "second")
        return {**value, "reasons": [self._random.choice(self._reasons).item()] if gives_reason else []}

    def seconds(self, place: int) -> int:
        """How long the judge takes."""
        return max(1, round(self._judges.seconds(place)))

    def _merits(self, outputs: Mapping[str, str], reference: str) -> list[float]:
        return [MERIT * likeness(outputs[label], reference) for label in self._systems]


def likeness(output: str, reference: str) -> float:
    """How much of ``output`` is in the nearest alternative of ``reference``, 0-1."""
    alternatives = (each.strip() for each in reference.split(ALTERNATIVES))
    return max(SequenceMatcher(None, output.strip(), each, autojunk=False).ratio() for each in alternatives)
