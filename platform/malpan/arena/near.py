"""Judges and teams whose institutions have names that look alike: an organiser says whether they are one.

Before the opening whoever opens the campaign sees them, and opening it says that they are not. Whoever is invited later
sees nothing of such a team (``bars``) until an organiser says so here.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from django.db import transaction
from django.utils import timezone

from malpan.arena.bars import bars_of, set_bars
from malpan.arena.errors import JudgeNotFound, TeamsNotNear
from malpan.arena.institutions import NearInstitution, near_institutions
from malpan.arena.locks import lock_judge, lock_unclosed
from malpan.arena.models import Campaign, CampaignJudge, CampaignSystem, JudgeBar
from malpan.arena.panel import redistribute
from malpan.competitions.permissions import Permission, require
from malpan.core import audit

if TYPE_CHECKING:
    from malpan.accounts.models import User


def near_pairs(campaign: Campaign, systems: Sequence[CampaignSystem]) -> tuple[NearInstitution, ...]:
    """The pairs to be looked at: of every judge before the opening, invited ones too, and then of those who came later;
    without pairs that nothing is asked of, as the judge is barred anyway or an organiser has answered.
    """
    rows = CampaignJudge.objects.filter(campaign=campaign, removed_at=None, barred_at_opening__isnull=True)
    found = near_institutions(rows.select_related("user", "campaign").order_by("pk"), systems)
    return tuple(each for each in found if _is_open(each))


def _is_open(pair: NearInstitution) -> bool:
    if pair.system.submission.team.number in pair.judge.cleared_teams:
        return False
    return bars_of(pair.judge, [pair.system]).get(pair.system.pk) in (None, JudgeBar.Reason.NEAR)


def clear_all(pairs: Collection[NearInstitution]) -> None:
    """Note of ``pairs`` that their institutions are two, in the caller's transaction."""
    judges = {pair.judge.pk: pair.judge for pair in pairs}
    for pair in pairs:
        judge = judges[pair.judge.pk]
        judge.cleared_teams = sorted({*judge.cleared_teams, pair.system.submission.team.number})
    CampaignJudge.objects.bulk_update(judges.values(), ["cleared_teams"])


def clear_institution(
    *, judge: CampaignJudge, actor: User, team_numbers: Sequence[int], now: datetime | None = None
) -> None:
    """Say that the judge's institution is not that of these teams, all or none. What is open is
    distributed anew, and may be theirs from then on. Saying it twice changes nothing.

    Raises ``ManageNotFound`` and ``NotAllowed`` without the permission to manage, ``CampaignNotOpen`` after the
    closing, ``JudgeNotFound`` for one who was removed, ``TeamsNotNear`` for teams that nothing was asked of.
    """
    require(actor, judge.campaign.track.competition, Permission.MANAGE)
    with transaction.atomic():
        campaign = lock_unclosed(judge.campaign_id)
        fresh = lock_judge(judge.pk)
        if fresh.removed_at is not None:
            raise JudgeNotFound
        systems = list(campaign.systems.select_related("submission__team"))
        pairs = [each for each in near_pairs(campaign, systems) if each.judge.pk == fresh.pk]
        asked = {each.system.submission.team.number for each in pairs} | set(fresh.cleared_teams)
        if unknown := sorted(set(team_numbers) - asked):
            raise TeamsNotNear(teams=", ".join(map(str, unknown)))
        new = sorted(set(team_numbers) - set(fresh.cleared_teams))
        if not new:
            return
        fresh.cleared_teams = sorted([*fresh.cleared_teams, *new])
        fresh.save(update_fields=["cleared_teams"])
        if campaign.opened_at is not None and fresh.is_active:
            set_bars(judge=fresh, systems=systems)
            redistribute(campaign=campaign, now=now or timezone.now())
        audit.record(actor=actor, action="campaign_judge.clear", obj=fresh, after={"cleared_teams": new})
