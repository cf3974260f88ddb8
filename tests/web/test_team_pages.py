"""Making a team, inviting, joining."""

from __future__ import annotations

import re
from datetime import timedelta
from urllib.parse import urlencode

import pytest
from allauth.account.models import EmailAddress
from django.core import mail
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone

from malpan.competitions.models import Competition, Phase, TermsAcceptance
from malpan.core.models import AuditEntry
from malpan.submissions.models import Submission
from malpan.teams.invitations import create_invitation
from malpan.teams.merging import ask_merge
from malpan.teams.models import Invitation, Membership, MergeRequest, Team
from tests.factories import TeamFactory, UserFactory, finished_submission, leader_of, person_in, prediction_bytes
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
    submit = f"/competitions/{phase.track.competition.slug}/submit/"
    assert submit in [a.attributes["href"] for a in page.one("main").all("a")]


def test_the_team_page_leads_to_the_first_submission_alone(phase: Phase, team: Team, member: Client) -> None:
    assert "제출하러 가기" in page_of(member, team_address(phase)).text
    finished_submission(phase, team, 0.5)
    assert "제출하러 가기" not in page_of(member, team_address(phase)).text


@pytest.mark.parametrize(
    ("is_blind", "told"), [(False, "순위표에 이 이름으로 올라갑니다"), (True, "‘참가팀 3’처럼 번호로 보이고")]
)
def test_whoever_names_a_team_is_told_where_others_see_the_name(
    phase: Phase, member: Client, is_blind: bool, told: str
) -> None:
    Competition.objects.update(has_blind_names=is_blind)
    owner = client_of(person_in(phase.track.competition, "owner"))
    of_manage = f"/competitions/{phase.track.competition.slug}/manage/teams/"
    for client, address in (
        (client_of(UserFactory.create()), team_address(phase)),
        (member, team_address(phase)),
        (owner, f"{of_manage}new/"),
    ):
        text = client.get(address).content.decode()
        assert told in text
        assert ("순위표에 이 이름으로 올라갑니다" in text) != is_blind


@pytest.mark.parametrize(("name", "text"), [("Team One", "이미 쓰는 팀 이름"), (" ", "입력해 주십시오")])
def test_a_refused_name_is_explained_beside_its_field(phase: Phase, team: Team, name: str, text: str) -> None:
    client = client_of(UserFactory.create())
    response = client.post(team_address(phase, "create/"), {"name": name})
    page = html.parse(response.content.decode())
    assert 400 <= response.status_code < 500
    assert text in page.one("ul", "errorlist").text
    assert page.one("input", name="name").attributes["value"].strip() == name.strip()


def test_a_name_that_is_too_long_is_refused_and_not_cut(phase: Phase) -> None:
    client = client_of(UserFactory.create())
    field = page_of(client, team_address(phase)).one("input", name="name")
    assert "maxlength" not in field.attributes
    response = client.post(team_address(phase, "create/"), {"name": "가" * 61})
    page = html.parse(response.content.decode())
    assert page.one("ul", "errorlist").text == "팀 이름은 60자까지인데 61자입니다. 줄여 주십시오."
    assert page.one("input", name="name").attributes["value"] == "가" * 61
    assert not Team.objects.exists()


def test_the_leader_renames_the_team_and_reads_why_a_name_is_refused(phase: Phase, team: Team, member: Client) -> None:
    TeamFactory.create(competition=team.competition, name="있는 이름")
    refused = member.post(team_address(phase, "rename/"), {"name": "있는이름"})
    assert refused.status_code == 409
    assert "똑같아 보입니다" in html.parse(refused.content.decode()).one("ul", "errorlist").text
    page = html.parse(member.post(team_address(phase, "rename/"), {"name": "새 이름"}, follow=True).content.decode())
    assert page.one(id="members").text == "새 이름"


def test_the_name_is_not_offered_for_change_once_a_final_board_has_it(phase: Phase, team: Team, member: Client) -> None:
    assert "팀 이름 바꾸기" in page_of(member, team_address(phase)).text
    Phase.objects.filter(pk=phase.pk).update(final_published_at=timezone.now())
    assert "팀 이름 바꾸기" not in page_of(member, team_address(phase)).text


def test_a_second_team_in_the_competition_is_refused(phase: Phase, team: Team, member: Client) -> None:
    member.post(team_address(phase, "create/"), {"name": "둘째 팀"})
    assert Team.objects.count() == 1


