"""The operators' page: who gets it, that it is true, that it is cheap, and what it calls an alarm."""

from __future__ import annotations

import io
from datetime import timedelta
from typing import Any

import pytest
from django.core.cache import cache
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from malpan.core.chores import last_chores, record_chore
from malpan.core.errors import StorageUnavailable
from malpan.core.mail_state import MailState
from malpan.core.models import Chore
from malpan.core.storage.collecting import hold, this_site
from malpan.core.storage.places import configured
from malpan.jobs.clock import database_now
from malpan.jobs.heartbeat import Scorers, beat, scorers
from malpan.jobs.models import Job, Worker
from malpan.operation.site_page import facts
from malpan.operation.site_page.alarms import alarms
from malpan.submissions.models import ScoringRun
from tests.factories import (
    CANARY,
    PhaseFactory,
    ScoringRunFactory,
    SubmissionFactory,
    UserFactory,
    update_jobs,
)
from tests.web import html

pytestmark = pytest.mark.django_db

ADDRESS = "/manage/site/"
GIB = 2**30
ROOMY = facts.Disk(free=50 * GIB, total=100 * GIB)
GOOD_MAIL = MailState(timezone.now(), None, "")


def client_of(**fields: Any) -> Client:
    client = Client()
    client.force_login(UserFactory.create(**fields))
    return client


def page_text(client: Client) -> str:
    return html.parse(client.get(ADDRESS).content.decode()).text


def texts(**known: Any) -> list[tuple[str, bool]]:
    """The alarms of a site where all is well but for what is ``known``."""
    now = timezone.now()
    facts_of_all: dict[str, Any] = {
        "scorers": scorers(),
        "lanes": [],
        "disk": ROOMY,
        "is_store_held": False,
        "mail": GOOD_MAIL,
    }
    found = alarms(
        **(facts_of_all | {"no_room_at": None, "lacking": [], "held": [], "chores": well_but(), "now": now} | known)
    )
    return [(alarm.text, alarm.is_urgent) for alarm in found]


def _held(code: str, *, minutes: int = 16) -> dict[str, Any]:
    return {"held": [facts.Held(code, 2, timezone.now() - timedelta(minutes=minutes, seconds=1))]}


# --- who gets it ------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("address", [ADDRESS, f"{ADDRESS}throughput.csv"])
def test_it_is_for_staff_and_superusers(address: str) -> None:
    assert client_of(is_staff=True).get(address).status_code == 200
    assert client_of(is_superuser=True).get(address).status_code == 200
    assert client_of().get(address).status_code == 404
    assert Client().get(address).status_code == 302
    assert client_of(is_staff=True).post(address).status_code == 405


# --- that it is true --------------------------------------------------------------------------------------------------
def test_it_shows_who_works_on_what_with_which_models() -> None:
    run = ScoringRunFactory.create(state="running")
    Job.objects.filter(pk=run.job_id).update(progress=0.42)
    numbers = {"memory_bytes": 3 * GIB, "gpu_used_bytes": 2 * GIB, "gpu_total_bytes": 80 * GIB}
    about = {"profile": "official", "models": ["bert-base-multilingual-cased"], "device": "cuda:0", "job": run.job_id}
    beat("scoring@a/0", numbers, about=about)
    beat("scoring@b/0", {})
    beat("scoring@c/0", {})
    Worker.objects.filter(name="scoring@b/0").update(seen_at=database_now() - timedelta(minutes=3))
    page = html.parse(client_of(is_staff=True).get(ADDRESS).content.decode())
    assert html.problems(page) == []
    first, second, idle = page.all("tbody")[0].all("tr")
    shown = first.text.replace("\xa0", " ")
    for word in ("켜져 있음", f"#{run.pk}", "42%", "official", "bert-base", "cuda:0", "3.0 GB", "2.0 GB / 80.0 GB"):
        assert word in shown
    assert "켜져 있음" in idle.text
    assert "맡은 일 없음" in idle.text
    assert "중" not in idle.text
    assert "보고 없음" in second.text
    assert "3분 전에 보고" in second.text
    assert "채점 프로세스 1개가 보고하지 않습니다" in page.text


