"""A person's webhooks by the API alone: made, tried, heard, sent again, changed and removed."""

from __future__ import annotations

import json

import pytest
from django.test import Client

from malpan.accounts.models import Scope
from malpan.accounts.services import create_api_token
from malpan.competitions.roles import appoint
from malpan.notifications import endpoints, public_http, webhooks
from malpan.notifications.models import Endpoint, Letter
from malpan.notifications.signatures import secret_of
from tests.factories import CompetitionFactory, UserFactory
from tests.notifications.receiver import is_signed, listening

pytestmark = pytest.mark.django_db
PATH = "/api/v1/webhooks/"
NEW = {"url": "https://hooks.example.com/a?key=b", "events": ["scored", "notice"]}


@pytest.fixture
def client() -> Client:
    return client_of(UserFactory.create())


def client_of(person, *scopes) -> Client:
    token = create_api_token(user=person, label="t", scopes=[Scope.READ, *(scopes or (Scope.SUBMIT,))])[1]
    return Client(headers={"Authorization": f"Bearer {token}", "Accept-Language": "ko"})


def send(client, method, path="", body=None):
    return client.generic(method, PATH + path, json.dumps(body or {}), content_type="application/json")


def test_a_secret_is_told_once(client):
    made = send(client, "POST", body=NEW)
    assert made.status_code == 201
    secret = made.json().pop("secret")
    assert secret.startswith("whsec_")
    assert {name: made.json()[name] for name in (*NEW, "is_on")} == NEW | {"is_on": True}
    pk = made.json()["id"]
    for path in ("", f"{pk}/", f"{pk}/deliveries/"):
        assert secret not in client.get(PATH + path).content.decode()
    assert [each["id"] for each in client.get(PATH).json()["items"]] == [pk]


@pytest.mark.parametrize(("scope", "is_whole"), [(Scope.READ, False), (Scope.SUBMIT, True), (Scope.ORGANISE, True)])
def test_a_token_that_only_reads_sees_the_host_alone_as_the_rest_may_be_a_secret(scope, is_whole):
    person = UserFactory.create()
    pk = send(client_of(person), "POST", body=NEW | {"url": "https://hooks.example.com:8443/team/B1?key=b"}).json()[
        "id"
    ]
    asked = client_of(person, scope)
    listed, one = asked.get(PATH), asked.get(f"{PATH}{pk}/")
    for said in (listed.json()["items"][0], one.json()):
        assert said["url"] == (
            "https://hooks.example.com:8443/team/B1?key=b" if is_whole else "https://hooks.example.com:8443/…"
        )
    for answer in (listed, one):
        assert ("team/B1" in answer.content.decode()) == ("key=b" in answer.content.decode()) == is_whole


def test_a_program_makes_one_tries_it_and_has_it_sent_again(client, monkeypatch):
    monkeypatch.setattr(public_http, "is_public", lambda _address: True)
    made = send(client, "POST", body=NEW).json()
    with listening(lambda _key, before: 500 if before == 0 else 204) as receiver:
        Endpoint.objects.update(url=receiver.address)  # a loopback one has no TLS
        first, second = (send(client, "POST", f"{made['id']}/test/") for _ in range(2))
        assert (first.status_code, first.json()) == (202, second.json())
        webhooks.deliver_due()
        [failed] = client.get(f"{PATH}{made['id']}/deliveries/").json()["items"]
        assert (failed["state"], failed["error"], failed["attempts"]) == ("waiting", "HTTP 500", 1)
        assert failed["next_attempt_at"] is not None
        again = send(client, "POST", f"{made['id']}/deliveries/{failed['id']}/resend/")
        assert again.status_code == 202
        webhooks.deliver_due()
    [sent] = client.get(f"{PATH}{made['id']}/deliveries/").json()["items"]
    assert (sent["state"], sent["error"], sent["next_attempt_at"]) == ("sent", "", None)
    assert sent["webhook_id"] == failed["webhook_id"]
    assert receiver.calls == {sent["webhook_id"]: 2}
    assert is_signed(made["secret"], receiver.headers[-1], receiver.arrived[sent["webhook_id"]][0])


def test_it_is_changed_and_removed(client):
    pk = send(client, "POST", body=NEW).json()["id"]
    changed = send(client, "PATCH", f"{pk}/", {"events": ["rescored"], "is_on": False}).json()
    assert (changed["url"], changed["events"], changed["is_on"]) == (NEW["url"], ["rescored"], False)
    refused = send(client, "POST", f"{pk}/test/")
    assert (refused.status_code, refused.json()["code"]) == (409, "endpoint_off")
    assert send(client, "PATCH", f"{pk}/", {"is_on": True}).json()["off_at"] is None
    assert send(client, "DELETE", f"{pk}/").status_code == 204
    assert not Endpoint.objects.exists()


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        (NEW | {"url": "http://hooks.example.com/"}, 422, "endpoint_address_refused"),
        *(
            (NEW | {"url": f"https://{host}/"}, 422, "endpoint_address_private")
            for host in ("127.0.0.1", "10.0.0.1:8443", "192.168.1.1", "[::1]", "[fd00::1]", "localhost", "a.localhost")
        ),
        (NEW | {"events": []}, 422, "fields_invalid"),
        (NEW | {"events": ["of_tomorrow"]}, 422, "fields_invalid"),
        (NEW | {"url": "https://a.example/" + "a" * 500}, 422, "fields_invalid"),
        (NEW | {"person": 1}, 422, "fields_invalid"),
    ],
)
def test_a_refusal_is_a_problem(client, body, status, code):
    for method, path in (("POST", ""), ("PATCH", f"{send(client, 'POST', body=NEW).json()['id']}/")):
        refused = send(client, method, path, body)
        assert (refused.status_code, refused.json()["code"]) == (status, code)
        assert refused["Content-Type"].startswith("application/problem+json")
    assert set(Endpoint.objects.values_list("url", flat=True)) == {NEW["url"]}


