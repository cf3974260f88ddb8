"""Rows of a campaign, locked until the transaction ends. The order of locks is in ``core.locks``."""

from __future__ import annotations

from typing import Final

from django.db.models import QuerySet

from malpan.arena.errors import CampaignNotOpen, CampaignOpened
from malpan.arena.models import Campaign, CampaignJudge
from malpan.core.database.prepared import Prepared
from malpan.core.locks import Level, lock_rows, lock_shared


def lock_campaign(pk: int) -> Campaign:
    """The campaign, locked exclusively, with its track, competition and phase: for whatever changes it as a whole."""
    return lock_rows(_campaigns(), Level.CAMPAIGN).get(pk=pk)


def lock_campaigns(judges: QuerySet[CampaignJudge]) -> list[Campaign]:
    """As ``lock_campaign``, every campaign of ``judges``: one by one, a judge would be locked between two of them."""
    return list(lock_rows(_campaigns().filter(pk__in=judges.values("campaign")), Level.CAMPAIGN))


def lock_draft(pk: int) -> Campaign:
    """As ``lock_campaign``, of a campaign that is not open yet. Raises ``CampaignOpened``."""
    campaign = lock_campaign(pk)
    if campaign.opened_at is not None:
        raise CampaignOpened
    return campaign


def lock_unclosed(pk: int) -> Campaign:
    """As ``lock_campaign``, of a campaign that is not closed. Raises ``CampaignNotOpen``."""
    campaign = lock_campaign(pk)
    if campaign.closed_at is not None:
        raise CampaignNotOpen
    return campaign


def lock_campaign_shared(pk: int) -> Campaign:
    """The campaign with a shared lock: judges do not wait for each other, closing waits for them."""
    lock_shared(Campaign, pk, Level.CAMPAIGN)
    campaign = _CAMPAIGN.only(pk)
    if campaign is None:
        raise Campaign.DoesNotExist
    return campaign


def lock_judge(pk: int) -> CampaignJudge:
    """The judge, locked exclusively: whatever changes the own queue. The campaign is locked before."""
    return lock_rows(CampaignJudge.objects.select_related("campaign"), Level.JUDGE).get(pk=pk)


def lock_judges(judges: QuerySet[CampaignJudge]) -> list[CampaignJudge]:
    """As ``lock_judge``, all of ``judges``."""
    return list(lock_rows(judges.select_related("campaign"), Level.JUDGE))


def _campaigns() -> QuerySet[Campaign]:
    return Campaign.objects.select_related("track__competition", "phase", "rubric")


_CAMPAIGN: Final = Prepared(lambda pk: _campaigns().filter(pk=pk).order_by(), int)
