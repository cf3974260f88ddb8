"""The manage pages' pages of reference versions: drafts, the comparison, errata."""

from __future__ import annotations

import errno
import json
from datetime import timedelta

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from malpan.accounts.models import Scope, User
from malpan.accounts.services import create_api_token
from malpan.competitions import drafts
from malpan.competitions.drafts import create_draft
from malpan.competitions.models import Competition, CompetitionRole, Notice, Phase, ReferenceVersion, Track
from malpan.core.models import AuditEntry
from tests.factories import (
    CANARY,
    PhaseFactory,
    SubmissionFactory,
    TrackFactory,
    UserFactory,
    file_bytes,
    person_in,
    publish,
    reference_bytes,
    rows,
)
from tests.web.conftest import Contest, client_of
from tests.web.html import parse, problems

pytestmark = pytest.mark.django_db


def person(competition: Competition, role: str) -> Client:
    return client_of(person_in(competition, role))


def draft_of(phase: Phase, **fields: str) -> ReferenceVersion:
    items = json.loads(reference_bytes(3))
    items[0]["output"]["answer"] = "새 답이 옳다."
    return create_draft(phase=phase, data=file_bytes(items), actor=None, **fields)


@pytest.fixture
def empty_phase(db: None) -> Phase:
    phase = PhaseFactory.create()
    publish(phase)
    return phase


def test_uploading_stores_a_draft_and_leads_to_the_comparison(contest: Contest) -> None:
    organiser = person(contest.competition, CompetitionRole.Role.ORGANISER)
    items = json.loads(reference_bytes(3))
    items[1]["output"]["answer"] = "고친 답이 옳다."
    file = SimpleUploadedFile("new.json", file_bytes(items))

    response = organiser.post(
        contest.url("manage/references/"), {"phase": contest.phase.pk, "file": file, "note": "정정"}, follow=True
    )

    version = ReferenceVersion.objects.get(phase=contest.phase, number=2)
    assert (version.is_current, version.published_at, version.note) == (False, None, "정정")
    page = parse(response.content.decode())
    assert "고친 답이 옳다." in page.text
    assert CANARY in page.text
    assert problems(page) == []
    assert "no-store" in response["Cache-Control"]


