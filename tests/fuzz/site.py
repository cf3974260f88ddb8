"""A site with everything that takes a form, and a visitor who sends it whatever bytes.

A request goes to the WSGI application, as the web server hands it over, within a transaction that is rolled back: every
upload meets the same site. The answer to a POST is followed, and public pages are looked at: what was stored must not
break them.
"""

from __future__ import annotations

import io
import logging
import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.cookies import SimpleCookie
from pathlib import Path
from typing import Any, Final
from unittest import mock
from urllib.parse import urljoin, urlsplit

import pytest
from allauth.account.models import EmailAddress
from django.contrib.auth.models import Permission
from django.core.signals import got_request_exception
from django.db import connection, transaction
from django.test import Client, override_settings
from django.urls import resolve

from malpan.accounts.models import Scope, User
from malpan.accounts.services import create_api_token
from malpan.competitions.models import CompetitionRole
from malpan.competitions.services import add_data_file
from malpan.submissions.models import QuotaEntry
from malpan.submissions.scoring_changes import publish_reference_version
from malpan.wsgi import application
from tests import database
from tests.archive import full_competition
from tests.factories import CompetitionFactory, PhaseFactory, TeamFactory, TrackFactory, UserFactory
from tests.fuzz.bodies import Form, Part, Request
from tests.fuzz.organisers import IN_STAGES, organiser_forms
from tests.fuzz.sound import RECIPES, sound_file
from tests.submissions.conftest import collect_rings
from tests.web.html import Element, parse

CSRF: Final = "f" * 32
REDIRECTS: Final = (301, 302, 303)
HOPS: Final = 3  # redirects that are followed
CHARGED: Final = "charged"
# above every number of uploads: throttles would hide the parsers
LIMITS: Final = {"REJECTIONS_PER_TEAM": 10**9, "REJECTIONS_PER_ADDRESS": 10**9}
_REFUSAL: Final = re.compile(r'"code": ?"(\w+)"|class="errorlist[^>]*>\s*<li>([^<]+)')
_QUOTED: Final = re.compile(r"‘.*?’|\(.*?\)|&#?\w+;|\d+")
_OUTSIDE: Final = re.compile(rf"^/(accounts|admin|static|files|competitions/{IN_STAGES})/|/export/$|verify_chain")


@dataclass(frozen=True)
class Answer:
    """What the site answered, and what went wrong in it."""

    status: int
    headers: dict[str, str]
    body: bytes
    error: BaseException | None = None


