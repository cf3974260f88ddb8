"""Rescoring batches, rule by rule, on a contest of a few teams."""

from __future__ import annotations

import copy
import json
from itertools import accumulate
from typing import Any

import pytest
from django.utils import timezone

from malpan.competitions import drafts, programs
from malpan.competitions.models import Notice, Phase, ReferenceVersion, Track
from malpan.jobs.claim import claim_next
from malpan.jobs.models import Job
from malpan.leaderboard.rescore_preview import preview
from malpan.leaderboard.selectors import board
from malpan.notifications.events import event_of, happening_of
from malpan.notifications.models import Letter
from malpan.submissions.evaluation.runs import finish_run
from malpan.submissions.integrity import chain
from malpan.submissions.letters import score_text
from malpan.submissions.models import ChainEntry, HiddenResult, QuotaEntry, RescoreBatch, ScoringRun, Submission
from malpan.submissions.quota import services as quota
from malpan.submissions.rescoring import batches
from malpan.submissions.rescoring import services as rescoring
from malpan.submissions.rescoring.apply import Announcement
from malpan.submissions.rescoring.batches import Selection, state_of
from malpan.submissions.rescoring.errors import (
    BatchClosed,
    BatchHurtsOtherPhases,
    BatchNeverApplies,
    BatchNotReady,
    BatchOpenAlready,
    BatchOutdated,
    BatchReasonMissing,
    BatchRunNotFailed,
    BatchSelectsNothing,
)
from malpan.submissions.scoring_changes import split_again
from malpan.submissions.selectors import run_to_show
from tests.factories import PhaseFactory, UserFactory, file_bytes, finished_submission, report
from tests.submissions.conftest import claim_run, execute, fail_run, fresh
from tests.submissions.rescoring.contest_of_many import (
    STRICT,
    Contest,
    apply,
    fill,
    found,
    references,
    start,
    upload,
    work_off,
)

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("uncommitted_work")]
State = RescoreBatch.State


@pytest.fixture
def contest(made: Contest, rings: list[str], neural: list[Any]) -> Contest:
    return copy.deepcopy(made)


def fail_everything_queued() -> None:
    """What becomes of queued runs when every attempt fails."""
    for run in ScoringRun.objects.filter(state=ScoringRun.State.QUEUED).order_by("pk"):
        for _attempt in range(3):
            claimed = claim_run(run)
            assert claimed is not None
            fail_run(run, attempt=claimed.attempt)


# --- start ------------------------------------------------------------------------------------------------------------
def test_a_batch_needs_a_reason_and_submissions(contest: Contest) -> None:
    with pytest.raises(BatchReasonMissing):
        start(contest, reason="  ")
    with pytest.raises(BatchSelectsNothing):
        start(contest, Selection(signature_hash="none"))
    assert not RescoreBatch.objects.exists()


def test_one_batch_a_phase_is_open_at_a_time(contest: Contest) -> None:
    batch = start(contest, recipe=STRICT)
    with pytest.raises(BatchOpenAlready):
        start(contest)
    rescoring.cancel_batch(batch=batch, actor=contest.organiser)
    start(contest)


def test_selection_by_team_time_state_and_signature(contest: Contest) -> None:
    first, second = contest.submissions[0], contest.submissions[1]
    waiting = upload(contest, 2)
    signature = ScoringRun.objects.filter(live_for=first).get().signature_hash

    def selected(**values: Any) -> int:
        return Selection(**values).submissions_of(contest.phase).count()

    assert selected() == 7
    assert selected(teams=(contest.teams[0].pk,)) == 2
    assert selected(since=second.created_at) == 6
    assert selected(until=second.created_at) == 1
    assert selected(states=("waiting",)) == 1
    assert selected(states=("finished",)) == 6
    assert selected(signature_hash=signature) == 6
    Submission.objects.filter(pk=waiting.pk).update(withdrawn_at=timezone.now())
    Submission.objects.filter(pk=first.pk).update(refunded_at=timezone.now())
    assert selected() == 5
    stored = Selection(teams=(1,), since=first.created_at, states=("finished",))
    assert Selection.from_json(stored.as_json()) == stored


def test_newcomers_are_scored_both_ways_only_where_they_match(contest: Contest) -> None:
    batch = start(contest, Selection(teams=(contest.teams[0].pk,)), recipe=STRICT)

    inside, outside = upload(contest, 0), upload(contest, 1)

    assert sorted(inside.runs.values_list("recipe", flat=True)) == [STRICT, "rag-qa@1"]
    assert list(outside.runs.values_list("recipe", flat=True)) == ["rag-qa@1"]
    assert inside.runs.filter(batch=batch).count() == 1


