"""Which systems a judge never sees: of a team they are a member of, of the own institution, or declared by them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from malpan.arena.models import CampaignJudge, CampaignSystem, JudgeBar

if TYPE_CHECKING:
    from malpan.accounts.models import User


def bars_of(judge: CampaignJudge, systems: Sequence[CampaignSystem]) -> dict[int, JudgeBar.Reason]:
    """The systems that ``judge`` must not see as things are now, by primary key, with the reason.

    Member: of the system's team, or of one merged into it, now or when the submission came. Institution: equal to the
    system's (whatever case and spaces), or the judge's mail host is that of a member (hosts of public mail do not
    count). Declared: the bars of that reason in the database.
    """
    raise NotImplementedError


def set_bars(*, judge: CampaignJudge, systems: Sequence[CampaignSystem]) -> frozenset[int]:
    """Write the bars of ``judge`` (``bars_of``) in the caller's transaction; the primary keys of the barred systems."""
    raise NotImplementedError


def declare_bars(*, judge: CampaignJudge, actor: User, team_numbers: Sequence[int]) -> None:
    """Record the teams that a judge knows, by number. After the opening their open assignments with them are moved.

    Raises ``JudgeNotFound`` for another person's, ``NobodyCanTakeOver``.
    """
    raise NotImplementedError