@dataclass
class Site:
    """A competition with a track for each recipe, a member of a team in it, its owner, and the forms for them."""

    slug: str
    tracks: dict[str, str]  # by recipe
    cookies: dict[str, dict[str, str]]  # by viewer
    token: str
    organiser_token: str
    archive: dict[str, bytes]
    organiser_forms: dict[str, Form]  # by recipe, or by reader of the file that one takes
    forms: list[Form] = field(default_factory=list)
    errors: list[BaseException] = field(default_factory=list)

    def send(self, request: Request) -> tuple[str, list[Answer]]:
        """Send ``request`` and follow where it leads; a word for what came of it, and the answers."""
        with rolled_back():
            answers = [self.ask(request)]
            looking = "owner" if request.viewer == "script" else request.viewer  # a script has no pages
            cookies = dict(self.cookies[looking])
            if request.method == "POST":
                answers += self._followed(request, answers[0], cookies)
            if answers[0].status in (*REDIRECTS, 201):  # something may have been stored
                answers += [self.ask(Request("GET", path, b"", "", looking), cookies) for path in request.then]
            return self._outcome(answers), answers

    def ask(self, request: Request, cookies: dict[str, str] | None = None) -> Answer:
        """The answer to one request."""
        sent = self.cookies[request.viewer] if cookies is None else cookies
        path, _, query = request.path.partition("?")
        environ = {
            "REQUEST_METHOD": request.method,
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "SERVER_NAME": "localhost",
            "SERVER_PORT": "80",
            "SERVER_PROTOCOL": "HTTP/1.1",
            "REMOTE_ADDR": "127.0.0.1",
            "HTTP_HOST": "localhost",
            "HTTP_COOKIE": "; ".join(f"{name}={value}" for name, value in sent.items()),
            "HTTP_X_CSRFTOKEN": CSRF,
            "CONTENT_TYPE": request.content_type.encode("utf-8", "replace").decode("latin-1"),  # as PEP 3333 has it
            "CONTENT_LENGTH": str(len(request.data)),
            "wsgi.input": io.BytesIO(request.data),
            "wsgi.errors": io.StringIO(),
            "wsgi.url_scheme": "http",
            **dict(request.headers),
        }
        return self._answered(environ)

    def _answered(self, environ: dict[str, Any]) -> Answer:
        self.errors.clear()
        found: dict[str, Any] = {}

        def start(status: str, headers: list[tuple[str, str]], exc_info: Any = None) -> Any:
            found.update(status=int(status[:3]), headers=headers)

        try:
            response = application(environ, start)
            try:
                body = b"".join(response)
            finally:
                response.close()
        except Exception as error:  # noqa: BLE001 - what the web server would answer 500
            return Answer(500, {}, b"", error)
        headers = dict(found["headers"])
        headers["set-cookie"] = "\n".join(value for name, value in found["headers"] if name.lower() == "set-cookie")
        return Answer(found["status"], headers, body, self.errors[0] if self.errors else None)

    def _followed(self, request: Request, answer: Answer, cookies: dict[str, str]) -> list[Answer]:
        answers: list[Answer] = []
        path = request.path
        while answer.status in REDIRECTS and len(answers) < HOPS:
            for line in answer.headers["set-cookie"].splitlines():
                cookies |= {name: morsel.coded_value for name, morsel in SimpleCookie(line).items()}
            path = urljoin(path, answer.headers["Location"]).partition("#")[0]
            if urlsplit(path).netloc:
                break
            answer = self.ask(Request("GET", path, b"", "", request.viewer), cookies)
            answers.append(answer)
        return answers

    def _outcome(self, answers: list[Answer]) -> str:
        """The statuses, why it was refused if it was, and whether a team was charged."""
        words = [" → ".join(str(answer.status) for answer in answers)]
        if refusal := _REFUSAL.search(answers[0].body.decode("utf-8", "replace")):
            words.append(_QUOTED.sub("…", next(filter(None, refusal.groups()))).strip()[:40])
        charged = QuotaEntry.objects.filter(team__competition__slug=self.slug).exclude(submission=None)
        return ", ".join([*words, CHARGED] if charged.exists() else words)


@contextmanager
def rolled_back() -> Iterator[None]:
    """Nothing that is written inside stays; what is done inside is several transactions."""
    upload = transaction.atomic()
    upload._from_testcase = True  # type: ignore[attr-defined]
    with upload:
        yield
        transaction.set_rollback(True)


@contextmanager
def site(has_forms: bool = True) -> Iterator[Site]:
    """A site on an empty database, with no broker and no limit of rejected files."""
    with pytest.MonkeyPatch.context() as patched, override_settings(**LIMITS), mock.patch("os.fsync"):
        collect_rings(patched)
        patched.setattr(connection, "close_if_unusable_or_obsolete", lambda: None)  # it is in a transaction
        made = _made(_archive())
        note: Callable[..., None] = lambda **_: made.errors.append(sys.exc_info()[1])  # type: ignore[arg-type]  # noqa: E731
        got_request_exception.connect(note)
        handled = _Faults(made.errors)
        logging.getLogger().addHandler(handled)
        try:
            if has_forms:
                made.forms = sorted(set(_forms(made)), key=str)
            yield made
        finally:
            got_request_exception.disconnect(note)
            logging.getLogger().removeHandler(handled)


class _Faults(logging.Handler):
    """Collects the faults that the site turned into a page and logged; ``django.security`` logs what was refused."""

    def __init__(self, errors: list[BaseException]) -> None:
        super().__init__(logging.ERROR)
        self.errors = errors

    def emit(self, record: logging.LogRecord) -> None:
        if record.exc_info and record.exc_info[1] and not record.name.startswith("django.security."):
            self.errors.append(record.exc_info[1])


