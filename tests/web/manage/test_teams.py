"""The manage pages' team pages: who sees and does what there."""

from __future__ import annotations

import pytest
from django.test import Client
from django.utils import timezone

from malpan.competitions.models import CompetitionRole, Phase
from malpan.core.models import AuditEntry
from malpan.teams.models import Membership, Team
from tests.factories import CompetitionFactory, SubmissionFactory, TeamFactory, UserFactory, leader_of, person_in
from tests.web import html
from tests.web.conftest import client_of

Role = CompetitionRole.Role


def manage_address(phase: Phase, page: str = "") -> str:
    return f"/competitions/{phase.track.competition.slug}/manage/teams/{page}"


def client_in(phase: Phase, role: str) -> Client:
    return client_of(person_in(phase.track.competition, role))


@pytest.fixture
def organiser(phase: Phase) -> Client:
    return client_in(phase, Role.ORGANISER)


@pytest.fixture
def guest(team: Team) -> Membership:
    return Membership.objects.create(team=team, user=UserFactory.create(name="Lee"), competition=team.competition)


def test_list_names_every_team_with_members_submissions_and_state(phase: Phase, team: Team, organiser: Client) -> None:
    SubmissionFactory.create_batch(2, phase=phase, team=team)
    TeamFactory.create(competition=team.competition, name="Baseline", is_baseline=True)
    TeamFactory.create(competition=team.competition, name="Gone", merged_into=team)
    TeamFactory.create(competition=team.competition, name="Out", disqualified_at=timezone.now())
    TeamFactory.create(name="Of another competition")

    page = html.parse(organiser.get(manage_address(phase)).content.decode())

    lines = [row.text for row in page.one("tbody").all("tr")]
    assert len(lines) == 4
    assert "Team One Leader Kim 팀장 2 참가 중" in lines[0]
    assert "기준 모델" in lines[1]
    assert "합침 Team One" in lines[2]
    assert "실격" in lines[3]


def test_list_reads_a_fixed_number_of_queries(
    phase: Phase, team: Team, organiser: Client, django_assert_max_num_queries
) -> None:
    for _number in range(20):
        TeamFactory.create(competition=team.competition, members=2)
    with django_assert_max_num_queries(11):
        organiser.get(manage_address(phase))


def test_list_is_searched_by_name(phase: Phase, team: Team, organiser: Client) -> None:
    TeamFactory.create(competition=team.competition, name="Other")
    page = html.parse(organiser.get(manage_address(phase), {"q": "one"}).content.decode())
    assert [row.one("th").text for row in page.one("tbody").all("tr")] == ["Team One"]
    assert organiser.get(manage_address(phase), {"q": "\x00"}).status_code == 200
    assert "그런 이름의 팀이 없습니다" in organiser.get(manage_address(phase), {"q": "zzz"}).content.decode()


def test_a_hundred_stand_on_a_page_and_the_search_goes_on_to_the_next(phase: Phase, organiser: Client) -> None:
    teams = [Team(competition=phase.track.competition, name=f"Group {n}", number=n) for n in range(1, 103)]
    Team.objects.bulk_create(teams)
    TeamFactory.create(competition=phase.track.competition, name="Other")
    first = html.parse(organiser.get(manage_address(phase), {"q": "group"}).content.decode())
    assert len(first.one("tbody").all("tr")) == 100
    [link] = [each for each in first.one("nav", "paging").all("a") if each.attributes.get("rel") == "next"]
    second = html.parse(organiser.get(manage_address(phase) + link.attributes["href"]).content.decode())
    assert [row.one("th").text for row in second.one("tbody").all("tr")] == ["Group 101", "Group 102"]
    assert second.one("input", name="q").attributes["value"] == "group"


@pytest.mark.parametrize("role", [Role.VIEWER, Role.OPERATOR])
def test_who_only_looks_is_offered_no_form_and_refused_every_action(
    phase: Phase, team: Team, guest: Membership, role: str
) -> None:
    client = client_in(phase, role)
    page = html.parse(client.get(manage_address(phase, f"{team.number}/")).content.decode())
    assert page.one("main").all("form") == []
    for action, data in _actions(guest):
        assert client.post(manage_address(phase, f"{team.number}/{action}"), data).status_code == 403
    team.refresh_from_db()
    assert (team.name, team.disqualified_at, team.memberships.count()) == ("Team One", None, 2)