def test_the_invitation_link_is_shown_once(phase: Phase, member: Client) -> None:
    response = member.post(team_address(phase, "invite/"), follow=True)
    box = html.parse(response.content.decode()).one("section", "copy-box")
    link = box.one("input").attributes["value"]
    assert re.fullmatch(r"http://127.0.0.1:8000/invitations/[\w-]{20,}/", link)
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
        ({"expires_at": timezone.now() - timedelta(days=1)}, "만료되었습니다"),
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
    assert "한 대회에는 한 팀으로만 참가할 수 있습니다" in page.one("p", "notice").text
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


# --- what people do in their team


@pytest.fixture
def guest_of(team: Team) -> Membership:
    """A member beside the leader."""
    person = UserFactory.create(name="Member Lee")
    return Membership.objects.create(team=team, user=person, competition=team.competition)


def confirmed(**fields: object) -> dict[str, object]:
    return {"confirm": "on", **fields}


def test_the_leader_mails_an_invitation_with_a_link_that_works(phase: Phase, team: Team, member: Client) -> None:
    guest = UserFactory.create(email="guest@example.com")
    EmailAddress.objects.create(user=guest, email=guest.email, verified=True)

    response = member.post(team_address(phase, "invite/email/"), {"email": guest.email}, follow=True)

    assert "guest@example.com 주소로 초대 메일을 보냈습니다." in response.content.decode()
    (link,) = set(re.findall(r"http://127.0.0.1:8000/invitations/[\w-]+/", mail.outbox[0].body))
    client_of(guest).post(link.removeprefix("http://127.0.0.1:8000"))
    assert team.memberships.filter(user=guest).exists()


def test_a_wrong_address_is_explained_beside_its_field(phase: Phase, member: Client) -> None:
    response = member.post(team_address(phase, "invite/email/"), {"email": "nobody"})
    page = html.parse(response.content.decode())
    assert response.status_code == 422
    assert "이메일 주소를 올바른 형식으로" in page.one("ul", "errorlist").text
    assert mail.outbox == []


def test_a_mailed_invitation_tells_another_person_so_without_the_whole_address(team: Team) -> None:
    _row, token = create_invitation(team=team, actor=leader_of(team), email="guest@example.com")
    response = client_of(UserFactory.create()).get(f"/invitations/{token}/")
    assert "guest@example.com" not in response.content.decode()
    page = html.parse(response.content.decode())
    assert "g***@example.com 주소로 보낸 것입니다" in page.one("p", "notice").text
    assert [form.attributes["action"] for form in page.one("main").all("form")] == ["/accounts/logout/"]


def test_the_leader_sees_open_invitations_and_revokes_one(phase: Phase, team: Team, member: Client) -> None:
    row, token = create_invitation(team=team, actor=leader_of(team), email="guest@example.com")
    assert "guest@example.com" in page_of(member, team_address(phase)).text
    member.post(team_address(phase, f"invitations/{row.pk}/revoke/"))
    assert "guest@example.com" not in page_of(member, team_address(phase)).text
    notice = page_of(client_of(UserFactory.create()), f"/invitations/{token}/").one("p", "notice").text
    assert "취소된 초대 링크입니다" in notice


def test_members_see_no_invitations(phase: Phase, team: Team, guest_of: Membership) -> None:
    create_invitation(team=team, actor=leader_of(team), email="guest@example.com")
    assert "guest@example.com" not in page_of(client_of(guest_of.user), team_address(phase)).text


def test_nothing_happens_without_the_box_ticked(phase: Phase, team: Team, guest_of: Membership, member: Client) -> None:
    for action in (f"members/{guest_of.pk}/remove/", f"members/{guest_of.pk}/hand-over/"):
        response = member.post(team_address(phase, action))
        assert response.status_code == 422
        assert "확인란에 표시해 주십시오" in html.parse(response.content.decode()).one("ul", "errorlist").text
    assert client_of(guest_of.user).post(team_address(phase, "leave/")).status_code == 422
    assert team.memberships.count() == 2
    assert leader_of(team).name == "Leader Kim"


def test_a_member_leaves(phase: Phase, team: Team, guest_of: Membership) -> None:
    response = client_of(guest_of.user).post(team_address(phase, "leave/"), confirmed(), follow=True)
    assert "‘Team One’ 팀에서 나왔습니다." in response.content.decode()
    assert team.memberships.count() == 1


def test_the_leader_hands_over_and_can_leave_then(
    phase: Phase, team: Team, guest_of: Membership, member: Client
) -> None:
    refused = member.post(team_address(phase, "leave/"), confirmed(), follow=True)
    assert "팀장을 넘긴 뒤에" in html.parse(refused.content.decode()).one("div", "messages").text
    member.post(team_address(phase, f"members/{guest_of.pk}/hand-over/"), confirmed())
    member.post(team_address(phase, "leave/"), confirmed())
    assert [each.user for each in team.memberships.all()] == [guest_of.user]
    assert leader_of(team) == guest_of.user


