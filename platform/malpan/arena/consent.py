"""Whether a judge agreed to what is in force."""

from __future__ import annotations

from malpan.arena.judges import consent_version_of
from malpan.arena.models import CampaignJudge


def has_consented(judge: CampaignJudge) -> bool:
    """Whether ``judge`` agreed to the notice in force and acknowledged the guideline of the campaign."""
    return (judge.rubric_id, judge.consent_version) == (judge.campaign.rubric_id, consent_version_of(judge.campaign))