def test_a_run_of_a_batch_counts_for_nothing_before_it_is_applied(contest: Contest) -> None:
    batch = start(contest, recipe=STRICT)
    newcomer = upload(contest)
    in_batch = newcomer.runs.get(batch=batch)
    execute(in_batch)

    newcomer.refresh_from_db()
    assert newcomer.live_run is None
    shown = run_to_show(newcomer)
    assert shown is not None
    assert shown.batch_id is None


def test_runs_of_a_batch_wait_behind_those_of_uploads(contest: Contest) -> None:
    batch = start(contest)
    newcomer = upload(contest)

    first = claim_next(worker="w")
    second = claim_next(worker="w")

    assert first == newcomer.runs.get(batch=None).job
    assert second == batch.runs.order_by("pk")[0].job


def test_a_batch_costs_what_its_submissions_cost_before_and_asks_once(
    contest: Contest, django_assert_max_num_queries: Any
) -> None:
    first, second, *_others = contest.submissions
    Job.objects.filter(pk=first.runs.get().job_id).update(cost=700)

    with django_assert_max_num_queries(25):  # whatever the number of its runs
        batch = start(contest)

    costs = dict(batch.runs.values_list("submission", "job__cost"))
    assert costs[first.pk] == 700
    assert costs[second.pk] == second.file_size // 3
    tags = list(batch.runs.order_by("pk").values_list("job__cost", "job__fair_tag"))
    assert [tag for _cost, tag in tags] == list(accumulate(cost for cost, _tag in tags))


# --- failures ---------------------------------------------------------------------------------------------------------
def test_a_failed_run_blocks_the_batch_until_it_is_retried(contest: Contest) -> None:
    batch = start(contest, recipe=STRICT)
    work_off(5)
    fail_everything_queued()

    assert state_of(batch) == State.RUNNING
    assert batches.progress_of(batch).failed == 1
    with pytest.raises(BatchNotReady):
        apply(contest, batch)
    assert not Submission.objects.exclude(refunded_at=None).exists(), "a failed rescoring refunds nobody"

    assert rescoring.retry_failed(batch=batch, actor=contest.organiser) == 1
    work_off()
    assert state_of(batch) == State.READY


def test_a_failed_submission_can_be_left_out_with_a_reason(contest: Contest) -> None:
    batch = start(contest, recipe=STRICT)
    work_off(5)
    fail_everything_queued()
    failed = batch.runs.get(state=ScoringRun.State.FAILED).submission
    other = batch.runs.filter(state=ScoringRun.State.FINISHED).first()
    assert other is not None
    old_run = failed.live_run_id

    with pytest.raises(BatchReasonMissing):
        rescoring.exclude_submission(batch=batch, submission=failed, reason="", actor=contest.organiser)
    with pytest.raises(BatchRunNotFailed):
        rescoring.exclude_submission(batch=batch, submission=other.submission, reason="왜", actor=contest.organiser)
    rescoring.exclude_submission(batch=batch, submission=failed, reason="파일 손상", actor=contest.organiser)

    batch.refresh_from_db()
    assert state_of(batch) == State.READY
    apply(contest, batch)
    failed.refresh_from_db()
    assert failed.live_run_id == old_run
    assert board(contest.phase).excluded_count == 1


def test_a_batch_is_ready_by_its_runs_alone(contest: Contest) -> None:
    batch = start(contest)
    work_off(5)
    assert state_of(batch) == State.RUNNING
    work_off()

    assert state_of(batch) == State.READY
    assert RescoreBatch.objects.get(pk=batch.pk).state == State.RUNNING, "nothing was written"


def test_a_submission_withdrawn_meanwhile_keeps_no_batch_waiting(contest: Contest) -> None:
    batch = start(contest)
    work_off(5)
    left = batch.runs.get(state=ScoringRun.State.QUEUED)
    Submission.objects.filter(pk=left.submission_id).update(withdrawn_at=timezone.now())

    assert state_of(batch) == State.READY


