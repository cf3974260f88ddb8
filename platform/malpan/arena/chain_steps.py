"""The steps of a campaign in the public chain: committed (its seed), opened, closed (the seed itself), published.

A payload has the track, the campaign's number, the event and what belongs to it; it names no judge and no judgement.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal

from django.db.models import IntegerField, Max
from django.db.models.fields.json import KeyTransform
from django.db.models.functions import Cast

from malpan.arena.models import Campaign
from malpan.competitions.models import Track
from malpan.submissions.integrity import chain
from malpan.submissions.models import ChainEntry

Event = Literal["committed", "opened", "closed", "published"]


def step_payload(campaign: Campaign, event: Event, facts: Mapping[str, Any]) -> dict[str, Any]:
    """The payload of a step."""
    return {"track": campaign.track.slug, "campaign": campaign.number, "event": event, **facts}


def append_step(campaign: Campaign, event: Event, facts: Mapping[str, Any], *, now: datetime) -> ChainEntry:
    """Add a step to the chain: the last that a transaction does."""
    payload = step_payload(campaign, event, facts)
    return chain.append(competition=campaign.track.competition, kind=ChainEntry.Kind.ARENA, payload=payload, now=now)


def last_number(track: Track) -> int:
    """The highest number that a campaign of ``track`` ever had, removed drafts among them; 0 without any."""
    steps = ChainEntry.objects.filter(
        competition=track.competition_id, kind=ChainEntry.Kind.ARENA, payload__track=track.slug
    )
    numbers = steps.aggregate(last=Max(Cast(KeyTransform("campaign", "payload"), IntegerField())))
    kept = Campaign.objects.filter(track=track).aggregate(last=Max("number"))
    return max(numbers["last"] or 0, kept["last"] or 0)
