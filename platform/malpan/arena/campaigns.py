"""Campaigns in preparation: made, changed, removed. Nothing of a draft is public but its seed's hash, which enters the
chain when the campaign is made; so nobody can choose a seed by what it gives.
"""

from __future__ import annotations

import hashlib
import secrets
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from django.db import transaction
from django.utils import timezone

from malpan.arena.chain_steps import append_step, last_number
from malpan.arena.errors import CampaignOpened, CampaignSettingsInvalid, RubricUnfit
from malpan.arena.locks import lock_campaign, lock_draft
from malpan.arena.models import Campaign, Rubric
from malpan.arena.models.campaign import SHARE_MAX, TITLE_MAX
from malpan.competitions.locks import lock_track
from malpan.competitions.models import Phase, Track
from malpan.competitions.permissions import Permission, require
from malpan.core import audit
from malpan.core.text import MARKDOWN_MAX_CHARS, one_line

if TYPE_CHECKING:
    from malpan.accounts.models import User

TEXTS: Final = ("title_ko", "title_en", "notice_ko", "notice_en", "starts_at", "ends_at")  # also of an open campaign
SETTINGS: Final = (
    *("protocol", "rubric", "phase", "part", "item_count", "units_per_item", "judges_per_unit", "group_size"),
    *("control_percent", "repeat_percent", "calibration_count", "shows_input", "shows_reference", "min_seconds"),
    *("masked_words", "resamples"),
)
GROUP_SIZES: Final[dict[str, int]] = {
    Campaign.Protocol.PAIRWISE: 2,
    Campaign.Protocol.RUBRIC: 1,
    Campaign.Protocol.ERRORS: 1,
}
RANKING_GROUP: Final = (3, 8)
LIMITS: Final = {
    "item_count": (1, 5000),
    "units_per_item": (1, 200),
    "judges_per_unit": (1, 20),
    "control_percent": (0, SHARE_MAX),
    "repeat_percent": (0, SHARE_MAX),
    "calibration_count": (0, 20),
    "min_seconds": (0, 600),
    "resamples": (200, 20_000),
}
MASKED_MAX: Final = 200
MASKED_CHARS: Final = (2, 100)
SEED_BYTES: Final = 32
SAME_CLICK: Final = timedelta(minutes=1)  # the same draft asked for again within it is a second click


def create_campaign(*, track: Track, actor: User, now: datetime | None = None, **values: Any) -> Campaign:
    """Make a draft with a new secret seed, whose hash enters the public chain (event ``committed``).

    ``values`` are those of ``TEXTS`` and ``SETTINGS``; ``protocol``, ``rubric``, ``phase`` and ``title_ko`` are needed.
    ``group_size`` is 2 for pairs and 1 for rubric and errors, whatever is given. The same sent twice by a second click
    returns the draft that the first one made (``_of_first_click``). Raises ``ManageNotFound`` and
    ``NotAllowed`` without the permission to manage, ``CampaignSettingsInvalid``, ``RubricUnfit``.
    """
    require(actor, track.competition, Permission.MANAGE)
    moment, seed = now or timezone.now(), secrets.token_hex(SEED_BYTES)
    with transaction.atomic():
        lock_track(track.pk)
        campaign = Campaign(track=track, number=last_number(track) + 1, created_by=actor, created_at=moment)
        campaign.seed, campaign.seed_sha256 = seed, hashlib.sha256(seed.encode()).hexdigest()
        _set(campaign, values)
        _require_ahead(campaign.ends_at, moment)
        if (made := _of_first_click(campaign)) is not None:
            return made
        campaign.save()
        audit.record(actor=actor, action="campaign.create", obj=campaign, after=audit.snapshot(campaign))
        append_step(campaign, "committed", {"seed_sha256": campaign.seed_sha256}, now=moment)
    return campaign


def _of_first_click(campaign: Campaign) -> Campaign | None:
    """The draft that is ``campaign`` but for number and seed, made just now by the same person and not used yet."""
    same = {name: getattr(campaign, name) for name in (*TEXTS, *SETTINGS)}
    drafts = Campaign.objects.filter(track=campaign.track, created_by=campaign.created_by, opened_at=None, **same)
    made_now = drafts.filter(created_at__gt=campaign.created_at - SAME_CLICK, created_at__lte=campaign.created_at)
    return made_now.filter(practice=[], systems=None, judges=None).order_by("-number").first()


