"""Numbers, leaving, handing over, removing, disqualifying: who may, when, and what is left of it."""

from datetime import timedelta

import pytest
from django.utils import timezone

from malpan.competitions.errors import ManageNotFound, NotAllowed
from malpan.competitions.models import CompetitionRole
from malpan.core.models import AuditEntry
from malpan.submissions.intake import submit
from malpan.teams import services
from malpan.teams.errors import (
    CompetitionOver,
    DisqualificationNoteInvalid,
    LastMemberCannotLeave,
    LeaderCannotLeave,
    NotTeamLeader,
    NotTeamMember,
    TeamDisqualified,
    TeamNameFinal,
    TeamNameInvalid,
    TeamNameTaken,
)
from malpan.teams.models import Membership, Team
from malpan.teams.selectors import disqualified_teams, require_in_good_standing, team_of
from tests.factories import (
    CompetitionFactory,
    PhaseFactory,
    SubmissionFactory,
    TeamFactory,
    UserFactory,
    leader_of,
    person_in,
    prediction_bytes,
    publish,
)
from tests.threads import at_once

pytestmark = pytest.mark.django_db


def member_of(team: Team):
    return team.memberships.filter(role=Membership.Role.MEMBER).first().user


def organiser_of(competition, role=CompetitionRole.Role.ORGANISER):
    return person_in(competition, role)


def ended_team(**fields) -> Team:
    """A team whose competition ended a minute ago."""
    now = timezone.now()
    phase = PhaseFactory.create(starts_at=now - timedelta(days=9), ends_at=now - timedelta(minutes=1))
    return TeamFactory.create(competition=phase.track.competition, **fields)


# --- numbers


def test_teams_are_numbered_from_one_in_each_competition():
    competition = CompetitionFactory.create()

    teams = [services.create_team(competition=competition, name=name, leader=UserFactory.create()) for name in "가나"]
    elsewhere = services.create_team(competition=CompetitionFactory.create(), name="가", leader=UserFactory.create())

    assert [team.number for team in teams] == [1, 2]
    assert elsewhere.number == 1


@pytest.mark.django_db(transaction=True)
def test_twenty_teams_made_at_once_are_numbered_one_to_twenty():
    competition, people = CompetitionFactory.create(), UserFactory.create_batch(20)

    at_once(
        [
            lambda n=n, user=user: services.create_team(competition=competition, name=f"팀 {n}", leader=user)
            for n, user in enumerate(people)
        ]
    )

    assert sorted(Team.objects.values_list("number", flat=True)) == list(range(1, 21))


# --- leaving


def test_member_leaves_and_may_found_another_team():
    team = TeamFactory.create(members=1)
    member = member_of(team)

    services.leave_team(team=team, user=member)

    assert team_of(member, team.competition) is None
    assert AuditEntry.objects.get(action="team.leave").actor == member
    services.create_team(competition=team.competition, name="다른 팀", leader=member)


def test_leader_cannot_leave_others_behind():
    team = TeamFactory.create(members=1)

    with pytest.raises(LeaderCannotLeave):
        services.leave_team(team=team, user=leader_of(team))


def test_team_whose_only_member_leaves_is_removed_with_its_invitations():
    team = TeamFactory.create()
    leader = leader_of(team)
    pk = team.pk

    services.leave_team(team=team, user=leader)

    assert not Team.objects.filter(pk=pk).exists()
    assert AuditEntry.objects.get(action="team.remove").object_id == str(pk)


def test_last_member_of_a_team_that_has_submitted_stays():
    submission = SubmissionFactory.create()
    team = submission.team

    with pytest.raises(LastMemberCannotLeave):
        services.leave_team(team=team, user=leader_of(team))

    assert team.memberships.count() == 1
    assert not AuditEntry.objects.filter(action="team.remove").exists()


def test_stranger_cannot_leave_a_team():
    with pytest.raises(NotTeamMember):
        services.leave_team(team=TeamFactory.create(), user=UserFactory.create())


def test_nobody_leaves_or_is_removed_after_the_last_phase_ended():
    team = ended_team(members=1)
    member = member_of(team)

    with pytest.raises(CompetitionOver):
        services.leave_team(team=team, user=member)
    with pytest.raises(CompetitionOver):
        services.remove_member(team=team, user=member, actor=leader_of(team))
    with pytest.raises(CompetitionOver):
        services.remove_member(team=team, user=member, actor=organiser_of(team.competition))