def test_the_leader_removes_a_member(phase: Phase, team: Team, guest_of: Membership, member: Client) -> None:
    member.post(team_address(phase, f"members/{guest_of.pk}/remove/"), confirmed())
    assert team.memberships.count() == 1


def test_another_teams_leader_reaches_nobody_and_nothing_here(phase: Phase, team: Team, guest_of: Membership) -> None:
    row, _token = create_invitation(team=team, actor=leader_of(team))
    third = TeamFactory.create(competition=team.competition)
    request = ask_merge(source=third, target=team, actor=leader_of(third))
    stranger = client_of(leader_of(TeamFactory.create(competition=team.competition, name="Other")))
    for action in (
        f"invitations/{row.pk}/revoke/",
        f"members/{guest_of.pk}/remove/",
        f"members/{guest_of.pk}/hand-over/",
        f"merge/{request.pk}/accept/",
        f"merge/{request.pk}/decline/",
        f"merge/{request.pk}/withdraw/",
        "members/99999999999999999999/remove/",
    ):
        stranger.post(team_address(phase, action), confirmed())
    row.refresh_from_db()
    request.refresh_from_db()
    assert (row.revoked_at, request.state) == (None, MergeRequest.State.OPEN)
    assert team.memberships.count() == 2
    assert leader_of(team).name == "Leader Kim"


def test_a_member_who_does_not_lead_can_do_none_of_the_leaders_things(
    phase: Phase, team: Team, guest_of: Membership
) -> None:
    row, _token = create_invitation(team=team, actor=leader_of(team))
    other = TeamFactory.create(competition=team.competition, name="Other")
    request = ask_merge(source=other, target=team, actor=leader_of(other))
    client = client_of(guest_of.user)
    page = page_of(client, team_address(phase))
    actions = {form.attributes.get("action", "") for form in page.one("main").all("form")}
    assert actions == {team_address(phase, "leave/")}
    for action in (
        "invite/email/",
        f"invitations/{row.pk}/revoke/",
        f"members/{guest_of.pk}/hand-over/",
        f"merge/{request.pk}/accept/",
        f"merge/{request.pk}/decline/",
        "merge/ask/",
    ):
        client.post(team_address(phase, action), confirmed(email="a@example.com", target="Other"))
    row.refresh_from_db()
    request.refresh_from_db()
    assert (row.revoked_at, request.state, mail.outbox) == (None, MergeRequest.State.OPEN, [])
    assert MergeRequest.objects.count() == 1
    assert leader_of(team).name == "Leader Kim"


def test_two_leaders_merge_their_teams_on_the_page(phase: Phase, team: Team, member: Client) -> None:
    other = TeamFactory.create(competition=team.competition, name="Other")
    asker, leader = client_of(leader_of(other)), member
    found = page_of(asker, team_address(phase) + "?merge=one")
    assert found.one("input", name="target").attributes["value"] == "Team One"
    asker.post(team_address(phase, "merge/ask/"), {"target": "Team One"})
    assert "‘Team One’ 팀의 답을 기다리고 있습니다" in page_of(asker, team_address(phase)).text
    request = MergeRequest.objects.get()
    accept = team_address(phase, f"merge/{request.pk}/accept/")
    assert accept in leader.get(team_address(phase)).content.decode()
    assert leader.post(accept).status_code == 422
    response = leader.post(accept, confirmed(), follow=True)
    assert "‘Other’ 팀과 합쳤습니다." in response.content.decode()
    assert "Team One" in page_of(asker, team_address(phase)).one("h2", "section-head").text
    assert team.memberships.count() == 2


def test_a_request_is_declined_and_withdrawn_on_the_page(phase: Phase, team: Team, member: Client) -> None:
    other = TeamFactory.create(competition=team.competition, name="Other")
    asker = client_of(leader_of(other))
    for client, answer in ((member, "decline"), (asker, "withdraw")):
        asker.post(team_address(phase, "merge/ask/"), {"target": "Team One"})
        request = MergeRequest.objects.get(state=MergeRequest.State.OPEN)
        client.post(team_address(phase, f"merge/{request.pk}/{answer}/"))
    assert not MergeRequest.objects.filter(state=MergeRequest.State.OPEN).exists()