def test_a_batch_waits_for_no_newcomer_who_is_scored_by_the_new_rule_afterwards(contest: Contest) -> None:
    batch = start(contest, recipe=STRICT)
    early = upload(contest, seed=7)
    work_off()
    late = upload(contest)  # with steady uploads there is always one

    progress = batches.progress_of(batch)
    assert (progress.unfinished, progress.late, state_of(batch)) == (1, 1, State.READY)
    apply(contest, batch)
    early.refresh_from_db()
    assert early.live_run is not None
    assert (early.live_run.batch_id, early.live_run.recipe) == (batch.pk, STRICT)
    late.refresh_from_db()
    assert late.live_run is None
    work_off()

    late.refresh_from_db()
    assert late.live_run is not None
    assert late.live_run.recipe == STRICT
    assert board(contest.phase).excluded_count == 0
    assert len(chain.newest_scores(ChainEntry.objects.filter(submission=late))) == 1


@pytest.mark.parametrize("new_rule_first", [True, False])
def test_a_late_upload_scored_by_both_rules_ends_with_the_new_one(contest: Contest, new_rule_first: bool) -> None:
    batch = start(contest, recipe=STRICT)
    work_off()
    late = upload(contest)
    old, new = late.runs.order_by("pk")
    assert (old.batch_id, new.batch_id) == (None, batch.pk)
    claims = {run: claim_run(run) for run in (old, new)}  # both at work when the batch is applied
    apply(contest, batch)

    for run in (new, old) if new_rule_first else (old, new):
        claimed = claims[run]
        assert claimed is not None
        finish_run(run_id=run.pk, attempt=claimed.attempt, report=report(0.5))

    late.refresh_from_db()
    assert late.live_run == new


# --- references -------------------------------------------------------------------------------------------------------
def test_a_further_accepted_answer_runs_no_neural_metric(contest: Contest, neural: list[Any]) -> None:
    draft = drafts.create_draft(
        phase=contest.phase, data=references("새말"), actor=contest.organiser, erratum_ko="1번 정답을 더했습니다."
    )
    asked = len(neural)

    batch = start(contest, reference_version=draft)
    work_off()

    assert len(neural) == asked
    assert state_of(batch) == State.READY
    apply(contest, batch)
    draft.refresh_from_db()
    assert draft.is_current
    assert draft.published_at is not None
    assert ReferenceVersion.objects.filter(phase=contest.phase, is_current=True).count() == 1
    assert Notice.objects.get().body_ko == "1번 정답을 더했습니다."
    assert len(board(contest.phase).rows) == 3
    assert board(contest.phase).excluded_count == 0


@pytest.mark.parametrize(
    ("announcement", "erratum_en", "said"),
    [
        (
            Announcement("재채점", "점수가 바뀝니다.", "Rescored", "Scores change."),
            "Item 1 accepts another answer.",
            (
                *("재채점", "점수가 바뀝니다.\n\n1번 정답을 더했습니다."),
                *("Rescored", "Scores change.\n\nItem 1 accepts another answer."),
            ),
        ),
        (
            Announcement("재채점", "점수가 바뀝니다.", "Rescored", "Scores change."),
            "",
            (
                "재채점",
                "점수가 바뀝니다.\n\n1번 정답을 더했습니다.",
                "Rescored",
                "Scores change.\n\n1번 정답을 더했습니다.",
            ),
        ),
        (
            Announcement("재채점", "점수가 바뀝니다."),
            "Item 1 accepts another answer.",
            ("재채점", "점수가 바뀝니다.\n\n1번 정답을 더했습니다.", "", ""),
        ),
    ],
)
def test_people_get_one_notice_of_a_rescoring_with_its_erratum_at_the_end(
    contest: Contest, announcement: Announcement, erratum_en: str, said: tuple[str, str, str, str]
) -> None:
    errata = {"erratum_ko": "1번 정답을 더했습니다.", "erratum_en": erratum_en}
    draft = drafts.create_draft(phase=contest.phase, data=references("새말"), actor=contest.organiser, **errata)
    batch = start(contest, reference_version=draft)
    work_off()

    apply(contest, batch, announcement=announcement)

    notice, kept = Notice.objects.get(), RescoreBatch.objects.get()
    assert (notice.title_ko, notice.body_ko, notice.title_en, notice.body_en) == said
    assert (kept.notice_title_ko, kept.notice_body_ko, kept.notice_title_en, kept.notice_body_en) == said


