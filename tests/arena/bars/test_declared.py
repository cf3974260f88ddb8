"""Teams that a judge declares, before the opening and after it, and what comes to bar them later."""

from __future__ import annotations

import pytest
from allauth.account.models import EmailAddress

from malpan.arena.declaring import declare_bars
from malpan.arena.errors import (
    AssignmentVoid,
    CampaignNotOpen,
    CampaignReasonMissing,
    JudgeNotFound,
    TeamsUnknown,
    TooManyDeclared,
)
from malpan.arena.judges import bar_judge
from malpan.arena.models import Assignment, CampaignJudge
from malpan.arena.panel import current_balance
from malpan.arena.queue import current_assignment, newest_judgement
from malpan.competitions.errors import ManageNotFound
from malpan.core.models import AuditEntry
from malpan.teams.models import Team
from malpan.teams.services import rename_team
from tests.arena.bars.conftest import bars, team
from tests.arena.panels import open_panel, person
from tests.factories import TeamFactory, UserFactory, leader_of

pytestmark = pytest.mark.django_db


# --- declared ---------------------------------------------------------------------------------------------------------
def declare(judge: CampaignJudge, *teams: Team, **fields) -> None:
    given = {"actor": judge.user} | fields
    declare_bars(judge=judge, team_numbers=[each.number for each in teams], **given)
    judge.refresh_from_db()


def test_declared_before_the_opening_holds_for_systems_chosen_later(panel, judge):
    declare(judge, team(panel, 1))
    panel.systems[1].delete()
    panel.systems[1].pk = None
    panel.systems[1].save()  # chosen again: another row

    assert bars(panel, judge) == {1: "declared"}


def test_declaring_adds_and_an_unknown_number_is_nothing(panel, judge):
    declare(judge, team(panel, 1))
    declare(judge, team(panel, 0), team(panel, 1))
    declare_bars(judge=judge, actor=judge.user, team_numbers=[9999])
    judge.refresh_from_db()

    assert judge.declared_teams == sorted([team(panel, 0).number, team(panel, 1).number])
    entries = AuditEntry.objects.filter(action="campaign_judge.declare").order_by("pk")
    assert [entry.after["declared_teams"] for entry in entries] == [[team(panel, 1).number], [team(panel, 0).number]]


def test_a_team_is_declared_by_its_name_and_nothing_is_said_of_one_that_there_is_not(panel, judge):
    own = team(panel, 1)
    rename_team(team=own, actor=leader_of(own), name="Moon 7팀")
    declare_bars(judge=judge, actor=judge.user, team_names=["ＭＯＯＮ7팀", "없는 팀"])
    judge.refresh_from_db()
    assert judge.declared_teams == [own.number]


def test_another_person_declares_nothing(panel, judge):
    for actor in (panel.organiser, UserFactory.create()):
        with pytest.raises(JudgeNotFound):
            declare(judge, team(panel), actor=actor)


def test_closed_campaign_takes_no_declaration():
    panel = open_panel()
    panel.campaign.closed_at = panel.now
    panel.campaign.save()

    with pytest.raises(CampaignNotOpen):
        declare(panel.judges[0], team(panel))


def test_declared_after_the_opening_even_the_one_looked_at_moves_and_units_keep_their_judges():
    panel = open_panel(systems=5, judges=6, item_count=20)
    judge = panel.judges[0]
    panel.judge_next(judge)
    shown = panel.next(judge)
    known = next(row for row in panel.systems if row.label == shown.systems[0]).submission.team
    label = shown.systems[0]
    before = current_balance(panel.campaign)

    declare(judge, known)

    shown.refresh_from_db()
    assert shown.state == "void"
    rows = Assignment.objects.filter(judge=judge, state="open")
    assert not [row for row in rows if label in row.systems]
    assert rows.filter(state="open", kind="real").exists()  # others' took their place
    after = current_balance(panel.campaign)
    assert (after.assignments, after.pairs) == (before.assignments, before.pairs)
    assert max(after.loads) - min(after.loads) <= 1
    assert panel.next(judge) is not None


def test_what_nobody_else_can_take_is_void_and_the_judge_never_sees_it():
    panel = open_panel(judges=2)
    judge = panel.judges[0]

    for place in (0, 1):  # practice is of two of the four systems
        bar_judge(judge=judge, actor=panel.organiser, team_numbers=[team(panel, place).number], reason="지도 교수")

    lost = Assignment.objects.filter(judge=judge, state="void")
    assert set(lost.values_list("void_reason", flat=True)) == {"barred"}
    assert all({"S01", "S02"} & set(row.systems) for row in lost)
    entries = AuditEntry.objects.filter(action="campaign_judge.bar")
    assert sum(entry.after["lost"] for entry in entries) == lost.filter(kind="real").count() > 0
    seen = []
    while (assignment := panel.next(judge)) is not None:
        seen += assignment.systems
        panel.judge(assignment)
    assert set(seen) == {"S03", "S04"}


