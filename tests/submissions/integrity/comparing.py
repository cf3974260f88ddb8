"""What a worker does with a comparison of files that a page has asked for, in the transaction of a test."""

from __future__ import annotations

from typing import cast
from unittest import mock

from malpan.jobs import outcome
from malpan.jobs.claim import claim_next
from malpan.jobs.faults import record_faults
from malpan.jobs.lease import LeaseRenewer
from malpan.submissions.integrity.alike import CompareFiles


def compare_asked() -> None:
    job = claim_next(worker="w")
    assert job is not None, "nobody has asked"
    with mock.patch.object(outcome, "written", lambda _job, write: write()), record_faults(job):
        CompareFiles().work(job, cast("LeaseRenewer", None))