def test_the_day_curve_counts_runs_in_their_hours_and_the_failures_by_cause(monkeypatch: pytest.MonkeyPatch) -> None:
    now = timezone.now()
    monkeypatch.setattr(timezone, "now", lambda: now)  # else another hour may begin before the file is asked for
    for hours, fields in ((0, {}), (2, {}), (2, {"state": "failed", "error_code": "worker_lost"}), (30, {})):
        end = now - timedelta(hours=hours)
        settled = {"state": "finished", "final_score": 0.5} | fields
        settled |= {"final_score": None} if settled["state"] == "failed" else {}
        ScoringRunFactory.create(
            submission=SubmissionFactory.create(item_count=5), queued_at=end, started_at=end, finished_at=end, **settled
        )
    hours = facts.day_curve(now)
    assert len(hours) == 24
    assert [(hour.finished, hour.failed, hour.items) for hour in (hours[-1], hours[-3])] == [(1, 0, 5), (1, 1, 5)]
    assert sum(hour.finished for hour in hours) == 2
    assert facts.failures(now) == [facts.Failure("worker_lost", 1)]
    csv = client_of(is_staff=True).get(f"{ADDRESS}throughput.csv").content.decode()
    assert len(csv.splitlines()) == 25
    assert csv.splitlines()[-1].endswith(",1,0,5,0")


def test_the_queue_by_the_hour_has_what_was_open_at_the_end_of_each() -> None:
    now = timezone.now().replace(minute=30)
    ago = {hours: now - timedelta(hours=hours) for hours in (0, 1, 3, 5, 30, 40)}
    for queued, finished in ((5, 3), (5, None), (30, 1), (3, 3), (40, 30)):
        ended = {} if finished is None else {"state": "finished", "final_score": 0.5, "finished_at": ago[finished]}
        ScoringRunFactory.create(queued_at=ago[queued], **ended)
    lengths = [hour.open for hour in facts.day_curve(now)]
    assert lengths == [1] * 18 + [3, 3, 2, 2, 1, 1]
    page = html.parse(client_of(is_staff=True).get(ADDRESS).content.decode())
    assert html.problems(page) == []
    plot = page.one("svg", **{"aria-labelledby": "queue-length-title queue-length-desc"})
    assert len(plot.all("rect")) == 24


def test_the_queue_is_shown_by_lane_with_its_oldest_wait() -> None:
    run = ScoringRunFactory.create(state="queued")
    update_jobs(ScoringRun.objects.filter(pk=run.pk), queued_at=timezone.now() - timedelta(minutes=7))
    live, rescoring, figures = facts.lanes(timezone.now())
    assert (live.waiting, live.running, rescoring.waiting, figures.waiting) == (1, 0, 0, 0)
    assert live.oldest_wait is not None
    assert 6.9 < live.oldest_wait / timedelta(minutes=1) < 7.2
    assert rescoring.oldest_wait is None


def test_deadlines_of_the_next_two_weeks_come_in_order() -> None:
    now = timezone.now()
    near = PhaseFactory.create(starts_at=now - timedelta(days=1), ends_at=now + timedelta(days=3))
    later = PhaseFactory.create(starts_at=now + timedelta(days=2), ends_at=now + timedelta(days=30))
    found = facts.deadlines(now)
    assert [(each.phase, each.is_start) for each in found] == [(later, True), (near, False)]


def test_it_holds_no_answer_and_takes_the_same_few_queries_however_much_there_is() -> None:
    client = client_of(is_staff=True)

    def queries() -> int:
        with CaptureQueriesContext(connection) as captured:
            response = client.get(ADDRESS)
        assert CANARY not in response.content.decode()
        return len(captured)

    first = queries()
    for number in range(3):
        run = ScoringRunFactory.create(state="running")
        beat(f"scoring@{number}/0", {}, about={"job": run.job_id})
    assert queries() <= first + 3  # jobs and runs of the processes, once
    assert queries() <= 30