def test_who_has_seen_an_output_declares_two_teams_alone_and_an_organiser_the_others():
    panel = open_panel(systems=10, judges=6, item_count=20)
    judge = panel.judges[0]
    declare(judge, team(panel, 5))  # nothing was shown
    panel.next(judge)
    declare(judge, team(panel, 4), team(panel, 5))
    declare(judge, team(panel, 3))

    with pytest.raises(TooManyDeclared) as refused:
        declare(judge, team(panel, 2))

    assert refused.value.params == {"limit": 2}
    judge.refresh_from_db()
    assert (judge.declared_late, team(panel, 2).number in judge.declared_teams) == (2, False)
    with pytest.raises(ManageNotFound):
        bar_judge(judge=judge, actor=judge.user, team_numbers=[team(panel, 2).number], reason="지도 교수")
    with pytest.raises(CampaignReasonMissing):
        bar_judge(judge=judge, actor=panel.organiser, team_numbers=[team(panel, 2).number], reason=" ")

    bar_judge(judge=judge, actor=panel.organiser, team_numbers=[team(panel, 2).number], reason="지도 교수")

    judge.refresh_from_db()
    assert (judge.declared_late, team(panel, 2).number in judge.declared_teams) == (2, True)
    label = panel.systems[2].label
    assert not [row for row in panel.queue(judge, state="open") if label in row.systems]
    entry = AuditEntry.objects.get(action="campaign_judge.bar")
    assert (entry.actor, entry.after["reason"]) == (panel.organiser, "지도 교수")


@pytest.mark.parametrize(
    ("numbers", "names", "unknown"),
    [
        ([9999], [], "9999"),
        ([1, 9999, 8888], [], "9999, 8888"),
        ([], ["없는 팀"], "없는 팀"),
        ([9999], ["9999"], "9999"),
        ([1], ["1", "없는 팀"], "없는 팀"),
        ([77], ["077"], "077"),
    ],
)
def test_an_organiser_hears_of_teams_that_there_are_not_and_nobody_is_barred(panel, judge, numbers, names, unknown):
    number = {1: team(panel).number}
    numbers = [number.get(each, each) for each in numbers]
    names = [str(number[1]) if each == "1" else each for each in names]
    with pytest.raises(TeamsUnknown) as refused:
        bar_judge(judge=judge, actor=panel.organiser, team_numbers=numbers, team_names=names, reason="지도 교수")
    assert refused.value.params == {"teams": unknown}
    judge.refresh_from_db()
    assert judge.declared_teams == []


def test_an_organiser_bars_by_number_or_name_alike(panel, judge):
    Team.objects.filter(pk=team(panel, 1).pk).update(name="2025")
    Team.objects.filter(pk=team(panel, 2).pk).update(name="㈜ 고래")
    typed = [str(team(panel).number), "2025", "(주)고래"]
    bar_judge(
        judge=judge, actor=panel.organiser, team_numbers=[team(panel).number, 2025], team_names=typed, reason="지도"
    )
    judge.refresh_from_db()
    assert judge.declared_teams == sorted(team(panel, place).number for place in range(3))


def test_public_hosts_are_lower_case_and_hosts():
    from malpan.arena.bars import PUBLIC_HOSTS

    assert all(host == host.lower() and "." in host and "@" not in host for host in PUBLIC_HOSTS)
    assert person("x@example.com").email.rpartition("@")[2] in PUBLIC_HOSTS


# --- what changes after the opening -----------------------------------------------------------------------------------
def join_by_invitation(judge: CampaignJudge, own: Team) -> None:
    from malpan.teams.invitations import create_invitation, join_team

    _row, token = create_invitation(team=own, actor=leader_of(own))
    join_team(token=token, user=judge.user)


def verify_address(judge: CampaignJudge, own: Team) -> None:
    leader = leader_of(own)
    leader.email = "lee@univ.ac.kr"
    leader.save()
    EmailAddress.objects.create(user=judge.user, email="me@univ.ac.kr", verified=True)


def merge_own_team(judge: CampaignJudge, own: Team) -> None:
    TeamFactory.create(competition=own.competition, leader=judge.user, merged_into=own)


@pytest.mark.parametrize("change", [join_by_invitation, verify_address, merge_own_team])
def test_who_comes_to_belong_to_a_team_after_the_opening_judges_no_more_of_it(change):
    panel = open_panel(systems=5, judges=6, item_count=20, calibration_count=0)
    judge = panel.judges[0]
    panel.judge_next(judge)
    shown = panel.next(judge)
    label = shown.systems[0]
    own = next(row for row in panel.systems if row.label == label).submission.team
    before = current_balance(panel.campaign)

    change(judge, own)

    assert current_assignment(judge) is None
    with pytest.raises(AssignmentVoid):
        panel.judge(shown)
    assert label not in panel.next(judge).systems
    shown.refresh_from_db()
    assert shown.state == "void"
    assert not [row for row in panel.queue(judge, state="open") if label in row.systems]
    after = current_balance(panel.campaign)
    assert (after.assignments, after.pairs) == (before.assignments, before.pairs)
    [entry] = AuditEntry.objects.filter(action="campaign_judge.bar")
    assert entry.after["moved"] > 0 == entry.after["lost"]
    panel.next(judge)
    assert AuditEntry.objects.filter(action="campaign_judge.bar").count() == 1


def test_what_was_judged_of_a_team_declared_later_stays_and_is_not_corrected():
    panel = open_panel(systems=5, judges=6, item_count=20, calibration_count=0)
    judge = panel.judges[0]
    done = panel.next(judge)
    first = panel.judge(done)

    declare(judge, next(row for row in panel.systems if row.label == done.systems[1]).submission.team)

    with pytest.raises(AssignmentVoid):
        panel.judge(done, {"choice": "tie", "reasons": []}, expected_number=1)
    done.refresh_from_db()
    assert done.state == "done"
    assert newest_judgement(done) == first
