"""Whether campaigns in the database are still those that the hash chain recorded: the seed that was committed, the
design that it was opened with, and every published standing with its files.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from malpan.arena.computing import result_bytes
from malpan.arena.design_rows import (
    design_sha256,
    drawn_queues_sha256,
    panel_at_opening,
    recorded_queues_sha256,
)
from malpan.arena.models import Assignment, Campaign, CampaignResult
from malpan.arena.publishing import chain_facts
from malpan.competitions.models import Competition
from malpan.core.errors import SystemFault
from malpan.core.storage import read_private
from malpan.leaderboard.verification import Finding
from malpan.submissions.models import ChainEntry
from scoring.arena import INSTRUMENT
from scoring.arena.design import DesignImpossible
from scoring.errors import ScoringError
from scoring.signature import json_sha256

TEXTS: Final[dict[str, str | Promise]] = {
    "campaign_missing": _("평가의 단계가 기록에 없습니다."),
    "seed_differs": _("평가의 시드가 시작하기 전에 기록한 해시와 다릅니다."),
    "design_differs": _("평가의 배정이 시작할 때의 기록과 다릅니다."),
    "design_not_drawn": _("평가의 배정이 시드로 다시 그린 것과 다릅니다."),
    "result_missing": _("발표한 평가 결과가 기록에 없습니다."),
    "result_differs": _("발표한 평가 결과가 기록과 다릅니다."),
    "votes_miscounted": _("발표한 평가 결과가 평가 파일로 다시 구한 것과 다릅니다."),
    "result_gone": _("기록된 평가 결과가 데이터베이스에 없습니다."),
}

Steps = Mapping[str, list[ChainEntry]]


@dataclass(frozen=True, slots=True)
class ArenaFinding(Finding):
    """``code`` is a key of ``TEXTS`` here."""

    @property
    def text(self) -> str:
        return str(TEXTS[self.code])


def verify_campaigns(competition: Competition, *, recomputes: bool = True) -> list[Finding]:
    """Every difference between the chain of ``competition`` and its campaigns. Read-only.

    ``recomputes``: every published result is computed again from its votes, seconds for each.
    """
    entries = ChainEntry.objects.filter(competition=competition, kind=ChainEntry.Kind.ARENA).order_by("number")
    by_campaign: dict[tuple[str, int], dict[str, list[ChainEntry]]] = {}
    for entry in entries:
        key = entry.payload["track"], entry.payload["campaign"]
        by_campaign.setdefault(key, {}).setdefault(entry.payload["event"], []).append(entry)
    found: list[Finding] = []
    for campaign in Campaign.objects.filter(track__competition=competition).select_related("track").order_by("pk"):
        steps = by_campaign.get((campaign.track.slug, campaign.number), {})
        found += _seed(campaign, steps)
        found += _design(campaign, steps)
        found += _results(campaign, steps, recomputes=recomputes)
    return found


def _seed(campaign: Campaign, steps: Steps) -> Iterator[Finding]:
    committed = [entry.payload.get("seed_sha256") for entry in steps.get("committed", [])]
    if not committed:
        yield ArenaFinding("campaign_missing", str(campaign))
        return
    revealed = [entry.payload.get("seed") for entry in steps.get("closed", [])]
    actual = hashlib.sha256(campaign.seed.encode()).hexdigest()
    is_unknown = not campaign.seed and campaign.closed_at is None  # imported without it
    is_same = committed == [campaign.seed_sha256] and (is_unknown or actual == campaign.seed_sha256)
    if not is_same or any(seed != campaign.seed for seed in revealed):
        yield ArenaFinding("seed_differs", str(campaign))
    if campaign.closed_at is not None and not revealed:
        yield ArenaFinding("campaign_missing", str(campaign))


def _design(campaign: Campaign, steps: Steps) -> Iterator[Finding]:
    if campaign.opened_at is None:
        return
    recorded = [entry.payload.get("design_sha256") for entry in steps.get("opened", [])]
    if not recorded:
        yield ArenaFinding("campaign_missing", str(campaign))
        return
    rows = Assignment.objects.filter(campaign=campaign, created_at=campaign.opened_at)
    actual = design_sha256(rows.select_related("judge", "item", "repeats").defer("bad_text", "item__outputs"))
    if recorded != [actual] or campaign.design_sha256 != actual:
        yield ArenaFinding("design_differs", str(campaign))
    elif not _is_drawn(campaign):
        yield ArenaFinding("design_not_drawn", str(campaign))


def _is_drawn(campaign: Campaign) -> bool:
    """Whether the seed draws the queues of the opening again, where what it drew them from is known."""
    is_committed = hashlib.sha256(campaign.seed.encode()).hexdigest() == campaign.seed_sha256
    if not is_committed or not panel_at_opening(campaign):
        return True
    try:
        return drawn_queues_sha256(campaign) == recorded_queues_sha256(campaign)
    except DesignImpossible:
        return False


def _results(campaign: Campaign, steps: Steps, *, recomputes: bool) -> Iterator[Finding]:
    unseen = {entry.payload.get("snapshot"): entry for entry in steps.get("published", [])}
    for result in CampaignResult.objects.filter(campaign=campaign).order_by("number"):
        where = f"{campaign} {result.number}"
        entry = unseen.pop(result.number, None)
        if entry is None:
            yield ArenaFinding("result_missing", where)
            continue
        facts = chain_facts(result)
        is_recorded = {name: entry.payload.get(name) for name in facts} == facts
        if not is_recorded or json_sha256(result.rows) != result.sha256:
            yield ArenaFinding("result_differs", f"#{entry.number} {where}")
        elif recomputes and not is_computed(result):
            yield ArenaFinding("votes_miscounted", f"#{entry.number} {where}")
    yield from (ArenaFinding("result_gone", f"#{entry.number}") for entry in unseen.values())


def is_computed(result: CampaignResult) -> bool:
    """Whether the published result is, byte for byte, what its votes give, and the standing what the result says.

    A result of another version of the instrument is taken as it is: that version computes it again.
    """
    try:
        published = json.loads(read_private(result.result_sha256))
        if published["signature"]["instrument"] != INSTRUMENT:
            return True
        found = result_bytes(read_private(result.votes_sha256))
    except (KeyError, ValueError, ScoringError, SystemFault):
        return False
    is_same = hashlib.sha256(found).hexdigest() == result.result_sha256
    systems: list[dict[str, Any]] = json.loads(found)["systems"]
    shown = [(row["label"], row["rank"], row["score"]) for row in result.rows]
    return is_same and shown == [(each["label"], each["rank"], each["score"]) for each in systems]
