"""Who judges changes while a campaign is open: removed, come late; the design stays even."""

from __future__ import annotations

import copy
from collections import Counter

import pytest

from malpan.arena.bars import renew_bars
from malpan.arena.errors import (
    CampaignReasonMissing,
    JudgeBarredEverywhere,
    JudgeRemoved,
    NobodyCanTakeOver,
    TeamsNotNear,
)
from malpan.arena.judges import consent_version_of, give_consent, remove_judge
from malpan.arena.models import Assignment, CampaignJudge, CampaignSystem, JudgeBar, Judgement, JudgementDraft
from malpan.arena.near import clear_institution, near_pairs
from malpan.arena.panel import current_balance
from malpan.arena.queue import progress_of
from malpan.competitions.errors import ManageNotFound
from malpan.core.models import AuditEntry
from tests.arena.panels import (
    ADDRESS,
    Panel,
    accept,
    draft_panel,
    invite,
    judges_of_units,
    open_panel,
    panel_at_work,
    person,
    standing,
)

pytestmark = pytest.mark.django_db


# --- removal ----------------------------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def made(kept: None) -> Panel:
    return panel_at_work()


@pytest.fixture
def panel(made: Panel) -> Panel:
    return copy.deepcopy(made)


def test_removed_judges_open_assignments_go_to_others_and_the_design_stays_even(panel):
    leaving = panel.judges[3]
    shown = panel.next(leaving)
    before, units = current_balance(panel.campaign), judges_of_units(panel)
    done = [row.pk for row in standing(panel, judge=leaving, state="done")]
    waiting = len(standing(panel, judge=leaving, state="open", kind="real"))

    moved = remove_judge(judge=leaving, actor=panel.organiser, reason="연락이 끊겼습니다.", now=panel.later())

    after = current_balance(panel.campaign)
    print(f"removed one of eight judges with {waiting} open real assignments: {moved} moved\n{before}\n{after}")
    assert moved >= waiting > 0
    assert judges_of_units(panel) == units  # every unit still has its two judges
    assert set(units.values()) == {2}
    assert (after.pairs, after.pair_assignments) == (before.pairs, before.pair_assignments)
    loads = Counter(row.judge_id for row in standing(panel, kind="real") if row.judge != leaving)
    assert max(loads.values()) - min(loads.values()) <= 1
    assert after.first_by_pair <= before.first_by_pair + 2
    shares = {"control": panel.campaign.control_percent / 100, "repeat": panel.campaign.repeat_percent / 100}
    for judge in panel.judges:
        if judge != leaving:
            kinds = Counter(row.kind for row in standing(panel, judge=judge) if row.kind != "calibration")
            for kind, share in shares.items():
                assert abs(kinds[kind] - share * kinds.total()) <= 1, (judge.label, kinds)
    # what was judged stays where it was
    assert [row.pk for row in standing(panel, judge=leaving)] == done
    shown.refresh_from_db()
    assert (shown.state, shown.void_reason) == ("void", "moved")
    left = Assignment.objects.filter(judge=leaving, state="void").exclude(kind="real")
    assert set(left.values_list("void_reason", flat=True)) <= {"judge_removed"}


def test_nobody_gets_a_unit_twice_or_loses_what_they_look_at(panel):
    shown = [panel.next(judge) for judge in panel.judges[1:]]
    remove_judge(judge=panel.judges[0], actor=panel.organiser, reason="까닭")

    for judge in panel.judges[1:]:
        own = [(row.item_id, frozenset(row.systems)) for row in standing(panel, judge=judge, kind="real")]
        assert len(own) == len(set(own))
    for row in shown:
        row.refresh_from_db()
        assert row.state == "open"


def test_repeats_and_controls_of_what_moved_are_whole(panel):
    for judge in panel.judges[:2]:
        remove_judge(judge=judge, actor=panel.organiser, reason="까닭", now=panel.later())

    rows = standing(panel)
    by_pk = {row.pk: row for row in rows}
    for row in rows:
        if row.kind == "repeat":
            first = by_pk[row.repeats_id]
            assert (first.judge_id, first.item_id) == (row.judge_id, row.item_id)
            assert first.position <= row.position - 10
            assert first.systems == row.systems[::-1]
        if row.kind == "control":
            assert row.bad_text
    panel.fill(lambda _assignment: {"choice": "tie"})
    assert set(judges_of_units(panel).values()) == {2}
    assert {row.state for row in standing(panel)} == {"done"}