def _actions(guest: Membership) -> list[tuple[str, dict[str, str]]]:
    confirm = {"confirm": "on"}
    return [
        ("rename/", {"name": "New name"}),
        ("disqualify/", {"note_ko": "사유", **confirm}),
        ("reinstate/", confirm),
        (f"members/{guest.pk}/remove/", confirm),
        (f"members/{guest.pk}/hand-over/", confirm),
    ]


def test_people_without_a_role_here_find_no_such_page(
    phase: Phase, team: Team, guest: Membership, member: Client
) -> None:
    elsewhere = person_in(CompetitionFactory.create(), Role.OWNER)
    for client in (member, client_of(elsewhere)):
        assert client.get(manage_address(phase)).status_code == 404
        assert client.get(manage_address(phase, f"{team.number}/")).status_code == 404
        for action, data in _actions(guest):
            assert client.post(manage_address(phase, f"{team.number}/{action}"), data).status_code == 404
    team.refresh_from_db()
    assert (team.disqualified_at, team.memberships.count()) == (None, 2)


def test_team_and_member_of_another_competition_are_not_reached_by_number(phase: Phase, organiser: Client) -> None:
    own = TeamFactory.create(competition=phase.track.competition)
    other = TeamFactory.create(members=1)
    stranger = other.memberships.get(role=Membership.Role.MEMBER)
    missing = manage_address(phase, f"{own.number + 99}/")
    assert organiser.get(missing).status_code == 404
    assert organiser.post(missing + "disqualify/", {"note_ko": "사유", "confirm": "on"}).status_code == 404
    address = manage_address(phase, f"{own.number}/members/{stranger.pk}/remove/")
    assert organiser.post(address, {"confirm": "on"}).status_code == 403
    assert other.memberships.count() == 2


def test_organiser_disqualifies_with_a_public_note_and_reinstates(phase: Phase, team: Team, organiser: Client) -> None:
    address = manage_address(phase, f"{team.number}/")
    data = {"note_ko": "규정 위반", "note_en": "Broke a rule", "confirm": "on"}
    response = organiser.post(address + "disqualify/", data, follow=True)
    page = html.parse(response.content.decode())
    assert "규정 위반" in page.one("dl").text
    assert "팀을 실격시킴" in page.one("table").text
    team.refresh_from_db()
    assert team.disqualified_at is not None
    organiser.post(address + "reinstate/", {"reason": "이의 인정", "confirm": "on"})
    team.refresh_from_db()
    assert (team.disqualified_at, team.disqualification_note_ko) == (None, "")
    assert AuditEntry.objects.get(action="team.reinstate").after["reason"] == "이의 인정"


@pytest.mark.parametrize(
    ("data", "text"),
    [({"note_ko": "사유"}, "확인란에"), ({"confirm": "on"}, "사유를"), ({"confirm": "on", "note_ko": " "}, "사유를")],
)
def test_disqualifying_asks_for_the_note_and_the_box(
    phase: Phase, team: Team, organiser: Client, data: dict[str, str], text: str
) -> None:
    response = organiser.post(manage_address(phase, f"{team.number}/disqualify/"), data)
    assert response.status_code == 422
    assert text in html.parse(response.content.decode()).one("ul", "errorlist").text
    team.refresh_from_db()
    assert team.disqualified_at is None


def test_organiser_renames_a_team_and_reads_why_a_name_is_refused(phase: Phase, team: Team, organiser: Client) -> None:
    TeamFactory.create(competition=team.competition, name="Taken")
    address = manage_address(phase, f"{team.number}/rename/")
    refused = organiser.post(address, {"name": "Taken"})
    assert refused.status_code == 409
    assert "이미 쓰는 팀 이름" in refused.content.decode()
    organiser.post(address, {"name": "New name"})
    team.refresh_from_db()
    assert team.name == "New name"


