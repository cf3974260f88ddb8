"""내 정보와 탈퇴: what a person reads before, the password again, and what everybody sees afterwards."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from django.core import mail
from django.core.cache import cache
from django.test import Client
from django.utils import timezone

from malpan.accounts.models import User
from malpan.accounts.services import create_api_token
from malpan.competitions import roles
from malpan.competitions.models import Phase
from malpan.privacy.erasing import erase
from malpan.privacy.holdings import SUBJECTS
from malpan.submissions.models import Rejection, Submission
from malpan.teams.models import Team
from tests.factories import PASSWORD, SubmissionFactory, TeamFactory, UserFactory, leader_of
from tests.web import html
from tests.web.conftest import Contest, client_of
from tests.web.matrix import declines
from tests.web.test_visibility_matrix import ASKS_IN_VAIN, addresses, routes, text_of
from tests.web.test_visibility_matrix import client_of as viewer_of
from tests.web.visibility_world import STATES, World, make

pytestmark = pytest.mark.django_db
NAME, EMAIL = "카나리아길동", "canary.person@example.com"
LOOKING = ("anonymous", "own team", "organiser")  # nobody else finds a page that none of them does
CLOSING = {"password": PASSWORD, "confirm": "on"}


def page_of(response: Any) -> html.Element:
    return html.parse(response.content.decode())


def person_with_address(**fields: Any) -> User:
    person = UserFactory.create(**fields)
    EmailAddress.objects.create(user=person, email=person.email, primary=True, verified=True)
    return person


def test_the_menu_leads_to_the_page_and_the_page_to_both(client: Client) -> None:
    client.force_login(person_with_address(email=EMAIL))
    assert "/account/" in [link.attributes["href"] for link in page_of(client.get("/")).all("a")]
    page = page_of(client.get("/account/"))
    assert EMAIL in page.text
    assert {"/account/export/", "/account/close/"} <= {link.attributes["href"] for link in page.all("a")}


SAID = {
    "ko": ("지워지는 것", "이름 없이 남는 것", "탈퇴한 사람"),
    "en": ("What is deleted", "What stays", "a former user"),
}


@pytest.mark.parametrize("language", SAID)
def test_the_page_says_what_goes_and_what_stays(client: Client, language: str) -> None:
    client.force_login(person_with_address())
    client.cookies["django_language"] = language
    text = page_of(client.get("/account/close/")).text
    assert [words for words in SAID[language] if words not in text] == []


def test_a_file_that_was_only_checked_is_called_so(phase: Phase, team: Team, client: Client) -> None:
    person = team.memberships.get().user
    Rejection.objects.create(
        phase=phase, team=team, submitted_by=person, file_name="a", file_size=1, errors=[], error_count=1,
        created_at=timezone.now(), is_check=True,
    )  # fmt: skip
    client.force_login(person)
    assert "반려되었거나 검사만 한 파일" in page_of(client.get("/account/close/")).text


def test_closing_takes_the_password_and_the_tick(client: Client) -> None:
    person = person_with_address()
    client.force_login(person)
    for missing in ({"password": "x" * 9}, {"password": ""}, {"confirm": ""}):
        assert client.post("/account/close/", CLOSING | missing).status_code == 422
    assert User.objects.get(pk=person.pk).erased_at is None

    answer = client.post("/account/close/", CLOSING, follow=True)

    assert "계정을 닫고 개인정보를 지웠습니다" in answer.content.decode()
    assert "_auth_user_id" not in client.session
    assert User.objects.get(pk=person.pk).erased_at is not None
    assert client.post("/account/close/", CLOSING).status_code == 302  # the second click is nobody's


def test_guesses_of_the_password_are_counted(client: Client) -> None:
    cache.clear()
    client.force_login(person_with_address())
    texts = [client.post("/account/close/", CLOSING | {"password": f"wrong-{n}"}).content.decode() for n in range(8)]
    assert "로그인에 여러 번 실패하여 잠시 막았습니다" in texts[-1]
    assert client.post("/account/close/", CLOSING).status_code == 422
    cache.clear()


def test_every_browser_of_the_person_is_logged_out_and_the_address_is_free(client: Client) -> None:
    person = person_with_address(email=EMAIL, name=NAME)
    client.force_login(person)
    other = client_of(person)
    client.post("/account/close/", CLOSING)
    assert other.get("/account/").status_code == 302
    answer = Client().post("/accounts/login/", {"login": EMAIL, "password": PASSWORD})
    assert "이메일 또는 비밀번호가 올바르지 않습니다" in answer.content.decode()
    form = {"name": NAME, "email": EMAIL, "password1": PASSWORD, "password2": PASSWORD, "privacy": "on"}
    Client().post("/accounts/signup/", form)
    assert User.objects.get(email=EMAIL).pk != person.pk


def test_a_leader_reads_where_to_hand_over(phase: Phase, client: Client) -> None:
    team = TeamFactory.create(competition=phase.track.competition, name="둘이서", members=1)
    client.force_login(leader_of(team))
    page = page_of(client.get("/account/close/"))
    notice = page.one("p", "notice")
    assert "‘둘이서’ 팀의 팀장이고" in notice.text
    assert notice.one("a").attributes["href"] == f"/competitions/{team.competition.slug}/team/"
    assert not [
        form
        for form in page.all("form")
        if form.attributes.get("action") is None and form.all("input", name="password")
    ]
    EmailAddress.objects.create(user=leader_of(team), email=leader_of(team).email, primary=True, verified=True)
    assert client.post("/account/close/", CLOSING).status_code == 409
    assert User.objects.get(pk=leader_of(team).pk).erased_at is None


def test_an_only_owner_reads_where_to_appoint_another(phase: Phase, client: Client) -> None:
    owner = person_with_address()
    roles.appoint(competition=phase.track.competition, user=owner, role="owner", actor=None)
    client.force_login(owner)
    link = page_of(client.get("/account/close/")).one("p", "notice").one("a")
    assert link.attributes["href"] == f"/competitions/{phase.track.competition.slug}/manage/roles/"
    assert client.post("/account/close/", CLOSING).status_code == 409


def test_the_page_says_what_becomes_of_each_team(phase: Phase, team: Team, client: Client) -> None:
    SubmissionFactory.create(phase=phase, team=team)
    client.force_login(leader_of(team))
    assert "혼자인 팀입니다. 제출과 순위는 그대로 남지만" in page_of(client.get("/account/close/")).text
    Submission.objects.all().update(team=TeamFactory.create(competition=team.competition))
    assert "팀을 없앱니다" in page_of(client.get("/account/close/")).text
    phase.ends_at = timezone.now()
    phase.save()
    assert "나는 ‘탈퇴한 사람’으로 보입니다" in page_of(client.get("/account/close/")).text


def test_the_last_mail_goes_to_the_address(client: Client, django_capture_on_commit_callbacks: Any) -> None:
    client.force_login(person_with_address(email=EMAIL))
    with django_capture_on_commit_callbacks(execute=True):
        client.post("/account/close/", CLOSING)
    assert [each.to for each in mail.outbox] == [[EMAIL]]


# --- afterwards -------------------------------------------------------------------------------------------------------
def test_the_team_sees_a_former_user(contest: Contest) -> None:
    colleague = UserFactory.create()
    contest.team.memberships.create(user=colleague, competition=contest.competition)
    erase(user=contest.leader, actor=None, force=True)
    text = client_of(colleague).get(contest.url("submissions/")).content.decode()
    assert "탈퇴한 사람" in text
    assert "Leader Kim" not in text


def test_no_page_and_no_answer_names_an_erased_person() -> None:
    """Every address of the site, as everybody who may look at the competition."""
    world = make(next(state for state in STATES if state.name == "published"))
    person = leader_of(world.teams["own"])
    User.objects.filter(pk=person.pk).update(name=NAME, email=EMAIL)
    person.refresh_from_db()
    EmailAddress.objects.filter(user=person).update(email=EMAIL)
    Submission.objects.filter(submitted_by=person).update(memo=f"{NAME} 드림")
    colleague = UserFactory.create()
    world.teams["own"].memberships.create(user=colleague, competition=world.competition)
    world.people["own team"], world.tokens["own team"] = colleague, create_api_token(user=colleague, label="x")[1]
    # of the own team, where there are several; not every view answers a GET
    places = {addresses(route, world)[0]: declines(pattern.callback, "GET") for route, pattern in routes()}
    before: set[str] = set()  # as many as show that a name would be found
    of_the_api_first = dict(sorted(places.items(), key=lambda place: "/api/" not in place[0]))
    for page in pages_that_name_the_person(world, of_the_api_first):
        before.add(page)
        if len(before) > 20 and any("/api/" in place for place in before):
            break
    assert len(before) > 20
    assert any("/api/" in place for place in before)

    erase(user=person, actor=person, force=True)

    cache.clear()
    assert list(pages_that_name_the_person(world, places)) == []


def pages_that_name_the_person(world: World, places: dict[str, bool]) -> Iterator[str]:
    """Of ``places``, each with whether its view declines to all alike: that is asked for by one of them."""
    administrator = Client()
    administrator.force_login(UserFactory.create(is_staff=True, is_superuser=True))
    viewers = {name: viewer_of(world, name) for name in LOOKING} | {"administrator": administrator}
    for (place, is_declined), (name, browser) in itertools.product(places.items(), viewers.items()):
        if is_declined and name != ASKS_IN_VAIN:
            continue
        if re.search(f"{NAME}|{EMAIL}", text_of(browser.get(place))):
            yield f"{name}: {place}"


def test_everybody_may_read_what_the_site_holds_and_for_how_long(client: Client, settings: Any) -> None:
    settings.RETENTION_REJECTION_DAYS, settings.RETENTION_INVITATION_DAYS = 45, 0
    settings.SITE_OPERATOR, settings.SITE_CONTACT = "말글 연구회", "privacy@example.org"
    page = client.get("/privacy/").content.decode()
    assert all(str(subject.what) in page for subject in SUBJECTS)
    assert "단계가 끝난 뒤 45일까지" in page
    assert "쓰거나 기한이 지난 뒤" not in page, "a site that keeps them says no number"
    assert "말글 연구회에서 책임집니다" in page
    assert 'href="mailto:privacy@example.org"' in page
    assert 'href="/privacy/"' in client.get("/accounts/signup/").content.decode()


def test_a_site_without_a_named_operator_names_none(client: Client) -> None:
    page = client.get("/privacy/").content.decode()
    assert "책임집니다" not in page
    assert "mailto:" not in page
