"""What the site reports of itself, read from its database when it is asked: the same from whichever process answers.

The number of queries is fixed, each reads an index or a small table, and none may take longer than
``STATEMENT_SECONDS``. What happened is reported of the last hour, so that no query grows with the age of the site.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from typing import Any, Final

from django.core.cache import cache
from django.db import connection
from django.db.models import Count
from django.utils import timezone
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector
from redis.exceptions import RedisError

from malpan.competitions.models import Phase
from malpan.core.chores import last_chores
from malpan.core.database.room import no_room_at
from malpan.core.locks import repeatable_read
from malpan.core.mail_state import mail_state
from malpan.core.models import Chore
from malpan.jobs.claim import waits_since
from malpan.jobs.errors import VersionMissing
from malpan.jobs.heartbeat import FORGOTTEN, silence_limit
from malpan.jobs.models import OPEN, Job, Worker
from malpan.jobs.registry import kinds
from malpan.operation.site_page.facts import disk
from malpan.submissions import visibility
from malpan.submissions.errors import ModelMissing
from malpan.submissions.models import Submission

STATEMENT_SECONDS: Final = 5
WINDOW: Final = timedelta(hours=1)
CAUSES: Final = {Job.Lane.LIVE: "submission", Job.Lane.RESCORING: "rescoring", Job.Lane.FIGURES: "figures"}
PERCENTILES: Final = (50, 95)

_ENDED: Final = """
    SELECT run.batch_id IS NOT NULL, run.state, run.error_code, count(*),
        sum(submission.item_count), sum(extract(epoch FROM run.finished_at - run.started_at)),
        percentile_cont(%(shares)s) WITHIN GROUP (ORDER BY extract(epoch FROM run.started_at - run.queued_at)),
        percentile_cont(%(shares)s) WITHIN GROUP (ORDER BY extract(epoch FROM run.finished_at - run.started_at)),
        count(*) FILTER (WHERE run.state = 'failed' AND NOT EXISTS (
            SELECT FROM submissions_scoringrun later WHERE later.submission_id = run.submission_id
            AND later.state = 'finished' AND later.finished_at > run.finished_at
        ))
    FROM submissions_scoringrun run JOIN submissions_submission submission ON submission.id = run.submission_id
    WHERE run.finished_at > %(since)s
    GROUP BY 1, 2, 3
