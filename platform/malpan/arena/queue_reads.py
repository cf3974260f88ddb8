"""Reads of a judge's queue that note nothing, for pages that are only looked at."""

from __future__ import annotations

from malpan.arena.judges import consent_version_of
from malpan.arena.models import Assignment, CampaignJudge


def shown_assignment(judge: CampaignJudge) -> Assignment | None:
    """The assignment that ``judge`` was shown last and has not judged; ``None`` before the first and after the last."""
    shown = judge.assignments.filter(state=Assignment.State.OPEN, first_shown_at__isnull=False)
    return shown.order_by("position").first()


def has_consented(judge: CampaignJudge) -> bool:
    """Whether ``judge`` agreed to the notice in force and acknowledged the guideline of the campaign."""
    return (judge.rubric_id, judge.consent_version) == (judge.campaign.rubric_id, consent_version_of(judge.campaign))
