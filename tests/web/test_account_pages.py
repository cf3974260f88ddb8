"""Signing up, logging in and out, and the way back to a forgotten password, in the site's own words."""

from __future__ import annotations

import re
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from django.core import mail
from django.core.cache import cache
from django.test import Client

from malpan.accounts.models import User
from tests.factories import PASSWORD, UserFactory
from tests.web import html

NEW = {"name": "김말판", "email": "New@example.com", "password1": PASSWORD, "password2": PASSWORD, "privacy": "on"}

pytestmark = pytest.mark.django_db


def page_of(response: Any) -> html.Element:
    return html.parse(response.content.decode())


@pytest.fixture
def unverified(settings: Any) -> None:
    settings.ACCOUNT_EMAIL_VERIFICATION = "none"


def test_signing_up_ends_with_the_link_in_the_mail(client: Client) -> None:
    page = client.post("/accounts/signup/", NEW, follow=True).content.decode()
    assert "입력하신 주소로 확인 메일을 보냈습니다" in page
    assert "_auth_user_id" not in client.session
    link = re.search(r"http://127.0.0.1:8000(\S+)", mail.outbox[0].body)
    assert link is not None
    client.post(link[1])
    assert client.post("/accounts/login/", {"login": NEW["email"], "password": PASSWORD}).status_code == 302
    assert "_auth_user_id" in client.session


def link_of_the_mail() -> str:
    link = re.search(r"http://127.0.0.1:8000(\S+)", mail.outbox[-1].body)
    assert link is not None
    return link[1]


def test_signing_up_leads_back_to_where_one_came_from(client: Client) -> None:
    """Also in another browser, which has only the link of the mail."""
    client.post("/accounts/signup/", NEW | {"next": "/invitations/abc/?x=1"})
    elsewhere = Client()
    page = page_of(elsewhere.get(link_of_the_mail()))
    form = next(each for each in page.all("form") if "confirm-email" in each.attributes.get("action", ""))
    field = form.one("input", name="next").attributes["value"]
    log_in = elsewhere.post(form.attributes["action"], {"next": field})["Location"]
    assert log_in.startswith("/accounts/login/?next=")
    wanted = page_of(elsewhere.get(log_in)).one("form", "form").one("input", name="next").attributes["value"]
    assert wanted == "/invitations/abc/?x=1"
    entered = elsewhere.post("/accounts/login/", {"login": NEW["email"], "password": PASSWORD, "next": wanted})
    assert entered["Location"] == wanted


def test_logging_in_unconfirmed_sends_the_mail_again_with_the_way_back(client: Client) -> None:
    client.post("/accounts/signup/", NEW)
    cache.clear()  # of the limit of one mail in three minutes
    form = {"login": NEW["email"], "password": PASSWORD, "next": "/competitions/x/team/"}
    assert client.post("/accounts/login/", form)["Location"] == "/accounts/confirm-email/"
    assert len(mail.outbox) == 2
    assert "next=" in link_of_the_mail()
    assert "다시 받으려면" in client.get("/accounts/confirm-email/").content.decode()


@pytest.mark.parametrize("address", ["https://elsewhere.example/", "//elsewhere.example/", "javascript:alert(1)"])
def test_a_mail_leads_to_no_other_site(client: Client, address: str) -> None:
    client.post("/accounts/signup/", NEW | {"next": address})
    assert "next" not in link_of_the_mail()
    assert client.post(link_of_the_mail(), {"next": address})["Location"] == "/accounts/login/"


def test_nobody_learns_at_sign_up_who_has_an_account() -> None:
    """The answers are the same; only the mail, which its owner reads, says that there is an account."""
    UserFactory.create(email="taken@example.com")
    answers = []
    for email in ("taken@example.com", "free@example.com"):
        client = Client()
        answer = client.post("/accounts/signup/", NEW | {"email": email}, follow=True)
        answers.append((answer.redirect_chain, answer.status_code, answer.content.decode().replace(email, "")))
        assert "_auth_user_id" not in client.session
    assert answers[0] == answers[1]
    assert [message.to for message in mail.outbox] == [["taken@example.com"], ["free@example.com"]]
    assert User.objects.count() == 2


def test_where_mails_are_printed_the_page_says_so(client: Client, settings: Any) -> None:
    sentence = "메일은 사이트를 실행한 터미널에 나옵니다"
    assert sentence not in client.get("/accounts/confirm-email/").content.decode()
    settings.MAILS_ARE_PRINTED = True
    assert sentence in client.get("/accounts/confirm-email/").content.decode()


def test_without_verification_signing_up_keeps_the_name_and_logs_in(client: Client, unverified: None) -> None:
    response = client.post("/accounts/signup/", NEW, follow=True)
    person = User.objects.get()
    assert (person.name, person.email) == ("김말판", "new@example.com")
    assert page_of(response).one("span", "menu-name").text == "김말판"
    assert "김말판 님, 로그인되었습니다." in response.content.decode()


