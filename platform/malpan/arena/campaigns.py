"""Campaigns in preparation: made, changed, their systems chosen, removed. Nothing of a draft is public but its seed's
hash, which enters the chain when the campaign is made.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from malpan.arena.models import Campaign, CampaignSystem
from malpan.competitions.models import Track

if TYPE_CHECKING:
    from malpan.accounts.models import User

TEXTS: Final = ("title_ko", "title_en", "notice_ko", "notice_en", "starts_at", "ends_at")  # also of an open campaign
SETTINGS: Final = (
    *("protocol", "rubric", "phase", "part", "item_count", "units_per_item", "judges_per_unit", "group_size"),
    *("control_percent", "repeat_percent", "calibration_count", "shows_input", "shows_reference", "min_seconds"),
    *("masked_words", "resamples"),
)


def create_campaign(*, track: Track, actor: User, now: datetime | None = None, **values: Any) -> Campaign:
    """Make a draft with a new secret seed, whose hash enters the public chain (event ``committed``).

    ``values`` are those of ``TEXTS`` and ``SETTINGS``; ``protocol``, ``rubric``, ``phase`` and ``title_ko`` are needed.
    ``group_size`` is 2 for pairs and 1 for rubric and errors, whatever is given. Raises ``ManageNotFound`` and
    ``NotAllowed`` without the permission to manage, ``CampaignSettingsInvalid``, ``RubricUnfit``.
    """
    raise NotImplementedError


def update_campaign(*, campaign: Campaign, actor: User, **values: Any) -> Campaign:
    """Change a draft; of an open campaign only ``TEXTS``. A new phase drops the systems that were chosen.

    Raises as ``create_campaign``, and ``CampaignOpened``.
    """
    raise NotImplementedError


def choose_systems(
    *,
    campaign: Campaign,
    actor: User,
    submissions: Sequence[uuid.UUID | str],
    institutions: Mapping[int, str] | None = None,
) -> list[CampaignSystem]:
    """Make exactly these submissions (public ids) the systems of a draft, in their order. ``institutions``: by number
    of the team; those not named keep what they had.

    Raises as ``update_campaign``, and ``SystemUnfit``, ``SubmissionNotFound``, ``TooManySystems``.
    """
    raise NotImplementedError


def choose_top(*, campaign: Campaign, actor: User, count: int, with_baselines: bool = False) -> list[CampaignSystem]:
    """Make the submissions of the first ``count`` teams the systems: of the newest published final board of the phase,
    or of the final board as it would be published now. ``with_baselines``: those on the board come as well.

    Raises as ``choose_systems``, and ``NoBoard``.
    """
    raise NotImplementedError


def set_institutions(*, campaign: Campaign, actor: User, institutions: Mapping[int, str]) -> None:
    """Say where teams are from, by number of the team; until the opening. Raises as ``update_campaign``."""
    raise NotImplementedError


def remove_campaign(*, campaign: Campaign, actor: User) -> None:
    """Delete a draft with its invitations; what the chain has of it stays. Raises as ``update_campaign``."""
    raise NotImplementedError
