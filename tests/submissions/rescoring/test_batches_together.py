"""Batches of several phases of a track: which phases, what is held together, and the state that is shown of all."""

from __future__ import annotations

from uuid import uuid4

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from malpan.competitions.models import Phase
from malpan.submissions.models import RescoreBatch, Submission
from malpan.submissions.rescoring import batches
from malpan.submissions.rescoring.errors import BatchClosed
from tests.factories import (
    PhaseFactory,
    ReferenceVersionFactory,
    SubmissionFactory,
    TeamFactory,
    finished_submission,
)
from tests.submissions.rescoring.test_rules import batch_of, run_of

pytestmark = pytest.mark.django_db
Batch = RescoreBatch.State


@pytest.fixture
def phase() -> Phase:
    return PhaseFactory.create()


@pytest.fixture
def other(phase: Phase) -> Phase:
    """Another phase of the same track."""
    return PhaseFactory.create(track=phase.track)


def test_other_phases_of_the_track_with_scores_that_count_are_rescored_too(phase: Phase, other: Phase) -> None:
    emptied, waiting = PhaseFactory.create_batch(2, track=phase.track)
    for each in (phase, other, emptied, PhaseFactory.create()):
        finished_submission(each, TeamFactory.create(competition=each.track.competition), 0.5)
    Submission.objects.filter(phase=emptied).update(withdrawn_at=timezone.now())
    SubmissionFactory.create(phase=waiting)
    assert list(batches.phases_to_rescore_with(phase)) == [other]
    assert list(batches.phases_to_rescore_with(waiting).order_by("pk")) == [phase, other]


def test_batches_that_were_started_together_are_held_together_and_closed_ones_not_at_all(
    phase: Phase, other: Phase
) -> None:
    group = uuid4()
    version = ReferenceVersionFactory.create(phase=other)
    first = batch_of(phase, group=group)
    second = batch_of(other, group=group, reference_version=version)
    alone = batch_of(PhaseFactory.create(track=phase.track))
    RescoreBatch.objects.filter(pk=first.pk).update(reason="고침")  # so that the database finds it last
    batch_of(PhaseFactory.create())
    assert [batches.together(each) for each in (second, alone)] == [[first, second], [alone]]
    assert batches.numbers_together(phase.track.competition) == [[alone.pk], [second.pk, first.pk]]
    with transaction.atomic():
        held = batches.lock_open_together(second)
    assert held == [first, second]
    assert [each.phase for each in held] == [phase, other]
    with CaptureQueriesContext(connection) as queries:
        assert [each.phase.track for each in held] == [phase.track] * 2
        assert held[1].reference_version.phase.track.competition == phase.track.competition
    assert not queries
    RescoreBatch.objects.filter(pk=first.pk).update(state=Batch.CANCELLED)
    for each in (first, second):
        with pytest.raises(BatchClosed), transaction.atomic():
            batches.lock_open_together(each)
    with transaction.atomic():
        assert batches.lock_open(second) == second


@pytest.mark.parametrize(
    ("states", "shown"),
    [(["ready", "ready"], "ready"), (["ready", "running"], "running"), (["cancelled"] * 2, "cancelled")],
)
def test_batches_together_are_ready_when_each_is(states: list[str], shown: str) -> None:
    assert batches.common_state([Batch(each) for each in states]) == shown


def test_an_open_batch_with_all_runs_finished_is_shown_as_ready(phase: Phase, other: Phase) -> None:
    batch, closed = batch_of(phase), batch_of(other, state=Batch.CANCELLED)
    for each in (batch, closed):
        assert batches.state_of(each) == each.state
        run_of(each, SubmissionFactory.create(phase=each.phase))
    assert (batches.state_of(batch), batches.state_of(closed)) == (Batch.READY, Batch.CANCELLED)
