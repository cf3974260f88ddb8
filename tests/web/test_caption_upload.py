"""Files of captions through the upload page: every form is taken, and the one recognised is shown."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from malpan.competitions.models import Phase
from malpan.submissions.models import Rejection, ScoringRun, Submission
from malpan.submissions.scoring_changes import publish_reference_version
from tests.factories import CANARY, PhaseFactory, TeamFactory, TrackFactory, UserFactory
from tests.web import html
from tests.web.conftest import client_of

REFERENCES = {"1": [f"{CANARY} 아이가 뛴다", "아이가 달린다"], "2": f"{CANARY} 해가 뜬다", "3": "비가 온다"}
CAPTIONS = {"1": "아이가 뛰어간다", "2": "해가 떠오른다", "3": "비가 내린다"}


def rows(key: str, ending: str = "") -> list[dict[str, str]]:
    return [{key: f"{item}{ending}", "caption": text} for item, text in CAPTIONS.items()]


def packed(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()


FORMS = {
    "id-object": ("captions.json", packed(CAPTIONS)),
    "json-array": ("captions.json", packed(rows("image_id", ".jpg"))),
    "wrapped-list": ("results.json", packed({"info": "v1", "results": rows("video_id", ".mp4")})),
    "jsonl": ("captions.jsonl", b"\n".join(packed(row) for row in rows("id"))),
    "tsv": ("captions.tsv", "\n".join(f"{item}\t{text}" for item, text in CAPTIONS.items()).encode()),
    "csv": ("captions.csv", "\n".join(["image,caption", *map(",".join, CAPTIONS.items())]).encode()),
    "id-lists": ("captions.json", packed({item: [{"caption": text}] for item, text in CAPTIONS.items()})),
}


@pytest.fixture
def caption_phase(db: None) -> Phase:
    phase = PhaseFactory.create(track=TrackFactory.create(recipe="captioning@1"), daily_limit=5)
    publish_reference_version(phase=phase, data=packed(REFERENCES), actor=None)
    return phase


@pytest.fixture
def captioner(caption_phase: Phase) -> Client:
    leader = UserFactory.create()
    TeamFactory.create(competition=caption_phase.track.competition, leader=leader)
    return client_of(leader)


def address(phase: Phase) -> str:
    return f"/competitions/{phase.track.competition.slug}/submit/"


def upload(client: Client, phase: Phase, data: bytes, name: str = "captions.json", language: str = "ko") -> Any:
    form = {"file": SimpleUploadedFile(name, data), "track": phase.track.slug, "memo": ""}
    return client.post(address(phase), form, follow=True, headers={"accept-language": language})


@pytest.mark.parametrize("form", FORMS)
def test_every_form_is_taken_and_named_on_the_receipt(captioner: Client, caption_phase: Phase, form: str) -> None:
    name, data = FORMS[form]
    response = upload(captioner, caption_phase, data, name)
    submission = Submission.objects.get()
    assert submission.file_format == form
    assert submission.item_count == 3
    assert ScoringRun.objects.get().recipe == "captioning@1"
    receipt = html.parse(response.content.decode()).one("aside").one("dl", "receipt").text
    assert "인식한 형식" in receipt
    assert CANARY not in response.content.decode()


def test_the_recognised_form_is_named_in_english_too(captioner: Client, caption_phase: Phase) -> None:
    response = upload(captioner, caption_phase, FORMS["tsv"][1], "captions.tsv", language="en")
    receipt = html.parse(response.content.decode()).one("aside").one("dl", "receipt").text
    assert "Recognised format" in receipt
    assert "TSV" in receipt


def test_missing_captions_are_no_error(captioner: Client, caption_phase: Phase) -> None:
    upload(captioner, caption_phase, packed({"2": "해가 뜬다"}))
    assert Submission.objects.get().item_count == 1


def test_unknown_and_repeated_ids_are_located_and_cost_nothing(captioner: Client, caption_phase: Phase) -> None:
    data = "1\t아이가 뛴다\n9\t눈이 온다\n1\t아이가 선다\n".encode()
    page = html.parse(upload(captioner, caption_phase, data, "captions.tsv").content.decode())
    assert Submission.objects.count() == 0
    assert {(row["code"], row["line"], row["id"]) for row in Rejection.objects.get().errors} == {
        ("unknown_id", 2, "9"),
        ("duplicate_id", 3, "1"),
    }
    assert CANARY not in page.text


def test_the_page_shows_the_forms_of_captions(caption_phase: Phase, captioner: Client) -> None:
    page = html.parse(captioner.get(address(caption_phase)).content.decode())
    assert "image_id" in page.one("pre", "code-block").text
    assert ".tsv" in page.one("form", enctype="multipart/form-data").text


def test_the_form_of_captions_offers_tables_too(captioner: Client, caption_phase: Phase) -> None:
    page = html.parse(captioner.get(address(caption_phase)).content.decode())
    assert page.one("input", name="file").attributes["accept"] == ".json,.jsonl,.txt,.tsv,.csv"


def test_the_data_page_names_the_formats_that_the_upload_page_names(captioner: Client, caption_phase: Phase) -> None:
    page = f"/competitions/{caption_phase.track.competition.slug}"
    pages = [captioner.get(f"{page}/{name}/").content.decode() for name in ("data", "submit")]
    assert all(html.parse(text).text.count("ActivityNet") for text in pages)
