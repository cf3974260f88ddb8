"""Opening a campaign: what is shown is frozen and blinded, the design is drawn from the committed seed, and every judge
has a queue; in one transaction, with an entry in the chain.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Final

from django.db import transaction
from django.utils import timezone

from malpan.arena.bars import bars_of, set_bars
from malpan.arena.chain_steps import append_step
from malpan.arena.declaring import judges_hiding_too_much
from malpan.arena.design_rows import create_assignments, design_sha256, settings_of
from malpan.arena.errors import (
    CampaignNotOpen,
    CampaignOpened,
    DeclaredTooMuch,
    DesignRefused,
    NoJudges,
    TooFewItems,
    TooFewSystems,
)
from malpan.arena.freezing import freeze_items, item_labels
from malpan.arena.institutions import NearInstitution
from malpan.arena.labels import in_any_order
from malpan.arena.letters import tell_opened
from malpan.arena.locks import lock_campaign
from malpan.arena.models import Assignment, Campaign, CampaignJudge, CampaignSystem
from malpan.arena.near import clear_all, near_pairs
from malpan.arena.own_practice import clean_practice
from malpan.arena.practice import create_practice
from malpan.arena.sampling import available_items
from malpan.arena.seeds import require_seed
from malpan.arena.systems import SYSTEMS_LEAST, require_fit, systems_of
from malpan.competitions.permissions import Permission, require
from malpan.core import audit
from malpan.core.language import reader_language
from scoring.arena.design import Balance, DesignImpossible, JudgeSpec, Planned, balance, plan
from scoring.arena.draws import draws, shuffled
from scoring.arena.redrawing import design_labels, queues_sha256

if TYPE_CHECKING:
    from malpan.accounts.models import User

_LABEL: Final = re.compile(r"S\d{2,}")  # as ``_label`` draws them


@dataclass(frozen=True, slots=True)
class DesignPreview:
    """What opening now would give. ``balance``: the figures of ``scoring.arena.design.balance``; ``near``: judges, also
    invited ones, and teams whose institutions could be the same though nobody is barred.
    """

    systems: int
    items: int
    judges: int
    assignments: int
    per_judge_least: int
    per_judge_most: int
    balance: Balance
    near: tuple[NearInstitution, ...]


@dataclass(frozen=True, slots=True)
class _Prepared:
    """Systems and judges with their labels, what each judge never sees, and the design. Nothing of it is stored."""

    systems: list[CampaignSystem]
    judges: list[CampaignJudge]
    specs: list[JudgeSpec]
    queues: Mapping[str, tuple[Planned, ...]]


def preview_design(*, campaign: Campaign) -> DesignPreview:
    """The design that opening now would give; nothing is written. Raises as ``open_campaign``, and ``CampaignOpened``;
    but the files of the submissions are not read.
    """
    if campaign.opened_at is not None:
        raise CampaignOpened
    wanted, available = campaign.item_count + campaign.practice_drawn, available_items(campaign).total
    if available < wanted:
        raise TooFewItems(count=available, wanted=wanted)
    prepared = _prepare(campaign)
    lengths = [len(queue) for queue in prepared.queues.values()]
    return DesignPreview(
        systems=len(prepared.systems),
        items=campaign.item_count,
        judges=len(prepared.judges),
        assignments=sum(lengths),
        per_judge_least=min(lengths),
        per_judge_most=max(lengths),
        balance=balance(prepared.queues),
        near=near_pairs(campaign, prepared.systems),
    )


def open_campaign(*, campaign: Campaign, actor: User, now: datetime | None = None) -> Campaign:
    """Freeze items and outputs, bar judges, make every queue, and open. Opening an open campaign changes nothing.

    Institutions with names that look alike are two from then on: whoever opens it was shown them.

    Raises ``ManageNotFound`` and ``NotAllowed`` without the permission to manage, ``CampaignNotOpen`` for one that is
    closed, ``SeedMissing``, ``PracticeInvalid``, ``TooFewSystems``, ``SystemUnfit``, ``NoJudges``, ``DeclaredTooMuch``,
    ``DesignRefused``, ``ControlRefused``, and as ``sampling.sample_items``.
    """
    require(actor, campaign.track.competition, Permission.MANAGE)
    moment = now or timezone.now()
    with transaction.atomic():
        fresh = lock_campaign(campaign.pk)
        if fresh.closed_at is not None:
            raise CampaignNotOpen
        if fresh.opened_at is not None:
            return fresh
        prepared = _prepare(fresh)
        clear_all(near_pairs(fresh, prepared.systems))
        _write(fresh, prepared, moment)
        rows = Assignment.objects.filter(campaign=fresh).select_related("judge", "item", "repeats")
        fresh.opened_at, fresh.design_sha256 = moment, design_sha256(rows)
        fresh.save(update_fields=["opened_at", "design_sha256"])
        facts = {
            "systems": len(prepared.systems),
            "items": fresh.item_count,
            "judges": len(prepared.judges),
            "assignments": len(rows),
            "design_sha256": fresh.design_sha256,
            "queues_sha256": queues_sha256(prepared.queues),
        }
        audit.record(actor=actor, action="campaign.open", obj=fresh, after=facts)
        tell_opened(fresh)
        public = {"protocol": fresh.protocol, "rubric": fresh.rubric.number, "seed_sha256": fresh.seed_sha256, **facts}
        append_step(fresh, "opened", public, now=moment)
    return fresh


def _prepare(campaign: Campaign) -> _Prepared:
    """Draw labels and the design. Raises as ``open_campaign`` says of systems, judges and the design."""
    require_seed(campaign)
    if campaign.practice:
        clean_practice(campaign.practice, campaign)
    systems = systems_of(campaign)
    least = max(SYSTEMS_LEAST, campaign.group_size)
    if len(systems) < least:
        raise TooFewSystems(count=len(systems), least=least)
    require_fit([row.submission for row in systems], campaign.phase)
    rows = CampaignJudge.objects.filter(campaign=campaign).select_related("user", "campaign")
    judges = [row for row in rows if row.is_active]
    if not judges:
        raise NoJudges
    if hiding := judges_hiding_too_much(judges, systems):
        raise DeclaredTooMuch(judges=", ".join(str(judge.pk) for judge in hiding))
    _label(systems, judges, campaign.seed)
    specs = [_spec(judge, systems) for judge in judges]
    try:
        items, labels = item_labels(campaign.item_count), [row.label for row in systems]
        queues = plan(items, labels, specs, settings_of(campaign), campaign.seed)
    except DesignImpossible as error:
        raise DesignRefused(explanation=_explained(error, systems)) from error
    return _Prepared(systems, judges, specs, queues)


def _explained(error: DesignImpossible, systems: Sequence[CampaignSystem]) -> str:
    """The error in the reader's language, with teams for labels: which label is whose is not said before the closing,
    and nobody could do anything about a label.
    """
    name_of = {row.label: row.submission.team.name for row in systems}
    return _LABEL.sub(lambda found: name_of[found[0]], error.message(reader_language()))


def _label(systems: Sequence[CampaignSystem], judges: Sequence[CampaignJudge], seed: str) -> None:
    """Draw the labels: those of systems by the seed, so that nobody can tell a team by its place on the board.

    Those of judges by chance alone: the seed will be public, and with it everybody could put judges drawn by it back
    into the order of their invitations.
    """
    by_position = sorted(systems, key=lambda row: row.position)
    for number, system in enumerate(shuffled(draws(seed, "labels of systems"), by_position), start=1):
        system.label = f"S{number:02d}"
    for judge, label in zip(in_any_order(judges), design_labels(len(judges)), strict=True):
        judge.design_label = label


def _spec(judge: CampaignJudge, systems: Sequence[CampaignSystem]) -> JudgeSpec:
    barred = bars_of(judge, systems)
    return JudgeSpec(judge.design_label, frozenset(system.label for system in systems if system.pk in barred))


def _write(campaign: Campaign, prepared: _Prepared, now: datetime) -> None:
    """Store labels, bars, items and queues."""
    CampaignSystem.objects.bulk_update(prepared.systems, ["label"])
    for judge, spec in zip(prepared.judges, prepared.specs, strict=True):
        judge.barred_at_opening = sorted(spec.barred)
    CampaignJudge.objects.bulk_update(prepared.judges, ["design_label", "barred_at_opening"])
    for judge in prepared.judges:
        set_bars(judge=judge, systems=prepared.systems)
    items = freeze_items(campaign, prepared.systems)
    create_practice(campaign=campaign, judges=prepared.judges, specs=prepared.specs, items=items, now=now)
    create_assignments(
        campaign=campaign, added=prepared.queues, starts={}, judges=prepared.judges, items=items, now=now
    )
