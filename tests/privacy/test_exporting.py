"""What a person downloads: everything that the table names, of them alone."""

from __future__ import annotations

import json
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from malpan.accounts.models import ApiToken, User
from malpan.privacy.exporting import as_json, export
from malpan.privacy.holdings import HOLDINGS
from malpan.submissions.models import ScoringRun
from tests.privacy.conftest import EMAIL, NAME, SECOND, Scene

pytestmark = pytest.mark.django_db


@pytest.fixture
def document(scene: Scene) -> Any:
    return json.loads(as_json(export(scene.person)))


def test_every_column_of_the_table_is_there_with_a_row(document: Any) -> None:
    assert set(document["data"]) == {holding.name for holding in HOLDINGS}
    for holding in HOLDINGS:
        rows = document["data"][holding.name]["rows"]
        assert rows, holding.name  # the scene has one of each
        assert set(rows[0]) == set(holding.shown)
    assert len(document["sessions"]) == 1


def test_what_is_there_is_what_the_site_holds(document: Any, scene: Scene) -> None:
    data = {name: part["rows"] for name, part in document["data"].items()}
    assert [row["email"] for row in data["accounts.user.id"]] == [EMAIL]
    assert {row["email"] for row in data["account.emailaddress.user"]} == {EMAIL, SECOND}
    (sent,) = data["submissions.submission.submitted_by"]
    assert (sent["file_name"], sent["memo"], sent["team__name"]) == (
        f"{NAME}_제출.json", f"{EMAIL}의 첫 제출", scene.team.name,
    )  # fmt: skip
    assert sent["public_id"] == str(scene.submission.public_id)
    assert {row["action"] for row in data["core.auditentry.person"]} >= {"role.appoint", "team.join", "user.update"}


def test_nothing_of_other_people_and_no_secret_is_there(scene: Scene) -> None:
    others = User.objects.exclude(pk=scene.person.pk)
    words = {word for user in others for word in (user.email, user.name)} | {"friend@example.com"}
    token = ApiToken.objects.get(user=scene.person)
    run = ScoringRun.objects.get(submission=scene.submission)
    secrets = {scene.person.password, token.token_sha256, run.signature_hash, repr(run.final_score), "k" * 64}

    text = as_json(export(scene.person))

    assert [word for word in words | secrets if word in text] == []


def test_somebody_else_gets_nothing_of_the_person(scene: Scene) -> None:
    text = as_json(export(scene.owner))
    assert [word for word in (NAME, EMAIL, SECOND, EMAIL.upper()) if word in text] == []


def test_after_the_erasure_no_name_is_left_to_export(scene: Scene) -> None:
    call_command("erase_person", EMAIL, "--yes", stdout=StringIO())
    text = as_json(export(User.objects.get(pk=scene.person.pk)))
    assert [word for word in (NAME, EMAIL, SECOND) if word in text] == []


def test_the_command_prints_the_same(scene: Scene) -> None:
    out = StringIO()
    call_command("export_person", f" {EMAIL.title()} ", stdout=out)
    told, expected = json.loads(out.getvalue()), json.loads(as_json(export(scene.person)))
    assert told["data"] == expected["data"]
    with pytest.raises(CommandError, match="person_not_found"):
        call_command("export_person", "nobody@example.com")


def test_the_page_gives_the_file_to_its_owner_alone(scene: Scene) -> None:
    assert Client().get("/account/export/").status_code == 302
    browser = Client()
    browser.force_login(scene.person)
    answer = browser.get("/account/export/")
    assert (answer["Content-Type"], answer["Content-Disposition"].split(";")[0]) == ("application/json", "attachment")
    assert "no-store" in answer["Cache-Control"]
    rows = json.loads(answer.content)["data"]["accounts.user.id"]["rows"]
    assert [row["name"] for row in rows] == [NAME]