def test_only_changed_reasons_are_scored_again(contest: Contest, neural: list[Any]) -> None:
    data = references().decode().replace("바른말0이 옳다. 규범에", "바른말0이 옳다. 새 규범에")
    draft = drafts.create_draft(phase=contest.phase, data=data.encode(), actor=contest.organiser)
    asked = len(neural)

    start(contest, reference_version=draft)
    work_off()

    again = neural[asked:]
    assert again
    assert {reference for _metric, reference, _candidate in again} == {"새 규범에 따라 적는다"}


def test_an_item_that_was_taken_out_counts_for_nobody(contest: Contest) -> None:
    draft = drafts.create_draft(phase=contest.phase, data=file_bytes(json.loads(references())[1:]), actor=None)
    batch = start(contest, reference_version=draft)
    work_off()

    assert state_of(batch) == State.READY
    assert {run.coverage["items"] for run in batch.runs.all()} == {5}


def test_a_draft_scores_nothing_until_it_is_applied(contest: Contest) -> None:
    drafts.create_draft(phase=contest.phase, data=references("새말"), actor=None)

    newcomer = upload(contest)

    assert newcomer.runs.get().reference_version.number == 1


# --- apply ------------------------------------------------------------------------------------------------------------
def test_applying_switches_scores_rule_quota_notice_and_chain(contest: Contest) -> None:
    batch = start(contest, recipe=STRICT)
    work_off()
    entries = ChainEntry.objects.filter(kind="score").count()

    apply(
        contest, batch, resets_quota=True, grants_slots=2, announcement=Announcement("변경", "내용", "Change", "Text")
    )

    assert set(Submission.objects.values_list("live_run__batch", flat=True)) == {batch.pk}
    assert Track.objects.get(pk=contest.phase.track_id).recipe == STRICT
    kinds = QuotaEntry.objects.filter(batch=batch).values_list("kind", "slots")
    assert sorted(kinds) == [("grant", 2)] * 3 + [("reset", 1)] * 3
    assert quota.status(phase=contest.phase, team=contest.teams[0]).left_total == 12
    assert Notice.objects.get().title_en == "Change"
    assert ChainEntry.objects.filter(kind="score").count() == entries + 6
    batch.refresh_from_db()
    assert (batch.state, batch.closed_by) == (State.APPLIED, contest.organiser)
    with pytest.raises(BatchClosed):
        apply(contest, batch)
    with pytest.raises(BatchClosed):
        rescoring.cancel_batch(batch=batch, actor=contest.organiser)


def test_applying_tells_the_teams_old_and_new_scores_where_they_are_shown(contest: Contest) -> None:
    batch = start(contest, recipe=STRICT)
    work_off()
    assert not Letter.objects.filter(event="rescored").exists()
    old = {
        each.pk: each.live_run.final_score for each in Submission.objects.select_related("live_run") if each.live_run
    }
    apply(contest, batch)
    told = {letter.person_id: letter for letter in Letter.objects.filter(event="rescored")}
    assert told.keys() == {member.user_id for team in contest.teams for member in team.memberships.all()}

    team, track = contest.teams[0], contest.phase.track
    person = team.memberships.get().user
    word = event_of("rescored").compose(person, told[person.pk].facts)
    assert word is not None
    own = Submission.objects.filter(team=team).select_related("live_run").order_by("-pk")
    assert [(line["before"], line["after"]) for line in word.context["lines"]] == [
        (score_text(old[each.pk], track), score_text(each.live_run and each.live_run.final_score, track))
        for each in own
    ]
    assert all(line["before"] and line["after"] for line in word.context["lines"])
    Phase.objects.update(board="hidden", shows_own_score=False)
    hidden = event_of("rescored").compose(person, told[person.pk].facts)
    assert hidden is not None
    assert {(line["before"], line["after"]) for line in hidden.context["lines"]} == {("", "")}
    team.memberships.all().delete()
    assert event_of("rescored").compose(person, told[person.pk].facts) is None


def test_a_team_whose_score_stays_gets_no_word_of_a_change(contest: Contest) -> None:
    batch = start(contest)  # by the same rule: nothing is another
    work_off()
    apply(contest, batch)
    letters = list(Letter.objects.filter(event="rescored"))
    assert letters
    assert [event_of("rescored").compose(letter.person, letter.facts) for letter in letters] == [None] * len(letters)