def test_removal_that_would_lose_assignments_is_refused_until_that_is_accepted():
    panel = open_panel(judges=2)
    leaving = panel.judges[0]
    save = panel.next(leaving)
    JudgementDraft.objects.create(assignment=save, value={}, updated_at=panel.now)
    waiting = len(standing(panel, judge=leaving, kind="real"))

    with pytest.raises(NobodyCanTakeOver) as refusal:
        remove_judge(judge=leaving, actor=panel.organiser, reason="까닭")
    assert refusal.value.params == {"count": waiting}
    leaving.refresh_from_db()
    assert leaving.removed_at is None
    assert len(standing(panel, judge=leaving, kind="real")) == waiting

    assert remove_judge(judge=leaving, actor=panel.organiser, reason="까닭", accepts_loss=True) == 0
    assert standing(panel, judge=leaving) == []
    assert not JudgementDraft.objects.exists()
    entry = AuditEntry.objects.get(action="campaign_judge.remove")
    assert entry.after == {"reason": "까닭", "moved": 0, "lost": waiting}


def test_removing_twice_is_harmless_and_needs_a_reason(panel):
    judge = panel.judges[0]

    for reason in ("", "  ", "가" * 301):
        with pytest.raises(CampaignReasonMissing):
            remove_judge(judge=judge, actor=panel.organiser, reason=reason)
    assert remove_judge(judge=judge, actor=panel.organiser, reason="까닭") > 0
    assert remove_judge(judge=judge, actor=panel.organiser, reason="까닭") == 0
    assert AuditEntry.objects.filter(action="campaign_judge.remove").count() == 1
    with pytest.raises(JudgeRemoved):
        panel.next(judge)


def test_removed_before_the_opening_has_nothing_to_hand_over_and_cannot_accept():
    draft = draft_panel()
    judge = invite(draft)

    assert remove_judge(judge=judge, actor=draft.organiser, reason="까닭") == 0
    with pytest.raises(JudgeRemoved):
        accept(draft)


def test_judgements_of_a_removed_judge_stay(panel):
    count = Judgement.objects.count()

    remove_judge(judge=panel.judges[3], actor=panel.organiser, reason="까닭")

    assert Judgement.objects.count() == count


# --- late judges ------------------------------------------------------------------------------------------------------
def test_late_judge_gets_an_equal_share_with_practice_controls_and_repeats(panel):
    before, units = current_balance(panel.campaign), judges_of_units(panel)
    invite(panel)

    late = accept(panel)

    after = current_balance(panel.campaign)
    print(f"a ninth judge came:\n{before}\n{after}")
    own = standing(panel, judge=late)
    loads = Counter(row.judge_id for row in standing(panel, kind="real"))
    assert max(loads.values()) - min(loads.values()) <= 1
    assert judges_of_units(panel) == units
    assert (after.pairs, after.pair_assignments) == (before.pairs, before.pair_assignments)
    kinds = Counter(row.kind for row in own)
    assert kinds["calibration"] == panel.campaign.calibration_count
    assert kinds["real"] == loads[late.pk]
    assert kinds["control"] >= 1
    assert own[0].kind == "calibration"
    assert late.design_label == "D09"
    assert progress_of(late).total == len(own) - 1


def test_late_judge_can_do_the_whole_queue(panel):
    invite(panel)
    late = accept(panel)
    give_consent(
        judge=late, actor=late.user, rubric=panel.campaign.rubric, consent_version=consent_version_of(panel.campaign)
    )

    while panel.judge_next(late) is not None:
        pass

    assert progress_of(late).done == progress_of(late).total > 0


