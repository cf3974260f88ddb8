"""Orders to apply a batch: what takes one, what ends one and how, rule by rule, on rows alone."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.utils import timezone

from malpan.accounts.models import User
from malpan.competitions.models import Phase, Track
from malpan.core.models import AuditEntry
from malpan.submissions.models import RescoreBatch, RescoreOrder, ScoringRun
from malpan.submissions.rescoring import letters, orders
from malpan.submissions.rescoring.apply import NO_ANNOUNCEMENT, Announcement
from malpan.submissions.rescoring.errors import (
    BatchClosed,
    BatchHurtsOtherPhases,
    BatchNeverApplies,
    BatchNotOrdered,
    BatchNotReady,
    BatchOrderedAlready,
    BatchOutdated,
)
from tests.factories import PhaseFactory, ScoringRunFactory, SubmissionFactory, UserFactory, finished_submission

pytestmark = pytest.mark.django_db
Run, State = ScoringRun.State, RescoreOrder.State
ERROR = BatchNotReady(unfinished=0, failed=1)


@pytest.fixture
def phase() -> Phase:
    return PhaseFactory.create()


@pytest.fixture
def actor() -> User:
    return UserFactory.create()


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, str]]:
    """The orders of which it was told who gave them, each with its state then."""
    told: list[tuple[int, str]] = []
    monkeypatch.setattr(letters, "tell_of_order", lambda order: told.append((order.pk, str(order.state))))
    return told


def batch_with(phase: Phase, *states: str, **fields: Any) -> RescoreBatch:
    """A batch with a run in each of ``states``, of submissions that were there before it."""
    batch: RescoreBatch = RescoreBatch.objects.create(
        **{"competition": phase.track.competition, "phase": phase, "reason": "사유", "created_by": UserFactory.create()}
        | fields
    )
    for state in states:
        submission = SubmissionFactory.create(phase=phase, created_at=timezone.now() - timedelta(hours=1))
        finished = {"final_score": 0.5, "finished_at": timezone.now()} if state == Run.FINISHED else {}
        ScoringRunFactory.create(submission=submission, batch=batch, state=state, **finished)
    return batch


def two_together(phase: Phase, first: str, second: str) -> list[RescoreBatch]:
    """Batches of two phases that were started together, each with one run in this state."""
    other, group = PhaseFactory.create(track=phase.track), uuid4()
    return [batch_with(each, state, group=group) for each, state in ((phase, first), (other, second))]


def ordered(batch: RescoreBatch, actor: User | None = None, **choices: Any) -> RescoreOrder:
    return orders.order_application(batch=batch, actor=actor or UserFactory.create(), **choices)


def ending(order: RescoreOrder) -> tuple[str, User | None, bool]:
    """Its state, who ended it, and whether the moment is known."""
    order.refresh_from_db()
    return order.state, order.ended_by, order.ended_at is not None


# --- given ------------------------------------------------------------------------------------------------------------
def test_an_order_without_choices_guards_three_places_and_does_nothing_beside(phase: Phase) -> None:
    order = ordered(batch_with(phase, Run.QUEUED))
    assert order.guarded_places == 3
    assert orders.choices_of(order) == {
        "resets_quota": False, "grants_slots": 0, "leaves_other_phases": False, "announcement": NO_ANNOUNCEMENT,
    }  # fmt: skip


def test_choices_are_kept_as_they_were_given_and_in_the_log(phase: Phase, actor: User) -> None:
    notice = Announcement("제목", "내용", "Title", "Text")
    facts = {"guarded_places": 5, "resets_quota": True, "grants_slots": 2, "leaves_other_phases": True}
    order = ordered(batch_with(phase, Run.QUEUED), actor, announcement=notice, **facts)
    order.refresh_from_db()
    assert orders.choices_of(order) | {"guarded_places": order.guarded_places} == facts | {"announcement": notice}
    entry = AuditEntry.objects.get(action="rescoring.order")
    assert (entry.actor, entry.object_id) == (actor, str(order.batch_id))
    assert entry.after == facts | {"notice_title_ko": "제목", "ordered_at": order.ordered_at.isoformat()}


@pytest.mark.parametrize(
    ("states", "refused"),
    [
        ([Run.QUEUED], None),
        ([Run.FINISHED], None),
        ([Run.FAILED, Run.RUNNING], None),  # may be retried before the other is over
        ([Run.FINISHED, Run.FAILED], {"unfinished": 0, "failed": 1}),
    ],
)
def test_a_batch_of_which_only_failures_are_left_takes_no_order(
    phase: Phase, states: list[str], refused: dict[str, int] | None
) -> None:
    batch = batch_with(phase, *states)
    if refused is None:
        assert orders.waiting_order(batch) is None
        order = ordered(batch)
        assert orders.waiting_order(batch) == order
    else:
        with pytest.raises(BatchNotReady) as error:
            ordered(batch)
        assert error.value.params == refused


def test_what_is_never_applied_takes_no_order(phase: Phase) -> None:
    with pytest.raises(BatchNeverApplies):
        ordered(batch_with(phase, Run.QUEUED, repeats=2))
    outdated = batch_with(phase, Run.QUEUED)
    Track.objects.filter(pk=phase.track_id).update(recipe="rag-qa-strict@1")
    with pytest.raises(BatchOutdated):
        ordered(outdated)
    with pytest.raises(BatchClosed):
        ordered(batch_with(phase, Run.FINISHED, state=RescoreBatch.State.APPLIED))


def test_who_orders_it_must_say_that_other_phases_lose_their_scores(phase: Phase) -> None:
    finished_submission(PhaseFactory.create(track=phase.track), SubmissionFactory.create(phase=phase).team, 0.5)
    batch = batch_with(phase, recipe="rag-qa-strict@1")
    ScoringRunFactory.create(submission=SubmissionFactory.create(phase=phase), batch=batch, recipe=batch.recipe)
    with pytest.raises(BatchHurtsOtherPhases):
        ordered(batch)
    ordered(batch, leaves_other_phases=True)


def test_a_batch_has_one_waiting_order_at_most(phase: Phase, actor: User) -> None:
    batch = batch_with(phase, Run.QUEUED)
    ordered(batch)
    with pytest.raises(BatchOrderedAlready):
        ordered(batch)
    orders.withdraw_order(batch=batch, actor=actor)
    again = ordered(batch)
    assert orders.waiting_order(batch) == orders.last_order(batch) == again


def test_an_order_at_one_of_several_batches_is_about_all_of_them(phase: Phase) -> None:
    first, second = two_together(phase, Run.QUEUED, Run.QUEUED)
    order = ordered(second)
    alone = batch_with(PhaseFactory.create(track=phase.track), Run.QUEUED)
    assert [orders.waiting_order(each) for each in (first, second, alone)] == [order, order, None]
    assert orders.ordered_among([first, second, alone]) == {first.pk}
    with pytest.raises(BatchOrderedAlready):
        ordered(first)


def test_a_failure_in_any_of_several_batches_refuses_an_order_at_another(phase: Phase) -> None:
    first, _second = two_together(phase, Run.FINISHED, Run.FAILED)
    with pytest.raises(BatchNotReady):
        ordered(first)


# --- found ------------------------------------------------------------------------------------------------------------
def test_due_is_what_waits_for_no_run_any_more_the_oldest_first(phase: Phase, actor: User) -> None:
    waits, withdrawn, failed, finished = (
        ordered(batch_with(PhaseFactory.create(), state))
        for state in (Run.QUEUED, Run.FINISHED, Run.QUEUED, Run.FINISHED)
    )
    orders.withdraw_order(batch=withdrawn.batch, actor=actor)
    ScoringRun.objects.filter(batch=failed.batch).update(state=Run.FAILED)
    assert orders.due_orders() == [failed, finished]
    assert waits not in orders.due_orders()


def test_an_order_about_several_batches_is_due_when_each_is_decided(phase: Phase) -> None:
    first, second = two_together(phase, Run.FINISHED, Run.QUEUED)
    order = ordered(first)
    assert orders.due_orders() == []
    ScoringRun.objects.filter(batch=second).update(state=Run.FAILED)
    assert orders.due_orders() == [order]


def test_only_a_waiting_order_is_told_beside_its_batch_and_the_last_one_whatever_came_of_it(
    phase: Phase, actor: User, django_assert_num_queries: Any
) -> None:
    batch, other = (batch_with(PhaseFactory.create(), Run.QUEUED) for _number in range(2))
    assert orders.last_order(batch) is None
    given = [ordered(batch), ordered(other)]
    for each in given:
        orders.withdraw_order(batch=each.batch, actor=actor)
    newest = ordered(batch)
    orders.withdraw_order(batch=batch, actor=actor)
    waiting = ordered(other)
    assert (orders.last_order(batch), orders.waiting_order(batch)) == (newest, None)
    assert orders.ordered_among([batch]) == set()
    assert orders.ordered_among([batch, other]) == {other.pk}
    with pytest.raises(BatchNotOrdered):
        orders.require_waiting(newest)
    orders.require_waiting(waiting)
    with django_assert_num_queries(0):
        assert orders.ordered_among([]) == set()


# --- ended ------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("is_own", [True, False])
def test_who_gave_it_is_told_that_somebody_else_took_it_back(
    phase: Phase, actor: User, told: list[tuple[int, str]], is_own: bool
) -> None:
    batch = batch_with(phase, Run.QUEUED)
    order = ordered(batch, actor if is_own else None, guarded_places=7)
    assert orders.withdraw_order(batch=batch, actor=actor) == order
    assert ending(order) == (State.WITHDRAWN, actor, True)
    assert told == ([] if is_own else [(order.pk, State.WITHDRAWN)])
    entry = AuditEntry.objects.get(action="rescoring.withdraw_order")
    assert (entry.actor, entry.person, entry.before["guarded_places"]) == (actor, order.ordered_by, 7)


def test_only_the_waiting_order_of_an_open_batch_is_taken_back(phase: Phase, actor: User) -> None:
    batch = batch_with(phase, Run.QUEUED)
    with pytest.raises(BatchNotOrdered):
        orders.withdraw_order(batch=batch, actor=actor)
    RescoreBatch.objects.update(state=RescoreBatch.State.CANCELLED)
    with pytest.raises(BatchClosed):
        orders.withdraw_order(batch=batch, actor=actor)


def test_what_refuses_an_order_is_kept_with_it_told_and_logged(phase: Phase, told: list[tuple[int, str]]) -> None:
    order = ordered(batch_with(phase, Run.FINISHED))
    assert orders.refuse_order(order=order, error=ERROR)
    assert ending(order) == (State.REFUSED, None, True)
    assert order.refusal == {"code": ERROR.code, "params": {"unfinished": 0, "failed": 1}}
    assert told == [(order.pk, State.REFUSED)]
    entry = AuditEntry.objects.get(action="rescoring.refuse_order")
    assert (entry.actor, entry.person, entry.after["reason"]) == (None, order.ordered_by, ERROR.code)
    assert entry.after["guarded_places"] == 3


def test_an_order_that_is_over_or_waits_again_is_not_refused(
    phase: Phase, actor: User, told: list[tuple[int, str]]
) -> None:
    """Between the try and the refusal a run may have been retried, the order withdrawn, the batch applied."""
    retried = ordered(batch_with(phase, Run.QUEUED))
    withdrawn, closed = (ordered(batch_with(PhaseFactory.create(), Run.FINISHED)) for _number in range(2))
    orders.withdraw_order(batch=withdrawn.batch, actor=withdrawn.ordered_by)
    RescoreBatch.objects.filter(pk=closed.batch_id).update(state=RescoreBatch.State.APPLIED)
    for order, state in ((retried, State.WAITING), (withdrawn, State.WITHDRAWN), (closed, State.WAITING)):
        assert orders.refuse_order(order=order, error=ERROR) is False
        assert ending(order)[0] == state
    assert told == []


def test_who_applies_or_cancels_a_batch_ends_its_order(phase: Phase, actor: User, told: list[tuple[int, str]]) -> None:
    carried_out, overtaken, alone = (batch_with(PhaseFactory.create(), Run.FINISHED) for _number in range(3))
    first, second = ordered(carried_out), ordered(overtaken)
    orders.end_with(carried_out, actor=actor, carried_out=first)
    orders.end_with(overtaken, actor=actor)
    orders.end_with(alone, actor=actor)
    assert ending(first) == (State.APPLIED, None, True)
    assert ending(second) == (State.WITHDRAWN, actor, True)
    assert told == [(first.pk, State.APPLIED), (second.pk, State.WITHDRAWN)]
