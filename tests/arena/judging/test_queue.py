"""A judge's queue: what is next, what was judged, how far it is."""

from __future__ import annotations

import pytest

from malpan.arena.errors import (
    AssignmentNotFound,
    JudgeNotFound,
)
from malpan.arena.models import Assignment
from malpan.arena.queue import (
    assignment_of,
    current_assignment,
    newest_judgement,
    next_assignment,
    own_judgements,
    progress_of,
    texts_of,
    undo_target,
)
from tests.arena.panels import correct
from tests.factories import UserFactory

pytestmark = pytest.mark.django_db
FIRST, SECOND, TIE = ({"choice": choice, "reasons": []} for choice in ("first", "second", "tie"))


# --- the queue --------------------------------------------------------------------------------------------------------
def test_practice_comes_first_then_the_queue_in_its_order(panel, judge):
    kinds, positions = [], []
    while (assignment := panel.next(judge)) is not None:
        kinds.append(assignment.kind)
        positions.append(assignment.position)
        panel.judge(assignment)

    assert kinds[0] == "calibration"
    assert set(kinds[1:]) == {"real", "control", "repeat"}
    assert positions == sorted(positions)
    assert len(positions) == len(panel.queue(judge))
    assert not Assignment.objects.filter(judge=judge).exclude(state="done").exists()


def test_first_time_shown_is_kept_and_a_page_reads_without_writing(panel, judge):
    assert current_assignment(judge) is None  # nothing was shown yet
    shown = panel.next(judge)
    again = panel.next(judge)

    assert again == shown
    assert again.first_shown_at == shown.first_shown_at
    assert current_assignment(judge) == shown


def test_what_was_not_shown_is_found_by_nobody_and_judged_by_nobody(panel, ready):
    hidden = panel.queue(ready, state="open")[0]

    with pytest.raises(AssignmentNotFound):
        assignment_of(ready, hidden.shown_key)
    with pytest.raises(AssignmentNotFound):
        panel.judge(hidden)


def test_shown_assignment_is_found_by_its_judge_alone(panel, ready):
    shown = panel.next(ready)

    found = assignment_of(ready, str(shown.shown_key))
    assert (found, newest_judgement(found)) == (shown, None)
    for other, key in [(panel.judges[1], shown.shown_key), (ready, "no key"), (ready, str(shown.pk))]:
        with pytest.raises(AssignmentNotFound):
            assignment_of(other, key)


def test_outputs_stand_in_the_order_shown_and_a_bad_one_in_its_place(panel, judge):
    control = Assignment.objects.filter(campaign=panel.campaign, kind="control").select_related("item").first()
    real = Assignment.objects.filter(campaign=panel.campaign, kind="real").select_related("item").first()

    texts = texts_of(control)
    assert texts[control.bad_index] == control.bad_text
    good = 1 - control.bad_index
    assert texts[good] == control.item.outputs[control.systems[good]]
    assert control.bad_text not in control.item.outputs.values()
    assert texts_of(real) == [real.item.outputs[label] for label in real.systems]


def test_stranger_has_no_queue(panel):
    with pytest.raises(JudgeNotFound):
        next_assignment(judge=panel.judges[0], actor=UserFactory.create())


# --- what a judge sees of the own work --------------------------------------------------------------------------------
def test_progress_counts_the_queue_without_practice_and_estimates_by_the_median(panel, judge):
    total = len(panel.queue(judge)) - 1
    assert progress_of(judge).calibration_left == 1
    panel.judge_next(judge)

    for seconds in (10, 500, 20):
        assert progress_of(judge).seconds_left is None
        panel.judge(panel.next(judge), seconds=seconds, now=panel.later(1000))

    progress = progress_of(judge)
    assert (progress.done, progress.total, progress.calibration_left) == (3, total, 0)
    assert progress.seconds_left == 20 * (total - 3)


def test_void_assignments_are_no_part_of_the_progress(panel, judge):
    total = progress_of(judge).total
    Assignment.objects.filter(pk=panel.queue(judge)[-1].pk).update(state="void", void_reason="moved")

    assert progress_of(judge).total == total - 1


def test_own_judgements_are_the_last_first_with_the_newest_version(panel, ready):
    made = [panel.judge_next(ready, FIRST) for _number in range(3)]
    assert undo_target(ready) == made[2].assignment

    corrected = correct(panel, made[0].assignment, SECOND)

    rows = own_judgements(ready)
    assert [row.assignment for row in rows] == [made[0].assignment, made[2].assignment, made[1].assignment]
    assert [row.newest for row in rows] == [corrected, made[2], made[1]]
    assert undo_target(ready) == made[0].assignment
    assert undo_target(panel.judges[1]) is None