def test_people_may_leave_while_a_later_phase_is_to_come():
    team = ended_team(members=1)
    now = timezone.now()
    PhaseFactory.create(
        track__competition=team.competition, starts_at=now + timedelta(days=1), ends_at=now + timedelta(days=2)
    )

    member = member_of(team)
    services.leave_team(team=team, user=member)

    assert team_of(member, team.competition) is None


@pytest.mark.django_db(transaction=True)
def test_leader_and_member_leaving_at_once_leave_no_team_without_a_leader():
    team = TeamFactory.create(members=1)
    people = [leader_of(team), member_of(team)]

    at_once([lambda user=user: services.leave_team(team=team, user=user) for user in people])

    left = Membership.objects.filter(team_id=team.pk)
    assert not left.exists() or left.get().role == Membership.Role.LEADER


# --- handing over, removing


def test_leader_hands_over_and_is_a_member_then():
    team = TeamFactory.create(members=1)
    leader, member = leader_of(team), member_of(team)

    services.hand_over(team=team, to=member, actor=leader)

    assert leader_of(team) == member
    assert team.memberships.get(user=leader).role == Membership.Role.MEMBER
    entry = AuditEntry.objects.get(action="team.hand_over")
    assert (entry.before, entry.after) == ({"leader": leader.pk}, {"leader": member.pk})


def test_lead_goes_to_nobody_outside_the_team():
    team = TeamFactory.create()
    other = TeamFactory.create(competition=team.competition)

    with pytest.raises(NotTeamMember):
        services.hand_over(team=team, to=leader_of(other), actor=leader_of(team))


@pytest.mark.parametrize("role", [None, CompetitionRole.Role.OPERATOR])
def test_only_the_leader_or_who_manages_hands_over_and_removes(role):
    team = TeamFactory.create(members=2)
    first, second = (each.user for each in team.memberships.filter(role=Membership.Role.MEMBER))
    if role:
        CompetitionRole.objects.create(user=first, competition=team.competition, role=role)

    with pytest.raises(NotTeamLeader):
        services.hand_over(team=team, to=first, actor=first)
    with pytest.raises(NotTeamLeader):
        services.remove_member(team=team, user=second, actor=first)


def test_leader_of_another_team_removes_nobody():
    team = TeamFactory.create(members=1)
    other = TeamFactory.create(competition=team.competition)

    with pytest.raises(NotTeamLeader):
        services.remove_member(team=team, user=member_of(team), actor=leader_of(other))


def test_leader_removes_a_member_but_not_the_leader():
    team = TeamFactory.create(members=1)
    leader, member = leader_of(team), member_of(team)

    with pytest.raises(LeaderCannotLeave):
        services.remove_member(team=team, user=leader, actor=leader)
    services.remove_member(team=team, user=member, actor=leader)

    assert AuditEntry.objects.get(action="team.remove_member").before == {"user": member.pk}


@pytest.mark.django_db(transaction=True)
def test_two_hand_overs_at_once_leave_one_leader():
    team = TeamFactory.create(members=2)
    leader = leader_of(team)
    members = [each.user for each in team.memberships.filter(role=Membership.Role.MEMBER)]

    at_once([lambda to=to: services.hand_over(team=team, to=to, actor=leader) for to in members])

    assert team.memberships.filter(role=Membership.Role.LEADER).count() == 1


# --- disqualifying, renaming


def test_disqualified_team_cannot_submit_and_its_people_stay_until_it_is_reinstated():
    phase = PhaseFactory.create()
    publish(phase)
    team = TeamFactory.create(competition=phase.track.competition, members=1)
    leader, organiser = leader_of(team), organiser_of(team.competition)

    services.disqualify_team(team=team, actor=organiser, note_ko="규정 위반", note_en="Broke a rule")

    assert [each.disqualification_note_ko for each in disqualified_teams(team.competition)] == ["규정 위반"]
    with pytest.raises(TeamDisqualified):  # although the caller's row is old
        submit(phase=phase, team=team, user=leader, file_name="a.json", upload=prediction_bytes())
    with pytest.raises(TeamDisqualified):
        services.leave_team(team=team, user=member_of(team))
    with pytest.raises(TeamDisqualified):
        services.remove_member(team=team, user=member_of(team), actor=leader)

    services.reinstate_team(team=team, actor=organiser, reason="이의 인정")

    require_in_good_standing(team)
    assert not disqualified_teams(team.competition).exists()
    submit(phase=phase, team=team, user=leader, file_name="a.json", upload=prediction_bytes())
    entry = AuditEntry.objects.get(action="team.reinstate")
    assert (entry.before["disqualification_note_ko"], entry.after["reason"]) == ("규정 위반", "이의 인정")