def test_late_judge_of_a_team_sees_nothing_of_it(panel):
    team = panel.systems[0].submission.team
    member = person(ADDRESS)
    team.memberships.create(user=member, competition=team.competition)
    invite(panel)

    late = accept(panel, member)

    assert JudgeBar.objects.get(judge=late).reason == "member"
    assert not [row for row in Assignment.objects.filter(judge=late) if "S01" in row.systems]
    assert len(standing(panel, judge=late, kind="real")) > 0


def test_late_judge_sees_nothing_of_a_near_institution_until_an_organiser_says_that_it_is_another(panel):
    CampaignSystem.objects.filter(pk=panel.systems[0].pk).update(institution="한국대 AI연구소")
    number = panel.systems[0].submission.team.number
    before = drawn(panel)
    late = invite(panel, institution="한국대학교")
    systems = list(panel.campaign.systems.select_related("submission__team"))
    assert [each.judge for each in near_pairs(panel.campaign, systems)] == [late], "asked before anybody accepts"

    late = accept(panel)
    assert [bar.reason for bar in late.bars.all()] == ["near"]
    assert not [row for row in Assignment.objects.filter(judge=late) if "S01" in row.systems]
    assert len(standing(panel, judge=late, kind="real")) > 0
    renew_bars(judge=late)
    assert [bar.reason for bar in late.bars.all()] == ["near"]

    for teams in ([number, 99], [panel.systems[1].submission.team.number]):
        with pytest.raises(TeamsNotNear):
            clear_institution(judge=late, actor=panel.organiser, team_numbers=teams)
    with pytest.raises(ManageNotFound):
        clear_institution(judge=late, actor=person("stranger@example.org"), team_numbers=[number])
    units = judges_of_units(panel)
    for _twice in range(2):
        clear_institution(judge=late, actor=panel.organiser, team_numbers=[number], now=panel.later())
    assert not late.bars.exists()
    assert near_pairs(panel.campaign, systems) == ()
    assert judges_of_units(panel) == units
    active = Counter(row.judge_id for row in standing(panel, kind="real"))
    assert max(active.values()) - min(active.values()) <= 1
    [entry] = AuditEntry.objects.filter(action="campaign_judge.clear")
    assert (entry.actor, entry.after) == (panel.organiser, {"cleared_teams": [number]})
    assert drawn(panel) == before, "what was committed at the opening is as it was"


def test_who_is_cleared_before_they_accept_gets_a_share_of_every_team(panel):
    CampaignSystem.objects.filter(pk=panel.systems[0].pk).update(institution="한국대 AI연구소")
    waiting = invite(panel, institution="한국대학교")
    number = panel.systems[0].submission.team.number
    clear_institution(judge=waiting, actor=panel.organiser, team_numbers=[number], now=panel.later())
    late = accept(panel)
    assert not late.bars.exists()
    assert [row for row in standing(panel, judge=late, kind="real") if "S01" in row.systems]


def drawn(panel):
    """The assignments of the opening, wherever they are now."""
    rows = Assignment.objects.filter(campaign=panel.campaign, created_at=panel.now).order_by("pk")
    return [(row.judge_id, row.position, row.item_id, tuple(row.systems), row.kind) for row in rows]


def test_late_judge_who_may_see_nothing_is_refused():
    panel = open_panel(systems=3)
    member = person(ADDRESS)
    for system in panel.systems[:2]:
        system.submission.submitted_by = member
        system.submission.save()
    invite(panel)

    with pytest.raises(JudgeBarredEverywhere):
        accept(panel, member)
    assert not CampaignJudge.objects.get(email=ADDRESS).is_active


def test_someone_comes_after_another_left_and_every_change_draws_anew(panel):
    units = judges_of_units(panel)

    remove_judge(judge=panel.judges[0], actor=panel.organiser, reason="까닭", now=panel.later())
    invite(panel)
    accept(panel)
    remove_judge(judge=panel.judges[1], actor=panel.organiser, reason="까닭", now=panel.later())

    assert judges_of_units(panel) == units
    active = Counter(row.judge_id for row in standing(panel, kind="real") if row.judge.is_active)
    print(f"loads after two left and one came: {sorted(active.values())}; {current_balance(panel.campaign)}")
    assert max(active.values()) - min(active.values()) <= 1