# --- alarms -----------------------------------------------------------------------------------------------------------
def test_a_site_where_all_is_well_has_no_alarm() -> None:
    beat("scoring@a/0", {})
    assert texts() == []


def test_nobody_who_scores_is_the_most_urgent() -> None:
    [(text, is_urgent)] = texts(scorers=Scorers(()))
    assert is_urgent
    assert "채점하는 서버가 없습니다" in text


@pytest.mark.parametrize(
    ("known", "word"),
    [
        ({"disk": facts.Disk(5 * GIB, 100 * GIB)}, "5%만 남았습니다"),
        ({"lanes": [facts.Lane(Job.Lane.LIVE, 3, 0, timedelta(minutes=40))]}, "40분 넘게 기다린"),
        ({"mail": MailState(None, timezone.now(), "SMTPServerDisconnected")}, "SMTPServerDisconnected"),
        ({"mail": None}, "Redis"),
        ({"chores": {}}, "백업한 기록이 없습니다"),
    ],
)
def test_what_is_wrong_is_said(known: dict[str, Any], word: str) -> None:
    beat("scoring@a/0", {})
    assert word in " ".join(text for text, _is_urgent in texts(**known))


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("storage_unavailable", "파일 저장소에 닿지 못해 채점 2건이 16분"),
        ("judge_away", "심사 모델의 서버가 답하지 않아 채점 2건이 16분"),
        ("judge_budget_used_up", "max_tokens_total"),
        ("version_missing", "아는 버전의 채점 프로세스가 없어 작업 2건이 16분"),
    ],
)
def test_what_work_waits_for_is_said(code: str, words: str) -> None:
    beat("scoring@a/0", {})
    [(text, is_urgent)] = texts(**_held(code))
    assert (words in text, is_urgent) == (True, True)


def test_what_is_in_order_is_not_said() -> None:
    beat("scoring@a/0", {})
    calm = facts.Lane(Job.Lane.LIVE, 3, 0, timedelta(minutes=1))
    patient = facts.Lane(Job.Lane.RESCORING, 3, 0, timedelta(hours=5))
    passing = _held("storage_unavailable", minutes=14)
    sent = MailState(timezone.now(), timezone.now() - timedelta(hours=1), "SMTPServerDisconnected")
    assert texts(lanes=[calm, patient], mail=sent, disk=None, **passing) == []  # files in S3


def test_jobs_that_look_again_every_few_seconds_are_told_of_by_what_they_wait_for() -> None:
    since = timezone.now() - timedelta(minutes=20)
    for state, code in (
        *(("queued", "storage_unavailable"), ("running", "storage_unavailable")),  # the second looks just now
        *(("queued", "judge_away"), ("queued", "model_missing"), ("failed", "storage_unavailable")),
    ):
        run = ScoringRunFactory.create(state=state)
        soon = timezone.now() + timedelta(seconds=15)
        Job.objects.filter(pk=run.job_id).update(waiting_since=since, error_code=code, not_before=soon)
    queued_at_once = ScoringRunFactory.create(state="queued")
    Job.objects.filter(pk=queued_at_once.job_id).update(error_code="storage_unavailable")  # it had waited
    assert facts.held() == [facts.Held("judge_away", 1, since), facts.Held("storage_unavailable", 2, since)]


def well_but(**other: Chore) -> dict[str, Chore]:
    now = timezone.now()
    return {name: Chore(name=name, done_at=now, facts={}) for name in Chore.Name.values} | other


def test_a_store_that_is_held_since_a_restore_is_an_alarm() -> None:
    assert not facts.is_store_held()
    configured().adopt(this_site())
    assert not facts.is_store_held()
    hold()
    assert facts.is_store_held()
    beat("scoring@a/0", {})
    [(text, is_urgent)] = texts(is_store_held=True)
    assert ("collect_files --adopt" in text, is_urgent) == (True, False)