def test_organisers_have_those_of_their_competition(client):
    """By the same requests; who may is in the matrix of operations."""
    competition, organiser = CompetitionFactory.create(), UserFactory.create()
    appoint(competition=competition, user=organiser, role="organiser", actor=None)
    token = create_api_token(user=organiser, label="t", scopes=[Scope.ORGANISE, Scope.READ])[1]
    theirs = Client(headers={"Authorization": f"Bearer {token}"})
    place = f"/api/v1/competitions/{competition.slug}/manage/webhooks/"

    def ask(method, path="", body=None):
        return theirs.generic(method, place + path, json.dumps(body or {}), content_type="application/json")

    refused = ask("POST", body=NEW)
    assert (refused.status_code, refused.json()["code"]) == (422, "fields_invalid"), "notice is none of theirs"
    made = ask("POST", body=NEW | {"events": ["question_asked"]}).json()
    pk = made["id"]
    assert made["secret"] == secret_of(Endpoint.objects.get())
    assert [each["id"] for each in ask("GET").json()["items"]] == [pk]
    assert theirs.get(PATH).json()["items"] == [], "they are nobody's own"
    tried = ask("POST", f"{pk}/test/").json()
    assert [each["id"] for each in ask("GET", f"{pk}/deliveries/").json()["items"]] == [tried["id"]]
    Letter.objects.update(state="failed")
    assert ask("POST", f"{pk}/deliveries/{tried['id']}/resend/").json()["state"] == "waiting"
    assert ask("PATCH", f"{pk}/", {"is_on": False, "url": "https://b.example/"}).json()["off_at"] is not None
    assert ask("GET", f"{pk}/").json()["url"] == "https://b.example/"
    own = send(client, "POST", body=NEW).json()["id"]
    for method, path in (("GET", f"{own}/"), ("DELETE", f"{own}/"), ("POST", f"{own}/test/")):
        assert ask(method, path).json()["code"] == "endpoint_not_found"
    assert ask("DELETE", f"{pk}/").status_code == 204
    assert [each.pk for each in Endpoint.objects.all()] == [own]


def test_so_many_and_no_more(client):
    for _ in range(endpoints.ENDPOINTS_MAX):
        assert send(client, "POST", body=NEW).status_code == 201
    refused = send(client, "POST", body=NEW)
    assert (refused.status_code, refused.json()["code"]) == (409, "too_many_endpoints"), "no waiting ends it"


def test_nobody_reaches_anothers(client):
    pk = send(client, "POST", body=NEW).json()["id"]
    delivery = send(client, "POST", f"{pk}/test/").json()["id"]
    stranger = client_of(UserFactory.create())
    own = send(stranger, "POST", body=NEW).json()["id"]
    for method, path in (
        *(("GET", f"{pk}/"), ("PATCH", f"{pk}/"), ("DELETE", f"{pk}/"), ("POST", f"{pk}/test/")),
        *(("GET", f"{pk}/deliveries/"), ("POST", f"{pk}/deliveries/{delivery}/resend/")),
        ("POST", f"{own}/deliveries/{delivery}/resend/"),
    ):
        answer = send(stranger, method, path)
        assert (answer.status_code, answer.json()["code"]) == (404, "endpoint_not_found"), (method, path)
    assert [each["id"] for each in stranger.get(PATH).json()["items"]] == [own]


def test_a_misspelled_event_is_named_with_the_known_ones(client):
    refused = send(client, "POST", body=NEW | {"events": ["scored", "notise"]}).json()
    [error] = refused["errors"]
    assert error["message"].startswith("이런 사건은 없습니다: notise. 있는 사건: ")
    assert "notice" in error["message"]


@pytest.mark.parametrize(
    ("error", "said"),
    [
        ("gaierror", "주소를 찾을 수 없습니다"),
        ("AddressRefused", "사설망의 주소라 보내지 않았습니다"),
        ("TimeoutError", "시간 안에"),
        ("ConnectionRefusedError", "연결을 거부"),
        ("SSLCertVerificationError", "인증서"),
        ("HTTP 500", "HTTP 500"),
        ("KeyError", "KeyError"),
        ("", ""),
    ],
)
def test_the_log_says_in_words_what_happened(client, error, said):
    pk = send(client, "POST", body=NEW).json()["id"]
    send(client, "POST", f"{pk}/test/")
    Letter.objects.update(error=error)
    [found] = send(client, "GET", f"{pk}/deliveries/").json()["items"]
    assert found["error"] == error
    assert said in found["reason"]
    assert bool(found["reason"]) == bool(error)
