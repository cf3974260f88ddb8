"""Which systems a judge never sees: of the own team, now or ever, or of the own institution."""

from __future__ import annotations

import pytest
from allauth.account.models import EmailAddress

from malpan.accounts.models import User
from malpan.arena.bars import set_bars
from malpan.arena.models import CampaignJudge, JudgeBar
from malpan.core.models import AuditEntry
from malpan.teams.models import Membership, Team
from malpan.teams.services import leave_team
from tests.arena.bars.conftest import bars, team
from tests.factories import TeamFactory, UserFactory, leader_of

pytestmark = pytest.mark.django_db


def join(judge: CampaignJudge, of: Team) -> None:
    Membership.objects.create(team=of, user=judge.user, competition=of.competition, role="member")


# --- members ----------------------------------------------------------------------------------------------------------
def test_stranger_sees_everything(panel, judge):
    assert bars(panel, judge) == {}


def test_member_sees_nothing_of_the_own_team(panel, judge):
    join(judge, team(panel, 1))

    assert bars(panel, judge) == {1: "member"}


def test_who_was_a_member_once_sees_nothing_of_it(panel, judge):
    """By the log of joining and leaving: somebody who left before judging is still partial."""
    from malpan.teams.invitations import create_invitation, join_team

    own = team(panel)
    _row, token = create_invitation(team=own, actor=leader_of(own))
    join_team(token=token, user=judge.user)
    leave_team(team=own, user=judge.user)

    assert not own.memberships.filter(user=judge.user).exists()
    assert bars(panel, judge) == {0: "member"}


def test_who_sent_the_submission_sees_nothing_of_it(panel, judge):
    submission = panel.systems[2].submission
    submission.submitted_by = judge.user
    submission.save()

    assert bars(panel, judge) == {2: "member"}


def test_member_of_a_team_that_was_merged_in_sees_nothing_of_it(panel, judge):
    """Also through a third: A became a part of B, and B of the system's team."""
    competition = team(panel).competition
    second = TeamFactory.create(competition=competition, merged_into=team(panel, 3))
    first = TeamFactory.create(competition=competition, merged_into=second)
    AuditEntry.objects.create(
        actor=judge.user, person=judge.user, action="team.join", object_type="teams.team", object_id=str(first.pk)
    )

    assert bars(panel, judge) == {3: "member"}


def test_invited_person_without_an_account_is_barred_by_the_address_alone(panel):
    invited = CampaignJudge(campaign=panel.campaign, email="kim@lab.univ.ac.kr")
    leader = leader_of(team(panel))
    leader.email = "lee@univ.ac.kr"
    leader.save()

    assert bars(panel, invited) == {0: "institution"}


# --- institutions -----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("own", "other", "is_barred"),
    [
        ("한국대학교", "한국대학교", True),
        ("한국 대학교 ", "한국대학교", True),
        ("KOREA Univ.", "Korea univ.", True),
        ("Korea University", "KOREA  Univ.", True),
        ("㈜말판", "주식회사 말판", True),
        ("（주） 말판", "말판", True),
        ("Malpan Co., Ltd.", "malpan inc", True),
        ("말판·연구소", "말판연구소", True),
        ("한국대학교", "한국대학교 병원", False),
        ("한국대", "한국대학교", False),
        ("Co., Ltd.", "Inc.", False),
        ("", "", False),
    ],
)
def test_own_institution_whatever_case_and_spaces(panel, judge, own, other, is_barred):
    judge.institution = own
    panel.systems[0].institution = other
    panel.systems[0].save()

    assert bars(panel, judge) == ({0: "institution"} if is_barred else {})


@pytest.mark.parametrize(
    ("own", "other", "is_barred"),
    [
        ("a@univ.ac.kr", "b@univ.ac.kr", True),
        ("a@UNIV.ac.kr", "b@univ.ac.kr", True),
        ("a@cs.univ.ac.kr", "b@univ.ac.kr", True),
        ("a@univ.ac.kr", "b@nlp.cs.univ.ac.kr", True),
        ("a@other.ac.kr", "b@univ.ac.kr", False),
        ("a@myuniv.ac.kr", "b@univ.ac.kr", False),
        ("a@gmail.com", "b@gmail.com", False),
        ("a@naver.com", "b@naver.com", False),
    ],
)
def test_own_mail_host_unless_it_is_public(panel, judge, own, other, is_barred):
    judge.email = own
    leader = leader_of(team(panel, 1))
    leader.email = other
    leader.save()

    assert bars(panel, judge) == ({1: "institution"} if is_barred else {})


def test_every_verified_address_counts_and_no_other(panel, judge):
    leader = leader_of(team(panel))
    leader.email = "lee@univ.ac.kr"
    leader.save()
    address = EmailAddress.objects.create(user=judge.user, email="me@univ.ac.kr", verified=False)
    assert bars(panel, judge) == {}

    address.verified = True
    address.save()
    assert bars(panel, judge) == {0: "institution"}


def join_and_leave(own: Team, email: str) -> User:
    from malpan.teams.invitations import create_invitation, join_team

    _row, token = create_invitation(team=own, actor=leader_of(own))
    left = UserFactory.create(email=email)
    join_team(token=token, user=left)
    leave_team(team=own, user=left)
    return left


def test_every_verified_address_of_a_member_counts_and_of_who_was_one(panel, judge):
    """Not only the one that they log in with; also of a team that was merged in."""
    judge.email = "a@univ.ac.kr"
    leader = leader_of(team(panel))
    address = EmailAddress.objects.create(user=leader, email="lee@univ.ac.kr", verified=False)
    left = join_and_leave(team(panel, 1), "left@univ.ac.kr")
    merged = TeamFactory.create(competition=team(panel).competition, merged_into=team(panel, 2))
    EmailAddress.objects.create(user=leader_of(merged), email="park@cs.univ.ac.kr", verified=True)
    assert bars(panel, judge) == {1: "institution", 2: "institution"}

    address.verified = True
    address.save()
    assert bars(panel, judge) == {0: "institution", 1: "institution", 2: "institution"}

    left.email = "left@gmail.com"
    left.save()
    assert bars(panel, judge) == {0: "institution", 2: "institution"}
    EmailAddress.objects.create(user=left, email="left@nlp.univ.ac.kr", verified=True)
    assert bars(panel, judge) == {0: "institution", 1: "institution", 2: "institution"}


# --- stored -----------------------------------------------------------------------------------------------------------
def test_bars_are_written_anew_each_time(panel, judge):
    join(judge, team(panel))
    assert set_bars(judge=judge, systems=panel.systems) == {panel.systems[0].pk}

    panel.systems[0].submission.team = team(panel, 0)
    Membership.objects.filter(user=judge.user).delete()
    judge.declared_teams = [team(panel, 2).number]

    assert set_bars(judge=judge, systems=panel.systems) == {panel.systems[2].pk}
    assert JudgeBar.objects.get(judge=judge).reason == "declared"
