"""What must hold throughout: checked in the database every few seconds, and by the record of every move of a job.

The record is a trigger of PostgreSQL: it has every move that was committed, at the moment of the database's clock, and
none that was rolled back.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import groupby
from typing import Any

import psutil

from tests.chaos.contest import SLUG
from tests.chaos.site import ChaosSite
from tests.chaos.uploads import Upload, Uploader
from tests.system.stack import LEASE_SECONDS

PASS_SECONDS = 5.0  # beat looks for work this often
SLACK_SECONDS = 3.0  # for the message of a pass, and a machine that has other work
SITE_DOWN_SECONDS = 15.0
NEXT_ATTEMPT_SECONDS = LEASE_SECONDS + 15.0
SUBMISSIONS = ("run", "slice")  # the kinds of jobs that a participant waits for
BEHIND_SECONDS = 60.0  # of the others, which wait as long as submissions do
OLDEST_RUN_SECONDS = LEASE_SECONDS + PASS_SECONDS + SLACK_SECONDS

RECORD = """
CREATE TABLE chaos_move (
    at double precision DEFAULT extract(epoch FROM clock_timestamp()), job bigint, kind text, was text, state text,
    attempt int, failures int, error_code text, worker text, lease double precision
);
CREATE FUNCTION chaos_note() RETURNS trigger AS $$ BEGIN
    INSERT INTO chaos_move (job, kind, was, state, attempt, failures, error_code, worker, lease) VALUES
    (NEW.id, NEW.kind, OLD.state, NEW.state, NEW.attempt, NEW.failures, NEW.error_code, NEW.worker,
    extract(epoch FROM NEW.lease_expires_at - clock_timestamp()));
    RETURN NULL;
