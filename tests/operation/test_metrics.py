"""What the site reports of itself: to whom, that it is true, that it is cheap, and that rules and dashboard know it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import promql_parser
import pytest
import yaml
from django.core.cache import cache
from django.core.cache.backends.redis import RedisCache
from django.core.mail import EmailMessage
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from prometheus_client.openmetrics.parser import text_string_to_metric_families

from malpan import settings as site_settings
from malpan.core.chores import record_chore
from malpan.core.mail_state import EmailBackend
from malpan.core.models import Chore
from malpan.jobs import heartbeat
from malpan.jobs.models import Job, Worker
from malpan.operation.metrics.page import exposition
from malpan.operation.metrics.storage import count_request
from malpan.operation.site_page.facts import lanes
from malpan.operation.tasks import note_beat
from malpan.submissions.models import RescoreBatch, ScoringRun
from tests.factories import PhaseFactory, ScoringRunFactory, SubmissionFactory, UserFactory, update_jobs
from tests.hanging import hanging_server
from tests.paths import ROOT

pytestmark = pytest.mark.django_db(transaction=True)

TOKEN = "a token of the Prometheus server"
ALERTS = ROOT / "deploy/prometheus/alerts.yaml"
DASHBOARD = ROOT / "deploy/grafana/malpan.json"

Labels = dict[str, str]


@pytest.fixture(autouse=True)
def _token(settings: Any) -> None:
    settings.METRICS_TOKEN = TOKEN


def scrape(client: Client | None = None, **headers: str) -> Any:
    return (client or Client()).get("/openmetrics/", headers={"Authorization": f"Bearer {TOKEN}"} | headers)


def values(name: str, **labels: str) -> list[float]:
    """The samples of this name with these labels, as a Prometheus server reads them.

    Only families that the name begins with are parsed: of all it takes longer than the page. The test of what rules and
    dashboard ask for reads the whole.
    """
    families = scrape().content.decode().removesuffix("# EOF\n").split("# HELP ")[1:]
    alike = [f"# HELP {family}" for family in families if name.startswith(family.split(" ", 1)[0])]
    parsed = text_string_to_metric_families("".join([*alike, "# EOF\n"]))
    samples = [sample for family in parsed for sample in family.samples if sample.name == name]
    return [sample.value for sample in samples if labels.items() <= sample.labels.items()]


def ended(minutes: float, *, wait: int = 0, took: int = 10, items: int = 3, **fields: Any) -> ScoringRun:
    """A run that ended so many minutes ago."""
    end = timezone.now() - timedelta(minutes=minutes)
    start = end - timedelta(seconds=took)
    settled: dict[str, Any] = {"state": "finished", "final_score": 0.5}
    return ScoringRunFactory.create(
        **settled | fields,
        submission__item_count=items,
        queued_at=start - timedelta(seconds=wait),
        started_at=start,
        finished_at=end,
    )


# --- to whom ----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("method", ["get", "post", "head", "options"])
@pytest.mark.parametrize("header", ["", "Bearer ", "Bearer wrong", f"Bearer {TOKEN}x", TOKEN, "Bearer \udcff토큰"])
def test_to_a_stranger_the_address_does_not_exist(method: str, header: str) -> None:
    answer = getattr(Client(), method)("/openmetrics/", headers={"Authorization": header} if header else {})
    nowhere = getattr(Client(), method)("/no-such-address/")
    assert answer.status_code == nowhere.status_code == 404
    assert b"malpan_" not in answer.content


def test_an_administrator_is_a_stranger_too() -> None:
    client = Client()
    client.force_login(UserFactory.create(is_staff=True, is_superuser=True))
    assert client.get("/openmetrics/").status_code == 404


def test_without_a_token_in_the_settings_nobody_reads_them(settings: Any) -> None:
    settings.METRICS_TOKEN = ""
    for header in ("Bearer ", "Bearer None", f"Bearer {TOKEN}"):
        assert Client().get("/openmetrics/", headers={"Authorization": header}).status_code == 404


def test_a_server_that_asks_by_address_is_answered() -> None:
    answer = scrape(Host="10.0.0.7")
    assert answer.status_code == 200
    assert answer["Content-Type"].startswith("application/openmetrics-text; version=1.0.0")
    assert answer.content.endswith(b"# EOF\n")


# --- that it is true --------------------------------------------------------------------------------------------------
def test_the_queue_is_reported_by_cause_with_the_age_of_its_oldest() -> None:
    assert values("malpan_queue_age_seconds") == [0, 0, 0]
    ScoringRunFactory.create()
    ScoringRunFactory.create(state="running")
    rescored = ScoringRunFactory.create()
    update_jobs(ScoringRun.objects.filter(pk=rescored.pk), lane=Job.Lane.RESCORING)
    Job.objects.filter(pk=rescored.job_id).update(queued_at=timezone.now() - timedelta(hours=2))

    assert values("malpan_jobs", kind="run", cause="submission", state="queued") == [1]
    assert values("malpan_jobs", kind="run", cause="submission", state="running") == [1]
    assert values("malpan_jobs", kind="run", cause="rescoring", state="queued") == [1]
    [live], [batch] = (values("malpan_queue_age_seconds", cause=cause) for cause in ("submission", "rescoring"))
    assert live < 60 < 7200 <= batch < 7260


def test_a_job_that_could_not_run_yet_is_not_late() -> None:
    """More workers would not help: one waits for its judge, one for the slices of its run."""
    now = timezone.now()
    for number in range(3):
        ScoringRunFactory.create(job__queued_at=now - timedelta(hours=3 + number))
    judged, sliced, retried = Job.objects.order_by("pk")
    Job.objects.filter(pk=judged.pk).update(not_before=now + timedelta(minutes=5))
    Job.objects.filter(pk=retried.pk).update(not_before=now - timedelta(minutes=10))
    child = Job.objects.create(
        kind="slice",
        parent=sliced,
        flow="f",
        state="running",
        queued_at=now,
        started_at=now,
        lease_expires_at=now + timedelta(minutes=1),
    )

    assert values("malpan_jobs", kind="run", cause="submission", state="queued") == [3]
    [age] = values("malpan_queue_age_seconds", cause="submission")
    assert 600 <= age < 660, "since it could run again"
    live = lanes(timezone.now())[0]
    assert live.waiting == 3
    assert live.oldest_wait is not None
    assert live.oldest_wait < timedelta(minutes=11)

    Job.objects.filter(pk=child.pk).update(state="finished", finished_at=now)
    [age] = values("malpan_queue_age_seconds", cause="submission")
    assert 4 * 3600 <= age < 4 * 3600 + 60


def test_a_run_that_was_given_up_counts_until_its_submission_is_scored() -> None:
    gone = ended(20, state="failed", final_score=None, error_code="worker_lost")
    ended(10, state="failed", final_score=None, error_code="worker_lost")
    ended(30, submission=gone.submission)  # before it
    assert values("malpan_runs_given_up", cause="submission", error="worker_lost") == [2]
    ended(5, submission=gone.submission)
    assert values("malpan_runs_given_up", cause="submission", error="worker_lost") == [1]
    assert values("malpan_runs_last_hour", state="failed") == [2]


def test_jobs_that_wait_for_something_outside_are_counted_by_what_it_is() -> None:
    assert values("malpan_jobs_waiting") == [0, 0]
    assert values("malpan_jobs_waiting", error="version_missing") == [0]
    for state, since in (("queued", timezone.now()), ("queued", timezone.now()), ("queued", None)):
        run = ScoringRunFactory.create(state=state)
        Job.objects.filter(pk=run.job_id).update(waiting_since=since, error_code="model_missing")
    assert values("malpan_jobs_waiting", error="model_missing") == [2]
    again = ScoringRunFactory.create(state="running")  # it looks once more: no moment without it, or no alert
    Job.objects.filter(pk=again.job_id).update(waiting_since=timezone.now(), error_code="storage_unavailable")
    assert values("malpan_jobs_waiting", error="storage_unavailable") == [1]


def test_whether_the_last_mail_went_is_reported(settings: Any) -> None:
    cache.clear()
    assert values("malpan_mail_failing") == [0]
    settings.MAIL_TRANSPORT = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", 1
    with pytest.raises(OSError):
        EmailBackend().send_messages([EmailMessage("s", "b", "a@example.org", ["b@example.org"])])
    assert values("malpan_mail_failing") == [1]
    settings.MAIL_TRANSPORT = "django.core.mail.backends.locmem.EmailBackend"
    EmailBackend().send_messages([EmailMessage("s", "b", "a@example.org", ["b@example.org"])])
    assert values("malpan_mail_failing") == [0]


def test_the_runs_of_the_last_hour_are_counted_and_timed() -> None:
    phase = PhaseFactory.create()
    batch = RescoreBatch.objects.create(
        competition=phase.track.competition, phase=phase, reason="r", created_by=UserFactory.create()
    )
    for wait in (10, 20, 30):
        ended(5, wait=wait, took=10, items=600)
    ended(5, state="failed", final_score=None, error_code="model_missing")
    ended(30, batch=batch, submission__phase=phase, wait=1000, took=100, items=400)
    ended(90, wait=9000)  # too long ago

    assert values("malpan_runs_last_hour", cause="submission", state="finished", error="") == [3]
    assert values("malpan_runs_last_hour", cause="submission", state="failed", error="model_missing") == [1]
    assert values("malpan_runs_last_hour", cause="rescoring", state="finished") == [1]
    assert values("malpan_run_wait_seconds", cause="submission", percentile="50") == [pytest.approx(20)]
    assert values("malpan_run_wait_seconds", cause="submission", percentile="95") == [pytest.approx(29)]
    assert values("malpan_run_seconds", cause="rescoring", percentile="50") == [pytest.approx(100)]
    assert values("malpan_items_last_hour", cause="submission") == [1800]
    assert values("malpan_items_per_second", cause="submission") == [pytest.approx(60)]
    assert values("malpan_items_per_second", cause="rescoring") == [pytest.approx(4)]


def test_workers_are_alive_as_long_as_they_say_so() -> None:
    assert values("malpan_workers") == [0]
    heartbeat.beat("scoring@a/0", {"pairs_asked": 10, "pairs_known": 4, "gpu_used_bytes": 3e9, "gpu_total_bytes": 8e9})
    heartbeat.beat("scoring@b/0", {})
    heartbeat.beat("scoring@bad/0", {}, "rouge1_mecab, row 0, number 0: 1.0001 instead of 1.0")
    assert values("malpan_worker_refuses", worker="scoring@bad/0") == [1]
    heartbeat.beat("scoring@bad/0", {})  # works again
    assert values("malpan_worker_refuses", worker="scoring@bad/0") == [0]
    Worker.objects.filter(name="scoring@bad/0").delete()
    Worker.objects.filter(name="scoring@b/0").update(seen_at=timezone.now() - timedelta(minutes=5))
    assert values("malpan_workers") == [1]
    assert values("malpan_pairs_total", worker="scoring@a/0", known="yes") == [4]
    assert values("malpan_pairs_total", worker="scoring@a/0", known="no") == [6]
    assert values("malpan_gpu_memory_bytes", what="used") == [3e9]
    assert values("malpan_worker_silence_seconds", worker="scoring@b/0")[0] > 299


def test_boards_submissions_and_room_are_reported(settings: Any) -> None:
    soon = timezone.now() + timedelta(hours=1)
    for fields in ({}, {"board": "frozen", "frozen_at": timezone.now()}, {"board": "frozen", "frozen_at": soon}):
        PhaseFactory.create(**fields)
    PhaseFactory.create(board="hidden")
    PhaseFactory.create(starts_at=soon)
    phase = PhaseFactory.create(track__competition__is_published=False)
    SubmissionFactory.create(phase=phase)
    SubmissionFactory.create(phase=phase, created_at=timezone.now() - timedelta(hours=2))
    shown = {state: values("malpan_open_boards", shown=state)[0] for state in ("live", "frozen", "hidden")}
    assert shown == {"live": 2, "frozen": 1, "hidden": 1}
    assert values("malpan_submissions_last_hour") == [1]
    assert values("malpan_database_bytes")[0] > 1e6
    assert values("malpan_files_free_bytes")[0] > 0
    settings.MALPAN_STORAGE = "s3://bucket/prefix"  # which says nothing of its room: no MalpanDiskFilling
    assert values("malpan_files_free_bytes") == []


def test_silence_of_programs_the_age_of_the_backup_and_redis_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    assert values("malpan_program_silence_seconds") == values("malpan_backup_age_seconds") == []
    for name, ago in ((Chore.Name.CHORES, timedelta(minutes=5)), (Chore.Name.BACKUP, timedelta(hours=30))):
        Chore.objects.create(name=name, done_at=timezone.now() - ago)
    assert values("malpan_chains_broken") == values("malpan_chain_check_age_seconds") == []
    record_chore(name=Chore.Name.CHAIN_CHECK, facts={"competitions": 3, "broken": ["norms"]})
    assert values("malpan_chains_broken") == [1]
    assert values("malpan_chain_check_age_seconds")[0] < 60
    Chore.objects.filter(name=Chore.Name.CHAIN_CHECK).update(done_at=timezone.now() - timedelta(hours=27))
    assert 27 * 3600 <= values("malpan_chain_check_age_seconds")[0] < 27 * 3600 + 60
    note_beat()
    [chores], [beat] = (values("malpan_program_silence_seconds", program=name) for name in ("chores", "beat"))
    [backup] = values("malpan_backup_age_seconds")
    assert values("malpan_backup_missing_files") == [0]
    Chore.objects.filter(name=Chore.Name.BACKUP).update(facts={"missing": 2})
    assert values("malpan_backup_missing_files") == [2]
    assert beat < 60 < 300 <= chores < 360 < 30 * 3600 <= backup < 30 * 3600 + 60

    assert values("malpan_redis_up") == [1]
    with hanging_server() as port:
        away = RedisCache(f"redis://127.0.0.1:{port}/0", site_settings.CACHES["default"])
        monkeypatch.setattr("malpan.operation.metrics.site.cache", away)
        began = time.monotonic()
        assert values("malpan_redis_up") == [0]
        assert time.monotonic() - began < 3 * site_settings.REDIS_SECONDS


def test_requests_are_counted_by_the_pattern_of_their_address() -> None:
    def count(**labels: str) -> float:
        return sum(values("malpan_http_requests_total", **labels))

    before = count(route="competitions/<slug:slug>/board/", status="404", method="GET")
    Client().get("/competitions/no-such/board/")
    Client().get("/invitations/secret-key-of-an-invitation/")
    Client().generic("BREW", "/no-such-address/")
    Client().get("/static/no-such.css")

    assert count(route="competitions/<slug:slug>/board/", status="404", method="GET") == before + 1
    assert count(route="unknown", method="other") > 0
    assert count(route="static") > 0
    assert b"secret-key" not in scrape().content
    assert sum(values("malpan_http_request_seconds_count", route="unknown")) > 0


def test_all_web_processes_of_a_machine_count_together(tmp_path: Path) -> None:
    program = (
        "import sys, django; django.setup()\n"
        "from types import SimpleNamespace as Made\n"
        "from malpan.operation.metrics.http import CountRequestsMiddleware, counted_requests\n"
        "from prometheus_client.openmetrics.exposition import generate_latest\n"
        "request = Made(method='GET', resolver_match=Made(route='board/'))\n"
        "for _ in range(int(sys.argv[1])): CountRequestsMiddleware(lambda _request: Made(status_code=200))(request)\n"
        "print(generate_latest(counted_requests()).decode())"
    )
    environment = os.environ | {"PROMETHEUS_MULTIPROC_DIR": str(tmp_path), "DJANGO_SETTINGS_MODULE": "malpan.settings"}
    for times, total in (("2", "2.0"), ("3", "5.0")):
        done = subprocess.run(
            [sys.executable, "-c", program, times],
            env=environment,
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        )
        assert f'malpan_http_requests_total{{method="GET",route="board/",status="200"}} {total}\n' in done.stdout


# --- that it is cheap -------------------------------------------------------------------------------------------------
def test_a_scrape_takes_the_same_few_queries_whatever_there_is() -> None:
    with CaptureQueriesContext(connection) as few:
        exposition()
    for number in range(5):
        ended(5, submission__phase=PhaseFactory.create())
        ScoringRunFactory.create()
        heartbeat.beat(f"scoring@{number}/0", {"gpu_used_bytes": 1})
    with CaptureQueriesContext(connection) as many:
        exposition()
    assert len(many) == len(few) <= 12


# --- that rules and dashboard know it ---------------------------------------------------------------------------------
def expressions() -> Iterator[tuple[str, str]]:
    """Where it stands, and what is asked."""
    for group in yaml.safe_load(ALERTS.read_text())["groups"]:
        yield from ((rule["alert"], rule["expr"]) for rule in group["rules"])
    for panel in json.loads(DASHBOARD.read_text())["panels"]:
        yield from ((panel["title"], target["expr"]) for target in panel["targets"])


def selectors(expression: Any) -> Iterator[tuple[str, Labels]]:
    """The metrics that a parsed expression reads, each with the labels it must have."""
    if isinstance(expression, promql_parser.VectorSelector):
        equal = {each.name: each.value for each in expression.matchers.matchers if str(each.op) == "MatchOp.Equal"}
        yield expression.name, equal
    for name in ("expr", "lhs", "rhs", "vector_selector", "param"):
        part = getattr(expression, name, None)
        if part is not None:
            yield from selectors(part)
    for part in getattr(expression, "args", None) or ():
        yield from selectors(part)


def test_rules_and_dashboard_ask_only_for_what_a_scrape_reports() -> None:
    ended(5, state="failed", final_score=None, error_code="model_missing")
    ended(5)
    heartbeat.beat("scoring@a/0", {"pairs_asked": 1, "pairs_known": 1, "gpu_used_bytes": 1, "gpu_total_bytes": 2})
    for name in Chore.Name:
        record_chore(name=name, facts={})
    Client().get("/")
    count_request("PutObject", "answered", 0.1)
    families = list(text_string_to_metric_families(scrape().content.decode()))
    reported: dict[str, list[Labels]] = {}
    for sample in (sample for family in families for sample in family.samples):
        reported.setdefault(sample.name, []).append(sample.labels)
    reported["up"] = [{"job": "malpan"}]  # Prometheus' own

    asked: set[str] = set()
    for place, expression in expressions():
        found = list(selectors(promql_parser.parse(expression)))
        assert found, place
        for name, labels in found:
            assert any(labels.items() <= each.items() for each in reported.get(name, [])), (place, name, labels)
            asked.add(name)
    strangers = {name.removesuffix("_bucket").removesuffix("_sum").removesuffix("_count") for name in asked} - {"up"}
    assert {family.name for family in families} <= {name.removesuffix("_total") for name in strangers}, "shown nowhere"


def test_every_rule_says_who_is_called_and_why() -> None:
    rules = [rule for group in yaml.safe_load(ALERTS.read_text())["groups"] for rule in group["rules"]]
    assert len({rule["alert"] for rule in rules}) == len(rules)
    for rule in rules:
        assert set(rule) <= {"alert", "expr", "for", "labels", "annotations"}
        assert promql_parser.parse_duration(rule.get("for", "1m")) >= timedelta(minutes=1)
        assert rule["labels"]["severity"] in ("page", "warning")
        assert " / " in rule["annotations"]["summary"]