def test_a_store_that_is_away_is_no_alarm_of_files_that_are_held(monkeypatch: pytest.MonkeyPatch) -> None:
    def away() -> None:
        raise StorageUnavailable

    monkeypatch.setattr(facts, "configured", away)
    assert not facts.is_store_held()


def test_old_chores_and_broken_chains_are_alarms() -> None:
    beat("scoring@a/0", {})
    old = timezone.now() - timedelta(days=2)
    chores = well_but(
        backup=Chore(name="backup", done_at=old, facts={}),
        chain_check=Chore(name="chain_check", done_at=timezone.now(), facts={"broken": ["norms"]}),
    )
    (urgent, first), (late, second) = texts(chores=chores)
    assert ("norms" in urgent, first) == (True, True)
    assert ("마지막 백업" in late, second) == (True, False)


def test_silent_programs_are_alarms_and_of_beat_nothing_is_known_without_the_chores() -> None:
    beat("scoring@a/0", {})
    quiet = timezone.now() - timedelta(minutes=4)
    for sign in (Chore(name="beat", done_at=quiet, facts={}), None):
        known = well_but()
        known.pop("beat")
        [(text, is_urgent)] = texts(chores=known | ({"beat": sign} if sign else {}))
        assert ("(beat)" in text, is_urgent) == (True, True)
    [(text, _is_urgent)] = texts(
        chores=well_but(**{name: Chore(name=name, done_at=quiet, facts={}) for name in ("beat", "chores")})
    )
    assert "(chores)" in text


# --- chores -----------------------------------------------------------------------------------------------------------
def test_a_chore_has_one_row_that_says_the_last_time() -> None:
    record_chore(name=Chore.Name.BACKUP, facts={"bytes": 1})
    record_chore(name=Chore.Name.BACKUP, facts={"bytes": 2})
    assert last_chores()["backup"].facts == {"bytes": 2}


def test_checking_every_chain_is_written_down_and_checking_one_is_not() -> None:
    competition = PhaseFactory.create().track.competition
    call_command("verify_chain", competition.slug, stdout=io.StringIO())
    assert last_chores() == {}
    call_command("verify_chain", stdout=io.StringIO())
    assert last_chores()["chain_check"].facts == {"competitions": 1, "broken": []}


# --- /healthz/ --------------------------------------------------------------------------------------------------------
@pytest.fixture
def clean_cache() -> None:
    cache.clear()


def healthz() -> tuple[int, str]:
    response = Client().get("/healthz/?format=text")
    return response.status_code, response.content.decode()


@pytest.mark.usefixtures("clean_cache")
@pytest.mark.django_db(transaction=True)
def test_healthz_warns_of_a_dead_scorer_and_stays_up() -> None:
    assert healthz()[0] == 200
    assert "Scorers(): Warning: no scoring process takes work (none has reported within a day)" in healthz()[1]
    beat("scoring@a/0", {})
    assert "Scorers(): OK" in healthz()[1]
    beat("scoring@b/0", {})
    Worker.objects.filter(name="scoring@b/0").update(seen_at=database_now() - timedelta(minutes=3))
    assert "1 of 2 scoring processes are silent" in healthz()[1]
    Worker.objects.update(seen_at=database_now() - timedelta(minutes=3))
    status, text = healthz()
    assert status == 200
    assert "last report 180 s ago" in text


@pytest.mark.usefixtures("clean_cache")
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(("free", "said"), [(10, "Files(): OK"), (9, "Files(): Warning: 9 % of the disk of files")])
def test_healthz_warns_of_a_disk_of_files_as_the_page_does(
    free: int, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    room = facts.Disk(free * GIB, 100 * GIB)
    monkeypatch.setattr("malpan.operation.health.disk", lambda: room)
    beat("scoring@a/0", {})
    assert said in healthz()[1]
    assert healthz()[0] == 200
    assert bool(texts(disk=room)) == (free < 10)
