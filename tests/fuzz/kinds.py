"""The kinds of uploads: what is made, where it is sent, and what its reading may cost.

A bound is far above what is measured and far below what anything quadratic takes. A part of it is for the upload
itself, whatever its size (a page, an import of two hundred rows, a heap that grows by an arena); the rest is for every
byte.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final

from hypothesis import strategies as st

from scoring.media import MAX_PIXELS
from tests.fuzz import archives, bodies, files, organiser_files, organisers, verdicts
from tests.fuzz.bodies import Part, Request
from tests.fuzz.files import File
from tests.fuzz.mutations import Draw, number, pick
from tests.fuzz.organiser_files import OrganiserFile
from tests.fuzz.site import CHARGED, Answer, Site

MIB: Final = 1024 * 1024
SCORED_ONE_IN: Final = 8  # accepted captions: Okt takes longer for one than reading for a hundred


class Failed(Exception):
    """The site answered 5xx."""


@dataclass(frozen=True)
class Bound:
    """Processor time and growth of memory that an upload may take."""

    seconds: float
    seconds_per_mb: float
    mib: float
    bytes_per_byte: float

    def seconds_for(self, size: int) -> float:
        return self.seconds + self.seconds_per_mb * size / 1e6

    def bytes_for(self, size: int) -> float:
        return self.mib * MIB + self.bytes_per_byte * size


@dataclass(frozen=True)
class Kind:
    """``share`` of all uploads. ``send`` hands one over, measured, and returns what is looked at by ``judge``, which
    is not: it names the outcome, and raises for one that must not be.
    """

    name: str
    share: float
    uploads: st.SearchStrategy[Any]
    send: Callable[[Any], Any]
    judge: Callable[[Any, Any], str]
    bound: Bound


# decoding makes at most 60 bytes of objects of a byte of JSON; its errors are found by walking to each
FILE: Final = Bound(seconds=1.0, seconds_per_mb=4.0, mib=64, bytes_per_byte=100)
# a row of an archive may be 64 MiB of JSON, whatever it is packed into
ARCHIVE: Final = Bound(seconds=6.0, seconds_per_mb=20.0, mib=512, bytes_per_byte=100)
# a decoder lays out the whole image, four bytes a pixel, before it finds it broken
FRAMES: Final = Bound(seconds=2.0, seconds_per_mb=20.0, mib=64 + 4 * MAX_PIXELS // 2**20, bytes_per_byte=100)
PAGE: Final = Bound(seconds=6.0, seconds_per_mb=10.0, mib=128, bytes_per_byte=100)


def file_kinds() -> list[Kind]:
    """The parsers themselves."""
    beside = organiser_files.READERS
    return [
        Kind("answers", 0.20, files.answer_files(), files.read, _judge_file, FILE),
        Kind("captions", 0.18, files.caption_files(), files.read, _judge_file, FILE),
        Kind("essays", 0.10, files.essay_files(), files.read, _judge_file, FILE),
        Kind("bytes", 0.12, files.any_bytes(), files.read, _judge_file, FILE),
        *(Kind(name, 0.05, organiser_files.organiser_files(name), *_READ_AND_JUDGE, FILE) for name in beside),
        Kind("frames", 0.04, archives.frame_archives(), archives.unpack_frames, lambda _packed, word: word, FRAMES),
    ]


def site_kinds(site: Site) -> list[Kind]:
    """Uploads to the pages and the API of ``site``."""
    page = site.slug and f"/competitions/{site.slug}/submit/"
    return [
        Kind("archives", 0.02, archive_requests(site), site.send, _judge_import, ARCHIVE),
        Kind("page", 0.04, page_requests(site, page), site.send, _judge_submission, PAGE),
        Kind("api", 0.06, api_requests(site), site.send, _judge_submission, PAGE),
        Kind("organisers", 0.01, organiser_requests(site), site.send, _judge_form, PAGE),
        Kind("forms", 0.03, form_requests(site), site.send, _judge_form, PAGE),
    ]


_READ_AND_JUDGE: Final = (organiser_files.read, organiser_files.outcome_of)


def _judge_file(file: File, found: Any) -> str:
    return verdicts.outcome_of(file, found, has_okt=len(file.data) % SCORED_ONE_IN == 0)


def judge_without_okt(file: File, found: Any) -> str:
    return verdicts.outcome_of(file, found, has_okt=False)


def any_file() -> st.SearchStrategy[File]:
    answers, captions, essays = files.answer_files(), files.caption_files(), files.essay_files()
    return st.one_of(answers, answers, captions, essays, files.any_bytes())


def any_upload() -> st.SearchStrategy[File | OrganiserFile]:
    return st.one_of(any_file(), *map(organiser_files.organiser_files, organiser_files.READERS))


@st.composite
def page_requests(draw: Draw, site: Site, page: str) -> Request:
    """The upload page of a competition."""
    file = draw(any_file())
    parts = (
        Part("track", site.tracks[file.recipe].encode()),
        Part("memo", "첫 모델".encode()),
        Part("upload_key", b"key-1"),
        Part("file", file.data, "답안.json", "application/json"),
    )
    return _request(draw, page, parts, "member")


@st.composite
def api_requests(draw: Draw, site: Site) -> Request:
    """The same by a script."""
    file = draw(any_file())
    path = f"/api/v1/competitions/{site.slug}/tracks/{site.tracks[file.recipe]}/submissions/"
    parts = (Part("memo", "글".encode()), Part("file", file.data, "answers.json", "application/json"))
    request = _request(draw, path, parts, "script")
    if number(draw, 0, 15) == 0:  # the file is the body
        request = Request("POST", path, file.data, pick(draw, bodies.TYPES), "script")
    token = pick(draw, (site.token,) * 30 + ("", "mlp_" + "x" * 40, "토큰".encode().decode("latin-1")))
    headers = (*_bearer(token), ("HTTP_ACCEPT_LANGUAGE", pick(draw, ("ko", "en"))))
    key = pick(draw, ("", "", "key-1", "k" * 500, "\xec\x97\xb4", "\x01"))
    return replace(request, headers=(*headers, ("HTTP_IDEMPOTENCY_KEY", key)))


def _request(draw: Draw, path: str, parts: tuple[Part, ...], viewer: str) -> Request:
    """Most of the time as a browser sends it, so that the file reaches its parser."""
    if number(draw, 0, 3):
        return Request("POST", path, bodies.multipart(parts), bodies.MULTIPART, viewer)
    return draw(bodies.form_requests(path, parts, viewer, needs_multipart=True))


@st.composite
def archive_requests(draw: Draw, site: Site) -> Request:
    """The page where an archive comes in, and the API."""
    packed = draw(archives.competition_archives(site.archive))
    slug = pick(draw, (b"copy",) * 20 + (b"", b"fuzz", "주소".encode(), b"a b", b"x" * 60, b"\x00"))
    passphrase = pick(draw, ("",) * 9 + ("암호 구문",))
    parts = (
        Part("slug", slug),
        Part("passphrase", passphrase.encode()),
        Part("confirm", b"on"),
        Part("file", packed.data, "archive.zip", "application/zip"),
    )
    path, viewer = pick(draw, (("/manage/import/", "owner"), ("/api/v1/import/", "script")))
    request = Request("POST", path, bodies.multipart(parts), bodies.MULTIPART, viewer)
    if number(draw, 0, 30) == 0:
        request = draw(bodies.form_requests(path, parts, viewer, needs_multipart=True))
    headers = _bearer(site.organiser_token) if viewer == "script" else ()
    return replace(request, headers=headers, then=public_pages("copy"))


def _bearer(token: str) -> tuple[tuple[str, str], ...]:
    return (("HTTP_AUTHORIZATION", f"Bearer {token}"),)


@st.composite
def organiser_requests(draw: Draw, site: Site) -> Request:
    """A file of an organiser on the page that takes it."""
    beside = (each for each in organiser_files.READERS if each in site.organiser_forms)
    file = draw(st.one_of(any_file(), *map(organiser_files.organiser_files, beside)))
    form = site.organiser_forms[file.recipe if isinstance(file, File) else file.reader]
    request = _request(draw, form.path, organisers.with_file(form, file.data), form.viewer)
    return replace(request, then=public_pages(form.path.split("/")[2]))


@st.composite
def form_requests(draw: Draw, site: Site) -> Request:
    """Any form of the site."""
    found = pick(draw, site.forms)
    has_file = any(part.file_name is not None for part in found.fields)
    parts = found.fields
    if has_file and draw(st.booleans()):
        file = draw(any_upload())
        parts = tuple(part if part.file_name is None else Part(part.name, file.data, part.file_name) for part in parts)
    needs_multipart = found.needs_multipart or has_file
    request = draw(bodies.form_requests(found.path, parts, found.viewer, needs_multipart=needs_multipart))
    return replace(request, then=public_pages(site.slug))


def public_pages(slug: str) -> tuple[str, ...]:
    """Pages that show what organisers set; an organiser must not be able to break that of all competitions."""
    return "/", f"/competitions/{slug}/", f"/competitions/{slug}/board/"


def _judge_submission(request: Request, sent: tuple[str, list[Answer]]) -> str:
    """An upload is charged if and only if it became a submission."""
    word, answers = sent
    _judge(answers)
    first = answers[0]
    is_accepted = first.status == 201 or first.headers.get("Location", "").startswith("/submissions/")
    assert (CHARGED in word) == is_accepted, word
    if b'"file_rejected"' in first.body:
        word += ", located errors"
    elif "rejection=" in first.headers.get("Location", ""):
        assert b"error-table" in answers[-1].body, "the errors are not shown"
        word += ", located errors"
    return word


def _judge_form(request: Request, sent: tuple[str, list[Answer]]) -> str:
    word, answers = sent
    _judge(answers)
    return word


def _judge_import(request: Request, sent: tuple[str, list[Answer]]) -> str:
    """A program is told what was made, or by a code why nothing was."""
    word, (first, *_) = _judge_form(request, sent), sent[1]
    if request.method == "POST" and request.viewer == "script":
        assert json.loads(first.body)["slug" if first.status == 201 else "code"], first.body
    return word


def _judge(answers: list[Answer]) -> None:
    for answer in answers:
        if answer.error is not None:
            raise Failed(str(answer.status)) from answer.error
        if answer.status >= 500:
            raise Failed(f"{answer.status}: {answer.body[:500].decode('utf-8', 'replace')}")
        if answer.headers.get("Content-Type", "").startswith(("text/", "application/json")):
            answer.body.decode()
