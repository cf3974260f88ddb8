"""An open campaign of pairs and a judge of it, before the practice and after it."""

from __future__ import annotations

import copy

import pytest

from malpan.arena.models import CampaignJudge
from tests.arena.panels import Panel, open_panel


@pytest.fixture(scope="module")
def made(kept: None) -> Panel:
    return open_panel()


@pytest.fixture
def panel(made: Panel) -> Panel:
    return copy.deepcopy(made)


@pytest.fixture
def judge(panel: Panel) -> CampaignJudge:
    return panel.judges[0]


@pytest.fixture
def ready(panel: Panel, judge: CampaignJudge) -> CampaignJudge:
    """The judge has finished the practice."""
    panel.judge_next(judge)
    judge.refresh_from_db()
    return judge
