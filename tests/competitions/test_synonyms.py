"""The table of synonyms of a reference version: checked when uploaded, kept by later versions, read by the worker."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import translation

from malpan.accounts.models import Scope
from malpan.accounts.services import create_api_token
from malpan.competitions import drafts
from malpan.competitions.errors import SynonymsRejected
from malpan.competitions.models import CompetitionRole, Phase, ReferenceVersion
from malpan.competitions.roles import appoint
from malpan.competitions.synonyms import BUILT_IN, synonyms_file
from malpan.core.messages import text_of
from malpan.core.models import AuditEntry
from malpan.core.storage import read_private
from malpan.submissions.scoring_changes import publish_reference_version
from tests.admin_pages import organiser, pages
from tests.factories import PhaseFactory, TeamFactory, UserFactory, file_bytes, publish, reference_bytes
from tests.submissions.conftest import execute, send

__all__ = ["organiser", "pages"]
pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("contexts")]

TABLE = "group\tword\tpos\tsource\n1\t장독\tnoun\t자체\n1\t비행기\tnoun\t자체\n".encode()
REFERENCES = file_bytes({"q1": "장독이 크다", "q2": "말이 달린다"})
CAPTIONS = file_bytes({"q1": "비행기가 크다", "q2": "말이 달린다"})


@pytest.fixture(autouse=True)
def _folders_of_its_own(settings, tmp_path):
    settings.VAR_DIR = tmp_path / "var"


@pytest.fixture
def phase() -> Phase:
    return PhaseFactory.create(track__recipe="captioning-lexical@1")


def published(phase: Phase, synonyms: bytes | None = None) -> ReferenceVersion:
    return publish_reference_version(phase=phase, data=REFERENCES, actor=None, synonyms=synonyms, replace_in_use=True)


def test_a_table_is_private_in_the_audit_and_kept_until_another_one_or_the_built_in_one_comes(phase: Phase) -> None:
    first = published(phase, TABLE)
    assert read_private(first.synonyms_sha256) == TABLE
    assert first.synonyms_size == len(TABLE)
    entry = AuditEntry.objects.get(action="reference_version.publish")
    assert entry.after["synonyms_sha256"] == first.synonyms_sha256
    file = synonyms_file(first)
    assert file is not None
    assert file.read_bytes() == TABLE
    assert drafts.create_draft(phase=phase, data=REFERENCES, actor=None).synonyms_sha256 == first.synonyms_sha256
    assert published(phase).synonyms_sha256 == first.synonyms_sha256
    last = published(phase, BUILT_IN)
    assert (last.synonyms_sha256, synonyms_file(last)) == ("", None)


@pytest.mark.parametrize("language", ["ko", "en"])
def test_a_table_with_a_defect_is_refused_with_its_line_and_leaves_nothing(phase: Phase, language: str) -> None:
    with translation.override(language), pytest.raises(SynonymsRejected) as caught:
        published(phase, "1\t장독\tnoun\t\n".encode())
    said = text_of(caught.value)
    assert ("낱말이 하나뿐" in said) == (language == "ko")
    assert ("line 1" in said) == (language == "en")
    assert not ReferenceVersion.objects.exists()


def test_a_recipe_that_looks_no_word_up_takes_no_table() -> None:
    with pytest.raises(SynonymsRejected) as caught:
        publish_reference_version(phase=PhaseFactory.create(), data=reference_bytes(), actor=None, synonyms=TABLE)
    assert "유의어 표를 쓰지 않습니다" in text_of(caught.value)


def scored(phase: Phase) -> tuple[dict[str, float], str]:
    """The scores of the same captions by another team, and the hash of their signature."""
    run = execute(send(phase, TeamFactory.create(competition=phase.track.competition), CAPTIONS).runs.get())
    assert run.error_code == ""
    return run.scores, run.signature_hash


@pytest.mark.django_db(transaction=True)
def test_the_worker_scores_with_the_table_and_the_signature_names_it(phase: Phase) -> None:
    published(phase)
    without, signature = scored(phase)
    published(phase, TABLE)
    with_table, other = scored(phase)
    assert with_table["meteor_synonym"] > without["meteor_synonym"]
    assert with_table["meteor"] == without["meteor"]
    assert other != signature
    published(phase, BUILT_IN)
    assert scored(phase) == (without, signature)


def address(phase: Phase) -> str:
    return f"/competitions/{phase.track.competition.slug}/manage/setup/phases/{phase.pk}/references/"


def posted(pages: Client, phase: Phase, **more: Any) -> str:
    form = {"file": SimpleUploadedFile("r.json", REFERENCES), **more}
    return pages.post(address(phase), form, follow=True).content.decode()


def test_organisers_upload_it_with_the_references(pages: Client, phase: Phase) -> None:
    assert "유의어 표(TSV)" in pages.get(address(phase)).content.decode()
    said = posted(pages, phase, synonyms=SimpleUploadedFile("s.tsv", TABLE), built_in_synonyms="on")
    assert "둘 중 하나만" in said
    said = posted(pages, phase, synonyms=SimpleUploadedFile("s.tsv", "1\t장독\tnoun\t\n".encode()))
    assert "유의어 표를 등록하지 않았습니다" in said
    posted(pages, phase, synonyms=SimpleUploadedFile("s.tsv", TABLE))
    assert ReferenceVersion.objects.get().synonyms_size == len(TABLE)
    assert "유의어 표" in pages.get(f"/competitions/{phase.track.competition.slug}/manage/references/").content.decode()
    data = pages.get(f"/competitions/{phase.track.competition.slug}/data/").content.decode()
    assert "이 대회가 정한 유의어 표" in data
    assert "유의어 표(TSV)" not in pages.get(address(PhaseFactory.create())).content.decode()


def test_the_api_takes_it_and_says_which_one_counts(phase: Phase) -> None:
    owner = UserFactory.create()
    appoint(competition=phase.track.competition, user=owner, role=CompetitionRole.Role.OWNER, actor=None)
    token = create_api_token(user=owner, label="t", scopes=list(Scope))[1]
    client = Client(headers={"Authorization": f"Bearer {token}"})
    at = f"/api/v1/competitions/{phase.track.competition.slug}/manage/phases/{phase.pk}/references/"

    def upload(path: str, **more: Any) -> dict[str, Any]:
        answer = client.post(path, {"file": SimpleUploadedFile("r.json", REFERENCES), **more})
        assert answer.status_code == 201, answer.content.decode()
        found: dict[str, Any] = json.loads(answer.content)
        return found

    made = upload(at, synonyms=SimpleUploadedFile("s.tsv", TABLE))
    assert len(made["synonyms_sha256"]) == 64
    assert upload(f"{at}drafts/")["synonyms_sha256"] == made["synonyms_sha256"]
    assert upload(f"{at}drafts/", built_in_synonyms="true")["synonyms_sha256"] == ""

    table = SimpleUploadedFile("s.tsv", TABLE)
    for more in ({"synonyms": SimpleUploadedFile("s.tsv", b"")}, {"synonyms": table, "built_in_synonyms": "true"}):
        refused = client.post(at, {"file": SimpleUploadedFile("r.json", REFERENCES), **more})
        assert refused.json()["code"] == "synonyms_rejected"


def test_a_version_without_a_table_has_no_file(phase: Phase, settings: Any) -> None:
    assert synonyms_file(publish(PhaseFactory.create())) is None
    assert not (Path(settings.VAR_DIR) / "synonyms").exists()
