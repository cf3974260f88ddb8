"""One trace from the upload to the score, as a collector receives it, and nothing in it that is not its business."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from malpan.accounts.services import create_api_token
from malpan.core import tracing
from malpan.jobs.models import Job
from malpan.jobs.tasks import work_next
from malpan.submissions.models import ScoringRun
from malpan.submissions.scoring_changes import publish_reference_version
from tests.chaos.contest import labels_file
from tests.collector import Collector
from tests.factories import PhaseFactory, TeamFactory, leader_of
from tests.submissions.conftest import collect_rings, work_uncommitted
from tests.waiting import wait_for

pytestmark = pytest.mark.django_db

LOADED = ["opentelemetry.sdk.trace", "opentelemetry.exporter.otlp.proto.http.trace_exporter"]  # redis-py loads others


def forget_provider() -> None:
    tracing._provider(os.getpid()).shutdown()
    tracing._provider.cache_clear()


@pytest.fixture
def collector(monkeypatch: pytest.MonkeyPatch) -> Iterator[Collector]:
    found = Collector()
    monkeypatch.setenv(tracing.ENDPOINT, found.url)
    monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", "50")
    tracing._provider.cache_clear()
    yield found
    forget_provider()
    found.close()


@pytest.fixture
def sender(monkeypatch: pytest.MonkeyPatch) -> tuple[Client, str, str, bytes]:
    """A team's program, where it uploads, its token, and a file."""
    collect_rings(monkeypatch)
    work_uncommitted(monkeypatch)
    phase = PhaseFactory.create(track__recipe="classification-accuracy@1", track__competition__is_published=True)
    content = labels_file(random.Random(1))
    publish_reference_version(phase=phase, data=content, actor=None)
    team = TeamFactory.create(competition=phase.track.competition)
    token = create_api_token(user=leader_of(team), label="t")[1]
    address = f"/api/v1/competitions/{phase.track.competition.slug}/tracks/{phase.track.slug}/submissions/"
    return Client(headers={"Authorization": f"Bearer {token}"}), address, token, content


def upload(sender: tuple[Client, str, str, bytes]) -> Any:
    client, address, _token, content = sender
    return client.post(address, {"file": SimpleUploadedFile("우리 팀 비밀.json", content)})


def test_one_trace_leads_from_the_upload_to_the_score(collector: Collector, sender: Any) -> None:
    assert upload(sender).status_code == 201
    assert work_next(worker="w") is not None
    assert ScoringRun.objects.get().state == "finished"

    wait_for(lambda: {"run", "engine"} <= collector.spans().keys(), "the spans arrive")
    spans = collector.spans()
    [request] = [span for name, span in spans.items() if name.startswith("POST api/v1/")]
    assert request.name == "POST api/v1/competitions/<slug:slug>/tracks/<slug:track>/submissions/"
    assert {span.trace_id for span in (request, spans["run"], spans["engine"])} == {request.trace_id}
    assert (spans["run"].parent_span_id, spans["engine"].parent_span_id) == (request.span_id, spans["run"].span_id)


def test_a_trace_holds_no_address_file_name_token_or_text(collector: Collector, sender: Any) -> None:
    _client, address, token, _content = sender
    upload(sender)
    work_next(worker="w")
    wait_for(lambda: "run" in collector.spans(), "the spans arrive")
    sent = b"".join(collector.bodies)
    secrets = [address, "우리 팀 비밀", token, "기쁨", "example.com"]
    assert [each for each in secrets if each.encode() in sent] == []


def test_an_error_is_its_class_alone(collector: Collector) -> None:
    with pytest.raises(ValueError, match="답안"), tracing.span("fails"):
        raise ValueError("답안: 기쁨")
    wait_for(lambda: "fails" in collector.spans(), "the span arrives")
    span = collector.spans()["fails"]
    assert [each.value.string_value for each in span.attributes if each.key == "error.type"] == ["ValueError"]
    assert span.status.code == 2
    assert "답안".encode() not in b"".join(collector.bodies)


def test_a_later_attempt_and_a_job_without_a_request_have_their_traces(collector: Collector, sender: Any) -> None:
    upload(sender)
    assert Job.objects.get().traceparent.startswith("00-")
    with tracing.continued(""), tracing.span("alone"):
        pass
    wait_for(lambda: "alone" in collector.spans(), "the span arrives")
    assert collector.spans()["alone"].parent_span_id == b""


def test_a_collector_that_is_away_costs_nothing_but_the_trace(monkeypatch: pytest.MonkeyPatch, sender: Any) -> None:
    monkeypatch.setenv(tracing.ENDPOINT, "http://127.0.0.1:1")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "1")
    tracing._provider.cache_clear()
    assert upload(sender).status_code == 201
    assert work_next(worker="w") is not None
    assert ScoringRun.objects.get().state == "finished"
    forget_provider()


def test_without_a_collector_nothing_is_loaded_or_kept(sender: Any) -> None:
    assert upload(sender).status_code == 201
    assert Job.objects.get().traceparent == ""
    loads = f"import malpan.wsgi, sys; print([name for name in {LOADED} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", loads], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
