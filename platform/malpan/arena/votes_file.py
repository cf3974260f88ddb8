"""The votes of a campaign as everybody may have them: labels for judges and items, no names of people."""

from __future__ import annotations

from typing import Any

from malpan.arena.models import Campaign


def votes_of(campaign: Campaign) -> Any:
    """The judgements of ``campaign`` so far as ``scoring.arena.votes.Votes``, calibration left out, corrections
    replaced by the newest, with the exclusions in force and systems that do not count.

    Before the closing, judges have their label in the design and the settings have no seed of the campaign.
    """
    raise NotImplementedError
