"""Many uploads at one moment, and uploads while something of ours is broken."""

import errno
import os
import threading
from collections.abc import Callable
from datetime import datetime, timedelta

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from malpan.accounts.services import create_api_token
from malpan.competitions.models import Phase
from malpan.core.errors import StorageFull
from malpan.core.models import AuditEntry
from malpan.core.times import kst_day_bounds
from malpan.jobs import doorbell
from malpan.jobs.models import Job
from malpan.jobs.reconcile import reconcile
from malpan.submissions.errors import DuplicateUpload, PhaseNotOpen, QuotaExceeded
from malpan.submissions.models import QuotaEntry, ScoringRun, Submission
from malpan.submissions.quota import services as quota
from malpan.teams.models import Team
from tests.factories import leader_of, prediction_bytes
from tests.submissions.conftest import limited, send
from tests.threads import at_once

pytestmark = pytest.mark.django_db(transaction=True)


def test_full_disk_is_our_fault_and_charges_nobody(phase, team, rings, monkeypatch):
    def full(_descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        with pytest.raises(StorageFull):
            send(phase, team)

    assert not Submission.objects.exists()
    assert not ScoringRun.objects.exists()
    assert rings == []
    assert quota.status(phase=phase, team=team).used_total == 0


def test_a_resent_request_that_overtakes_between_two_looks_is_a_duplicate_and_no_reused_key(phase, team, rings):
    """The first of two equal requests is accepted right after the second one has looked for it."""
    same = {"upload_key": "request-1", "key_is_for_one_file": True}
    overtaking: list[Submission] = []

    def overtake(execute, sql, params, many, context):
        result = execute(sql, params, many, context)
        if "upload_key" in sql and not overtaking:
            overtaking.append(None)
            overtaking[0] = send(phase, team, **same)
        return result

    with connection.execute_wrapper(overtake), pytest.raises(DuplicateUpload) as refused:
        send(phase, team, **same)

    assert refused.value.params["public_id"] == overtaking[0].public_id
    assert Submission.objects.count() == 1


def test_submission_survives_a_broker_that_is_away_and_is_sent_later(phase, team, broker_unreachable, request, caplog):
    submission = send(phase, team)  # raises nothing

    run = submission.runs.get()
    assert run.state == ScoringRun.State.QUEUED
    assert "the broker is unreachable" in caplog.text
    assert not reconcile().rang, "it is away still"

    rings = request.getfixturevalue("rings")
    assert reconcile().rang
    assert rings == [doorbell.TASK]


def test_two_hundred_uploads_at_once_never_exceed_a_limit_of_five(rings):
    phase, team = limited(daily_limit=5)
    user = leader_of(team)
    files = [prediction_bytes(mark=number) for number in range(200)]

    outcomes = at_once([lambda data=data: send(phase, team, data, user=user) for data in files])

    assert sum(isinstance(each, Submission) for each in outcomes) == 5
    assert sum(isinstance(each, QuotaExceeded) for each in outcomes) == 195
    assert Submission.objects.count() == ScoringRun.objects.count() == len(rings) == 5
    assert quota.status(phase=phase, team=team).left_today == 0


def test_forty_uploads_of_one_file_without_a_key_are_counted_one_by_one(rings):
    phase, team = limited(daily_limit=5)
    user = leader_of(team)

    outcomes = at_once([lambda: send(phase, team, user=user) for _request in range(40)])

    assert sum(isinstance(each, Submission) for each in outcomes) == 5
    assert sum(isinstance(each, QuotaExceeded) for each in outcomes) == 35


def test_fifty_clicks_at_once_on_one_form_are_one_submission(rings):
    phase, team = limited(daily_limit=5)
    user = leader_of(team)

    outcomes = at_once([lambda: send(phase, team, user=user, upload_key="form-1") for _click in range(50)])

    assert sum(isinstance(each, Submission) for each in outcomes) == 1
    assert sum(isinstance(each, DuplicateUpload) for each in outcomes) == 49
    assert quota.status(phase=phase, team=team).used_total == 1


def test_minimum_interval_holds_for_uploads_at_once(rings):
    phase, team = limited(min_interval=timedelta(hours=72))
    user = leader_of(team)

    outcomes = at_once([lambda n=n: send(phase, team, prediction_bytes(mark=n), user=user) for n in range(20)])

    assert sum(isinstance(each, Submission) for each in outcomes) == 1
    assert {each.kind for each in outcomes if isinstance(each, QuotaExceeded)} == {"interval"}


# --- many at once, by three ways, against every limit, at every moment that matters -----------------------------------
THREADS = 24
TICK = timedelta(microseconds=100_000)
DAYS = timedelta(hours=72)
SECOND = timedelta(seconds=1)


class Clock:
    """``timezone.now`` of every thread: the moment that the thread was given, else the real one."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._of_thread = threading.local()
        real = timezone.now
        monkeypatch.setattr(timezone, "now", lambda: getattr(self._of_thread, "moment", None) or real())

    def at(self, moment: datetime, call: Callable[[], bool]) -> Callable[[], bool]:
        def timed() -> bool:
            self._of_thread.moment = moment
            return call()

        return timed


def middle(phase: Phase) -> tuple[datetime, datetime]:
    now = timezone.now()
    return now, now


def phase_end(phase: Phase) -> tuple[datetime, datetime]:
    """The last tenth of a second, and the end itself."""
    return phase.ends_at - TICK, phase.ends_at


def midnight(phase: Phase) -> tuple[datetime, datetime]:
    """23:59:59.9 and 00:00:00.1 KST."""
    end_of_day = kst_day_bounds(timezone.now())[1]
    return end_of_day - TICK, end_of_day + TICK


def one_second_apart(phase: Phase) -> tuple[datetime, datetime]:
    noon = kst_day_bounds(timezone.now())[1] + timedelta(hours=12)
    return noon, noon + SECOND


# limits, when the two halves come in, how many the rules allow of (the first half, the second half, both)
RUSHES = {
    "daily, in the middle": ({"daily_limit": 5}, middle, (None, None, 5)),
    "daily, at the end of the phase": ({"daily_limit": 5}, phase_end, (5, 0, 5)),
    "daily, at midnight": ({"daily_limit": 5}, midnight, (5, 5, 10)),
    "total, in the middle": ({"total_limit": 5}, middle, (None, None, 5)),
    "total, at the end of the phase": ({"total_limit": 5}, phase_end, (5, 0, 5)),
    "total, at midnight": ({"total_limit": 5}, midnight, (None, None, 5)),
    "interval, in the middle": ({"min_interval": DAYS}, middle, (None, None, 1)),
    "interval, at the end of the phase": ({"min_interval": DAYS}, phase_end, (1, 0, 1)),
    "interval, at midnight": ({"min_interval": DAYS}, midnight, (None, None, 1)),
    "interval, that just passes": ({"min_interval": SECOND}, one_second_apart, (1, 1, 2)),
    "daily and total, at midnight": ({"daily_limit": 5, "total_limit": 7}, midnight, (None, None, 7)),
    "no limit, in the middle": ({}, middle, (None, None, THREADS)),
    "no limit, at the end of the phase": ({}, phase_end, (THREADS // 2, 0, THREADS // 2)),
}


def uploads(phase: Phase, team: Team) -> list[Callable[[], bool]]:
    """Uploads of different files, by the page, the API and the service in turn; each says if it was taken."""
    user = leader_of(team)
    _row, token = create_api_token(user=user, label="rush")
    pages = [Client() for _number in range(THREADS // 3)]
    for page in pages:
        page.force_login(user)
    slug = phase.track.competition.slug
    page_url, api_url = reverse("submit", args=[slug]), reverse("api-submissions", args=[slug, phase.track.slug])
    files = [prediction_bytes(mark=number) for number in range(THREADS)]

    def upload(number: int) -> SimpleUploadedFile:
        return SimpleUploadedFile(f"{number}.json", files[number])

    def by_page(number: int) -> bool:
        answer = pages[number // 3].post(page_url, {"file": upload(number), "upload_key": f"form-{number}"})
        assert answer.status_code == 302, answer
        assert answer["Location"].startswith(("/submissions/", f"/competitions/{slug}/submit/")), answer["Location"]
        return answer["Location"].startswith("/submissions/")

    def by_api(number: int) -> bool:
        answer = Client().post(api_url, {"file": upload(number)}, headers={"authorization": f"Bearer {token}"})
        assert answer.status_code in {201, 409, 429}, answer.content
        return answer.status_code == 201

    def by_service(number: int) -> bool:
        try:
            return isinstance(send(phase, team, files[number], user=user), Submission)
        except (QuotaExceeded, PhaseNotOpen):
            return False

    ways = (by_page, by_api, by_service)
    return [lambda n=number: ways[n % 3](n) for number in range(THREADS)]


@pytest.mark.parametrize(("limits", "moments", "allowed"), RUSHES.values(), ids=list(RUSHES))
def test_rush_by_three_ways_takes_what_the_rules_allow_no_more_and_no_less(
    limits, moments, allowed, rings, monkeypatch
):
    phase, team = limited(ends_at=timezone.now() + timedelta(days=3), **limits)  # sessions last longer
    calls = uploads(phase, team)
    first, second = moments(phase)
    clock = Clock(monkeypatch)

    taken = at_once([clock.at(second if n % 2 else first, call) for n, call in enumerate(calls)])

    submissions = list(Submission.objects.filter(phase=phase))
    assert len(submissions) == sum(taken) == allowed[2]
    for moment, count in zip((first, second), allowed[:2], strict=True):
        assert count is None or sum(row.created_at == moment for row in submissions) == count
    assert_whole(phase, team, rings)


def assert_whole(phase, team, rings):
    """Ledger, submissions, runs and messages tell one story."""
    submissions = {row.pk: row.created_at for row in Submission.objects.filter(phase=phase)}
    entries = quota.ledger_of(phase=phase, team=team).entries
    assert {e.submission_id: e.moment for e in entries if e.kind == QuotaEntry.Kind.CHARGE} == submissions
    runs = list(ScoringRun.objects.values_list("submission", flat=True))
    assert sorted(runs) == sorted(submissions)
    assert len(rings) == ScoringRun.objects.count() == Job.objects.count()
    assert AuditEntry.objects.filter(action="submission.create").count() == len(submissions)


def test_reset_and_grant_in_the_middle_of_a_rush_are_each_worth_what_they_say(rings):
    phase, team = limited(total_limit=5)
    calls: list[Callable[[], object]] = list(uploads(phase, team))
    calls.insert(8, lambda: quota.reset_all(phase=phase, reason="r", actor=None))
    calls.insert(17, lambda: quota.grant(phase=phase, team=team, slots=2, reason="r", actor=None))

    at_once(calls)

    entries = quota.ledger_of(phase=phase, team=team).entries
    kinds = [entry.kind for entry in entries]
    reset = kinds.index(QuotaEntry.Kind.RESET)
    granted_before = QuotaEntry.Kind.GRANT in kinds[:reset]
    assert kinds[:reset].count(QuotaEntry.Kind.CHARGE) <= 5 + 2 * granted_before
    assert kinds[reset:].count(QuotaEntry.Kind.CHARGE) <= 5 + 2 * (not granted_before)
    assert_whole(phase, team, rings)


def test_fault_refunded_by_many_at_once_gives_one_slot_back(rings):
    phase, team = limited(total_limit=5)
    submission = send(phase, team)
    calls = [lambda: quota.refund(submission=submission, reason="worker_lost") for _number in range(20)]

    assert sum(at_once(calls)) == 1
    assert [entry.kind for entry in quota.ledger_of(phase=phase, team=team).entries] == ["charge", "refund"]
