"""Many uploads at one moment, and uploads while something of ours is broken."""

import errno
import os
from datetime import timedelta

import pytest

from core.errors import DuplicateUpload, QuotaExceeded, StorageFull
from submissions import quota
from submissions.models import ScoringRun, Submission
from submissions.reconciling import UNSENT_GRACE, reconcile
from tests.factories import leader_of, prediction_bytes
from tests.submissions.conftest import limited, send
from tests.threads import at_once

pytestmark = pytest.mark.django_db(transaction=True)


def test_full_disk_is_our_fault_and_charges_nobody(phase, team, sent, monkeypatch):
    def full(_descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        with pytest.raises(StorageFull):
            send(phase, team)

    assert not Submission.objects.exists()
    assert not ScoringRun.objects.exists()
    assert sent == []
    assert quota.status(phase=phase, team=team).used_total == 0


def test_submission_survives_a_broker_that_is_away_and_is_sent_later(phase, team, broker_away, request, caplog):
    submission = send(phase, team)  # raises nothing

    run = submission.runs.get()
    assert (run.state, run.sent_at) == (ScoringRun.State.QUEUED, None)
    assert "the broker is away" in caplog.text

    sent = request.getfixturevalue("sent")
    assert reconcile(now=run.queued_at + UNSENT_GRACE + timedelta(seconds=1)).sent == 1
    assert sent == [run.pk]


def test_two_hundred_uploads_at_once_never_exceed_a_limit_of_five(sent):
    phase, team = limited(daily_limit=5)
    user = leader_of(team)
    files = [prediction_bytes(mark=number) for number in range(200)]

    outcomes = at_once([lambda data=data: send(phase, team, data, user=user) for data in files])

    assert sum(isinstance(each, Submission) for each in outcomes) == 5
    assert sum(isinstance(each, QuotaExceeded) for each in outcomes) == 195
    assert Submission.objects.count() == ScoringRun.objects.count() == len(set(sent)) == 5
    assert quota.status(phase=phase, team=team).left_today == 0


def test_two_hundred_uploads_of_one_file_without_a_key_are_counted_one_by_one(sent):
    phase, team = limited(daily_limit=5)
    user = leader_of(team)

    outcomes = at_once([lambda: send(phase, team, user=user) for _request in range(200)])

    assert sum(isinstance(each, Submission) for each in outcomes) == 5
    assert sum(isinstance(each, QuotaExceeded) for each in outcomes) == 195


def test_fifty_clicks_at_once_on_one_form_are_one_submission(sent):
    phase, team = limited(daily_limit=5)
    user = leader_of(team)

    outcomes = at_once([lambda: send(phase, team, user=user, upload_key="form-1") for _click in range(50)])

    assert sum(isinstance(each, Submission) for each in outcomes) == 1
    assert sum(isinstance(each, DuplicateUpload) for each in outcomes) == 49
    assert quota.status(phase=phase, team=team).used_total == 1


def test_minimum_interval_holds_for_uploads_at_once(sent):
    phase, team = limited(min_interval=timedelta(hours=72))
    user = leader_of(team)

    outcomes = at_once([lambda n=n: send(phase, team, prediction_bytes(mark=n), user=user) for n in range(20)])

    assert sum(isinstance(each, Submission) for each in outcomes) == 1
    assert {each.kind for each in outcomes if isinstance(each, QuotaExceeded)} == {"interval"}