def test_the_search_lists_no_names_while_they_are_blind(phase: Phase, team: Team, member: Client) -> None:
    Competition.objects.update(has_blind_names=True)
    TeamFactory.create(competition=team.competition, name="Secret Name")
    assert "Secret Name" not in page_of(member, team_address(phase) + "?merge=Secret").text
    assert "Secret Name" in page_of(member, team_address(phase) + "?merge=secret name").text
    assert f"참가팀 {team.number}" in page_of(member, team_address(phase)).text


def test_a_disqualified_team_reads_why(phase: Phase, team: Team, member: Client) -> None:
    Team.objects.update(disqualified_at=timezone.now(), disqualification_note_ko="규정 위반")
    page = page_of(member, team_address(phase))
    assert "규정 위반" in page.one("div", "notice").text
    assert page.one("main").all("form") == []


def test_nothing_is_offered_after_the_last_phase_ended(
    phase: Phase, team: Team, guest_of: Membership, member: Client
) -> None:
    Phase.objects.update(ends_at=timezone.now())
    page = page_of(member, team_address(phase))
    assert "대회가 끝나 팀 구성을 바꿀 수 없습니다" in page.text
    actions = [form.attributes["action"] for form in page.one("main").all("form")]
    paper = team_address(phase, "model/")  # a paper is written afterwards
    assert actions == [team_address(phase, f"members/{guest_of.pk}/hand-over/"), paper]


ACTIONS = ["invite/email/", "invitations/1/revoke/", "leave/", "members/1/remove/", "merge/ask/", "merge/1/accept/"]


@pytest.mark.parametrize("action", ACTIONS)
def test_actions_are_for_members_of_a_team_and_never_a_get(phase: Phase, member: Client, action: str) -> None:
    assert member.get(team_address(phase, action)).status_code == 405
    assert Client().post(team_address(phase, action)).status_code == 302
    assert client_of(UserFactory.create()).post(team_address(phase, action)).status_code == 403


# --- terms


@pytest.fixture
def terms(phase: Phase) -> str:
    Competition.objects.update(terms_version=1, terms_ko="**약관** 본문", terms_en="Terms")
    return f"/competitions/{phase.track.competition.slug}/terms/"


def test_making_a_team_leads_to_the_terms_and_back_with_the_name_that_was_typed(phase: Phase, terms: str) -> None:
    client = client_of(UserFactory.create())
    response = client.post(team_address(phase, "create/"), {"name": "새 팀"}, follow=True)
    back = f"{team_address(phase)}?{urlencode({'name': '새 팀'})}"
    assert response.redirect_chain == [(f"{terms}?{urlencode({'next': back})}", 302)]
    page = html.parse(response.content.decode())
    assert (
        page.one("div", "messages").text
        == "먼저 아래 참가 약관을 읽고 동의해 주십시오. 동의하면 하던 화면으로 돌아갑니다."
    )
    assert "약관 본문" in page.one("div", "prose").text
    accepted = client.post(terms, confirmed(version="1", next=back), follow=True)
    assert accepted.redirect_chain == [(back, 302)]
    assert html.parse(accepted.content.decode()).one("input", name="name").attributes["value"] == "새 팀"
    client.post(team_address(phase, "create/"), {"name": "새 팀"})
    assert Team.objects.filter(name="새 팀").exists()


def test_joining_leads_to_the_terms_and_back(phase: Phase, team: Team, terms: str) -> None:
    _row, token = create_invitation(team=team, actor=leader_of(team))
    client = client_of(UserFactory.create())
    response = client.post(f"/invitations/{token}/")
    assert response["Location"] == f"{terms}?next=%2Finvitations%2F{token}%2F"
    assert team.memberships.count() == 1


def test_submitting_leads_to_the_terms_and_every_page_says_so_before(phase: Phase, member: Client, terms: str) -> None:
    address = f"/competitions/{phase.track.competition.slug}/submit/"
    assert "참가 약관에 동의해야 파일을 제출할 수 있습니다" in page_of(member, address).one("p", "notice").text
    file = SimpleUploadedFile("a.json", prediction_bytes())
    response = member.post(address, {"file": file, "upload_key": "k"}, follow=True)
    assert response.redirect_chain[0][0].startswith(f"{terms}?next=")
    assert "올리던 파일은 접수하지 않았으니, 돌아가서 다시 골라 주십시오" in response.content.decode()
    assert Submission.objects.count() == 0