@pytest.mark.parametrize(
    ("change", "field", "text"),
    [
        ({"name": " "}, "name", "입력해 주십시오."),
        ({"email": "not-an-address"}, "email", "올바른 형식으로 입력해 주십시오."),
        ({"password2": "다른비밀번호입니다"}, "password2", "두 번 입력한 비밀번호가 다릅니다."),
        ({"password1": "12345678", "password2": "12345678"}, "password1", "숫자로 되어 있습니다"),
    ],
)
def test_what_is_wrong_stands_beside_its_field(client: Client, change: dict[str, str], field: str, text: str) -> None:
    page = page_of(client.post("/accounts/signup/", NEW | change))
    control = page.one("input", name=field)
    assert text in control.parent.one("ul", "errorlist").text
    assert control.attributes["aria-invalid"] == "true"
    assert User.objects.count() == 0


def test_without_verification_a_second_account_is_refused_in_our_words(client: Client, unverified: None) -> None:
    UserFactory.create(email="new@example.com")
    page = page_of(client.post("/accounts/signup/", NEW))
    assert "이미 가입된 이메일입니다" in page.one("ul", "errorlist").text


def test_a_wrong_password_does_not_say_which_of_the_two_is_wrong(client: Client) -> None:
    UserFactory.create(email="here@example.com")
    texts = {
        page_of(client.post("/accounts/login/", {"login": login, "password": "x" * 9})).one("div", "notice").text
        for login in ("here@example.com", "nobody@example.com")
    }
    assert texts == {"이메일 또는 비밀번호가 올바르지 않습니다. 다시 확인해 주십시오."}


def test_logging_in_returns_to_the_page_one_came_from(client: Client) -> None:
    person = UserFactory.create(email="here@example.com")
    EmailAddress.objects.create(user=person, email=person.email, primary=True, verified=True)
    page = page_of(client.get("/accounts/login/?next=/somewhere/"))
    assert page.one("form", "form").one("input", name="next").attributes["value"] == "/somewhere/"
    form = {"login": "here@example.com", "password": PASSWORD, "next": "/somewhere/"}
    assert client.post("/accounts/login/", form)["Location"] == "/somewhere/"


def test_logging_out_takes_a_post(client: Client) -> None:
    client.force_login(UserFactory.create())
    client.get("/accounts/logout/")
    assert "_auth_user_id" in client.session
    client.post("/accounts/logout/")
    assert "_auth_user_id" not in client.session


def test_a_forgotten_password_is_reset_by_the_link_in_the_mail(client: Client) -> None:
    UserFactory.create(email="here@example.com")
    client.post("/accounts/password/reset/", {"email": "here@example.com"})
    message = mail.outbox[0]
    link = re.search(r"http://127.0.0.1:8000(\S+)", message.body)
    assert link is not None
    assert message.subject == "[말판] 비밀번호를 다시 정하는 링크입니다"
    form = client.get(link[1], follow=True)
    address = form.redirect_chain[-1][0]
    client.post(address, {"password1": "새로운비밀번호열두글자", "password2": "새로운비밀번호열두글자"})
    assert User.objects.get().check_password("새로운비밀번호열두글자")


def test_a_reset_for_an_unknown_address_looks_the_same(client: Client) -> None:
    response = client.post("/accounts/password/reset/", {"email": "nobody@example.com"}, follow=True)
    assert response.redirect_chain[-1][0] == "/accounts/password/reset/done/"
    assert "이 주소로 가입한 계정이 없습니다" in mail.outbox[0].body


def test_mails_are_written_in_the_readers_language(client: Client) -> None:
    UserFactory.create(email="here@example.com")
    client.post("/accounts/password/reset/", {"email": "here@example.com"}, headers={"accept-language": "en"})
    assert mail.outbox[0].subject == "[Malpan] Reset your password"
    assert not re.search("[가-힣]", mail.outbox[0].body)


def test_too_many_failures_are_told_so(client: Client) -> None:
    UserFactory.create(email="here@example.com")
    form = {"login": "here@example.com", "password": "wrong password"}
    pages = [client.post("/accounts/login/", form).content.decode() for _ in range(12)]
    assert any("로그인에 여러 번 실패하여" in page or "요청이 너무 잦습니다" in page for page in pages)


def test_changing_the_password_asks_for_the_present_one(client: Client) -> None:
    client.force_login(UserFactory.create())
    form = {"oldpassword": "not this", "password1": "새로운비밀번호열두글자", "password2": "새로운비밀번호열두글자"}
    page = page_of(client.post("/accounts/password/change/", form))
    assert "지금 쓰는 비밀번호와 다릅니다" in page.one("ul", "errorlist").text


def test_links_in_mails_lead_to_the_site_whatever_host_was_asked(client: Client, settings: Any) -> None:
    settings.SITE_URL, settings.ALLOWED_HOSTS = "https://contest.example", ["*"]
    UserFactory.create(email="here@example.com")
    client.post("/accounts/password/reset/", {"email": "here@example.com"}, headers={"host": "evil.example:8080"})
    [message] = mail.outbox
    assert "https://contest.example/accounts/password/reset/key/" in message.body
    assert "evil.example" not in message.body


