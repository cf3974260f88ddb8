"""What a plan would be refused for, told at once; nothing of it is done."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.contrib.auth.models import Permission
from django.test import Client

from malpan.accounts.models import Scope, User
from malpan.accounts.services import create_api_token
from malpan.competitions.models import Competition, CompetitionRole, Phase, Track
from malpan.competitions.roles import appoint
from malpan.core.models import AuditEntry
from tests.factories import PhaseFactory, UserFactory

pytestmark = pytest.mark.django_db

NEW = {"operation": "createCompetition", "values": {"slug": "spring", "title_ko": "봄 대회"}}
TRACK = {"operation": "createTrack", "track": "qa", "values": {"slug": "qa", "title_ko": "규범", "recipe": "rag-qa@1"}}
TIMES = {"starts_at": "2026-11-20T09:00:00+09:00", "ends_at": "2026-12-20T09:00:00+09:00"}
PHASE = {
    "operation": "createPhase",
    "track": "qa",
    "phase": "main",
    "values": {"slug": "main", "title_ko": "본선", **TIMES},
}


def but(step: dict[str, Any], **values: Any) -> dict[str, Any]:
    return {**step, "values": {**step["values"], **values}}


@pytest.fixture
def organiser() -> User:
    found = UserFactory.create()
    found.user_permissions.add(Permission.objects.get(codename="add_competition"))
    return found


def rehearse(person: User, *steps: dict[str, Any], slug: str = "spring", status: int = 200) -> Any:
    token = create_api_token(user=person, label="token", scopes=[Scope.ORGANISE])[1]
    headers = {"Authorization": f"Bearer {token}"}
    path = f"/api/v1/competitions/{slug}/manage/rehearsal/"
    answer = Client(headers=headers).post(path, json.dumps({"steps": steps}), content_type="application/json")
    assert answer.status_code == status, answer.content.decode()
    return [(each["step"], each["problem"]) for each in answer.json()["refusals"]] if status == 200 else answer.json()


def rows() -> tuple[int, ...]:
    """Of the tables that the steps write; a token is audited as well."""
    audited = AuditEntry.objects.exclude(action__startswith="api_token.").count()
    return (*(model.objects.count() for model in (Competition, Track, Phase)), audited)


def test_a_plan_without_faults_leaves_nothing_behind(organiser: User) -> None:
    before = rows()
    targets = {"operation": "setTargets", "track": "qa", "values": {"targets": []}}
    assert rehearse(organiser, NEW, TRACK, targets, PHASE, but(PHASE, slug="second")) == []
    assert rows() == before


def test_every_fault_is_told_with_its_step(organiser: User) -> None:
    before = rows()
    early = but(PHASE, ends_at="2026-11-19T09:00:00+09:00")
    unknown = but(TRACK, recipe="no-such@1", slug="other") | {"track": "other"}
    found = rehearse(organiser, NEW, TRACK, early, but(PHASE, daily_limit=-1, finals_limit="x"), unknown, PHASE, PHASE)
    assert [step for step, _problem in found] == [2, 3, 4, 6]
    by_step = dict(found)
    assert {each["field"] for each in by_step[3]["errors"]} == {"body.daily_limit", "body.finals_limit"}
    assert "no-such@1" in json.dumps(by_step[4], ensure_ascii=False)
    assert rows() == before


def test_below_what_cannot_be_made_only_values_are_looked_at(organiser: User) -> None:
    taken = PhaseFactory.create(track__competition__slug="spring").track.competition
    appoint(competition=taken, user=organiser, role=CompetitionRole.Role.OWNER, actor=None)
    found = rehearse(organiser, NEW, TRACK, but(PHASE, daily_limit=-1))
    assert [step for step, _problem in found] == [0, 2]
    unknown = but(TRACK, recipe="no-such@1")
    assert [step for step, _problem in rehearse(organiser, unknown, PHASE, but(PHASE, title_ko=""))] == [0, 2]


def test_what_is_there_is_changed_and_as_it_was_afterwards(organiser: User) -> None:
    phase = PhaseFactory.create(slug="main", title_ko="본선", track__slug="qa", track__competition__slug="spring")
    appoint(competition=phase.track.competition, user=organiser, role=CompetitionRole.Role.ORGANISER, actor=None)
    changed = {"operation": "updatePhase", "track": "qa", "phase": "main", "values": {"title_ko": "결선"}}
    assert rehearse(organiser, changed) == []
    phase.refresh_from_db()
    assert phase.title_ko == "본선"
    nowhere = {"operation": "updatePhase", "track": "qa", "phase": "third", "values": {"title_ko": "결선"}}
    without = {"operation": "updateTrack", "values": {"title_ko": "어느 트랙"}}
    codes = [problem["code"] for _step, problem in rehearse(organiser, nowhere, without)]
    assert codes == ["phase_not_found", "track_not_found"]


def test_nobody_learns_of_a_competition_that_is_not_theirs(organiser: User) -> None:
    PhaseFactory.create(track__competition__slug="spring", track__competition__is_published=False)
    theirs = rehearse(organiser, but(NEW, slug="spring"), status=404)
    assert theirs["code"] == rehearse(UserFactory.create(), TRACK, slug="none", status=404)["code"]
    assert rehearse(organiser, TRACK, slug="none", status=404)["code"] == theirs["code"]


def test_who_may_not_create_hears_the_same_of_every_address() -> None:
    PhaseFactory.create(track__competition__slug="spring", track__competition__is_published=False)
    person = UserFactory.create()
    there, nowhere = (rehearse(person, NEW, slug=slug, status=403) for slug in ("spring", "none"))
    assert there == nowhere
    assert there["code"] == "may_not_create"
    assert "사이트 관리자" in there["detail"]


@pytest.mark.parametrize("source", ["spring", "none"])
def test_who_may_not_create_learns_nothing_of_what_would_be_copied(source: str) -> None:
    PhaseFactory.create(track__competition__slug="spring", track__competition__is_published=False)
    token = create_api_token(user=UserFactory.create(), label="token", scopes=[Scope.ORGANISE])[1]
    body = json.dumps({"slug": "new", "title_ko": "대회", "copy_of": source})
    headers = {"Authorization": f"Bearer {token}"}
    answer = Client(headers=headers).post("/api/v1/competitions/", body, content_type="application/json")
    assert (answer.status_code, answer.json()["code"]) == (403, "may_not_create")


def test_values_are_refused_in_words(organiser: User) -> None:
    found = rehearse(
        organiser, but(NEW, slug="Spring Kontest!", title_ko=""), but(TRACK, slug="a b"), but(PHASE, slug="")
    )
    said = [{each["field"]: each["message"] for each in problem["errors"]} for _step, problem in found]
    assert said[0]["body.slug"] == "주소 이름에는 영문자, 숫자, -, _만 쓸 수 있습니다."
    assert said[0]["body.title_ko"] == "비워 둘 수 없습니다."
    assert said[1]["body.slug"] == said[0]["body.slug"]
    assert said[2]["body.slug"] == "비워 둘 수 없습니다."
    [(_step, long)] = rehearse(organiser, but(NEW, title_ko="가" * 200))
    assert long["errors"][0]["message"] == "120자 이하여야 합니다."