@pytest.mark.parametrize(
    ("data", "text"),
    [({"version": "1"}, "확인란에"), ({"confirm": "on", "version": "2"}, "1판으로"), ({"confirm": "on"}, "1판으로")],
)
def test_terms_are_accepted_by_the_box_and_in_the_version_that_was_read(
    terms: str, member: Client, data: dict[str, str], text: str
) -> None:
    response = member.post(terms, data)
    assert 400 <= response.status_code < 500
    assert text in html.parse(response.content.decode()).one("form", "card").text
    assert TermsAcceptance.objects.count() == 0


@pytest.mark.parametrize("address", ["https://evil.example/", "//evil.example/", "javascript:alert(1)"])
def test_terms_lead_to_no_other_site(phase: Phase, terms: str, member: Client, address: str) -> None:
    assert address not in member.get(terms, {"next": address}).content.decode()
    assert member.post(terms, confirmed(version="1", next=address))["Location"] == team_address(phase)


def test_terms_are_read_by_anybody_and_accepted_by_people_logged_in(terms: str, phase: Phase) -> None:
    assert page_of(Client(), terms).one("main").all("form") == []
    assert "/accounts/login/" in Client().post(terms, confirmed(version="1"))["Location"]


def test_a_competition_without_terms_has_no_such_page(phase: Phase) -> None:
    assert Client().get(f"/competitions/{phase.track.competition.slug}/terms/").status_code == 404


MODEL = {
    "model_name": " 말글  13 ",
    "model_size": "13B",
    "model_url": "https://example.com/model",
    "paper_url": "http://example.com/paper",
}


def test_the_leader_says_what_the_board_shows_of_the_model(phase: Phase, team: Team) -> None:
    finished_submission(phase, team, 0.5)
    board_address = f"/competitions/{phase.track.competition.slug}/board/"
    before = page_of(Client(), board_address).one("table", "board")
    assert before.all("details") == []
    response = client_of(leader_of(team)).post(team_address(phase, "model/"), MODEL, follow=True)
    assert "모델 정보를 저장했습니다" in response.content.decode()
    told = page_of(Client(), board_address).one("table", "board").one("details")
    assert told.one("summary").text == "말글 13"
    assert "13B" in told.text
    links = {link.attributes["href"]: link.attributes["rel"] for link in told.all("a")}
    assert links == dict.fromkeys((MODEL["model_url"], MODEL["paper_url"]), "nofollow ugc noreferrer")
    [row] = Client().get(
        f"/api/v1/competitions/{phase.track.competition.slug}/tracks/{phase.track.slug}/board/"
    ).json()["rows"] or [{}]
    assert row["model"] == {
        "name": "말글 13",
        "size": "13B",
        "url": MODEL["model_url"],
        "paper": MODEL["paper_url"],
    }
    entry = AuditEntry.objects.get(action="team.describe_model")
    assert entry.after["model_size"] == "13B"
    client_of(leader_of(team)).post(team_address(phase, "model/"), MODEL)
    assert AuditEntry.objects.filter(action="team.describe_model").count() == 1  # nothing changed


@pytest.mark.parametrize(
    "wrong",
    [
        {"model_url": "javascript:alert(1)"},
        {"paper_url": "ftp://example.com/paper"},
        {"model_url": f"https://example.com/{'x' * 300}"},
        {"model_name": "말\u200b글"},
        {"model_size": "x" * 41},
    ],
)
def test_a_model_that_cannot_be_shown_is_refused_at_its_field(phase: Phase, team: Team, wrong: dict[str, str]) -> None:
    response = client_of(leader_of(team)).post(team_address(phase, "model/"), MODEL | wrong)
    assert response.status_code == 422
    assert len(html.parse(response.content.decode()).all("ul", "errorlist")) == 1
    team.refresh_from_db()
    assert team.model_name == ""


def test_of_a_team_whose_name_is_blind_others_see_no_model(phase: Phase, team: Team) -> None:
    finished_submission(phase, team, 0.5)
    Team.objects.filter(pk=team.pk).update(model_name="말글")
    board_address = f"/competitions/{phase.track.competition.slug}/board/"
    assert "말글" in page_of(Client(), board_address).one("table", "board").text
    Competition.objects.update(has_blind_names=True)
    assert "말글" not in page_of(Client(), board_address).one("table", "board").text
    assert "말글" in page_of(client_of(leader_of(team)), board_address).one("table", "board").text


def test_a_member_who_does_not_lead_has_no_form_of_the_model(phase: Phase, team: Team) -> None:
    member = UserFactory.create()
    Membership.objects.create(team=team, user=member, competition=team.competition)
    client = client_of(member)
    assert team_address(phase, "model/") not in client.get(team_address(phase)).content.decode()
    client.post(team_address(phase, "model/"), MODEL)
    team.refresh_from_db()
    assert team.model_name == ""
