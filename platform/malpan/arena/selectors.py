"""Reads of campaigns, rubrics, judges and results."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

from django.contrib.auth.models import AnonymousUser

from malpan.arena.models import Campaign, CampaignJudge, CampaignResult, CampaignSystem, Exclusion, Rubric
from malpan.competitions.models import Competition, Track

if TYPE_CHECKING:
    from malpan.accounts.models import User


def campaigns_of(competition: Competition) -> list[Campaign]:
    """Every campaign of ``competition``, by track, the newest first, for the manage pages."""
    raise NotImplementedError


def campaign_of(competition: Competition, pk: int) -> Campaign:
    """One campaign, with track, phase and rubric, for the manage pages. Raises ``CampaignNotFound``."""
    raise NotImplementedError


def public_campaigns(competition: Competition) -> list[Campaign]:
    """The campaigns that everybody may know of: open, closed or published ones (``visibility``)."""
    raise NotImplementedError


def public_campaign(competition: Competition, track_slug: str, number: int) -> Campaign:
    """One of ``public_campaigns``. Raises ``CampaignNotFound``."""
    raise NotImplementedError


def rubrics_of(track: Track) -> list[Rubric]:
    """The versions of the rubric of ``track``, the newest first."""
    raise NotImplementedError


def rubric_of(competition: Competition, pk: int) -> Rubric:
    """One version. Raises ``RubricNotFound``."""
    raise NotImplementedError


def systems_of(campaign: Campaign) -> list[CampaignSystem]:
    """The systems in their order, with submission and team."""
    raise NotImplementedError


def judges_of(campaign: Campaign) -> list[CampaignJudge]:
    """The judges with their user, in the order of their invitations, each with ``done`` and ``total`` of its queue."""
    raise NotImplementedError


def judge_of(campaign: Campaign, pk: int) -> CampaignJudge:
    """One judge. Raises ``JudgeNotFound``."""
    raise NotImplementedError


def judge_for(user: User | AnonymousUser, campaign_pk: int) -> CampaignJudge:
    """``user`` as a judge of a campaign, with campaign, track, competition and rubric.

    Raises ``CampaignNotFound`` for everybody else, ``JudgeRemoved``.
    """
    raise NotImplementedError


def campaigns_to_judge(user: User | AnonymousUser) -> list[CampaignJudge]:
    """``user`` as a judge, in every campaign that they accepted and were not removed from, the newest first."""
    raise NotImplementedError


def exclusions_of(campaign: Campaign) -> list[Exclusion]:
    """Every exclusion, lifted ones too, the newest first."""
    raise NotImplementedError


def exclusion_of(campaign: Campaign, pk: int) -> Exclusion:
    """One exclusion. Raises ``ExclusionNotFound``."""
    raise NotImplementedError


def results_of(campaign: Campaign) -> list[CampaignResult]:
    """What was published, the newest first."""
    raise NotImplementedError


def newest_result(campaign: Campaign) -> CampaignResult | None:
    """The result that is shown."""
    raise NotImplementedError


def result_document(result: CampaignResult) -> dict[str, Any]:
    """The published result (``scoring.arena.result``), from its file. Raises the faults of ``core.storage``."""
    raise NotImplementedError


def submission_choices(campaign: Campaign) -> list[tuple[uuid.UUID, str, bool]]:
    """The submissions that may be systems: public id, words for the organiser, whether it is chosen."""
    raise NotImplementedError