def update_campaign(*, campaign: Campaign, actor: User, **values: Any) -> Campaign:
    """Change a draft; of an open campaign only ``TEXTS``. A new phase drops the systems that were chosen.

    Raises as ``create_campaign``, and ``CampaignOpened``.
    """
    require(actor, campaign.track.competition, Permission.MANAGE)
    with transaction.atomic():
        fresh = lock_campaign(campaign.pk)
        before, phase = audit.snapshot(fresh), fresh.phase_id
        _set(fresh, values)
        before, after = audit.changed(before, audit.snapshot(fresh))
        if not after:
            return fresh
        if fresh.opened_at is not None and set(after) - set(TEXTS):
            raise CampaignOpened
        if "ends_at" in after:
            _require_ahead(fresh.ends_at, timezone.now())
        fresh.save()
        if fresh.phase_id != phase:
            fresh.systems.all().delete()
        audit.record(actor=actor, action="campaign.update", obj=fresh, before=before, after=after)
    return fresh


def remove_campaign(*, campaign: Campaign, actor: User) -> None:
    """Delete a draft with its invitations; what the chain has of it stays. Raises as ``update_campaign``."""
    require(actor, campaign.track.competition, Permission.MANAGE)
    with transaction.atomic():
        fresh = lock_draft(campaign.pk)
        audit.record(actor=actor, action="campaign.remove", obj=fresh, before=audit.snapshot(fresh))
        fresh.delete()


def _require_ahead(ends_at: datetime | None, now: datetime) -> None:
    """Raise ``CampaignSettingsInvalid`` for an end that has passed: nobody could judge from that moment on."""
    if ends_at is not None and ends_at <= now:
        raise CampaignSettingsInvalid("past", "ends_at")


def _set(campaign: Campaign, values: dict[str, Any]) -> None:
    """Write ``values`` to the row and check them."""
    for name, value in values.items():
        if name not in (*TEXTS, *SETTINGS):
            raise TypeError(f"a campaign has no setting {name}")
        setattr(campaign, name, one_line(str(value)) if name.startswith("title") else value)
    campaign.group_size = GROUP_SIZES.get(campaign.protocol, campaign.group_size)
    campaign.masked_words = _masked_words(campaign.masked_words)
    _check_texts(campaign)
    _check_relations(campaign)
    _check_numbers(campaign)


def _check_texts(campaign: Campaign) -> None:
    if not campaign.title_ko or max(len(campaign.title_ko), len(campaign.title_en)) > TITLE_MAX:
        raise CampaignSettingsInvalid("title", "title_ko")
    for name in ("notice_ko", "notice_en"):
        if len(getattr(campaign, name)) > MARKDOWN_MAX_CHARS:
            raise CampaignSettingsInvalid("notice", name)
    if campaign.starts_at and campaign.ends_at and campaign.starts_at >= campaign.ends_at:
        raise CampaignSettingsInvalid("times", "ends_at")


def _check_relations(campaign: Campaign) -> None:
    if campaign.protocol not in Campaign.Protocol.values:
        raise CampaignSettingsInvalid("protocol", "protocol")
    if campaign.part not in Campaign.Part.values:
        raise CampaignSettingsInvalid("part", "part")
    if not Rubric.objects.filter(pk=campaign.rubric_id, track=campaign.track_id).exists():
        raise CampaignSettingsInvalid("rubric", "rubric")
    if not Phase.objects.filter(pk=campaign.phase_id, track=campaign.track_id).exists():
        raise CampaignSettingsInvalid("phase", "phase")
    if campaign.protocol == Campaign.Protocol.RUBRIC and not campaign.rubric.criteria:
        raise RubricUnfit


def _check_numbers(campaign: Campaign) -> None:
    limits = dict(LIMITS)
    if campaign.protocol == Campaign.Protocol.RANKING:
        limits["group_size"] = RANKING_GROUP
    for name, (low, high) in limits.items():
        value = getattr(campaign, name)
        if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
            raise CampaignSettingsInvalid(name, name)


def _masked_words(given: Any) -> list[str]:
    """The names to hide, each once."""
    if not isinstance(given, list | tuple) or not all(isinstance(word, str) for word in given):
        raise CampaignSettingsInvalid("masked_words", "masked_words")
    words = [word for word in dict.fromkeys(map(one_line, given)) if word]
    low, high = MASKED_CHARS
    if len(words) > MASKED_MAX or not all(low <= len(word) <= high for word in words):
        raise CampaignSettingsInvalid("masked_words", "masked_words")
    return words