def _archive() -> dict[str, bytes]:
    """What an archive of a competition holds of which this site knows nothing, not even a file."""
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder, override_settings(PRIVATE_ROOT=Path(folder)):
        members = full_competition.members(full_competition.exported(full_competition.make()))
    database.empty()
    return members


def _made(archive: dict[str, bytes]) -> Site:
    competition = CompetitionFactory.create(slug="fuzz", terms_version=0)
    tracks, phases = {}, {}
    for recipe in RECIPES:
        track = TrackFactory.create(competition=competition, slug=recipe.partition("@")[0], recipe=recipe)
        phase = phases[recipe] = PhaseFactory.create(track=track, slug="main")
        publish_reference_version(phase=phase, data=sound_file(recipe, is_reference=True), actor=None)
        tracks[recipe] = track.slug
    member, owner = UserFactory.create(), UserFactory.create(is_staff=True)
    for user in (member, owner):
        EmailAddress.objects.create(user=user, email=user.email, primary=True, verified=True)
    TeamFactory.create(competition=competition, leader=member, members=1)
    owner.user_permissions.add(Permission.objects.get(codename="add_competition"))
    CompetitionRole.objects.create(user=owner, competition=competition, role="owner")
    add_data_file(track=track, kind="data", title_ko="자료", file_name="q.json", data=b"[2]", actor=owner)
    token = create_api_token(user=member, label="노트북")[1]
    organiser_token = create_api_token(user=owner, label="서버", scopes=list(Scope))[1]
    cookies = {"member": _cookies(member), "owner": _cookies(owner), "script": {}}
    return Site(competition.slug, tracks, cookies, token, organiser_token, archive, organiser_forms(owner, phases))


def _cookies(user: User) -> dict[str, str]:
    client = Client()
    client.force_login(user)
    return {name: morsel.value for name, morsel in client.cookies.items()} | {"csrftoken": CSRF}


def _forms(made: Site) -> Iterator[Form]:
    """The forms that a member and the owner find by following links, to one page of each view."""
    for viewer in ("member", "owner"):
        waiting, seen = [f"/competitions/{made.slug}/", "/tokens/", "/manage/new/", "/manage/import/", "/"], set()
        while waiting:
            path = waiting.pop()
            if _OUTSIDE.search(path) or (view := resolve(path.partition("?")[0]).route) in seen:
                continue
            seen.add(view)
            answer = made.ask(Request("GET", path, b"", "", viewer))
            if answer.status != 200 or "text/html" not in answer.headers.get("Content-Type", ""):
                continue
            page = parse(answer.body.decode())
            waiting += [urljoin(path, a.attributes.get("href", "")).partition("#")[0] for a in page.all("a")]
            waiting = [each for each in waiting if each.startswith("/")]
            for form in page.all("form"):
                if form.attributes.get("method", "").lower() == "post":
                    yield _form(form, path, viewer)


def _form(element: Element, page: str, viewer: str) -> Form:
    path = urljoin(page, element.attributes.get("action", "")).partition("#")[0]
    fields = (_field(each) for each in [*element.all("input"), *element.all("textarea"), *element.all("select")])
    parts = tuple(part for part in fields if part is not None)
    return Form(path, viewer, parts, element.attributes.get("enctype") == "multipart/form-data")


def _field(element: Element) -> Part | None:
    """What a browser sends of a field; a box is ticked, so that more is accepted."""
    name, kind = element.attributes.get("name", ""), element.attributes.get("type", "")
    if not name or name == "csrfmiddlewaretoken":
        return None
    if kind == "file":
        return Part(name, sound_file("rag-qa@1", is_reference=True), "file.json", "application/json")
    if element.tag == "select":
        options = element.all("option")
        chosen = next((each for each in options if "selected" in each.attributes), options[-1] if options else None)
        return Part(name, chosen.attributes.get("value", "").encode() if chosen else b"")
    text = element.text if element.tag == "textarea" else element.attributes.get("value", "on" if kind else "")
    return Part(name, (text or _filled(kind)).encode())


def _filled(kind: str) -> str:
    return {"email": "somebody@example.com", "number": "1", "datetime-local": "2026-12-01T10:00"}.get(kind, "글")
