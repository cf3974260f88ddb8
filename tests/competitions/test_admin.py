"""Competitions in the admin; reference files go in and never come out."""

import re

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from malpan.competitions.models import DataFile, Phase, ReferenceVersion, Track
from malpan.core.models import AuditEntry
from tests.admin_pages import address, fields_of, messages_of, organiser, pages
from tests.factories import (
    CANARY,
    PhaseFactory,
    SubmissionFactory,
    TrackFactory,
    file_bytes,
    publish,
    reference_bytes,
    rows,
)

__all__ = ["organiser", "pages"]
pytestmark = pytest.mark.django_db


def test_phase_limits_are_changed_and_audited(pages):
    phase = PhaseFactory.create(daily_limit=5)
    page = address(Phase, "change", phase.pk)

    answer = pages.post(page, fields_of(pages.get(page)) | {"daily_limit": 3})

    assert answer.status_code == 302, answer.context["adminform"].form.errors
    assert AuditEntry.objects.get(action="phase.update").after["daily_limit"] == 3


def test_board_is_frozen_by_an_action(pages, organiser):
    phase = PhaseFactory.create()

    pages.post(address(Phase, "changelist"), {"action": "freeze_board", "_selected_action": [phase.pk]})

    phase.refresh_from_db()
    assert phase.board == Phase.Board.FROZEN
    assert AuditEntry.objects.get(action="phase.set_board").actor == organiser


def test_track_offers_the_recipes_there_are(pages):
    track = TrackFactory.create()
    page = address(Track, "change", track.pk)

    assert pages.post(page, fields_of(pages.get(page)) | {"recipe": "rag-qa-strict@1"}).status_code == 302
    assert pages.post(page, fields_of(pages.get(page)) | {"recipe": "no-such@1"}).status_code == 200

    track.refresh_from_db()
    assert track.recipe == "rag-qa-strict@1"


def _upload(pages, phase, data, **fields):
    form = {"phase": phase.pk, "file": SimpleUploadedFile("r.json", data), "note": "", **fields}
    return pages.post(address(ReferenceVersion, "add"), form, follow=True)


def test_reference_file_is_published_through_the_form(pages, organiser):
    phase = PhaseFactory.create()

    _upload(pages, phase, reference_bytes(), note="최종")

    version = ReferenceVersion.objects.get()
    assert (version.phase, version.is_current, version.note, version.created_by) == (phase, True, "최종", organiser)


def test_broken_reference_file_is_told_where_and_not_what(pages, caplog):
    broken = [*rows(2, CANARY), {"id": "q3", "input": {"question_type": "선택형"}, "output": {"answer": [CANARY]}}]

    answer = _upload(pages, PhaseFactory.create(), file_bytes(broken))

    told = messages_of(answer)
    assert any("q3" in message for message in told)
    assert CANARY not in answer.content.decode() + "".join(told) + caplog.text
    assert not ReferenceVersion.objects.exists()


def test_references_in_use_are_replaced_only_with_the_box_ticked(pages):
    phase = PhaseFactory.create()
    publish(phase)
    SubmissionFactory.create(phase=phase)

    answer = _upload(pages, phase, reference_bytes(4))
    assert "확인란" in "".join(messages_of(answer))
    assert ReferenceVersion.objects.count() == 1

    _upload(pages, phase, reference_bytes(4), replace_in_use="on")
    assert ReferenceVersion.objects.count() == 2


def test_published_references_can_be_neither_changed_nor_deleted_nor_read(pages):
    version = publish(PhaseFactory.create())
    page = address(ReferenceVersion, "change", version.pk)

    shown = pages.get(page).content.decode()

    assert version.file_sha256 in shown
    assert CANARY not in shown
    assert not re.search(r'type="file"|download', shown)
    assert pages.post(page, {"note": "x"}).status_code == 403
    assert pages.post(address(ReferenceVersion, "delete", version.pk), {"post": "yes"}).status_code == 403


def test_data_file_is_added_and_renamed(pages):
    track = TrackFactory.create()
    form = {"track": track.pk, "kind": "data", "title_ko": "문제", "position": 0}

    pages.post(address(DataFile, "add"), form | {"file": SimpleUploadedFile("q.json", b"[]")})
    file = DataFile.objects.get()
    pages.post(address(DataFile, "change", file.pk), form | {"title_ko": "새 제목"})

    file.refresh_from_db()
    assert (file.file_name, file.file_size, file.title_ko) == ("q.json", 2, "새 제목")
