"""A baseline in one form: no second account, nobody in its team, a row on the board without a rank."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone

from malpan.competitions.models import Phase
from malpan.core.models import AuditEntry
from malpan.submissions.errors import PhaseNotOpen
from malpan.submissions.intake import submit
from malpan.submissions.models import Submission
from malpan.teams.errors import NotTeamMember
from malpan.teams.models import Membership, Team
from tests.factories import TeamFactory, UserFactory, person_in, prediction_bytes
from tests.web import html
from tests.web.conftest import client_of


def address(phase: Phase) -> str:
    return f"/competitions/{phase.track.competition.slug}/manage/teams/baseline/"


@pytest.fixture
def organiser(phase: Phase) -> Client:
    return client_of(person_in(phase.track.competition, "organiser"))


def send(client: Client, phase: Phase, data: bytes | None = None, **fields: Any) -> Any:
    file = SimpleUploadedFile("gpt.json", prediction_bytes() if data is None else data)
    return client.post(address(phase), {"name": "KoGPT 기준", "phase": phase.pk, "file": file, **fields})


def end(phase: Phase) -> None:
    phase.ends_at = timezone.now()
    phase.save()


def page_of(response: Any) -> html.Element:
    page = html.parse(response.content.decode())
    assert html.problems(page) == []
    return page


def test_one_form_makes_the_team_and_submits(phase: Phase, organiser: Client) -> None:
    form = page_of(organiser.get(address(phase))).one("form", "manage-form")
    assert form.attributes["enctype"] == "multipart/form-data"
    response = send(organiser, phase, memo="3-shot")
    team, submission = Team.objects.get(name="KoGPT 기준"), Submission.objects.get()
    assert team.is_baseline
    assert not Membership.objects.filter(team=team).exists()
    assert (submission.team, submission.memo) == (team, "3-shot")
    assert response["Location"].endswith(f"/manage/submissions/{submission.public_id}/")
    entry = AuditEntry.objects.get(action="team.create")
    assert entry.after == {"name": "KoGPT 기준", "number": team.number, "is_baseline": True}
    shown = page_of(organiser.get(f"/competitions/{phase.track.competition.slug}/manage/teams/{team.number}/"))
    assert "운영자가 올리는 기준 모델이라 구성원이 없습니다." in shown.text
    assert page_of(organiser.get(response["Location"])).one("h1")


def test_the_name_of_a_baseline_is_a_new_submission_of_it(phase: Phase, organiser: Client) -> None:
    send(organiser, phase)
    assert send(organiser, phase, prediction_bytes(mark="2")).status_code == 302
    assert Team.objects.filter(is_baseline=True).count() == 1
    assert Submission.objects.count() == 2


def test_the_name_of_a_team_that_competes_is_refused(phase: Phase, team: Team, organiser: Client) -> None:
    response = send(organiser, phase, name=team.name)
    assert response.status_code == 409
    assert page_of(response).one("input", name="name").attributes["aria-invalid"] == "true"
    assert not Submission.objects.exists()


def test_a_bad_file_comes_back_with_its_places_and_makes_no_baseline(phase: Phase, organiser: Client) -> None:
    response = send(organiser, phase, b"[]", memo="3-shot")
    assert response.status_code == 422
    page = page_of(response)
    assert page.one("div", "error-table").all("tr")
    assert "아래" not in page.one("ul", "errorlist").text, "the table stands above the form"
    assert [page.one("input", name=name).attributes["value"] for name in ("name", "memo")] == ["KoGPT 기준", "3-shot"]
    assert not Submission.objects.exists()
    assert not Team.objects.exists()
    assert not AuditEntry.objects.filter(action="team.create").exists()
    assert send(organiser, phase).status_code == 302  # under the same name, once it is mended


def test_two_presses_of_the_button_submit_once(phase: Phase, organiser: Client) -> None:
    send(organiser, phase, upload_key="k")
    assert send(organiser, phase, upload_key="k").status_code == 409
    assert Submission.objects.count() == 1


def test_no_phase_is_open(phase: Phase, organiser: Client) -> None:
    end(phase)
    page = page_of(organiser.get(address(phase)))
    assert not page.all("form", "manage-form")
    assert "지금 제출을 받는 단계가 없습니다" in page.text
    assert send(organiser, phase).status_code == 422


def test_only_who_manages_submits_for_a_baseline_and_only_for_one(phase: Phase, team: Team) -> None:
    baseline = TeamFactory.create(competition=team.competition, is_baseline=True)
    file = {"phase": phase, "file_name": "a.json", "upload": prediction_bytes()}
    operator, organiser = (person_in(team.competition, role) for role in ("operator", "organiser"))
    for person in (operator, UserFactory.create()):
        with pytest.raises(NotTeamMember):
            submit(team=baseline, user=person, **file)
    with pytest.raises(NotTeamMember):
        submit(team=team, user=organiser, **file)
    assert submit(team=baseline, user=organiser, **file).team == baseline
    end(phase)
    with pytest.raises(PhaseNotOpen):
        submit(team=baseline, user=organiser, **file | {"upload": prediction_bytes(mark="b")})