END $$ LANGUAGE plpgsql;
CREATE TRIGGER chaos_note AFTER UPDATE ON jobs_job FOR EACH ROW EXECUTE FUNCTION chaos_note();
"""

# each returns the rows that break it
NEVER = {
    "a submission was made twice of one key": """
        SELECT team_id, upload_key FROM submissions_submission WHERE upload_key <> ''
        GROUP BY 1, 2 HAVING count(*) > 1""",
    "a submission has not exactly one run": """
        SELECT s.id, count(r.id) FROM submissions_submission s LEFT JOIN submissions_scoringrun r
        ON r.submission_id = s.id GROUP BY s.id HAVING count(r.id) <> 1""",
    "a run and its job tell different things": """
        SELECT r.id, r.state, j.state FROM submissions_scoringrun r LEFT JOIN jobs_job j ON r.job_id = j.id
        WHERE j.id IS NULL OR (r.state <> j.state AND NOT (r.state = 'running' AND j.state = 'queued'
        AND EXISTS (SELECT FROM jobs_job c WHERE c.parent_id = j.id)))""",
    "a finished run does not count": """
        SELECT r.id FROM submissions_scoringrun r JOIN submissions_submission s ON r.submission_id = s.id
        WHERE r.state = 'finished' AND s.live_run_id IS DISTINCT FROM r.id""",
    "a metric was recorded twice": """
        SELECT submission_id, metric FROM submissions_metricresult GROUP BY 1, 2 HAVING count(*) > 1""",
    "a submission was not charged exactly once": """
        SELECT s.id FROM submissions_submission s LEFT JOIN submissions_quotaentry q ON q.submission_id = s.id
        AND q.kind = 'charge' GROUP BY s.id HAVING count(q.id) <> 1""",
    "a refund without a run that was given up, or the reverse": """
        SELECT s.id FROM submissions_submission s JOIN submissions_scoringrun r ON r.submission_id = s.id
        LEFT JOIN submissions_quotaentry q ON q.submission_id = s.id AND q.kind = 'refund'
        GROUP BY s.id, r.id HAVING count(q.id) <> (r.state = 'failed')::int
        OR (s.refunded_at IS NOT NULL) <> (r.state = 'failed')""",
    "a submission has not exactly one receipt, or its score not exactly one entry": """
        SELECT s.id FROM submissions_submission s JOIN submissions_scoringrun r ON r.submission_id = s.id
        LEFT JOIN submissions_chainentry c ON c.submission_id = s.id GROUP BY s.id, r.id
        HAVING count(*) FILTER (WHERE c.kind = 'receipt') <> 1
        OR count(*) FILTER (WHERE c.kind = 'score') <> (r.state = 'finished')::int""",
    "the chain has a gap or forks": """
        SELECT a.number FROM submissions_chainentry a LEFT JOIN submissions_chainentry b
        ON b.competition_id = a.competition_id AND b.number = a.number - 1
        WHERE a.previous_sha256 <> COALESCE(b.sha256, '')""",
    "a judgement has no assignment that is done, or one is done without its first judgement, or numbers have a gap": """
        SELECT a.id, a.state, count(j.id), max(j.number) FROM arena_assignment a LEFT JOIN arena_judgement j
        ON j.assignment_id = a.id GROUP BY a.id
        HAVING (a.state = 'done') <> (count(j.id) > 0) OR coalesce(max(j.number), 0) <> count(j.id)""",
    "a job ended twice": """
        SELECT job FROM chaos_move WHERE was IN ('queued', 'running') AND state IN ('finished', 'failed')
        GROUP BY job HAVING count(*) > 1""",
    "a job moved after its end": "SELECT job FROM chaos_move WHERE was IN ('finished', 'failed')",
    "an older attempt moved after a newer one": """
        SELECT job FROM (SELECT job, attempt, lag(attempt) OVER (PARTITION BY job ORDER BY at) AS before
        FROM chaos_move) AS moves WHERE attempt < before""",
}


def never(lease_seconds: float) -> dict[str, str]:
    """``NEVER``, and what must not be with leases of that length."""
    longer = f"SELECT worker, lease FROM chaos_move WHERE lease > {lease_seconds + 0.5}"
    return {**NEVER, "a lease was longer than a lease": longer}


@dataclass(frozen=True)
class Retry:
    """An attempt that failed, or was given back, and the next one: since its last sign of life, or its own word."""

    job: int
    kind: str  # of the job: "run" and "slice" are submissions, all else waits behind them
    at: float  # when the attempt was last heard of
    lease_ends: float  # of what was then written; it was reckoned a moment before
    reclaimed: float | None  # when a pass took it back; None: it told itself that it failed, or gave the job back
    next_begun: float | None  # None: given up, or still waiting

    @property
    def age(self) -> float:
        """How long the run was silent before it was taken back."""
        return 0.0 if self.reclaimed is None else self.reclaimed - self.at

    @property
    def wait(self) -> float:
        return 0.0 if self.next_begun is None else self.next_begun - self.at


def broken(site: ChaosSite) -> list[str]:
    """What is broken in the database now; nothing is known while it does not answer."""
    found = []
    for text, statement in never(LEASE_SECONDS).items():
        rows = site.ask(statement)
        if rows:
            found.append(f"{text}: {rows[:5]}")
    return found


def retries(site: ChaosSite) -> list[Retry]:
    """Every failed attempt in the record, and every one that a worker gave back unfinished. The job of a run in parts
    is queued again while these are scored: that is none.
    """
    rows = site.query(
        "SELECT job, kind, at, was, state, attempt, failures, error_code, at + lease,"
        " EXISTS(SELECT FROM jobs_job part WHERE part.parent_id = job) FROM chaos_move ORDER BY job, at"
    )
    found: list[Retry] = []
    for (job, kind), moves in groupby(rows, key=lambda row: (row[0], row[1])):
        found += retries_of(job, kind, [row[2:] for row in moves])
    return found


def retries_of(job: int, kind: str, moves: Sequence[tuple[Any, ...]]) -> Iterable[Retry]:
    heard = lease_ends = failures = 0
    for position, (at, was, state, _attempt, failed, code, ends, has_parts) in enumerate(moves):
        if failed > failures or (was == "running" and state == "queued" and not has_parts):
            is_lost = failed > failures and code == "worker_lost"
            begun = next((each[0] for each in moves[position + 1 :] if each[1:3] == ("queued", "running")), None)
            yield Retry(job, kind, heard if is_lost else at, lease_ends, at if is_lost else None, begun)
        if state == "running":
            heard, lease_ends = at, ends
        failures = failed


def lost_or_doubled(site: ChaosSite, uploads: Sequence[Upload]) -> tuple[list[str], list[str]]:
    """The uploads that were accepted and are not in the database with their file and score, and those that became two
    submissions, or a submission without an accepted upload.
    """
    rows = site.query(
        "SELECT s.public_id::text, s.upload_key, s.file_sha256, r.state FROM submissions_submission s"
        " JOIN submissions_scoringrun r ON r.submission_id = s.id"
    )
    there = {public_id: (sha, state) for public_id, _key, sha, state in rows}
    lost = [each.key for each in uploads if each.accepted is None]
    for each in uploads:
        for public_id in each.submissions:
            sha, state = there.get(public_id, ("", ""))
            if state not in ("finished", "failed") or not _is_stored(site, sha):
                lost.append(f"{each.key} {public_id} {state or 'missing'}")
    accepted = {public_id for each in uploads for public_id in each.submissions}
    doubled = [each.key for each in uploads if len(each.submissions) > 1]
    doubled += [f"{key} {public_id}" for public_id, key, _sha, _state in rows if public_id not in accepted]
    return lost, doubled


def seconds_to_score(site: ChaosSite, uploads: Sequence[Upload]) -> list[float]:
    """From the first sending of each of ``uploads`` to its score, those that have one; shortest first."""
    rows = site.query(
        "SELECT s.public_id::text, extract(epoch FROM r.finished_at)::float8 FROM submissions_submission s"
        " JOIN submissions_scoringrun r ON s.live_run_id = r.id"
    )
    scored = dict(rows)
    return sorted(scored[each] - upload.sent_at for upload in uploads for each in upload.submissions if each in scored)


def ledger_differs(site: ChaosSite, uploaders: Sequence[Uploader]) -> list[str]:
    """The teams whose quota in the API is not what the ledger and their own count say."""
    charged = dict(
        site.query(
            "SELECT t.name, sum(CASE q.kind WHEN 'charge' THEN 1 WHEN 'refund' THEN -1 END)::int"
            " FROM submissions_quotaentry q JOIN teams_team t ON q.team_id = t.id GROUP BY t.name"
        )
    )
    refunded = dict(
        site.query(
            "SELECT t.name, count(*)::int FROM submissions_quotaentry q JOIN teams_team t ON q.team_id = t.id"
            " WHERE q.kind = 'refund' GROUP BY t.name"
        )
    )
    found = []
    for each in uploaders:
        shown, used = each.history()
        sent, back = len(each.uploads), refunded.get(each.team, 0)
        if not (shown == sent and used == charged.get(each.team, 0) == sent - back):
            found.append(f"{each.team}: sent {sent}, shown {shown}, used {used}, ledger {charged.get(each.team, 0)}")
    return found


def chain_differs(site: ChaosSite, *, in_peace: bool) -> list[str]:
    """What ``manage.py verify_chain`` finds. Unless ``in_peace``, the database may be away: then nothing is known."""
    try:
        site.outside("manage.py", "verify_chain", SLUG)
    except AssertionError as error:
        if in_peace or not any(word in str(error) for word in ("OperationalError", "DATABASE_URL")):
            return [str(error)[-2000:]]
    except (subprocess.TimeoutExpired, psutil.Error):
        if in_peace:
            raise
    return []


def _is_stored(site: ChaosSite, sha: str) -> bool:
    path = site.var_dir / "private" / sha[:2] / sha[2:4] / sha
    return path.is_file() and sha256(path.read_bytes()).hexdigest() == sha