def test_a_disk_without_room_is_said_beside_the_form_and_logged(
    contest: Contest, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def full(*_args: object) -> None:
        raise OSError(errno.ENOSPC, "no room")

    organiser = person(contest.competition, CompetitionRole.Role.ORGANISER)
    monkeypatch.setattr("malpan.core.storage.local_disk.os.fsync", full)
    fields = {"phase": contest.phase.pk, "file": SimpleUploadedFile("new.json", reference_bytes(3)), "note": "정정"}
    response = organiser.post(contest.url("manage/references/"), fields, follow=True)
    assert (response.status_code, response.redirect_chain) == (507, [])
    assert "저장 공간이 부족해" in response.content.decode()
    assert any("storage_full at" in message for message in caplog.messages)
    assert not ReferenceVersion.objects.filter(phase=contest.phase, number=2).exists()


@pytest.mark.parametrize(("text", "is_warned"), [("파도가 친다", False), ("waves at the shore", True)])
def test_references_that_are_not_korean_are_told_to_who_uploads_them(db: None, text: str, is_warned: bool) -> None:
    phase = PhaseFactory.create(track=TrackFactory.create(recipe="captioning-lexical@1"))
    organiser = person(phase.track.competition, CompetitionRole.Role.ORGANISER)
    base = f"/competitions/{phase.track.competition.slug}/manage/"
    first = {"file": SimpleUploadedFile("R.json", json.dumps({"a": text}).encode()), "note": ""}
    draft = {
        "file": SimpleUploadedFile("R.json", json.dumps({"a": f"{text}!"}).encode()),
        "phase": phase.pk,
        "note": "",
    }
    for address, form in ((f"{base}setup/phases/{phase.pk}/references/", first), (f"{base}references/", draft)):
        page = organiser.post(address, form, follow=True)
        assert ("정답 설명문이 한국어가 아닌" in page.content.decode()) is is_warned
    assert ReferenceVersion.objects.filter(phase=phase).count() == 2


def test_a_broken_file_shows_where_and_what(contest: Contest) -> None:
    organiser = person(contest.competition, CompetitionRole.Role.ORGANISER)
    items = rows(3)
    items[1]["output"] = "제출 기준과 다른 꼴"
    items[2]["id"] = "q1"
    file = SimpleUploadedFile("new.json", file_bytes(items))

    response = organiser.post(contest.url("manage/references/"), {"phase": contest.phase.pk, "file": file})

    assert response.status_code == 422
    page = parse(response.content.decode())
    assert "q1" in page.one("div", "error-table").text
    assert "표를 보고 고쳐" in page.one("ul", "errorlist").text
    assert "제출" not in page.one("div", "error-table").text  # the official messages are about submissions
    assert problems(page) == []
    assert not ReferenceVersion.objects.filter(phase=contest.phase, number=2).exists()


def test_only_people_who_may_see_answers_see_the_comparison(contest: Contest) -> None:
    version = draft_of(contest.phase)
    address = contest.url(f"manage/references/{version.pk}/")

    for role, status in {"owner": 200, "organiser": 200, "operator": 403, "viewer": 403}.items():
        response = person(contest.competition, role).get(address)
        assert response.status_code == status, role
        assert (CANARY in response.content.decode()) == (status == 200), role
    assert client_of(UserFactory.create()).get(address).status_code == 404
    listing = person(contest.competition, "viewer").get(contest.url("manage/references/"))
    assert listing.status_code == 200
    assert CANARY not in listing.content.decode()


def test_who_read_the_answers_is_in_the_audit_log(contest: Contest, monkeypatch: pytest.MonkeyPatch) -> None:
    version = draft_of(contest.phase)
    reader, other = (person_in(contest.competition, "organiser") for _each in range(2))
    page = contest.url(f"manage/references/{version.pk}/")
    _row, token = create_api_token(user=reader, label="t", scopes=[Scope.ORGANISE])
    client_of(person_in(contest.competition, "viewer")).get(page)
    for _again in range(2):
        client_of(reader).get(page)
    client_of(other).get(page)
    answer = Client().get(f"/api/v1{page}diff/", headers={"authorization": f"Bearer {token}"})
    assert CANARY in answer.content.decode()
    assert _readers(version) == [reader, other], "once a person within some minutes"

    monkeypatch.setattr(drafts, "READING", timedelta())
    Client().get(f"/api/v1{page}diff/", headers={"authorization": f"Bearer {token}"})
    assert _readers(version) == [reader, other, reader]
    log = client_of(reader).get(contest.url("manage/audit/?action=reference_version.open")).content.decode()
    assert "정답을 열어 봄" in log


def _readers(version: ReferenceVersion) -> list[User | None]:
    entries = AuditEntry.objects.filter(action=drafts.OPENED, object_id=str(version.pk)).order_by("pk")
    assert all(entry.after == {"number": version.number} for entry in entries)
    return [entry.actor for entry in entries]


def test_a_draft_of_another_competition_is_not_there(contest: Contest, empty_phase: Phase) -> None:
    version = draft_of(empty_phase)
    organiser = person(contest.competition, CompetitionRole.Role.ORGANISER)

    assert organiser.get(contest.url(f"manage/references/{version.pk}/")).status_code == 404
    for action in ("publish", "discard", "erratum"):
        assert organiser.post(contest.url(f"manage/references/{version.pk}/{action}/")).status_code == 404


def test_a_draft_is_published_at_once_where_nothing_was_submitted(empty_phase: Phase) -> None:
    competition = empty_phase.track.competition
    organiser = person(competition, CompetitionRole.Role.ORGANISER)
    version = draft_of(empty_phase, erratum_ko="1번을 고쳤습니다.")
    address = f"/competitions/{competition.slug}/manage/references/{version.pk}/publish/"

    assert organiser.post(address).status_code == 422
    organiser.post(address, {"confirm": "on"})

    version.refresh_from_db()
    assert version.is_current
    assert version.published_at is not None
    assert Notice.objects.get(competition=competition).body_ko == "1번을 고쳤습니다."
    public = Client().get(f"/competitions/{competition.slug}/").content.decode()
    assert "1번을 고쳤습니다." in public
    english = Client(headers={"accept-language": "en"}).get(f"/competitions/{competition.slug}/").content.decode()
    title = Notice.objects.get(competition=competition).title_en
    assert title.startswith("Correction of the reference answers: ")
    assert title in english
    assert "정답 정정 안내" not in english


def test_a_draft_of_a_phase_with_submissions_goes_through_rescoring(contest: Contest) -> None:
    organiser = person(contest.competition, CompetitionRole.Role.ORGANISER)
    version = draft_of(contest.phase)

    organiser.post(contest.url(f"manage/references/{version.pk}/publish/"), {"confirm": "on"})

    version.refresh_from_db()
    assert not version.is_current
    page = organiser.get(contest.url(f"manage/references/{version.pk}/")).content.decode()
    assert f"manage/rescoring/start/{contest.phase.pk}/?reference_version={version.pk}" in page


def test_a_draft_nobody_scored_with_can_be_discarded(empty_phase: Phase) -> None:
    competition = empty_phase.track.competition
    organiser = person(competition, CompetitionRole.Role.ORGANISER)
    version = draft_of(empty_phase)
    address = f"/competitions/{competition.slug}/manage/references/{version.pk}/discard/"

    assert organiser.post(address).status_code == 422
    organiser.post(address, {"confirm": "on"})

    assert not ReferenceVersion.objects.filter(pk=version.pk).exists()


def test_an_erratum_is_edited_while_the_version_is_a_draft(empty_phase: Phase) -> None:
    competition = empty_phase.track.competition
    organiser = person(competition, CompetitionRole.Role.ORGANISER)
    version = draft_of(empty_phase)
    SubmissionFactory.create(phase=empty_phase)

    organiser.post(
        f"/competitions/{competition.slug}/manage/references/{version.pk}/erratum/",
        {"erratum_ko": "안내", "erratum_en": "Note"},
    )

    version.refresh_from_db()
    assert (version.erratum_ko, version.erratum_en) == ("안내", "Note")
    assert not Notice.objects.exists()


def test_frames_are_asked_for_only_where_the_recipe_reads_them(contest: Contest) -> None:
    organiser = person(contest.competition, CompetitionRole.Role.ORGANISER)
    for address in ("manage/references/", f"manage/setup/phases/{contest.phase.pk}/references/"):
        for recipe, is_asked in {"rag-qa@1": False, "captioning@1": True, "captioning-lexical@1": False}.items():
            Track.objects.filter(pk=contest.phase.track_id).update(recipe=recipe)
            page = parse(organiser.get(contest.url(address)).content.decode())
            assert any(field.attributes.get("name") == "frames" for field in page.all("input")) == is_asked
            assert "20.0" in page.text  # the limit of an upload


def test_frames_of_a_draft_are_checked_and_kept_with_it(contest: Contest) -> None:
    Track.objects.filter(pk=contest.phase.track_id).update(recipe="captioning@1")
    organiser = person(contest.competition, CompetitionRole.Role.ORGANISER)
    sent = {"phase": contest.phase.pk, "frames": SimpleUploadedFile("frames.zip", b"no zip")}

    answer = organiser.post(
        contest.url("manage/references/"), sent | {"file": SimpleUploadedFile("new.json", b'{"q1": "a caption"}')}
    )

    assert answer.status_code == 422
    assert "프레임 파일" in parse(answer.content.decode()).one("ul", "errorlist").text
    assert not ReferenceVersion.objects.filter(phase=contest.phase, number=2).exists()
