"""보관: an owner exports, whoever may add competitions imports, and the check against the chain stands beside it."""

from __future__ import annotations

import io
import json
import zipfile
from typing import Any

import pytest
from django.contrib.auth.models import Permission
from django.core import mail
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client

from malpan.accounts.models import Scope, User
from malpan.accounts.services import create_api_token
from malpan.archive.exporting import export_competition
from malpan.competitions.models import Competition, Phase
from malpan.core.models import AuditEntry
from malpan.submissions.integrity import chain, receipts
from malpan.submissions.models import Submission
from malpan.teams.models import Team
from tests.archive import light_passphrase
from tests.archive.light_passphrase import PASSPHRASE
from tests.factories import CANARY, CompetitionFactory, UserFactory, finished_submission, person_in
from tests.web.conftest import client_of
from tests.web.html import parse

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("contexts")]


@pytest.fixture
def competition(phase: Phase, team: Team) -> Competition:
    """With one recorded, scored submission."""
    submission = finished_submission(phase, team, 0.5)
    receipts.issue_receipt(submission=submission)
    chain.append_scores([submission])
    return phase.track.competition


def with_role(competition: Competition, role: str) -> Client:
    return client_of(person_in(competition, role))


@pytest.fixture
def owner(competition: Competition) -> Client:
    return with_role(competition, "owner")


def url(competition: Competition, tail: str = "") -> str:
    return f"/competitions/{competition.slug}/manage/archive/{tail}"


def downloaded(response: Any) -> zipfile.ZipFile:
    assert response.status_code == 200
    return zipfile.ZipFile(io.BytesIO(b"".join(response.streaming_content)))


def everything(archive: zipfile.ZipFile) -> bytes:
    return b"".join(archive.read(name) for name in archive.namelist())


@pytest.mark.parametrize("role", ["organiser", "operator", "viewer"])
def test_only_an_owner_exports(competition: Competition, role: str) -> None:
    client = with_role(competition, role)
    assert client.get(url(competition)).status_code == 403
    assert client.post(url(competition, "export/")).status_code == 403
    assert client_of(UserFactory.create()).get(url(competition)).status_code == 404
    assert Client().get(url(competition)).status_code == 302
    assert not AuditEntry.objects.filter(action="competition.export").exists()


def test_export_is_a_download_without_answers_that_nothing_caches(competition: Competition, owner: Client) -> None:
    response = owner.post(url(competition, "export/"))
    assert "no-store" in response.headers["Cache-Control"]
    assert f'filename="{competition.slug}-' in response.headers["Content-Disposition"]
    archive = downloaded(response)
    assert json.loads(archive.read("manifest.json"))["counts"]["submissions"] == 1
    assert CANARY.encode() not in everything(archive)
    assert AuditEntry.objects.get(action="competition.export").actor is not None


def test_export_with_references_holds_them_encrypted(
    competition: Competition, owner: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    light_passphrase.use(monkeypatch)
    given = {"references": "on", "passphrase": PASSPHRASE, "repeated": PASSPHRASE}
    archive = downloaded(owner.post(url(competition, "export/"), given))
    assert [name for name in archive.namelist() if name.startswith("references/")]
    assert CANARY.encode() not in everything(archive)


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"references": "on"}, "passphrase"),
        ({"references": "on", "passphrase": "짧다", "repeated": "짧다"}, "passphrase"),
        ({"references": "on", "passphrase": PASSPHRASE, "repeated": PASSPHRASE + "x"}, "repeated"),
        ({"passphrase": PASSPHRASE, "repeated": PASSPHRASE}, "references"),
    ],
)
def test_passphrase_is_typed_twice_and_long_enough(
    competition: Competition, owner: Client, given: dict[str, str], field: str
) -> None:
    response = owner.post(url(competition, "export/"), given)
    assert response.status_code == 422
    assert list(response.context["form"].errors) == [field]
    assert PASSPHRASE not in response.content.decode()
    page = parse(response.content.decode())
    form = page.one("form", action=url(competition, "export/"))
    assert "data-download" in form.attributes  # the script takes the error away with the next download
    assert any("web/submit" in script.attributes.get("src", "") for script in page.all("script"))
    assert not AuditEntry.objects.filter(action="competition.export").exists()


def test_page_says_how_much_is_stored_and_how_much_may_be(
    competition: Competition, owner: Client, settings: Any
) -> None:
    settings.COMPETITION_STORAGE_BYTES = 0
    page = owner.get(url(competition)).content.decode()
    assert "저장 공간" in page
    assert "한도" not in page.split("저장 공간")[1].split("</p>")[0]
    competition.storage_limit = 5 * 1024**3
    competition.save()
    shown = " ".join(owner.get(url(competition)).content.decode().split())
    assert "(한도 5.0" in shown
    english = owner.get(url(competition), headers={"accept-language": "en"}).content.decode()
    assert "Storage" in english


def test_looking_at_the_page_exports_nothing(competition: Competition, owner: Client) -> None:
    assert owner.get(url(competition)).status_code == 200
    assert owner.get(url(competition, "export/")).status_code == 405
    assert not AuditEntry.objects.filter(action="competition.export").exists()


