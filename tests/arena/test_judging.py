"""A judge's queue: what is next, drafts, judgements sent once or twice, corrections, and what the times say."""

from __future__ import annotations

import copy
from datetime import timedelta

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone, translation

from malpan.arena.errors import (
    AssignmentNotFound,
    AssignmentVoid,
    CalibrationMissing,
    CampaignNotOpen,
    CampaignTimeOver,
    ConsentMissing,
    JudgeIsOrganiser,
    JudgementElsewhere,
    JudgeNotFound,
    JudgeRemoved,
    NotJudgedYet,
    ValueInvalid,
)
from malpan.arena.feedback import feedback_of
from malpan.arena.judges import consent_version_of, give_consent
from malpan.arena.judging import correct_judgement, judge_assignment, save_draft
from malpan.arena.models import Assignment, Campaign, CampaignJudge, JudgeBar, Judgement, JudgementDraft
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
from malpan.arena.votes_file import votes_of
from malpan.competitions.models import CompetitionRole
from malpan.core.models import AuditEntry
from tests.arena.panels import VALUES, Panel, add_judge, open_panel
from tests.factories import UserFactory

pytestmark = pytest.mark.django_db
FIRST, SECOND, TIE = ({"choice": choice, "reasons": []} for choice in ("first", "second", "tie"))


@pytest.fixture(scope="module")
def made(kept: None) -> Panel:
    return open_panel()


@pytest.fixture
def panel(made: Panel) -> Panel:
    return copy.deepcopy(made)


@pytest.fixture
def judge(panel: Panel) -> CampaignJudge:
    return panel.judges[0]


@pytest.fixture
def ready(panel: Panel, judge: CampaignJudge) -> CampaignJudge:
    """The judge has finished the practice."""
    panel.judge_next(judge)
    judge.refresh_from_db()
    return judge


def correct(panel: Panel, assignment: Assignment, value: dict, expected_number: int = 1, **fields) -> Judgement:
    fields = {"actor": assignment.judge.user, "now": panel.later()} | fields
    return correct_judgement(assignment=assignment, value=value, expected_number=expected_number, **fields)


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


# --- who may judge ----------------------------------------------------------------------------------------------------
def test_queue_of_another_person_does_not_exist(panel, ready):
    shown, stranger = panel.next(ready), panel.judges[1].user

    for call in (
        lambda: next_assignment(judge=ready, actor=stranger),
        lambda: save_draft(assignment=shown, actor=stranger, value={}),
        lambda: judge_assignment(assignment=shown, actor=stranger, value=FIRST),
        lambda: correct_judgement(assignment=shown, actor=stranger, value=FIRST, expected_number=1),
    ):
        with pytest.raises(JudgeNotFound):
            call()
    assert Judgement.objects.filter(assignment=shown).count() == 0


def test_judge_agrees_and_acknowledges_first(panel):
    late = add_judge(panel, 9, consent_version="", consented_at=None, rubric=None)
    row = panel.queue(panel.judges[0], state="open")[1]
    Assignment.objects.filter(pk=row.pk).update(judge=late, first_shown_at=panel.now)

    with pytest.raises(ConsentMissing):
        panel.next(late)
    with pytest.raises(ConsentMissing):
        panel.judge(Assignment.objects.get(pk=row.pk))

    give_consent(
        judge=late, actor=late.user, rubric=panel.campaign.rubric, consent_version=consent_version_of(panel.campaign)
    )
    assert panel.next(late).pk == row.pk


def test_another_notice_is_agreed_to_before_the_next_and_does_not_stop_what_is_open(panel, ready):
    shown = panel.next(ready)
    panel.campaign.notice_ko = "바뀐 안내"
    panel.campaign.save()

    panel.judge(shown)  # what was begun is taken
    with pytest.raises(ConsentMissing):
        panel.next(ready)


def test_removed_judge_and_one_who_runs_the_contest_now_judge_nothing(panel, ready):
    shown = panel.next(ready)
    role = CompetitionRole.objects.create(
        competition=panel.campaign.track.competition, user=ready.user, role=CompetitionRole.Role.VIEWER
    )
    with pytest.raises(JudgeIsOrganiser):
        panel.judge(shown)
    role.delete()

    CampaignJudge.objects.filter(pk=ready.pk).update(removed_at=panel.now)
    for call in (panel.next, lambda judge: panel.judge(shown)):
        with pytest.raises(JudgeRemoved):
            call(ready)


def test_campaign_that_is_not_open_takes_nothing(panel, ready):
    shown = panel.next(ready)
    panel.campaign.closed_at = panel.now
    panel.campaign.save()

    for call in (
        lambda: panel.next(ready),
        lambda: panel.judge(shown),
        lambda: save_draft(assignment=shown, actor=ready.user, value=FIRST),
    ):
        with pytest.raises(CampaignNotOpen):
            call()
    assert not Judgement.objects.filter(assignment=shown).exists()


def test_nothing_is_judged_from_the_planned_end_on_unless_it_is_put_off(panel, ready):
    """What was judged stays; the same request sent once more gets its judgement; the end itself is too late."""
    shown = panel.next(ready)
    made = panel.judge(shown, FIRST)
    second = panel.next(ready)
    end = panel.later(60)
    Campaign.objects.filter(pk=panel.campaign.pk).update(ends_at=end)

    assert panel.judge(shown, FIRST, now=end) == made
    for call in (
        lambda: panel.judge(second, FIRST, now=end),
        lambda: correct(panel, shown, SECOND, now=end),
        lambda: save_draft(assignment=second, actor=ready.user, value=FIRST, now=end),
        lambda: next_assignment(judge=ready, actor=ready.user, now=end),
    ):
        with pytest.raises(CampaignTimeOver):
            call()
    assert Judgement.objects.filter(assignment__in=[shown, second]).count() == 1
    assert panel.judge(second, FIRST, now=end - timedelta(seconds=1)).number == 1

    Campaign.objects.filter(pk=panel.campaign.pk).update(ends_at=end + timedelta(hours=1))
    assert correct(panel, shown, SECOND, now=end).number == 2