"""


class SiteCollector(Collector):
    """The metrics of the database and of the disk."""

    def collect(self) -> Iterable[Metric]:
        """All of one moment. Must not be used inside a transaction."""
        now = timezone.now()
        with repeatable_read():
            with connection.cursor() as cursor:
                cursor.execute("SELECT set_config('statement_timeout', %s, true)", [f"{STATEMENT_SECONDS}s"])
            found = [*_queue(now), *_ended(now), *_workers(now), *_site(now), *_signs(now)]
        return [*found, *_redis()]


def _queue(now: datetime) -> Iterator[Metric]:
    jobs = GaugeMetricFamily("malpan_jobs", "Open jobs.", labels=["kind", "cause", "state"])
    age = GaugeMetricFamily("malpan_queue_age_seconds", "How long a job that could run waits.", labels=["cause"])
    rows = Job.objects.filter(state__in=OPEN).order_by().values_list("kind", "lane", "state")
    counted = rows.annotate(jobs=Count("pk"), oldest=waits_since(now))
    found = {(kind, CAUSES[Job.Lane(lane)], state): (count, oldest) for kind, lane, state, count, oldest in counted}
    for cause in CAUSES.values():
        waiting = [oldest for (_kind, its, _state), (_count, oldest) in found.items() if its == cause and oldest]
        age.add_metric([cause], (now - min(waiting, default=now)).total_seconds())
        for kind in sorted({*kinds(), *(kind for kind, _cause, _state in found)}):
            for state in ("queued", "running"):
                jobs.add_metric([kind, cause, state], found.get((kind, cause, state), (0, None))[0])
    outside = GaugeMetricFamily("malpan_jobs_waiting", "Open jobs that wait for what error names.", labels=["error"])
    held = Job.objects.filter(state__in=OPEN, waiting_since__isnull=False).order_by()  # running: it looks once more
    counts = dict.fromkeys((ModelMissing.code, VersionMissing.code), 0)
    counts |= dict(held.values_list("error_code").annotate(jobs=Count("pk")))
    for error, count in counts.items():
        outside.add_metric([error], count)
    yield from (jobs, age, outside)


def _ended(now: datetime) -> Iterator[Metric]:
    """The runs that ended in the last hour: how many and how, how long they waited and took, and at what pace."""
    runs = GaugeMetricFamily(
        "malpan_runs_last_hour", "Runs that ended in the last hour.", labels=["cause", "state", "error"]
    )
    given_up = GaugeMetricFamily(
        "malpan_runs_given_up",
        "Of those that failed: whose submission was not scored since.",
        labels=["cause", "error"],
    )
    waits = GaugeMetricFamily(
        "malpan_run_wait_seconds", "Waits of the last hour's runs until they began.", labels=["cause", "percentile"]
    )
    takes = GaugeMetricFamily(
        "malpan_run_seconds", "Seconds that the last hour's runs took.", labels=["cause", "percentile"]
    )
    items = GaugeMetricFamily("malpan_items_last_hour", "Items of the last hour's finished runs.", labels=["cause"])
    pace = GaugeMetricFamily(
        "malpan_items_per_second", "Items of the last hour's finished runs by the seconds they took.", labels=["cause"]
    )
    of_cause = dict.fromkeys(CAUSES.values(), 0)
    values = {"since": now - WINDOW, "shares": [each / 100 for each in PERCENTILES]}
    for is_rescoring, state, error, count, item_count, seconds, wait, took, unscored in _rows(_ENDED, values):
        cause = CAUSES[Job.Lane(int(is_rescoring))]
        runs.add_metric([cause, state, error], count)
        if state != "finished":
            given_up.add_metric([cause, error], unscored)
            continue
        of_cause[cause] = item_count
        if seconds:  # imported ones have none
            pace.add_metric([cause], float(item_count / seconds))
        for family, found in ((waits, wait), (takes, took)):
            for percentile, value in zip(PERCENTILES, found or (), strict=False):
                family.add_metric([cause, str(percentile)], value)
    for cause, count in of_cause.items():
        items.add_metric([cause], count)
    yield from (runs, given_up, waits, takes, items, pace)


def _workers(now: datetime) -> Iterator[Metric]:
    """The processes that said they are alive, and what each counts."""
    alive = GaugeMetricFamily("malpan_workers", "Scoring processes that reported lately.")
    seen = GaugeMetricFamily("malpan_worker_silence_seconds", "Since the last report.", labels=["worker"])
    pairs = CounterMetricFamily(
        "malpan_pairs", "Pairs of texts, by whether their value was kept.", labels=["worker", "known"]
    )
    gpu = GaugeMetricFamily("malpan_gpu_memory_bytes", "Memory of the worker's GPU.", labels=["worker", "what"])
    refusing = GaugeMetricFamily("malpan_worker_refuses", "Takes no work; its row says why.", labels=["worker"])
    rows = list(Worker.objects.filter(seen_at__gte=now - FORGOTTEN))
    alive.add_metric([], sum(row.seen_at >= now - silence_limit() for row in rows))
    for row in rows:
        seen.add_metric([row.name], max(0.0, (now - row.seen_at).total_seconds()))
        refusing.add_metric([row.name], int(bool(row.refusal)))
        numbers = row.numbers
        if row.seen_at < now - silence_limit():
            continue
        pairs.add_metric([row.name, "yes"], numbers.get("pairs_known", 0))
        pairs.add_metric([row.name, "no"], numbers.get("pairs_asked", 0) - numbers.get("pairs_known", 0))
        for what in ("used", "total"):
            if f"gpu_{what}_bytes" in numbers:
                gpu.add_metric([row.name, what], numbers[f"gpu_{what}_bytes"])
    yield from (alive, seen, pairs, gpu, refusing)


def _signs(now: datetime) -> Iterator[Metric]:
    """The silence of programs that say they are there, the age of the last backup and what it lacks, that of the last
    check of the chains and what it found, if there was one.
    """
    silence = GaugeMetricFamily(
        "malpan_program_silence_seconds", "Since the program's last sign of life.", labels=["program"]
    )
    done = last_chores()
    for name in (Chore.Name.CHORES, Chore.Name.BEAT):
        if name in done:
            silence.add_metric([name.value], max(0.0, (now - done[name].done_at).total_seconds()))
    backup = GaugeMetricFamily("malpan_backup_age_seconds", "Since the last complete backup.", labels=[])
    if Chore.Name.BACKUP in done:
        backup.add_metric([], max(0.0, (now - done[Chore.Name.BACKUP].done_at).total_seconds()))
    lacking = GaugeMetricFamily(
        "malpan_backup_missing_files", "Files that rows name and the last backup lacks.", labels=[]
    )
    if Chore.Name.BACKUP in done:
        lacking.add_metric([], done[Chore.Name.BACKUP].facts.get("missing", 0))
    broken = GaugeMetricFamily("malpan_chains_broken", "Competitions that are not as their chains say.", labels=[])
    checked = GaugeMetricFamily("malpan_chain_check_age_seconds", "Since the last check of all chains.", labels=[])
    if Chore.Name.CHAIN_CHECK in done:
        broken.add_metric([], len(done[Chore.Name.CHAIN_CHECK].facts.get("broken", [])))
        checked.add_metric([], max(0.0, (now - done[Chore.Name.CHAIN_CHECK].done_at).total_seconds()))
    yield from (silence, backup, lacking, broken, checked)


def _redis() -> Iterator[Metric]:
    """Whether Redis answers, asked when this is read: within ``REDIS_SECONDS``. And what it knows of the database and
    of mails.
    """
    try:
        cache.get("malpan-is-it-there")
        mail = mail_state()
    except (RedisError, OSError):
        yield GaugeMetricFamily("malpan_redis_up", "1 where Redis answers.", 0)
        return
    yield GaugeMetricFamily("malpan_redis_up", "1 where Redis answers.", 1)
    yield GaugeMetricFamily(
        "malpan_database_full",
        "1 where the database's disk had no room in the last minutes.",
        int(no_room_at() is not None),
    )
    yield GaugeMetricFamily("malpan_mail_failing", "1 where the last mail did not go.", int(mail.is_failing))


def _site(now: datetime) -> Iterator[Metric]:
    accepted = Submission.objects.filter(created_at__gt=now - WINDOW).count()
    yield GaugeMetricFamily("malpan_submissions_last_hour", "Submissions accepted in the last hour.", accepted)
    boards = GaugeMetricFamily("malpan_open_boards", "Boards of phases that take submissions now.", labels=["shown"])
    counts = {"live": 0, "frozen": 0, "hidden": 0}
    for phase in Phase.objects.filter(track__competition__is_published=True, starts_at__lte=now, ends_at__gt=now):
        is_frozen = visibility.is_frozen(phase, now)
        counts["hidden" if visibility.is_hidden(phase) else "frozen" if is_frozen else "live"] += 1
    for shown, count in counts.items():
        boards.add_metric([shown], count)
    yield boards
    [(size,)] = _rows("SELECT pg_database_size(current_database())")
    yield GaugeMetricFamily("malpan_database_bytes", "Size of the database.", size)
    if (room := disk()) is not None:  # a store in S3 says nothing of its room
        yield GaugeMetricFamily("malpan_files_free_bytes", "Room left where the private files lie.", room.free)


def _rows(statement: str, values: Any = None) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return list(cursor.fetchall())