def test_check_says_that_all_is_as_recorded_and_names_what_is_not(competition: Competition, owner: Client) -> None:
    assert "모두 기록과 같습니다" in owner.get(url(competition, "?verify=1")).content.decode()
    with connection.cursor() as cursor:
        cursor.execute("UPDATE submissions_scoringrun SET final_score = 0.99")
    text = owner.get(url(competition, "?verify=1")).content.decode()
    assert "점수가 기록과 다릅니다" in text
    assert str(Submission.objects.get().public_id) in text


@pytest.fixture
def archive() -> bytes:
    """Of a competition without submissions, which may stand here a second time."""
    target = io.BytesIO()
    competition = CompetitionFactory.create(slug="original", title_ko="원본 대회")
    export_competition(competition=competition, actor=None, target=target)
    return target.getvalue()


@pytest.fixture
def importer() -> User:
    user = UserFactory.create()
    user.user_permissions.add(Permission.objects.get(codename="add_competition"))
    return user


def send(client: Client, data: bytes, **given: str) -> Any:
    file = SimpleUploadedFile("archive.zip", data, "application/zip")
    return client.post("/manage/import/", {"file": file, "confirm": "on", **given}, follow=True)


def test_import_is_for_people_who_may_add_competitions(
    archive: bytes, importer: User, competition: Competition
) -> None:
    assert Client().get("/manage/import/").status_code == 302
    assert with_role(competition, "owner").get("/manage/import/").status_code == 403
    assert send(with_role(competition, "owner"), archive, slug="copy").status_code == 403
    assert client_of(importer).get("/manage/import/").status_code == 200
    assert not Competition.objects.filter(slug="copy").exists()


def test_import_makes_the_competition_and_says_what_came(archive: bytes, importer: User) -> None:
    response = send(client_of(importer), archive, slug="copy")
    assert Competition.objects.get(slug="copy").title_ko == "원본 대회"
    assert "가져왔습니다" in response.content.decode()


def test_importer_without_a_role_in_an_unpublished_archive_is_led_to_a_page_that_opens(importer: User) -> None:
    target = io.BytesIO()
    hidden = CompetitionFactory.create(slug="original", is_published=False)
    export_competition(competition=hidden, actor=None, target=target)

    response = send(client_of(importer), target.getvalue(), slug="copy")

    assert (response.status_code, response.redirect_chain[-1][0]) == (200, "/")
    assert "가져왔습니다" in response.content.decode()


@pytest.mark.parametrize(
    ("given", "field"), [({}, "slug"), ({"slug": "a b"}, "slug"), ({"slug": "copy", "confirm": ""}, "confirm")]
)
def test_refused_import_says_why_beside_the_field(
    archive: bytes, importer: User, given: dict[str, str], field: str
) -> None:
    response = send(client_of(importer), archive, **given)
    assert (response.status_code, list(response.context["form"].errors)) == (422, [field])
    assert Competition.objects.count() == 1


def test_something_else_than_an_archive_is_refused(importer: User) -> None:
    response = send(client_of(importer), b"no zip")
    assert (response.status_code, list(response.context["form"].errors)) == (422, ["file"])


def test_archive_above_the_sites_cap_on_uploads_is_taken(archive: bytes, importer: User, settings: Any) -> None:
    settings.UPLOAD_MAX_BYTES = 100
    assert send(client_of(importer), archive, slug="copy").status_code == 200
    assert Competition.objects.filter(slug="copy").exists()


def test_archive_above_its_own_cap_is_dropped(archive: bytes, importer: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("django.conf.settings.IMPORT_MAX_BYTES", 100)
    assert send(client_of(importer), archive, slug="copy").status_code == 422


def test_import_without_the_csrf_token_is_refused(archive: bytes, importer: User) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(importer)
    assert send(client, archive, slug="copy").status_code == 403
    assert not Competition.objects.filter(slug="copy").exists()


def test_person_who_came_with_an_archive_gets_in_by_resetting_the_password(importer: User) -> None:
    target = io.BytesIO()
    source = CompetitionFactory.create(slug="original")
    guest = person_in(source, "viewer", email="guest@example.com")
    export_competition(competition=source, actor=None, target=target)
    guest.delete()
    send(client_of(importer), target.getvalue(), slug="copy")
    Client().post("/accounts/password/reset/", {"email": "guest@example.com"})
    assert [message.to for message in mail.outbox] == [["guest@example.com"]]
    assert "/accounts/password/reset/key/" in mail.outbox[0].body


def test_a_program_imports_an_archive(archive: bytes, importer: User, settings: Any) -> None:
    settings.UPLOAD_MAX_BYTES = 100

    def sent_by(user: User, data: bytes, **given: str) -> Any:
        token = create_api_token(user=user, label="t", scopes=list(Scope))[1]
        body = {"file": SimpleUploadedFile("archive.zip", data, "application/zip"), **given}
        return Client(headers={"Authorization": f"Bearer {token}"}).post("/api/v1/import/", body)

    refused = sent_by(UserFactory.create(), archive, slug="copy")
    assert (refused.status_code, refused.json()["code"]) == (403, "may_not_create")
    made = sent_by(importer, archive, slug="copy")
    assert (made.status_code, made.json()["slug"], made.json()["has_references"]) == (201, "copy", False)
    assert Competition.objects.get(slug="copy").title_ko == "원본 대회"
    taken = sent_by(importer, archive, slug="copy")
    assert (taken.status_code, taken.json()["code"]) == (422, "archive_refused")
    settings.IMPORT_MAX_BYTES = 100
    assert sent_by(importer, b"x" * 100_000).status_code == 413
