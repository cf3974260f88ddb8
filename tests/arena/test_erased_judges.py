"""Judges whose account is closed: what they judged stays, what they had still to judge goes to others."""

from __future__ import annotations

import pytest

from malpan.arena.closing import close_campaign
from malpan.arena.models import Assignment, CampaignJudge, Judgement
from malpan.core.models import AuditEntry
from malpan.privacy.erasing import erase
from tests.arena.panels import Panel, accept, add_judge, draft_panel, invite, judges_of_units, open_panel, standing

pytestmark = pytest.mark.django_db


@pytest.fixture
def panel() -> Panel:
    return open_panel()


def test_what_an_erased_judge_had_open_goes_to_others_and_their_judgements_stay(panel):
    leaving = panel.judges[3]
    panel.judge_next(leaving)
    panel.next(leaving)
    units, count = judges_of_units(panel), Judgement.objects.count()
    waiting = len(standing(panel, judge=leaving, state="open", kind="real"))

    assert erase(user=leaving.user, actor=leaving.user, now=panel.later())

    leaving.refresh_from_db()
    assert (leaving.is_active, leaving.removal_reason) == (False, "계정을 닫음 / account closed")
    assert waiting > 0
    assert standing(panel, judge=leaving, state="open") == []
    assert judges_of_units(panel) == units
    assert Judgement.objects.count() == count
    entry = AuditEntry.objects.get(action="campaign_judge.remove")
    assert entry.actor is None
    assert entry.after["moved"] >= waiting


def test_an_erased_judge_leaves_every_campaign_that_is_not_closed(panel):
    leaving, another, to_come = panel.judges[3], open_panel(), draft_panel()
    elsewhere = another.judges[0]
    CampaignJudge.objects.filter(pk=elsewhere.pk).update(user=leaving.user)
    later = add_judge(to_come, 1, user=leaving.user)

    assert erase(user=leaving.user, actor=leaving.user, now=panel.later())

    for each in (leaving, elsewhere, later):
        each.refresh_from_db()
        assert (each.is_active, Assignment.objects.filter(judge=each, state="open").count()) == (False, 0)
    assert AuditEntry.objects.get(action="user.erase").after["campaigns_left"] == 3
    assert set(judges_of_units(another).values()) == {2}


def test_an_erased_judge_loses_no_place_in_a_closed_campaign_and_is_not_drawn_in_one_to_come(panel):
    draft = draft_panel()
    invite(draft)
    judge, leaving = accept(draft), panel.judges[3]
    close_campaign(campaign=panel.campaign, actor=panel.organiser, accepts_open=True, now=panel.later())

    erase(user=leaving.user, actor=leaving.user)
    erase(user=judge.user, actor=judge.user)

    for each in (leaving, judge):
        each.refresh_from_db()
    assert leaving.is_active
    assert not judge.is_active
