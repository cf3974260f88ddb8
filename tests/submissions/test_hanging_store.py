"""A store of files that takes requests and never answers: whose fault it is called, who waits, what is left."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from django.core import mail
from django.core.management import CommandError, call_command
from django.test import Client, override_settings
from prometheus_client.openmetrics.parser import text_string_to_metric_families

from malpan.competitions.models import Phase
from malpan.core.errors import StorageUnavailable
from malpan.core.storage import read_private, remove_unfinished, s3, silence, silent_since, store_private, stored_files
from malpan.core.storage.places import configured
from malpan.jobs import faults
from malpan.jobs.claim import claim_next
from malpan.jobs.models import Job
from malpan.jobs.tasks import perform
from malpan.operation.metrics.page import exposition
from malpan.submissions.intake import submit
from malpan.submissions.models import QuotaEntry, Rejection, ScoringRun, Submission
from malpan.teams.models import Team
from tests.clocks import let_pass_in
from tests.factories import leader_of, prediction_bytes, report
from tests.hanging import Forwarder, forwarded
from tests.in_s3 import new_place
from tests.s3_server import S3Server

pytestmark = pytest.mark.django_db(transaction=True)
ANSWER_SECONDS = 1.0


@pytest.fixture
def hanging(in_s3: S3Server, settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Forwarder]:
    """Before the site's S3 server; limits are a twentieth."""
    monkeypatch.setattr(s3, "_ANSWER_SECONDS", ANSWER_SECONDS)
    monkeypatch.setattr(s3, "_CONNECT_SECONDS", 0.5)
    with forwarded(in_s3.ports["s3.port"]) as forwarder:
        settings.S3_ENDPOINT = f"http://127.0.0.1:{forwarder.port}"
        yield forwarder


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Lets the seconds pass in which requests are refused."""
    let_pass = let_pass_in(silence, monkeypatch)
    return lambda: let_pass(silence.REFUSED_SECONDS)


def is_asked(act: Callable[[], object]) -> bool:
    """Whether ``act``, which fails in time, waited for the store; else it was told at once."""
    begun = time.monotonic()
    with pytest.raises(StorageUnavailable) as fault:
        act()
    assert time.monotonic() - begun < 10 * ANSWER_SECONDS
    return not isinstance(fault.value.__cause__, silence.StoreSilent)


def test_every_request_gives_up_in_time_and_nothing_is_lost(hanging: Forwarder, later: Callable[[], None]) -> None:
    store_private(b"to be removed")
    [copy] = configured().copies()  # a request that hung may arrive late
    stored = store_private(b"before").sha256
    configured().write_note("erasures/1", b"[]")
    acts: list[Callable[[], object]] = [
        lambda: store_private(b"new"),
        lambda: store_private(bytes(12 * 1024 * 1024)),  # more than the system takes in for a server
        lambda: read_private(stored),
        lambda: list(stored_files()),
        lambda: configured().is_sound(copy),
        lambda: configured().remove(copy),
        lambda: configured().claim("site"),
        lambda: configured().write_note("erasures/2", b"[]"),
        lambda: configured().read_note("erasures/1"),
        remove_unfinished,
    ]
    for act in acts:
        assert silent_since() is None
        hanging.flows.clear()
        is_asked(act)
        assert silent_since() is not None
        assert not is_asked(act)
        hanging.flows.set()
        later()
        assert list(configured().notes()) != []
    assert read_private(stored) == b"before"
    assert read_private(store_private(b"new").sha256) == b"new"


def test_one_thread_waits_and_all_others_are_told_at_once(
    hanging: Forwarder, later: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    stored = store_private(b"before").sha256
    hanging.flows.clear()
    is_asked(lambda: read_private(stored))
    later()
    monkeypatch.setattr(silence, "REFUSED_SECONDS", 60.0)
    monkeypatch.setattr(silence, "PROBE_SECONDS", 60.0)
    seconds = []

    def read() -> None:
        begun = time.monotonic()
        is_asked(lambda: read_private(stored))
        seconds.append(time.monotonic() - begun)

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda _: read(), range(8)))
    assert len([each for each in seconds if each >= ANSWER_SECONDS]) == 1, seconds


def test_an_upload_is_charged_nothing_and_goes_through_when_it_is_sent_again(
    hanging: Forwarder, later: Callable[[], None], phase: Phase, team: Team, rings: list[str]
) -> None:
    def upload() -> Submission:
        key = "the-same"
        return submit(
            phase=phase, team=team, user=leader_of(team), file_name="a.json", upload=prediction_bytes(), upload_key=key
        )

    hanging.flows.clear()
    is_asked(upload)
    assert not Submission.objects.exists()
    assert not Rejection.objects.exists()
    assert not Job.objects.exists()
    assert not QuotaEntry.objects.exists()
    hanging.flows.set()
    later()
    assert read_private(upload().file_sha256) == prediction_bytes()


def test_a_scoring_run_waits_without_a_failure_and_the_operators_are_told_once(
    hanging: Forwarder,
    later: Callable[[], None],
    phase: Phase,
    team: Team,
    rings: list[str],
    scored_by: Callable[..., None],
    settings: Any,
    django_capture_on_commit_callbacks: Any,
) -> None:
    settings.ADMINS = [("operator", "operator@example.org")]
    scored_by(lambda *_args, **_options: report(0.5))
    for mark in range(2):
        submit(phase=phase, team=team, user=leader_of(team), file_name="a.json", upload=prediction_bytes(mark=mark))
    hanging.flows.clear()
    for _attempt in range(4):  # one more than JOB_MAX_FAILURES
        later()
        Job.objects.update(not_before=None)
        for _job in range(2):
            job = claim_next(worker="w")
            assert job is not None
            perform(job)
    waiting = set(Job.objects.values_list("state", "failures", "error_code"))
    assert waiting == {("queued", 0, "storage_unavailable")}
    [told] = mail.outbox
    assert "S3_ENDPOINT" in told.body
    assert "심사 모델" not in told.body

    hanging.flows.set()
    later()
    Job.objects.update(not_before=None)
    while (job := claim_next(worker="w")) is not None:
        perform(job)
    assert set(ScoringRun.objects.values_list("state", "error_code")) == {("finished", "")}


def test_a_run_that_waited_for_hours_is_a_failure_at_last(
    hanging: Forwarder, phase: Phase, team: Team, rings: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    submit(phase=phase, team=team, user=leader_of(team), file_name="a.json", upload=prediction_bytes())
    monkeypatch.setattr(faults, "STORE_WAIT_SECONDS", 0)
    hanging.flows.clear()
    for _attempt in range(2):
        Job.objects.update(not_before=None)
        job = claim_next(worker="w")
        assert job is not None
        perform(job)
    assert Job.objects.get().failures > 0


def test_the_site_says_so_and_goes_on(hanging: Forwarder, client: Client) -> None:
    stored = store_private(b"before").sha256
    assert "store of files" not in client.get("/healthz/?format=text").content.decode()
    hanging.flows.clear()
    is_asked(lambda: read_private(stored))
    answer = client.get("/healthz/?format=json")
    assert answer.status_code == 200
    assert "the store of files has not answered since" in answer.content.decode()
    assert client.get("/").status_code == 200


def test_commands_end_with_the_reason_and_remove_nothing(
    hanging: Forwarder, later: Callable[[], None], settings: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    stored = store_private(b"of nobody").sha256
    monkeypatch.setattr("malpan.core.storage.collecting.KEPT", timedelta(days=-1))
    source, target = settings.MALPAN_STORAGE, new_place()
    hanging.flows.clear()
    settings.MALPAN_STORAGE = target
    for words in (
        ["collect_files", "--yes"],
        ["move_files", source, target, "--remove", "--yes"],
        ["redo_erasures", "--apply"],
        ["backup", tmp_path / "b"],
    ):
        with pytest.raises(CommandError, match="storage_unavailable"):
            call_command(*map(str, words))
        later()
    assert not (tmp_path / "b").exists()
    hanging.flows.set()
    later()
    settings.MALPAN_STORAGE = source
    assert read_private(stored) == b"of nobody"


def test_requests_to_the_store_are_counted_by_how_they_ended(
    hanging: Forwarder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(silence, "REFUSED_SECONDS", 60.0)
    before = put_counts()
    store_private(b"before")
    with override_settings(S3_SECRET_KEY="of another site"), pytest.raises(StorageUnavailable):
        store_private(b"not allowed")
    hanging.flows.clear()
    is_asked(lambda: store_private(b"given up, and tried again at once"))
    assert put_counts() - before == {"answered": 1, "error": 1, "no_answer": 1, "refused": 1, "timed": 3}


def put_counts() -> Counter[str]:
    """How many requests to store a file ended in which way, and for how many the time was taken."""
    found: Counter[str] = Counter()
    for family in text_string_to_metric_families(exposition().decode()):
        for sample in (each for each in family.samples if each.labels.get("operation") == "PutObject"):
            if sample.name == "malpan_storage_requests_total":
                found[sample.labels["outcome"]] = int(sample.value)
            elif sample.name == "malpan_storage_request_seconds_count":
                found["timed"] = int(sample.value)
    return found