def test_applying_tells_the_organisers_programs_of_no_person(contest: Contest) -> None:
    competition = contest.phase.track.competition
    organiser = UserFactory.create()
    programs.create_endpoint(competition=competition, url="https://a.example/", events=["rescored"], actor=organiser)
    batch = start(contest, recipe=STRICT)
    work_off()
    apply(contest, batch)
    [letter] = Letter.objects.filter(person=None)
    word = happening_of("rescored").compose(letter.facts)
    assert word is not None
    assert word.context == {
        "competition": competition.slug, "track": contest.phase.track.slug, "phase": contest.phase.slug,
        "rescoring": batch.pk, "reason": batch.reason, "submissions": Submission.objects.count(),
    }  # fmt: skip
    assert word.path.endswith(f"/manage/rescoring/{batch.pk}/")


def test_a_rule_changed_by_another_way_makes_the_batch_outdated(contest: Contest) -> None:
    batch = start(contest)
    work_off()
    Track.objects.filter(pk=contest.phase.track_id).update(recipe=STRICT)

    with pytest.raises(BatchOutdated):
        apply(contest, batch)


def test_a_new_recipe_does_not_silently_empty_the_boards_of_other_phases(contest: Contest) -> None:
    other = PhaseFactory.create(track=contest.phase.track)
    finished_submission(other, contest.teams[0], 0.5)
    batch = start(contest, recipe=STRICT)
    work_off()

    with pytest.raises(BatchHurtsOtherPhases):
        apply(contest, batch)
    apply(contest, batch, leaves_other_phases=True)


def test_an_upload_that_waits_outside_the_batch_is_scored_by_the_new_rule(contest: Contest) -> None:
    batch = start(contest, Selection(teams=(contest.teams[0].pk,)), recipe=STRICT)
    work_off()
    outside = upload(contest, 1)

    apply(contest, batch)
    work_off()

    outside.refresh_from_db()
    assert outside.live_run is not None
    assert outside.live_run.recipe == STRICT


def test_a_subset_says_how_many_scores_would_leave_the_board(contest: Contest) -> None:
    batch = start(contest, Selection(teams=(contest.teams[0].pk,)), recipe=STRICT)
    work_off()

    expected = preview(batch)

    assert expected.left_out == 4
    assert [move.after for move in expected.moves] == [1, None, None]


# --- split ------------------------------------------------------------------------------------------------------------
def test_the_private_split_is_rescored_and_previewed_too(rings: list[str], neural: list[Any]) -> None:
    contest = found(3)
    split_again(phase=contest.phase, actor=None, public_ids=["q0", "q1", "q2"])
    fill(contest, 1)
    batch = start(contest, recipe=STRICT)
    work_off()

    assert HiddenResult.objects.count() == 6
    expected = preview(batch)
    assert expected.has_hidden
    assert all(row.hidden_after is not None and row.hidden_before is not None for row in expected.rows)
    scores = {change.score for change in expected.hidden_changes}
    assert "final_score" in scores


# --- repetitions ------------------------------------------------------------------------------------------------------
def test_repetitions_are_scored_from_scratch_and_never_apply(contest: Contest, neural: list[Any]) -> None:
    submission = contest.submissions[0]
    live = Submission.objects.get(pk=submission.pk).live_run_id
    asked = len(neural)

    batch = start(contest, Selection(submissions=(submission.pk,)), repeats=3)
    work_off()

    assert batch.runs.filter(state=ScoringRun.State.FINISHED).count() == 3
    assert (len(neural) - asked) % 3 == 0
    assert len(neural) > asked
    with pytest.raises(BatchNeverApplies):
        apply(contest, batch)
    assert Submission.objects.get(pk=submission.pk).live_run_id == live
    assert batches.open_batch(contest.phase) is None
    assert upload(contest).runs.count() == 1


def test_repetitions_with_a_failed_run_are_complete_once_it_was_tried_again(contest: Contest) -> None:
    batch = start(contest, Selection(submissions=(contest.submissions[0].pk,)), repeats=3)
    lost = batch.runs.order_by("pk")[0]
    for _attempt in range(3):
        claim_run(lost)
        fail_run(lost, attempt=fresh(lost).job.attempt, error_code="worker_lost")
    work_off()
    assert batches.progress_of(batch) == batches.BatchProgress(finished=2, failed=1)

    assert rescoring.retry_failed(batch=batch, actor=contest.organiser) == 1
    work_off()

    assert batches.progress_of(batch) == batches.BatchProgress(finished=3)
    assert state_of(batch) == State.READY
    assert rescoring.retry_failed(batch=batch, actor=contest.organiser) == 0
