"""The practice units of a judge, before the queue: calibration items with one bad output, or those of an organiser."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from malpan.arena.bad_texts import bad_text
from malpan.arena.models import Assignment, Campaign, CampaignItem, CampaignJudge
from scoring.arena.design import JudgeSpec
from scoring.arena.draws import below, draws, shuffled


def create_practice(
    *,
    campaign: Campaign,
    judges: Iterable[CampaignJudge],
    specs: Iterable[JudgeSpec],
    items: Sequence[CampaignItem],
    now: datetime,
) -> int:
    """Write the calibration assignments of ``judges``, from position 1, in the caller's transaction; how many.

    Each judge gets systems that they may see, drawn by the seed, and the place of the bad one among them; of an item
    that an organiser wrote its outputs as they are.
    """
    texts = {item.label: item.outputs for item in items if item.kind == CampaignItem.Kind.REAL}
    practice = [item for item in items if item.kind == CampaignItem.Kind.CALIBRATION]
    barred_of = {spec.label: spec.barred for spec in specs}
    rows = []
    for judge in judges:
        for position, item in enumerate(practice, start=1):
            if "value" in (item.expected or {}):
                rows.append(_own(campaign, judge, item, position, now))
                continue
            seen = sorted(item.outputs.keys() - barred_of[judge.design_label])
            if len(seen) < campaign.group_size:
                continue
            rng = draws(campaign.seed, "practice", item.label, judge.design_label)
            group = shuffled(rng, seen)[: campaign.group_size]
            bad = below(rng, len(group))
            rule = item.expected["rule"] if item.expected else ""
            rows.append(
                Assignment(
                    campaign=campaign,
                    judge=judge,
                    item=item,
                    systems=group,
                    kind=Assignment.Kind.CALIBRATION,
                    bad_index=bad,
                    position=position,
                    created_at=now,
                    **bad_text(campaign, item, group[bad], judge.design_label, texts, rule),
                )
            )
    return len(Assignment.objects.bulk_create(rows, batch_size=1000))


def _own(campaign: Campaign, judge: CampaignJudge, item: CampaignItem, position: int, now: datetime) -> Assignment:
    return Assignment(
        campaign=campaign,
        judge=judge,
        item=item,
        systems=sorted(item.outputs),
        kind=Assignment.Kind.CALIBRATION,
        position=position,
        created_at=now,
    )
