"""Frames of a reference version: checked when published, private, unpacked once where they are scored."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import translation
from PIL import Image

from malpan.competitions.errors import MediaRejected
from malpan.competitions.media import media_folder, media_root
from malpan.competitions.models import ReferenceVersion
from malpan.core.messages import text_of
from malpan.core.models import AuditEntry
from malpan.core.storage import read_private
from malpan.core.temporary import temporary_folder
from malpan.submissions.scoring_changes import publish_reference_version
from scoring.media import frames_of
from scoring.metrics import MetricOptions
from scoring.records import ScoreReport
from tests.admin_pages import organiser, pages
from tests.factories import CANARY, PhaseFactory, TeamFactory, file_bytes, publish, reference_bytes, report
from tests.submissions.conftest import execute, send

__all__ = ["organiser", "pages"]
pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("contexts")]


@pytest.fixture(autouse=True)
def _folders_of_its_own(settings, tmp_path):
    settings.VAR_DIR = tmp_path / "var"


def png() -> bytes:
    file = io.BytesIO()
    Image.new("RGB", (4, 4)).save(file, "PNG")
    return file.getvalue()


def frames(*names: str, content: bytes | None = None) -> io.BytesIO:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name in names:
            archive.writestr(zipfile.ZipInfo(name), png() if content is None else content)
    file.seek(0)
    return file


SOUND = ("q1.png", "q2/1.png", "q2/2.png", "q3.mp4.png")  # the references of ``publish`` are q1 to q3


def test_frames_are_stored_privately_named_in_the_audit_and_unpacked_for_the_worker():
    archive = frames(*SOUND)
    version = publish_reference_version(
        phase=PhaseFactory.create(), data=reference_bytes(), actor=None, media=frames(*SOUND)
    )

    assert read_private(version.media_sha256) == archive.getvalue()
    assert AuditEntry.objects.get(action="reference_version.publish").after["media_sha256"] == version.media_sha256
    folder = media_folder(version)
    assert folder == media_root() / version.media_sha256
    assert {item: len(paths) for item, paths in frames_of(folder).items()} == {"q1": 1, "q2": 2, "q3": 1}
    assert media_folder(version) == folder


def test_version_without_frames_has_no_folder():
    assert media_folder(publish(PhaseFactory.create())) is None
    assert not media_root().exists()


@pytest.mark.parametrize(
    ("archive", "told"),
    [
        (frames("q1.png", "q2.png"), "q3"),
        (frames(*SOUND, content=b"no image"), "q1"),
        (frames(*SOUND, "../q4.png"), "../q4.png"),
        (frames(*SOUND, "q1/1.png"), "q1"),
        (io.BytesIO(b"no zip"), "zip"),
    ],
)
@pytest.mark.parametrize("language", ["ko", "en"])
def test_unusable_frames_are_refused_with_the_reason_and_leave_nothing(archive, told, language):
    archive.seek(0)
    with translation.override(language), pytest.raises(MediaRejected) as caught:
        publish_reference_version(phase=PhaseFactory.create(), data=reference_bytes(), actor=None, media=archive)

    assert told in text_of(caught.value)
    assert ("프레임" in caught.value.params["reason"]) == (language == "ko")
    assert CANARY not in text_of(caught.value)
    assert not ReferenceVersion.objects.exists()
    assert list(temporary_folder().iterdir()) == []
    assert not media_root().exists()


def _upload(pages, archive: bytes):
    phase = PhaseFactory.create(track__recipe="captioning@1")
    form = {
        "file": SimpleUploadedFile("r.json", file_bytes({f"q{number}": "설명" for number in (1, 2, 3)})),
        "frames": SimpleUploadedFile("frames.zip", archive),
    }
    address = f"/competitions/{phase.track.competition.slug}/manage/setup/phases/{phase.pk}/references/"
    return pages.post(address, form, follow=True)


def test_frames_are_published_through_the_form(pages):
    _upload(pages, frames(*SOUND).getvalue())

    assert len(ReferenceVersion.objects.get().media_sha256) == 64


def test_large_frames_that_django_keeps_on_disk_are_published_too(pages, settings):
    settings.FILE_UPLOAD_MAX_MEMORY_SIZE = 10

    _upload(pages, frames(*SOUND).getvalue())

    version = ReferenceVersion.objects.get()
    assert read_private(version.media_sha256) == frames(*SOUND).getvalue()


def test_form_tells_which_frames_are_missing(pages):
    answer = _upload(pages, frames("q1.png").getvalue())

    assert "q2, q3" in answer.content.decode()
    assert not ReferenceVersion.objects.exists()


def test_frames_above_the_upload_cap_are_not_left_out_in_silence(pages, settings):
    settings.UPLOAD_MAX_BYTES = 200

    answer = _upload(pages, frames(*SOUND).getvalue())

    assert "UPLOAD_MAX_BYTES" in answer.content.decode()
    assert not ReferenceVersion.objects.exists()


def test_half_unpacked_frames_are_never_taken_for_whole_ones(monkeypatch):
    version = publish_reference_version(
        phase=PhaseFactory.create(), data=reference_bytes(), actor=None, media=frames(*SOUND)
    )
    monkeypatch.setattr("scoring.media.archive._copy", _fails)
    with pytest.raises(OSError, match="No space"):
        media_folder(version)
    assert [path for path in media_root().iterdir() if path.is_dir()] == []


@pytest.mark.django_db(transaction=True)
def test_worker_hands_the_frames_of_the_runs_version_to_the_engine(monkeypatch):
    phase = PhaseFactory.create()
    version = publish_reference_version(phase=phase, data=reference_bytes(), actor=None, media=frames(*SOUND))
    run = send(phase, TeamFactory.create(competition=phase.track.competition)).runs.get()
    given: list[Path | None] = []

    def score(*_args: Any, options: MetricOptions, **_options: Any) -> ScoreReport:
        given.append(options.media)
        return report()

    monkeypatch.setattr("scoring.engine.score", score)
    execute(run)

    assert run.error_code == ""
    assert given == [media_root() / version.media_sha256]


def _fails(*_args: object) -> int:
    raise OSError(28, "No space left on device")


def test_folder_of_the_frames_lies_below_the_sites_own_directory(settings):
    assert media_root() == Path(settings.VAR_DIR) / "media"