def test_organiser_takes_a_person_out_of_a_disqualified_team():
    team = TeamFactory.create(members=1, disqualified_at=timezone.now())

    services.remove_member(team=team, user=member_of(team), actor=organiser_of(team.competition))

    assert team.memberships.count() == 1


def test_disqualifying_again_changes_the_note_and_keeps_the_moment():
    team = TeamFactory.create()
    organiser = organiser_of(team.competition)
    first = services.disqualify_team(team=team, actor=organiser, note_ko="처음").disqualified_at

    again = services.disqualify_team(team=team, actor=organiser, note_ko="고침")

    assert (again.disqualified_at, again.disqualification_note_ko) == (first, "고침")


@pytest.mark.parametrize("note", ["", "  ", "가" * 301])
def test_disqualification_has_a_public_note(note):
    team = TeamFactory.create()

    with pytest.raises(DisqualificationNoteInvalid):
        services.disqualify_team(team=team, actor=organiser_of(team.competition), note_ko=note)


def test_only_who_manages_the_very_competition_disqualifies_and_reinstates():
    team = TeamFactory.create()
    strangers = [leader_of(team), organiser_of(CompetitionFactory.create())]
    calls = [
        lambda user: services.disqualify_team(team=team, actor=user, note_ko="사유"),
        lambda user: services.reinstate_team(team=team, actor=user),
    ]
    for call in calls:
        for user in strangers:
            with pytest.raises(ManageNotFound):
                call(user)
        with pytest.raises(NotAllowed):
            call(organiser_of(team.competition, CompetitionRole.Role.OPERATOR))


def test_renamed_team_keeps_its_number_and_takes_no_name_of_another():
    team = TeamFactory.create(name="옛 이름")
    TeamFactory.create(competition=team.competition, name="있는 이름")
    organiser = organiser_of(team.competition)

    renamed = services.rename_team(team=team, name=" 새 이름 ", actor=organiser)

    assert (renamed.name, renamed.number) == ("새 이름", team.number)
    assert AuditEntry.objects.get(action="team.rename").before == {"name": "옛 이름"}
    with pytest.raises(TeamNameTaken):
        services.rename_team(team=team, name="있는 이름", actor=organiser)


def test_the_leader_renames_the_team_by_the_rules_of_its_first_name():
    team = TeamFactory.create(name="옛 이름", members=1)
    TeamFactory.create(competition=team.competition, name="한글 1팀")

    assert services.rename_team(team=team, name=" 새 이름 ", actor=leader_of(team)).name == "새 이름"

    entry = AuditEntry.objects.get(action="team.rename")
    assert (entry.actor, entry.before, entry.after) == (leader_of(team), {"name": "옛 이름"}, {"name": "새 이름"})
    with pytest.raises(TeamNameTaken):
        services.rename_team(team=team, name="한글 l팀", actor=leader_of(team))
    with pytest.raises(TeamNameInvalid):
        services.rename_team(team=team, name="가" * 61, actor=leader_of(team))
    others = [member_of(team), leader_of(TeamFactory.create(competition=team.competition))]
    others += [organiser_of(team.competition, CompetitionRole.Role.OPERATOR), organiser_of(CompetitionFactory.create())]
    for user in others:
        with pytest.raises(NotTeamLeader):
            services.rename_team(team=team, name="또 다른 이름", actor=user)


def test_the_leader_renames_no_team_after_the_end_a_final_board_or_a_disqualification():
    ended = ended_team()
    with pytest.raises(CompetitionOver):
        services.rename_team(team=ended, name="새 이름", actor=leader_of(ended))
    announced = TeamFactory.create()
    now = timezone.now()
    phase = PhaseFactory.create(track__competition=announced.competition, final_published_at=now)
    PhaseFactory.create(track=phase.track, ends_at=now + timedelta(days=9))
    with pytest.raises(TeamNameFinal):
        services.rename_team(team=announced, name="새 이름", actor=leader_of(announced))
    removed = TeamFactory.create(disqualified_at=now)
    with pytest.raises(TeamDisqualified):
        services.rename_team(team=removed, name="새 이름", actor=leader_of(removed))
    organiser = organiser_of(announced.competition)
    assert services.rename_team(team=announced, name="새 이름", actor=organiser).name == "새 이름"