def test_organiser_removes_a_member_and_appoints_a_leader(
    phase: Phase, team: Team, guest: Membership, organiser: Client
) -> None:
    former = team.memberships.get(role=Membership.Role.LEADER)
    address = manage_address(phase, f"{team.number}/members/")
    assert organiser.post(f"{address}{guest.pk}/hand-over/").status_code == 422
    organiser.post(f"{address}{guest.pk}/hand-over/", {"confirm": "on"})
    assert leader_of(team) == guest.user
    assert organiser.post(f"{address}{former.pk}/remove/").status_code == 422
    organiser.post(f"{address}{former.pk}/remove/", {"confirm": "on"})
    assert [each.user for each in team.memberships.all()] == [guest.user]


def test_leader_is_not_removed_and_the_page_says_why(phase: Phase, team: Team, organiser: Client) -> None:
    leader = team.memberships.get()
    address = manage_address(phase, f"{team.number}/members/{leader.pk}/remove/")
    response = organiser.post(address, {"confirm": "on"}, follow=True)
    assert "팀장을 넘긴 뒤에" in html.parse(response.content.decode()).one("div", "messages").text
    assert team.memberships.count() == 1


@pytest.mark.parametrize("action", ["rename/", "disqualify/", "reinstate/", "members/1/remove/"])
def test_actions_refuse_a_get(phase: Phase, team: Team, organiser: Client, action: str) -> None:
    assert organiser.get(manage_address(phase, f"{team.number}/{action}")).status_code == 405


# --- what only the admin could do before ------------------------------------------------------------------------------
def test_an_organiser_makes_a_team_for_somebody_and_reads_why_one_is_refused(phase: Phase, organiser: Client) -> None:
    leader = UserFactory.create()
    sent = {"name": "기준 모델", "email": leader.email.upper(), "is_baseline": "on"}

    made = organiser.post(manage_address(phase, "new/"), sent)
    again = organiser.post(manage_address(phase, "new/"), sent | {"name": "다른 팀"})
    unknown = organiser.post(manage_address(phase, "new/"), {"name": "셋째 팀", "email": "nobody@example.com"})

    team = Team.objects.get(name="기준 모델")
    assert made["Location"] == manage_address(phase, f"{team.number}/")
    assert (team.is_baseline, leader_of(team)) == (True, leader)
    assert AuditEntry.objects.get(action="team.create").actor.email != leader.email
    assert (again.status_code, unknown.status_code) == (409, 404)
    assert "이미 팀에 속해" in html.parse(again.content.decode()).one("ul", "errorlist").text
    assert "가입한 계정이 없습니다" in html.parse(unknown.content.decode()).one("ul", "errorlist").text
    assert html.problems(html.parse(unknown.content.decode())) == []


def test_a_team_becomes_one_of_the_baseline_and_competes_again(phase: Phase, team: Team, organiser: Client) -> None:
    address = manage_address(phase, f"{team.number}/baseline/")
    for sent, expected in (("1", True), ("1", True), ("0", False)):
        assert organiser.post(address, {"baseline": sent}).status_code == 302
        team.refresh_from_db()
        assert team.is_baseline is expected
    assert AuditEntry.objects.filter(action="team.mark_baseline").count() == 2


def test_a_team_that_sent_nothing_is_taken_out_and_another_is_not(phase: Phase, team: Team, organiser: Client) -> None:
    address = manage_address(phase, f"{team.number}/remove/")
    assert organiser.post(address).status_code == 422
    submission = SubmissionFactory.create(phase=phase, team=team, charged=False)
    refused = organiser.post(address, {"confirm": "on"})
    assert (refused.status_code, Team.objects.filter(pk=team.pk).exists()) == (409, True)
    submission.delete()

    assert organiser.post(address, {"confirm": "on"})["Location"] == manage_address(phase)

    assert not Team.objects.filter(pk=team.pk).exists()
    assert AuditEntry.objects.get(action="team.remove").before["name"] == team.name


@pytest.mark.parametrize("role", [Role.VIEWER, Role.OPERATOR])
def test_who_only_looks_makes_and_takes_out_no_team(phase: Phase, team: Team, role: str) -> None:
    access = client_in(phase, role)
    for page in ("new/", f"{team.number}/baseline/", f"{team.number}/remove/"):
        assert access.post(manage_address(phase, page), {"confirm": "on"}).status_code == 403
    assert Team.objects.filter(competition=team.competition).count() == 1
