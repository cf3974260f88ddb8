"""What log lines say, and what they never say."""

from __future__ import annotations

import json
import logging
import re
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from smtplib import SMTPRecipientsRefused
from typing import Any

import pytest
from botocore.exceptions import EndpointConnectionError
from django.db import IntegrityError, OperationalError, connection
from django.db.utils import ConnectionHandler
from django.test import Client
from redis import Redis
from redis.exceptions import RedisError

from malpan.accounts.services import confirm_email
from malpan.core.errors import StorageFull, StorageUnavailable
from malpan.core.log import JsonLine, Line, logged_with, places_of
from malpan.core.storage import s3
from malpan.core.storage.local_disk import LocalDisk
from malpan.jobs import tasks
from malpan.jobs.models import Job
from malpan.submissions.models import ScoringRun, Submission
from malpan.teams.models import Team
from malpan.web.pages import submit as submit_pages
from scoring import engine
from tests.factories import CANARY, PASSWORD, leader_of, prediction_bytes, report
from tests.submissions.conftest import phase, rings, team

__all__ = ["phase", "rings", "team"]  # fixtures


class Lines(logging.Handler):
    """Every record in both forms."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.plain: list[str] = []
        self.json: list[dict[str, Any]] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.plain.append(Line().format(record))
        self.json.append(json.loads(JsonLine().format(record)))

    @property
    def text(self) -> str:
        return "\n".join([*self.plain, *(json.dumps(line, ensure_ascii=False) for line in self.json)])


@pytest.fixture
def lines() -> Iterator[Lines]:
    """What is logged from now on, at the lowest level."""
    handler, root = Lines(), logging.getLogger()
    level = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    django = logging.getLogger("django")
    before = django.level
    django.setLevel(logging.DEBUG)
    yield handler
    django.setLevel(before)
    root.setLevel(level)
    root.removeHandler(handler)


def error_with(error: Exception) -> Exception:
    """``error`` as it is when it was raised during another."""
    try:
        try:
            raise KeyError(f"{CANARY} before")
        except KeyError:
            raise error  # noqa: B904 - as it happens
    except Exception as raised:  # noqa: BLE001
        return raised


@pytest.mark.parametrize(
    "error",
    [
        RuntimeError(CANARY),
        IntegrityError(f"Key (email)=({CANARY}) already exists."),
        SMTPRecipientsRefused({CANARY: (550, b"no such user")}),
        UnicodeDecodeError("utf-8", CANARY.encode(), 0, 1, CANARY),
        FileNotFoundError(2, "No such file", CANARY),
        OperationalError(f"the server is away\nCONTEXT: COPY, line 1: {CANARY}"),
        StorageFull(file=CANARY),
        type("Made", (OSError,), {})(CANARY),
    ],
)
def test_an_error_is_logged_by_its_places_and_class_without_what_it_met(error: Exception) -> None:
    said = places_of(error_with(error))
    assert CANARY not in said
    assert type(error).__name__ in said
    assert "KeyError" in said
    assert "in error_with" in said


def test_errors_of_services_and_disks_keep_their_words() -> None:
    assert "the server is away" in places_of(OperationalError("the server is away"))
    assert "No space left on device" in places_of(OSError(28, "x"))
    assert "storage_full" in places_of(StorageFull())


@pytest.mark.django_db
def test_a_service_that_is_away_is_logged_by_its_words_and_the_nearest_places(tmp_path: Path) -> None:
    away = {"ENGINE": "malpan.core.database", "HOST": "127.0.0.1", "PORT": "1", "NAME": "x", "USER": "x"}
    nobody = ConnectionHandler({"default": away})["default"]
    (tmp_path / "incoming").touch()  # no folder

    @s3._named_faults()
    def ask_store() -> None:
        raise EndpointConnectionError(endpoint_url=CANARY)

    for ask, place, words in (
        (nobody.ensure_connection, "core/database/base.py", "django.db.utils.OperationalError: connection failed"),
        (Redis(port=1).ping, "redis", "redis.exceptions.ConnectionError: Error 111"),
        (partial(LocalDisk(tmp_path).put, b"x"), "core/storage/local_disk.py", "FileExistsError: File exists"),
        (ask_store, "core/storage/s3.py", "botocore.exceptions.EndpointConnectionError"),
    ):
        with pytest.raises((OperationalError, RedisError, StorageUnavailable)) as raised:
            ask()
        said = places_of(raised.value)
        assert "Traceback" not in said
        assert len(said.splitlines()) <= 12
        assert place in said
        assert words in said
        assert CANARY not in said


@pytest.mark.django_db
def test_what_the_database_says_of_a_statement_is_logged_with_all_its_places() -> None:
    with pytest.raises(OperationalError) as raised, connection.cursor() as cursor:
        cursor.execute("SET LOCAL statement_timeout = 1; SELECT pg_sleep(5)")
    said = places_of(raised.value)
    assert said.count("Traceback") == 2
    assert "test_log.py" in said


def test_nothing_enters_a_line_of_json_as_extra(lines: Lines) -> None:
    logging.getLogger("malpan.x").info("said", extra={"answer": CANARY})
    assert CANARY not in lines.text
    assert set(lines.json[-1]) == {"time", "level", "logger", "message", "program", "process"}


def test_ids_are_of_the_thread_and_end_with_their_block(lines: Lines) -> None:
    def other() -> None:
        logging.getLogger("malpan.x").info("other")

    with logged_with(job=1), logged_with(run=2):
        logging.getLogger("malpan.x").info("inside")
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
    logging.getLogger("malpan.x").info("after")
    found = {line["message"]: (line.get("job"), line.get("run")) for line in lines.json}
    assert (found["inside"], found["other"], found["after"]) == ((1, 2), (None, None), (None, None))
    assert next(line for line in lines.plain if "inside" in line).endswith("malpan.x: inside [job=1 run=2]")


@pytest.mark.parametrize(
    ("given", "is_taken"),
    [("proxy-0123456789", True), ("", False), ("short", False), ("a" * 65, False), ("evil\nline of its own", False)],
)
def test_a_request_has_the_id_of_the_proxy_or_one_of_its_own(
    db: None, client: Client, lines: Lines, given: str, is_taken: bool
) -> None:
    answer = client.get("/no-such-address/", headers={"X-Request-ID": given} if given else {})
    assert (answer["X-Request-ID"] == given) == is_taken
    assert re.fullmatch(r"[A-Za-z0-9._-]{8,64}", answer["X-Request-ID"])
    [said] = [line for line in lines.json if line["logger"] == "django.request"]
    assert said["request"] == answer["X-Request-ID"]


def test_addresses_are_logged_by_their_pattern(db: None, client: Client, lines: Lines) -> None:
    secret = "Qm9va3Mgb3BlbiBhdCBub29u"
    strict = Client(enforce_csrf_checks=True)
    for path in (f"/invitations/{secret}/", f"/accounts/confirm-email/{secret}/", f"/no-such/{secret}/가/"):
        client.get(path)
        strict.post(path)
    logging.getLogger("waitress").info(f"Client disconnected while serving /invitations/{secret}/")
    assert secret not in lines.text
    assert any(line["message"] == "Not Found: unknown" for line in lines.json)
    assert any("invitations/<str:token>/" in line["message"] for line in lines.json)


@pytest.mark.django_db(transaction=True)
def test_from_upload_to_score_and_through_errors_no_line_has_an_answer_or_anything_personal(
    phase: Any, team: Team, rings: list[str], lines: Lines, monkeypatch: pytest.MonkeyPatch
) -> None:
    mark = "참가자의비밀답"
    person = leader_of(team)
    slug = phase.track.competition.slug
    client = Client(raise_request_exception=False)
    confirm_email(user=person, actor=person)
    client.post("/accounts/login/", {"login": person.email, "password": f"{PASSWORD}-wrong"})
    client.post("/accounts/login/", {"login": person.email, "password": PASSWORD})
    address = f"/competitions/{slug}/submit/"

    def upload(data: bytes) -> Any:
        from io import BytesIO

        file = BytesIO(data)
        file.name = f"{person.name}.json"
        return client.post(address, {"file": file, "memo": mark}, headers={"X-Request-ID": "request-of-the-upload"})

    upload(f'[{{"id": "{mark}"'.encode())  # rejected
    with monkeypatch.context() as patch:
        patch.setattr(submit_pages, "submit", lambda **values: _raise(RuntimeError(str(values))))
        assert upload(prediction_bytes(mark=mark)).status_code == 500
    assert upload(prediction_bytes(mark=mark)).status_code == 302
    run = ScoringRun.objects.get()

    outcomes = [_raise_with_texts, _raise_with_texts, lambda *_args, **_options: report()]
    monkeypatch.setattr(engine, "score", lambda *args, **options: outcomes.pop(0)(*args, **options))
    for _attempt in range(3):
        Job.objects.update(not_before=None)
        assert tasks.work_next(worker="scoring@a") is not None
    run.refresh_from_db()
    assert run.state == "finished"

    secrets = (CANARY, mark, person.email, person.name, team.name, PASSWORD, client.cookies["sessionid"].value)
    assert [secret for secret in secrets if secret in lines.text] == []
    of_run = [line for line in lines.json if line.get("run") == run.pk]
    accepted = f"accepted as submission {Submission.objects.get().public_id}"
    assert (of_run[0]["message"], of_run[-1]["message"]) == (accepted, "scored")
    assert of_run[0]["request"] == "request-of-the-upload"
    assert {line["job"] for line in of_run} == {run.job_id}
    assert [line["attempt"] for line in of_run if "attempt" in line][-1] == 3
    assert any("RuntimeError" in line["message"] for line in lines.json if line.get("job") == run.job_id)


def _raise(error: Exception) -> Any:
    raise error


def _raise_with_texts(*args: Any, **_options: Any) -> Any:
    _recipe, references, predictions = args
    raise RuntimeError(f"{references} {predictions}")


def test_a_task_that_fails_is_logged_by_the_class_of_its_error(lines: Lines) -> None:
    from malpan.celery import app

    @app.task(name="tests.fails")
    def fails() -> None:
        raise RuntimeError(CANARY)

    fails.apply()
    assert CANARY not in lines.text
    assert any("RuntimeError" in line["message"] for line in lines.json if line["logger"] == "celery.app.trace")