@pytest.mark.parametrize(("language", "link"), [("ko", "비밀번호 다시 정하기"), ("en", "Reset your password")])
def test_who_is_locked_out_is_told_the_way_back_in_by_mail(client: Client, language: str, link: str) -> None:
    guess = {"login": "here@example.com", "password": "x" * 9}
    for _ in range(6):
        answer = client.post("/accounts/login/", guess, headers={"accept-language": language})
    page = page_of(answer)
    assert link in page.one("div", "notice").text
    assert page.one("a", href="/accounts/password/reset/").text == link


def test_the_owner_is_back_in_by_mail_at_once_and_the_stranger_is_not(client: Client) -> None:
    person = UserFactory.create(email="here@example.com")
    EmailAddress.objects.create(user=person, email=person.email, primary=True, verified=True)
    owner, stranger = {"REMOTE_ADDR": "198.51.100.4"}, {"REMOTE_ADDR": "203.0.113.7"}
    new = "새로운비밀번호열두글자"
    guess, right = ({"login": "here@example.com", "password": password} for password in ("x" * 9, new))
    for _ in range(6):
        for address in (owner, stranger):
            answer = client.post("/accounts/login/", guess, **address)
            assert answer.status_code == 200
    client.post("/accounts/password/reset/", {"email": "here@example.com"}, **owner)
    link = re.search(r"http://127.0.0.1:8000(\S+)", mail.outbox[0].body)
    assert link is not None
    form = client.get(link[1], follow=True, **owner)
    client.post(form.redirect_chain[-1][0], {"password1": new, "password2": new}, **owner)

    refused = Client().post("/accounts/login/", right, **stranger)
    assert "로그인에 여러 번 실패하여 잠시 막았습니다" in refused.content.decode()
    assert Client().post("/accounts/login/", right, **owner).status_code == 302


def test_who_is_slowed_down_is_told_for_how_long_and_whose_failures_they_were(client: Client, settings: Any) -> None:
    settings.ACCOUNT_RATE_LIMITS = settings.ACCOUNT_RATE_LIMITS | {"login_failed": "5/5m/key,11/10m/ip"}
    one, other = ({"login": f"{name}@example.com", "password": "x" * 9} for name in ("one", "other"))
    school = {"REMOTE_ADDR": "203.0.113.9"}

    def notice(guess: dict[str, str]) -> str:
        return page_of(client.post("/accounts/login/", guess, **school)).one("div", "notice").text

    assert "이메일 또는 비밀번호가 올바르지 않습니다" in [notice(one) for _ in range(5)][-1]
    told = re.search(r"(\d+)초 뒤에", notice(one))
    assert told is not None
    assert 250 < int(told[1]) <= 300
    for number in range(6):
        notice({"login": f"{number}@example.com", "password": "x" * 9})
    text = notice(other)
    assert "이 계정의 비밀번호가 틀렸다는 뜻이 아닙니다" in text
    assert 500 < int(re.search(r"(\d+)초 뒤에", text)[1]) <= 600
    for _ in range(5):
        notice(other)
    assert "같은 네트워크에서" in notice(other), "what was refused is no failure of the account"


def test_who_guesses_a_password_locks_nobody_out_elsewhere(client: Client) -> None:
    UserFactory.create(email="here@example.com")
    guess, right = ({"login": "here@example.com", "password": password} for password in ("x" * 9, PASSWORD))
    texts = [client.post("/accounts/login/", guess, REMOTE_ADDR="203.0.113.7").content.decode() for _ in range(6)]
    assert "로그인에 여러 번 실패하여 잠시 막았습니다" in texts[-1]
    locked = client.post("/accounts/login/", right, REMOTE_ADDR="203.0.113.7")
    assert locked.status_code == 200
    assert client.post("/accounts/login/", right, REMOTE_ADDR="198.51.100.4").status_code == 302


def log_in(email: str, password: str) -> int:
    form = {"login": email, "password": password}
    return Client().post("/accounts/login/", form, REMOTE_ADDR="203.0.113.40").status_code


def test_in_a_school_mistakes_and_guesses_at_one_account_keep_nobody_else_out() -> None:
    """All have one address: 40 people each mistype once, one program guesses at one account, and the others log in."""
    cache.clear()
    person = UserFactory.create(email="pupil@example.com")
    EmailAddress.objects.create(user=person, email=person.email, primary=True, verified=True)
    for _ in range(18):
        assert log_in("guessed@example.com", "x" * 9) == 200
    for number in range(40):
        assert log_in(f"{number}@example.com", "x" * 9) == 200
    assert log_in(person.email, PASSWORD) == 302


def test_guessing_over_many_accounts_from_one_address_is_slow(settings: Any) -> None:
    cache.clear()
    settings.ACCOUNT_RATE_LIMITS = settings.ACCOUNT_RATE_LIMITS | {"login": "1000/m/ip"}
    person = UserFactory.create(email="pupil@example.com")
    EmailAddress.objects.create(user=person, email=person.email, primary=True, verified=True)
    for number in range(settings.LOGIN_FAILURES_PER_ADDRESS):
        log_in(f"{number}@example.com", "x" * 9)
    assert log_in(person.email, PASSWORD) == 200, "not even the right one is told"
