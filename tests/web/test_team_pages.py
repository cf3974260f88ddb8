"""Making a team, inviting, joining."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import Invitation, Membership, Team
from accounts.services import create_invitation
from competitions.models import Phase
from tests.factories import TeamFactory, UserFactory, leader_of
from tests.web import html
from tests.web.conftest import client_of


def page_of(client: Client, address: str) -> html.Element:
    return html.parse(client.get(address).content.decode())


def team_address(phase: Phase, action: str = "") -> str:
    return f"/competitions/{phase.track.competition.slug}/team/{action}"


def test_a_person_makes_a_team_and_leads_it(phase: Phase) -> None:
    client = client_of(UserFactory.create(name="이끔이"))
    response = client.post(team_address(phase, "create/"), {"name": "새 팀"}, follow=True)
    page = html.parse(response.content.decode())
    assert response.redirect_chain == [(team_address(phase), 302)]
    assert page.one("ul", "members").text.startswith("이끔이 팀장 나")


@pytest.mark.parametrize(("name", "text"), [("Team One", "이미 쓰는 팀 이름"), (" ", "입력해 주십시오")])
def test_a_refused_name_is_explained_beside_its_field(phase: Phase, team: Team, name: str, text: str) -> None:
    client = client_of(UserFactory.create())
    response = client.post(team_address(phase, "create/"), {"name": name})
    page = html.parse(response.content.decode())
    assert 400 <= response.status_code < 500
    assert text in page.one("ul", "errorlist").text
    assert page.one("input", name="name").attributes["value"].strip() == name.strip()


def test_a_second_team_in_the_competition_is_refused(phase: Phase, team: Team, member: Client) -> None:
    member.post(team_address(phase, "create/"), {"name": "둘째 팀"})
    assert Team.objects.count() == 1


def test_the_invitation_link_is_shown_once(phase: Phase, member: Client) -> None:
    response = member.post(team_address(phase, "invite/"), follow=True)
    box = html.parse(response.content.decode()).one("section", "copy-box")
    link = box.one("input").attributes["value"]
    assert re.fullmatch(r"http://testserver/invitations/[\w-]{20,}/", link)
    assert page_of(member, team_address(phase)).all("section", "copy-box") == []


def test_only_the_leader_can_invite(phase: Phase, team: Team) -> None:
    person = UserFactory.create()
    Membership.objects.create(team=team, user=person, competition=team.competition)
    client = client_of(person)
    assert page_of(client, team_address(phase)).all("form", "actions") == []
    client.post(team_address(phase, "invite/"))
    assert Invitation.objects.count() == 0


def test_opening_the_link_joins_nobody_and_the_button_does(phase: Phase, team: Team) -> None:
    _row, token = create_invitation(team=team, actor=leader_of(team))
    client = client_of(UserFactory.create())
    page = page_of(client, f"/invitations/{token}/")
    assert "Team One" in page.one("section", "card").text
    assert team.memberships.count() == 1
    response = client.post(f"/invitations/{token}/", follow=True)
    assert response.redirect_chain == [(team_address(phase), 302)]
    assert "‘Team One’ 팀에 들어갔습니다." in response.content.decode()
    assert team.memberships.count() == 2


def test_a_visitor_comes_back_to_the_invitation_after_logging_in(phase: Phase, team: Team) -> None:
    _row, token = create_invitation(team=team, actor=leader_of(team))
    page = page_of(Client(), f"/invitations/{token}/")
    links = [a.attributes["href"] for a in page.one("main").all("a", "button")]
    back = f"next=%2Finvitations%2F{token}%2F"
    assert links == [f"/accounts/login/?{back}", f"/accounts/signup/?{back}"]


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"used_at": timezone.now()}, "이미 사용한 초대 링크입니다"),
        ({"expires_at": timezone.now() - timedelta(days=1)}, "기한이 지난 초대 링크입니다"),
    ],
)
def test_a_dead_link_says_why_and_whom_to_ask(team: Team, change: dict[str, object], text: str) -> None:
    _row, token = create_invitation(team=team, actor=leader_of(team))
    Invitation.objects.update(**change)
    client = client_of(UserFactory.create())
    assert text in page_of(client, f"/invitations/{token}/").one("p", "notice").text
    page = html.parse(client.post(f"/invitations/{token}/", follow=True).content.decode())
    assert "팀장에게 새 링크를 요청해 주십시오" in page.one("div", "messages").text


def test_a_person_of_another_team_is_told_of_the_rule(team: Team) -> None:
    _row, token = create_invitation(team=team, actor=leader_of(team))
    other = TeamFactory.create(competition=team.competition, name="Other")
    page = page_of(client_of(leader_of(other)), f"/invitations/{token}/")
    assert "‘Other’ 팀으로 참가하고 있습니다" in page.one("p", "notice").text
    assert page.one("main").all("form") == []


def test_a_made_up_link_is_not_found(db: None) -> None:
    response = Client().get("/invitations/made-up/")
    assert response.status_code == 404
    assert "초대 링크가 올바르지 않습니다" in response.content.decode()


def test_a_full_team_does_not_offer_another_link(phase: Phase, team: Team, member: Client) -> None:
    phase.track.competition.team_size_max = 1
    phase.track.competition.save()
    page = page_of(member, team_address(phase))
    assert "팀 정원이 찼습니다" in page.text
    assert page.all("form", "actions") == []


@pytest.mark.parametrize("action", ["create/", "invite/"])
def test_the_writing_addresses_refuse_a_get(phase: Phase, member: Client, action: str) -> None:
    assert member.get(team_address(phase, action)).status_code == 405
