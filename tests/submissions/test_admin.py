"""Runs in the admin."""

import pytest
from django.utils import timezone

from submissions.models import ScoringRun
from tests.admin_pages import address, messages_of, organiser, pages
from tests.factories import (
    PhaseFactory,
    ScoringRunFactory,
    SubmissionFactory,
    publish,
)

__all__ = ["organiser", "pages"]
pytestmark = pytest.mark.django_db


def test_given_up_run_is_tried_again_by_an_action_and_others_are_not(pages):
    phase = PhaseFactory.create()
    publish(phase)
    failed = ScoringRunFactory.create(
        submission=SubmissionFactory.create(phase=phase, refunded_at=timezone.now()), state=ScoringRun.State.FAILED
    )
    waiting = ScoringRunFactory.create(submission=SubmissionFactory.create(phase=phase))

    answer = pages.post(
        address(ScoringRun, "changelist"),
        {"action": "retry", "_selected_action": [failed.pk, waiting.pk]},
        follow=True,
    )

    assert failed.submission.runs.count() == 2
    assert waiting.submission.runs.count() == 1
    told = messages_of(answer)
    assert any(message.startswith(f"{waiting.pk} — 요청 오류") for message in told)