def test_practice_is_not_passed_over(panel, judge):
    real = panel.queue(judge, kind="real")[0]
    Assignment.objects.filter(pk=real.pk).update(first_shown_at=panel.now)

    with pytest.raises(CalibrationMissing) as refusal:
        panel.judge(real)
    assert refusal.value.params == {"left": 1}

    panel.judge_next(judge)
    panel.judge(real)
    judge.refresh_from_db()
    assert judge.calibrated_at is not None


def test_who_is_in_the_midst_of_the_practice_is_told_how_much_is_left():
    panel = open_panel(calibration_count=3)
    judge = panel.judges[0]
    panel.judge_next(judge)
    real = panel.queue(judge, kind="real")[0]
    Assignment.objects.filter(pk=real.pk).update(first_shown_at=panel.now)

    with pytest.raises(CalibrationMissing) as refusal:
        panel.judge(real)
    assert refusal.value.params == {"left": 2}


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


# --- drafts -----------------------------------------------------------------------------------------------------------
def test_draft_is_kept_as_far_as_it_goes_and_taken_over_by_the_next(panel, ready):
    shown = panel.next(ready)

    save_draft(assignment=shown, actor=ready.user, value={"choice": "first"})
    draft = save_draft(assignment=shown, actor=ready.user, value={}, note="아직")

    assert JudgementDraft.objects.get(assignment=shown) == draft
    assert (draft.value, draft.note) == ({}, "아직")


def test_draft_that_comes_after_the_judgement_is_nothing(panel, ready):
    shown = panel.next(ready)
    panel.judge(shown)

    assert save_draft(assignment=shown, actor=ready.user, value=FIRST) is None
    assert not JudgementDraft.objects.exists()


@pytest.mark.parametrize(
    "value", [[], "tie", None, {"choice": "a\0b"}, {"x": float("nan")}, {"x": "\ud800"}, {"x": "가" * 60_000}]
)
def test_draft_that_cannot_be_stored_is_refused(panel, ready, value):
    shown = panel.next(ready)

    with pytest.raises(ValueInvalid):
        save_draft(assignment=shown, actor=ready.user, value=value)
    assert not JudgementDraft.objects.exists()


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


# --- practice ---------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("protocol", "bad", "good_values", "bad_values"),
    [
        ("pairwise", 0, [{"choice": "second"}], [{"choice": each} for each in ("first", "tie", "both_bad")]),
        ("pairwise", 1, [{"choice": "first"}], [{"choice": "second"}]),
        ("ranking", 1, [{"ranks": [1, 3, 2]}, {"ranks": [1, 3, 1]}], [{"ranks": [1, 2, 2]}, {"ranks": [2, 1, 3]}]),
        ("errors", 0, [{"score": 49, "spans": []}], [{"score": 50, "spans": []}]),
        # weights 1 and 3: (0.75 * 1 + 0.25 * 3) / 4 = 0.375, and 0.625 the other way round
        (
            "rubric", 0, [{"scores": {"fluency": 4, "accuracy": 2}}],
            [{"scores": {"fluency": 2, "accuracy": 4}}, {"scores": {"fluency": 3, "accuracy": 3}}],
        ),
    ],
)  # fmt: skip
def test_feedback_says_whether_the_bad_output_was_seen(protocol, bad, good_values, bad_values):
    panel = open_panel(protocol)
    practice = Assignment.objects.filter(campaign=panel.campaign, kind="calibration").select_related("item").first()
    practice.bad_index = bad

    assert [feedback_of(practice, value)[0] for value in good_values] == [True] * len(good_values)
    assert [feedback_of(practice, value)[0] for value in bad_values] == [False] * len(bad_values)
    with translation.override("en"):
        assert feedback_of(practice, good_values[0])[1] == "It was shuffled."


# --- what is entered --------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("protocol", list(VALUES))
def test_each_protocol_takes_what_is_complete(protocol):
    panel = open_panel(protocol)
    panel.judge_next(panel.judges[0])

    assert panel.judge_next(panel.judges[0]).value == VALUES[protocol]


def test_what_is_not_of_the_protocol_is_refused_and_leaves_all_as_it_was(panel, ready):
    shown = panel.next(ready)
    save_draft(assignment=shown, actor=ready.user, value={"choice": "tie"})

    with pytest.raises(ValueInvalid):
        panel.judge(shown, {"choice": "third"})

    shown.refresh_from_db()
    assert shown.state == "open"
    assert not Judgement.objects.filter(assignment=shown).exists()
    assert JudgementDraft.objects.get(assignment=shown).value == {"choice": "tie"}


def test_note_that_is_too_long_is_refused(panel, ready):
    with pytest.raises(ValueInvalid) as refusal:
        panel.judge(panel.next(ready), note="가" * 2001)
    assert refusal.value.variant == "note"


def test_stranger_has_no_queue(panel):
    with pytest.raises(JudgeNotFound):
        next_assignment(judge=panel.judges[0], actor=UserFactory.create())
