"""Judgements sent once or twice, corrections, and what the times say."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from malpan.arena.errors import (
    AssignmentVoid,
    CampaignNotOpen,
    JudgementElsewhere,
    NotJudgedYet,
)
from malpan.arena.judging import save_draft
from malpan.arena.models import Assignment, JudgeBar, Judgement, JudgementDraft
from malpan.arena.queue import (
    assignment_of,
    newest_judgement,
    texts_of,
)
from malpan.arena.votes_file import votes_of
from malpan.core.models import AuditEntry
from tests.arena.panels import correct, open_panel

pytestmark = pytest.mark.django_db
FIRST, SECOND, TIE = ({"choice": choice, "reasons": []} for choice in ("first", "second", "tie"))


# --- judgements -------------------------------------------------------------------------------------------------------
def test_judgement_is_kept_with_its_note_and_time_and_ends_draft_and_assignment(panel, ready):
    shown = panel.next(ready)
    save_draft(assignment=shown, actor=ready.user, value={"choice": "tie"}, note="초안")

    made = panel.judge(shown, {"choice": "second", "reasons": ["fluency", "accuracy"]}, seconds=12, note=" 한\r\n줄 ")

    assert (made.number, made.seconds, made.note, made.judged_by) == (1, 12, "한\n줄", ready.user)
    assert made.value == {"choice": "second", "reasons": ["accuracy", "fluency"]}  # in the rubric's order
    shown.refresh_from_db()
    assert shown.state == "done"
    assert not JudgementDraft.objects.exists()
    entry = AuditEntry.objects.get(action="judgement.create", object_id=str(made.pk))
    assert (entry.actor, entry.after) == (ready.user, {"number": 1})  # and not what was judged
    assert entry.competition_pk == panel.campaign.track.competition_id


def test_a_judgement_ends_no_draft_of_another(panel, ready):
    other = panel.next(panel.judges[1])
    save_draft(assignment=other, actor=panel.judges[1].user, value={"choice": "tie"})

    panel.judge(panel.next(ready))

    assert JudgementDraft.objects.get().assignment == other


def test_same_request_sent_twice_is_one_judgement(panel, ready):
    shown = panel.next(ready)

    first = panel.judge(shown, FIRST)
    again = panel.judge(shown, FIRST)

    assert first == again
    assert Judgement.objects.filter(assignment=shown).count() == 1
    assert AuditEntry.objects.filter(action="judgement.create", object_id=str(first.pk)).count() == 1


def test_same_request_after_the_closing_gets_its_judgement(panel, ready):
    shown = panel.next(ready)
    first = panel.judge(shown, FIRST)
    panel.campaign.closed_at = panel.now
    panel.campaign.save()

    assert panel.judge(shown, FIRST) == first
    with pytest.raises(CampaignNotOpen):
        correct(panel, shown, SECOND)


def test_second_tab_is_told_and_what_the_first_said_stays(panel, ready):
    shown = panel.next(ready)
    panel.judge(shown, FIRST)

    with pytest.raises(JudgementElsewhere):
        panel.judge(shown, SECOND)
    correct(panel, shown, SECOND)
    with pytest.raises(JudgementElsewhere):  # a third tab still has the first judgement
        correct(panel, shown, TIE, expected_number=1)

    assert [row.value["choice"] for row in shown.judgements.order_by("number")] == ["first", "second"]


def test_correction_is_another_row_until_the_closing(panel, ready):
    shown = panel.next(ready)
    panel.judge(shown, FIRST, seconds=20)

    second = correct(panel, shown, SECOND, seconds=5)
    again = correct(panel, shown, SECOND, seconds=5)
    third = correct(panel, shown, FIRST, expected_number=2, seconds=None, now=panel.later(40))

    assert (second.number, second.seconds) == (2, 25)
    assert again == second
    assert (third.number, third.seconds) == (3, 25 + 30 + 40)  # no word of the browser: what passed on the server
    assert AuditEntry.objects.filter(action="judgement.correct").count() == 2
    assert newest_judgement(assignment_of(ready, shown.shown_key)) == third


def test_correction_that_changes_nothing_leaves_no_row(panel, ready):
    shown = panel.next(ready)
    first = panel.judge(shown, FIRST)

    assert correct(panel, shown, FIRST) == first
    noted = correct(panel, shown, FIRST, note="까닭")
    assert (noted.number, noted.seconds) == (2, first.seconds)


def test_nothing_is_corrected_before_it_is_judged(panel, ready):
    shown = panel.next(ready)

    for number in (0, 1):
        with pytest.raises(NotJudgedYet):
            correct(panel, shown, FIRST, expected_number=number)


def test_void_assignment_and_one_with_a_disqualified_team_take_nothing(panel, ready):
    shown = panel.next(ready)
    team = next(system for system in panel.systems if system.label == shown.systems[0]).submission.team
    team.disqualified_at = timezone.now()
    team.save()
    with pytest.raises(AssignmentVoid):
        panel.judge(shown)

    team.disqualified_at = None
    team.save()
    Assignment.objects.filter(pk=shown.pk).update(state="void", void_reason="moved")
    with pytest.raises(AssignmentVoid):
        panel.judge(shown)


def test_who_may_not_see_a_system_any_more_neither_judges_it_nor_corrects(panel, ready):
    shown = panel.next(ready)
    panel.judge(shown, FIRST)
    other = panel.next(ready)
    for system in panel.systems:
        JudgeBar.objects.create(judge=ready, system=system, reason="declared")

    with pytest.raises(AssignmentVoid):
        correct(panel, shown, SECOND)
    with pytest.raises(AssignmentVoid):
        panel.judge(other)


def test_ranking_with_a_disqualified_team_is_made_as_it_was_shown_while_two_are_left():
    panel = open_panel("ranking", calibration_count=0, control_percent=0, repeat_percent=0)
    judge = panel.judges[0]
    shown = panel.next(judge)
    teams = {system.label: system.submission.team for system in panel.systems}
    disqualify(teams[shown.systems[1]])

    assert panel.next(judge) == shown
    assert texts_of(shown) == texts_of(panel.next(judge))
    panel.judge(shown, {"ranks": [2, 1, 3]})

    votes = votes_of(panel.campaign)
    assert votes.votes[0].value == {"ranks": [2, 1, 3]}
    [counted] = votes.real()
    assert counted.systems == (shown.systems[0], shown.systems[2])
    assert counted.value["ranks"] == [2, 3]
    disqualify(teams[shown.systems[0]])
    assert votes_of(panel.campaign).real() == ()
    with pytest.raises(AssignmentVoid):
        correct(panel, shown, {"ranks": [1, 2, 3]})


def disqualify(team) -> None:
    team.disqualified_at = timezone.now()
    team.save()


def test_judgement_is_never_changed_or_deleted_but_its_note_is_emptied(panel, ready):
    made = panel.judge(panel.next(ready), FIRST, note="메모")

    rows = Judgement.objects.filter(pk=made.pk)
    for change in (
        lambda: rows.update(value={}),
        lambda: rows.update(note="다른 메모"),
        lambda: rows.update(note="", value={}),
        made.delete,
    ):
        with pytest.raises(IntegrityError, match="never changed"), transaction.atomic():
            change()
    assert rows.update(note="") == 1
    assert rows.get().value == FIRST


# --- times ------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("said", "counted"), [(10, 10), (45, 45), (46, 45), (10**12, 45), (-5, 0), (None, 45)])
def test_browser_is_believed_only_within_what_passed_on_the_server(panel, ready, said, counted):
    shown = panel.next(ready)

    assert panel.judge(shown, seconds=said, now=shown.first_shown_at + timedelta(seconds=45)).seconds == counted


def test_clock_that_goes_back_gives_no_negative_time(panel, ready):
    shown = panel.next(ready)

    assert panel.judge(shown, seconds=9, now=shown.first_shown_at - timedelta(hours=1)).seconds == 0
