"""The tables of human evaluation."""

from malpan.arena.models.campaign import Campaign, CampaignItem, CampaignSystem, Rubric
from malpan.arena.models.computation import Computation
from malpan.arena.models.judging import (
    Assignment,
    CampaignJudge,
    JudgeBar,
    Judgement,
    JudgementDraft,
)
from malpan.arena.models.result import CampaignResult, Exclusion

__all__ = [
    "Assignment",
    "Campaign",
    "CampaignItem",
    "CampaignJudge",
    "CampaignResult",
    "CampaignSystem",
    "Computation",
    "Exclusion",
    "JudgeBar",
    "Judgement",
    "JudgementDraft",
    "Rubric",
]
