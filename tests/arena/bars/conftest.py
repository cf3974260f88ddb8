"""A panel of eight systems and a judge of it, and which systems that judge never sees."""

from __future__ import annotations

import pytest

from malpan.arena.bars import bars_of
from malpan.arena.models import CampaignJudge
from malpan.teams.models import Team
from tests.arena.panels import Panel, add_judge, draft_panel


@pytest.fixture
def panel() -> Panel:
    return draft_panel(systems=8)


@pytest.fixture
def judge(panel: Panel) -> CampaignJudge:
    return add_judge(panel, 1, design_label="")


def team(panel: Panel, place: int = 0) -> Team:
    return panel.systems[place].submission.team


def bars(panel: Panel, judge: CampaignJudge) -> dict[int, str]:
    """The reasons by the place of the system."""
    found = bars_of(judge, list(panel.campaign.systems.select_related("submission__team")))
    return {place: str(found[row.pk]) for place, row in enumerate(panel.systems) if row.pk in found}
