"""Which items are evaluated, and what they say: a sample of the references, stratified by type, with every system's
answer. Pure reads; the outputs are not yet blinded (``opening`` does that).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from malpan.arena.models import Campaign, CampaignSystem


@dataclass(frozen=True, slots=True)
class Sampled:
    """An item of the sample. ``outputs``: the text of each system as it was submitted, by the system's primary key."""

    reference_id: str
    stratum: str
    input_text: str
    reference_text: str
    outputs: Mapping[int, str]


@dataclass(frozen=True, slots=True)
class Available:
    """How many items of the part there are in each stratum."""

    counts: Mapping[str, int]

    @property
    def total(self) -> int:
        return sum(self.counts.values())


def available_items(campaign: Campaign) -> Available:
    """The items that could be drawn. Raises ``ReferencesMissing``, ``SplitMissing``, and faults of ``core.storage``."""
    raise NotImplementedError


def sample_items(campaign: Campaign, systems: Sequence[CampaignSystem]) -> tuple[list[Sampled], list[Sampled]]:
    """The items of ``campaign`` and its calibration items, drawn by its seed, in the order of their drawing.

    Raises as ``available_items``, ``TooFewItems``, and ``SystemUnfit`` for a file that cannot be read.
    """
    raise NotImplementedError
