"""A team is disqualified while a campaign is open, or reinstated: the design stays even."""

from __future__ import annotations

import copy
from collections import Counter

import pytest

from malpan.arena.closing import close_campaign
from malpan.arena.errors import (
    OpenAssignmentsLeft,
)
from malpan.arena.judges import remove_judge
from malpan.arena.models import Assignment, Judgement
from malpan.arena.panel import current_balance
from malpan.core.models import AuditEntry
from tests.arena.panels import (
    Panel,
    judges_of_units,
    panel_at_work,
    standing,
)

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def made(kept: None) -> Panel:
    return panel_at_work()


@pytest.fixture
def panel(made: Panel) -> Panel:
    return copy.deepcopy(made)


def test_disqualified_team_is_shown_no_more_and_all_else_stays_even(panel):
    team = panel.systems[0].submission.team
    before = current_balance(panel.campaign)
    judged = Judgement.objects.count()
    team.disqualified_at = panel.now
    team.save()

    shown = []
    for judge in panel.judges:
        while (assignment := panel.next(judge)) is not None:
            shown.append(assignment)
            panel.judge(assignment)

    assert not [row for row in shown if "S01" in row.systems]
    assert Judgement.objects.count() == judged + len(shown)  # and none was lost
    after = current_balance(panel.campaign)
    print(f"a team of six disqualified:\n{before}\n{after}")
    others = Counter(
        frozenset(row.systems) for row in standing(panel, kind="real", state="done") if "S01" not in row.systems
    )
    assert len(others) == 10  # pairs of the five teams left
    assert max(others.values()) - min(others.values()) <= 2 * 2  # as planned: a unit more or less, two judges each
    void = Assignment.objects.filter(campaign=panel.campaign, state="void")
    assert set(void.values_list("void_reason", flat=True)) == {"disqualified"}
    assert all("S01" in row.systems for row in void)


def test_what_moves_has_no_disqualified_team(panel):
    team = panel.systems[0].submission.team
    team.disqualified_at = panel.now
    team.save()

    remove_judge(judge=panel.judges[0], actor=panel.organiser, reason="까닭", now=panel.later())

    new = Assignment.objects.filter(campaign=panel.campaign, created_at=panel.now)
    assert new.exists()
    assert not [row for row in new if "S01" in row.systems]
    assert not [row for row in standing(panel, state="open") if "S01" in row.systems]


def reinstate(panel: Panel) -> None:
    team = panel.systems[0].submission.team
    team.disqualified_at = None
    team.save()


@pytest.mark.parametrize("leaves", [False, True])
def test_what_was_open_of_a_reinstated_team_comes_back(panel, leaves):
    """Also the share of a judge who left meanwhile, to others."""
    before, pairs = judges_of_units(panel), current_balance(panel.campaign).pairs
    team = panel.systems[0].submission.team
    team.disqualified_at = panel.now
    team.save()
    for judge in panel.judges:
        panel.next(judge)
    if leaves:
        remove_judge(judge=panel.judges[0], actor=panel.organiser, reason="까닭", now=panel.later())
    assert judges_of_units(panel) != before

    reinstate(panel)
    panel.next(panel.judges[1])

    assert judges_of_units(panel) == before
    assert current_balance(panel.campaign).pairs == pairs
    assert not standing(panel, state="open", judge__removed_at__isnull=False)
    assert AuditEntry.objects.filter(action="campaign.reopen_assignments").count() == 1
    again = Assignment.objects.filter(judge=panel.judges[1], state="open")
    assert [row for row in again if "S01" in row.systems]


def test_closing_is_told_what_a_reinstated_team_left_open(panel):
    before = judges_of_units(panel)
    team = panel.systems[0].submission.team
    team.disqualified_at = panel.now
    team.save()
    for judge in panel.judges:
        panel.next(judge)  # what shows the team leaves the queue
    panel.fill(lambda _assignment: {"choice": "tie"})
    assert judges_of_units(panel) != before
    reinstate(panel)

    with pytest.raises(OpenAssignmentsLeft):
        close_campaign(campaign=panel.campaign, actor=panel.organiser)

    panel.next(panel.judges[0])
    assert judges_of_units(panel) == before
