"""Requests with an ``Idempotency-Key`` are done once: again, with another body, after a refusal, and many at once."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from malpan.accounts.models import AnsweredRequest, ApiToken, Scope
from malpan.accounts.services import create_api_token
from malpan.api.documents import document
from malpan.api.routes import api
from malpan.competitions.models import CompetitionRole, DataFile, Notice
from malpan.privacy.retention import let_go
from malpan.submissions.models import QuotaEntry
from malpan.submissions.quota import services as quota
from tests.factories import PhaseFactory, TeamFactory, UserFactory, person_in, publish
from tests.threads import at_once

Role = CompetitionRole.Role
# what is not done once, and why
OF_THEIR_OWN = {"submit"}  # as long as there is the submission, by its file
CHANGE_NOTHING = {"checkFile", "rehearse", "planPanel", "previewStageTable"}
SECRETS = {"createInvitation", "createWebhook", "createCompetitionWebhook"}  # an answer that is not kept anywhere
FILES = {"downloadSubmission", "exportCompetition"}  # a file as the answer
LARGE = {"importCompetition"}  # whose slug is taken the second time


class World:
    def __init__(self) -> None:
        self.phase = PhaseFactory.create(total_limit=10)
        publish(self.phase)
        self.competition = self.phase.track.competition
        self.team = TeamFactory.create(competition=self.competition)
        self.person = UserFactory.create(is_superuser=True)
        self.client = self.with_token()

    def with_token(self) -> Client:
        _row, token = create_api_token(user=self.person, label="t", scopes=list(Scope))
        return Client(headers={"Authorization": f"Bearer {token}"})

    def grant(self, key: str, slots: int = 1, client: Client | None = None):
        address = reverse("grantSlots", args=[self.competition.slug, self.phase.pk, self.team.number])
        return self.post(address, {"slots": slots, "reason": "장애"}, key, client)

    def post(self, address, body, key: str, client: Client | None = None, **options):
        options = {"content_type": "application/json"} | options
        return (client or self.client).post(address, body, headers={"Idempotency-Key": key}, **options)


@pytest.fixture
def world(db) -> World:
    return World()


def test_sent_again_it_is_answered_alike_and_not_done_again(world):
    first, again = world.grant("a-1"), world.grant("a-1")
    assert (first.status_code, first.json()) == (again.status_code, again.json())
    assert ("Idempotency-Replayed" in first, again["Idempotency-Replayed"]) == (False, "true")
    assert QuotaEntry.objects.count() == 1
    assert (first.json()["granted_total"], world.grant("a-2").json()["granted_total"]) == (1, 2)
    assert QuotaEntry.objects.count() == 2


def test_another_request_under_the_key_is_refused_and_changes_nothing(world):
    world.grant("a-1")
    notices = reverse("listAllNotices", args=[world.competition.slug])
    for answer in (
        world.grant("a-1", slots=2),
        world.post(notices, {"title_ko": "공지", "body_ko": "본문"}, "a-1"),
    ):
        assert (answer.status_code, answer.json()["code"]) == (422, "idempotency_key_reused")
    assert (QuotaEntry.objects.count(), Notice.objects.count()) == (1, 0)


def test_a_key_is_of_one_token(world):
    world.grant("a-1")
    assert "Idempotency-Replayed" not in world.grant("a-1", client=world.with_token())
    assert QuotaEntry.objects.count() == 2


def test_an_answer_is_not_for_who_may_no_longer_ask(world):
    world.person = person_in(world.competition, Role.ORGANISER)
    role = CompetitionRole.objects.get(user=world.person)
    program = world.with_token()
    assert world.grant("a-1", client=program).status_code == 200
    assert world.grant("a-1", client=program)["Idempotency-Replayed"] == "true"
    role.role = Role.VIEWER
    role.save()
    assert world.grant("a-1", client=program).status_code == 403
    role.delete()
    assert world.grant("a-1", client=program).status_code == 404  # as for everybody without a role
    ApiToken.objects.filter(user=world.person).update(revoked_at=timezone.now())
    assert world.grant("a-1", client=program).status_code == 401
    assert QuotaEntry.objects.count() == 1


def test_a_made_competition_is_answered_again_to_who_may_make_some(world):
    def create():
        return world.post(reverse("api-competitions"), {"slug": "made", "title_ko": "대회"}, "a-1")

    assert [create().status_code, create().status_code] == [201, 201]
    world.person.is_superuser = False
    world.person.save()
    assert create().status_code == 403


def test_what_was_refused_may_be_sent_again_under_its_key(world):
    address = reverse("createTrack", args=[world.competition.slug])
    wrong = world.post(address, {"slug": world.phase.track.slug, "title_ko": "둘째", "recipe": "rag-qa@1"}, "a-1")
    assert wrong.status_code >= 400
    assert not AnsweredRequest.objects.exists()
    assert world.post(address, {"slug": "second", "title_ko": "둘째", "recipe": "rag-qa@1"}, "a-1").status_code == 201


def test_a_file_is_part_of_what_is_asked(world):
    address = reverse("addDataFile", args=[world.competition.slug, world.phase.track.slug])

    def send(data):
        headers = {"Idempotency-Key": "file-1"}
        body = {"kind": "sample", "title_ko": "예시", "file": SimpleUploadedFile("s.json", data)}
        return world.client.post(address, body, headers=headers)

    first, again, other = send(b"[1]"), send(b"[1]"), send(b"[2]")
    assert (first.status_code, again.status_code, other.status_code) == (201, 201, 422)
    assert first.json() == again.json()
    assert DataFile.objects.count() == 1


@pytest.mark.parametrize("key", ["k" * 65, "a\tb"])
def test_a_key_is_short_and_printable(world, key):
    answer = world.grant(key)
    assert (answer.status_code, answer.json()["code"]) == (400, "api_request_invalid")


def test_after_a_day_a_key_is_new_and_the_answer_goes(world):
    world.grant("a-1")
    AnsweredRequest.objects.update(created_at=timezone.now() - timedelta(hours=25))
    assert "Idempotency-Replayed" not in world.grant("a-1")
    assert QuotaEntry.objects.count() == 2
    let_go(now=timezone.now() + timedelta(hours=23))
    assert AnsweredRequest.objects.count() == 1
    let_go(now=timezone.now() + timedelta(hours=25))
    assert not AnsweredRequest.objects.exists()


def test_every_operation_that_changes_something_by_post_is_done_once_or_has_a_reason():
    posts = {each["post"]["operationId"]: each["post"] for each in document(api)["paths"].values() if "post" in each}
    without = {
        name
        for name, each in posts.items()
        if not any(parameter["name"] == "Idempotency-Key" for parameter in each["parameters"])
    }
    assert without | OF_THEIR_OWN == OF_THEIR_OWN | CHANGE_NOTHING | SECRETS | FILES | LARGE
    assert len(posts) > 80


@pytest.mark.django_db(transaction=True)
def test_a_hundred_requests_at_once_under_one_key_are_one_row():
    world = World()
    answers = at_once([lambda: world.grant("many") for _number in range(100)])
    assert {answer.status_code for answer in answers} == {200}
    assert len({answer.content for answer in answers}) == 1
    assert sum("Idempotency-Replayed" not in answer for answer in answers) == 1
    assert (QuotaEntry.objects.count(), AnsweredRequest.objects.count()) == (1, 1)


@pytest.mark.django_db(transaction=True)
def test_where_the_first_of_many_fails_another_one_does_it_once(monkeypatch):
    world, failed, grant = World(), [], quota.grant

    def first_fails(**options):
        if not failed:
            failed.append(True)
            raise RuntimeError("a defect of ours")
        return grant(**options)

    monkeypatch.setattr(quota, "grant", first_fails)
    world.client.raise_request_exception = False
    answers = at_once([lambda: world.grant("many") for _number in range(20)])
    assert sorted(answer.status_code for answer in answers)[-2:] == [200, 500]
    assert QuotaEntry.objects.count() == 1
