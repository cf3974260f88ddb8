"""What a batch selects, when it is complete, what it refuses and what it changes: rule by rule, on rows alone."""

from __future__ import annotations

from dataclasses import asdict, replace
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from malpan.competitions.models import Notice, Phase, ReferenceVersion, Track
from malpan.core.models import AuditEntry
from malpan.submissions.models import QuotaEntry, RescoreBatch, ScoringRun, Submission
from malpan.submissions.rescoring import alongside, apply, batches
from malpan.submissions.rescoring.apply import NO_ANNOUNCEMENT, Announcement
from malpan.submissions.rescoring.batches import BatchProgress, Selection
from malpan.submissions.rescoring.errors import (
    BatchHurtsOtherPhases,
    BatchNeverApplies,
    BatchNotReady,
    BatchOutdated,
    RescoringCancelled,
)
from malpan.submissions.scoring_config import ScoringConfig
from tests.factories import (
    PhaseFactory,
    ReferenceVersionFactory,
    ScoringRunFactory,
    SubmissionFactory,
    TeamFactory,
    UserFactory,
    current_version,
    finished_submission,
    update_jobs,
)
from tests.locks import held, waits_for

pytestmark = pytest.mark.django_db
Batch, Run = RescoreBatch.State, ScoringRun.State
STRICT = "rag-qa-strict@1"


@pytest.fixture
def phase() -> Phase:
    return PhaseFactory.create()


@pytest.fixture
def other(phase: Phase) -> Phase:
    """Another phase of the same track."""
    return PhaseFactory.create(track=phase.track)


def batch_of(phase: Phase, **fields: Any) -> RescoreBatch:
    return RescoreBatch.objects.create(
        **{"competition": phase.track.competition, "phase": phase, "reason": "사유", "created_by": UserFactory.create()}
        | fields
    )


def run_of(batch: RescoreBatch | None, submission: Submission, state: str = Run.FINISHED, **fields: Any) -> ScoringRun:
    if state == Run.FINISHED:
        fields = {"final_score": 0.5, "signature_hash": "new", "finished_at": timezone.now()} | fields
    run: ScoringRun = ScoringRunFactory.create(submission=submission, batch=batch, state=state, **fields)
    return run


# --- selections -------------------------------------------------------------------------------------------------------
def test_a_selection_is_stored_whole_and_an_empty_one_takes_all() -> None:
    now = timezone.now()
    whole = Selection((1, 2), now, now + timedelta(days=1), ("finished", "waiting"), "s", (3,))
    assert Selection.from_json(whole.as_json()) == whole
    assert not whole.takes_all
    assert Selection().as_json() == {}
    assert Selection.from_json({}) == Selection()
    assert Selection().takes_all
    for field in ({"until": now}, {"since": now}, {"submissions": (3,)}, {"signature_hash": "s"}):
        part = Selection(**field)
        assert not part.takes_all
        assert Selection.from_json(part.as_json()) == part


def test_a_selection_goes_on_for_newcomers_where_they_can_match() -> None:
    both = Selection(teams=(1,), states=("finished",))
    assert both.for_new_submissions == replace(both, states=())
    assert Selection(signature_hash="s").for_new_submissions is None
    assert Selection(submissions=(1,)).for_new_submissions is None


def test_a_selection_takes_what_it_names_of_its_phase_and_nothing_else(phase: Phase, other: Phase) -> None:
    start = timezone.now() - timedelta(hours=1)
    teams = TeamFactory.create_batch(2, competition=phase.track.competition)
    first = finished_submission(phase, teams[0], 0.5, created_at=start)
    second = finished_submission(phase, teams[1], 0.5, created_at=start + timedelta(minutes=1), signature_hash="t")
    waiting = SubmissionFactory.create(phase=phase, team=teams[1], created_at=start + timedelta(minutes=2))
    finished_submission(other, teams[0], 0.5, created_at=start)

    def taken(**fields: Any) -> list[Submission]:
        return list(Selection(**fields).submissions_of(phase).order_by("pk"))

    assert taken() == [first, second, waiting]
    assert taken(teams=(teams[1].pk,)) == [second, waiting]
    assert taken(since=second.created_at) == [second, waiting]
    assert taken(until=second.created_at) == [first]
    assert taken(states=("finished",)) == [first, second]
    assert taken(states=("waiting",)) == [waiting]
    assert taken(states=("finished", "waiting")) == [first, second, waiting]
    assert taken(signature_hash="t") == [second]
    assert taken(submissions=(first.pk, waiting.pk)) == [first, waiting]
    assert taken(teams=(teams[0].pk,), submissions=(waiting.pk,)) == []


def test_the_open_batch_of_a_phase_is_one_that_may_be_applied(phase: Phase, other: Phase) -> None:
    batch_of(other)
    batch_of(phase, state=Batch.APPLIED)
    batch_of(phase, repeats=2)
    assert batches.open_batch(phase) is None
    expected = batch_of(phase)
    assert batches.open_batch(phase) == expected


# --- progress ---------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("counts", "is_decided"),
    [
        ({}, True),  # nothing is left that counts
        ({"finished": 1}, True),
        ({"finished": 1, "queued": 1}, False),
        ({"finished": 1, "queued": 1, "late": 1}, True),
        ({"queued": 1, "late": 1}, False),  # its score may come
        ({"finished": 1, "failed": 1}, True),
        ({"finished": 1, "failed": 1, "running": 1}, False),
        ({"finished": 1, "failed": 1, "running": 2, "late": 1}, False),
        ({"finished": 1, "failed": 1, "running": 1, "late": 1}, True),
    ],
)
def test_waiting_changes_nothing_where_a_batch_is_complete_or_only_failures_are_left(
    counts: dict[str, int], is_decided: bool
) -> None:
    assert BatchProgress(**counts).is_decided == is_decided


@pytest.mark.parametrize(
    ("counts", "total", "unfinished", "is_complete"),
    [
        ({}, 0, 0, False),
        ({"finished": 1}, 1, 0, True),
        ({"finished": 2, "failed": 1}, 3, 0, False),
        ({"finished": 2, "queued": 1}, 3, 1, False),
        ({"finished": 2, "queued": 1, "running": 2}, 5, 3, False),
        ({"finished": 2, "queued": 1, "running": 1, "late": 2}, 4, 2, True),
        ({"queued": 1, "late": 1}, 1, 1, False),  # nothing is finished
        ({"finished": 1, "excluded": 3}, 1, 0, True),
        ({"finished": 2, "cancelled": 3}, 5, 0, False),
    ],
)
def test_progress_is_complete_where_all_is_finished_but_what_came_late(
    counts: dict[str, int], total: int, unfinished: int, is_complete: bool
) -> None:
    progress = BatchProgress(**counts)
    assert (progress.total, progress.unfinished, progress.is_complete) == (total, unfinished, is_complete)
    assert {name: number for name, number in asdict(progress).items() if number} == counts


def test_the_newest_run_of_a_submission_tells_its_state(phase: Phase) -> None:
    batch = batch_of(phase)
    first, second, third = SubmissionFactory.create_batch(3, phase=phase)
    run_of(batch, second, Run.FAILED)
    newest = [run_of(batch, second)]
    run_of(batch, first)
    newest.insert(0, run_of(batch, first, Run.FAILED))
    newest.append(run_of(batch, third, Run.RUNNING))
    run_of(None, third)
    Submission.objects.update(created_at=timezone.now() - timedelta(hours=1))

    assert list(batches.newest_runs(batch)) == newest
    assert batches.progress_of(batch) == BatchProgress(finished=1, failed=1, running=1)


def test_what_was_dropped_with_its_batch_is_no_failure(phase: Phase) -> None:
    batch = batch_of(phase, state=Batch.CANCELLED)
    for code in (RescoringCancelled.code, RescoringCancelled.code, "out_of_memory"):
        run_of(batch, SubmissionFactory.create(phase=phase), Run.FAILED, error_code=code)
    assert batches.progress_of(batch) == BatchProgress(failed=1, cancelled=2)


def test_of_repetitions_the_newest_that_did_not_fail_count(phase: Phase) -> None:
    batch = batch_of(phase, repeats=2)
    first, second = SubmissionFactory.create_batch(2, phase=phase)
    run_of(batch, second)
    of_second = [run_of(batch, second), run_of(batch, second)]
    of_first = [run_of(batch, first)]
    run_of(batch, first, Run.FAILED)
    of_first.append(run_of(batch, first))
    Submission.objects.filter(pk=second.pk).update(created_at=timezone.now() + timedelta(hours=1))

    assert list(batches.newest_runs(batch)) == [*of_first, *of_second]
    assert batches.progress_of(batch) == BatchProgress(finished=4)
    run_of(batch, second, Run.QUEUED)
    assert batches.progress_of(batch) == BatchProgress(finished=3, queued=1), "what comes later is no late upload"


def test_what_no_longer_counts_and_what_is_left_out_keeps_nobody_waiting(phase: Phase) -> None:
    batch = batch_of(phase)
    counting, withdrawn, left_out = SubmissionFactory.create_batch(3, phase=phase)
    for submission, state in ((counting, Run.FINISHED), (withdrawn, Run.QUEUED), (left_out, Run.FAILED)):
        run_of(batch, submission, state)
    Submission.objects.filter(pk=withdrawn.pk).update(withdrawn_at=timezone.now())
    assert batches.state_of(batch) == Batch.RUNNING
    batch.selection = {"excluded": {str(left_out.pk): "파일 손상"}}
    assert batches.progress_of(batch) == BatchProgress(finished=1, excluded=1)
    assert batches.state_of(batch) == Batch.READY
    for closed in (Batch.APPLIED, Batch.CANCELLED):
        batch.state = closed
        assert batches.state_of(batch) == closed


def test_late_is_what_was_uploaded_after_the_start_and_is_not_scored_yet(phase: Phase) -> None:
    batch = batch_of(phase)
    just, late, scored = (
        SubmissionFactory.create(phase=phase, created_at=batch.created_at + timedelta(microseconds=later))
        for later in (0, 1, 1)
    )
    for submission, state in ((just, Run.QUEUED), (late, Run.QUEUED), (scored, Run.FINISHED)):
        run_of(batch, submission, state)
    assert batches.progress_of(batch) == BatchProgress(finished=1, queued=2, late=1)


# --- newcomers --------------------------------------------------------------------------------------------------------
def test_a_newcomer_has_one_run_of_the_batch_and_another_only_if_it_failed(phase: Phase) -> None:
    current_version(phase)
    newcomer, elsewhere = SubmissionFactory.create(phase=phase), SubmissionFactory.create(phase=phase)
    assert alongside.enqueue_alongside(submission=newcomer) is None
    batch = batch_of(phase, recipe=STRICT, selection={"teams": [newcomer.team_id]})
    assert alongside.enqueue_alongside(submission=elsewhere, cost=7) is None
    first = alongside.enqueue_alongside(submission=newcomer, cost=7)
    assert first is not None
    assert (first.batch, first.recipe, first.job and first.job.cost) == (batch, STRICT, 7)
    assert alongside.enqueue_alongside(submission=newcomer) is None

    ScoringRun.objects.filter(pk=first.pk).update(state=Run.FAILED, finished_at=timezone.now())
    again = alongside.enqueue_alongside(submission=newcomer)
    assert again is not None
    assert again.job is not None
    assert again.job.cost == 7, "that of its newest run"


def test_a_batch_of_listed_submissions_takes_no_newcomer(phase: Phase) -> None:
    current_version(phase)
    listed, newcomer = SubmissionFactory.create_batch(2, phase=phase)
    batch_of(phase, selection={"submissions": [listed.pk]})
    assert alongside.enqueue_alongside(submission=newcomer) is None


# --- what is refused --------------------------------------------------------------------------------------------------
def test_only_a_complete_batch_of_single_runs_is_applied(phase: Phase) -> None:
    batch, repeats = batch_of(phase), batch_of(phase, repeats=2)
    first, second = SubmissionFactory.create_batch(2, phase=phase)
    Submission.objects.update(created_at=timezone.now() - timedelta(hours=1))
    for _time in range(2):
        run_of(repeats, first)
    with pytest.raises(BatchNeverApplies):
        apply.require_applicable(repeats)
    run_of(batch, first)
    run_of(batch, second, Run.QUEUED)
    with pytest.raises(BatchNotReady) as refused:
        apply.require_applicable(batch)
    assert refused.value.params == {"unfinished": 1, "failed": 0}
    run_of(batch, second)
    apply.require_applicable(batch)


@pytest.mark.parametrize("field", ["reference_version", "recipe", "profile"])
def test_runs_by_another_rule_than_that_of_now_make_a_batch_outdated(phase: Phase, field: str) -> None:
    config = ScoringConfig(current_version(phase), "rag-qa@1", "demo")
    batch = batch_of(phase)
    for submission in SubmissionFactory.create_batch(2, phase=phase):
        run_of(batch, submission, reference_version=config.reference_version, recipe="rag-qa@1", profile="demo")
    apply.refuse_outdated(batch, config)
    others = {"reference_version": ReferenceVersionFactory.create(phase=phase, is_current=False), "recipe": STRICT}
    with pytest.raises(BatchOutdated) as refused:
        apply.refuse_outdated(batch, replace(config, **{field: others.get(field, "small")}))
    assert refused.value.params == {"count": 2}


@pytest.mark.parametrize(("changed", "hurt"), [({}, 0), ({"recipe": STRICT}, 2), ({"profile": "small"}, 2)])
def test_live_scores_of_other_phases_of_the_track_that_are_not_published_are_hurt(
    phase: Phase, other: Phase, changed: dict[str, str], hurt: int
) -> None:
    published = PhaseFactory.create(track=phase.track, final_published_at=timezone.now())
    team = TeamFactory.create(competition=phase.track.competition)
    for each in (phase, other, other, published, PhaseFactory.create()):
        finished_submission(each, team, 0.5)
    SubmissionFactory.create(phase=other, team=team)  # without a score
    finished_submission(other, team, 0.5, withdrawn_at=timezone.now())
    batch = batch_of(phase, **changed)
    assert apply.other_phases_hurt(batch) == hurt
    if hurt:
        with pytest.raises(BatchHurtsOtherPhases):
            apply.refuse_other_phases(batch)
    else:
        apply.refuse_other_phases(batch)


@pytest.mark.django_db(transaction=True)
def test_applying_waits_for_every_team_of_the_competition_and_for_no_other() -> None:
    batch = batch_of(PhaseFactory.create())
    team, stranger = TeamFactory.create(competition=batch.competition), TeamFactory.create()
    with waits_for(team), transaction.atomic():
        apply.lock_all_teams(batch)
    with held(stranger), transaction.atomic():
        apply.lock_all_teams(batch)


# --- what is changed --------------------------------------------------------------------------------------------------
def test_the_newest_finished_run_of_the_batch_becomes_live_and_nothing_else_does(phase: Phase) -> None:
    batch = batch_of(phase)
    team = TeamFactory.create(competition=phase.track.competition)
    switched, failed, outside = (finished_submission(phase, team, 0.1) for _ in range(3))
    run_of(batch, switched)
    newest = run_of(batch, switched, queued_at=timezone.now() - timedelta(hours=1))  # by a clock that is slow
    run_of(None, switched)
    run_of(batch, failed)
    run_of(batch, failed, Run.FAILED)

    assert apply.switch_pointers(batch) == [switched.pk]

    live = dict(Submission.objects.values_list("pk", "live_run"))
    assert live == {switched.pk: newest.pk, failed.pk: failed.live_run_id, outside.pk: outside.live_run_id}


@pytest.mark.parametrize(
    ("changed", "profile"), [({"recipe": STRICT}, "demo"), ({"recipe": STRICT, "profile": "small"}, "small")]
)
def test_the_rule_of_the_batch_becomes_that_of_its_track_alone(
    phase: Phase, changed: dict[str, str], profile: str
) -> None:
    beside = PhaseFactory.create(track__competition=phase.track.competition)
    batch, organiser = batch_of(phase, **changed), UserFactory.create()

    apply.switch_rule(batch, ScoringConfig(current_version(phase), STRICT, "ignored"), organiser, None)

    rules = dict(Track.objects.values_list("pk", "recipe"))
    assert rules == {phase.track_id: STRICT, beside.track_id: "rag-qa@1"}
    assert Track.objects.get(pk=phase.track_id).profile == phase.track.profile == profile
    entry = AuditEntry.objects.get(action="track.update")
    assert (entry.before, entry.after) == (
        {"recipe": "rag-qa@1", "profile": "demo"},
        {"recipe": STRICT, "profile": profile},
    )
    assert ReferenceVersion.objects.get().is_current


def test_new_references_become_current_without_a_word_about_the_track(phase: Phase) -> None:
    old = current_version(phase)
    new = ReferenceVersionFactory.create(phase=phase, number=old.number + 1, is_current=False, published_at=None)

    apply.switch_rule(batch_of(phase), ScoringConfig(new, "rag-qa@1", "demo"), UserFactory.create(), None)

    assert dict(ReferenceVersion.objects.values_list("pk", "is_current")) == {old.pk: False, new.pk: True}
    assert not AuditEntry.objects.filter(action="track.update").exists()


def test_what_waits_outside_the_batch_without_a_score_gets_the_new_rule(phase: Phase, other: Phase) -> None:
    batch = batch_of(phase)
    team = TeamFactory.create(competition=phase.track.competition)
    waiting = run_of(None, SubmissionFactory.create(phase=phase), Run.QUEUED)
    as_before = [
        run_of(None, SubmissionFactory.create(phase=phase), Run.RUNNING),
        run_of(None, SubmissionFactory.create(phase=other), Run.QUEUED),
        run_of(batch, SubmissionFactory.create(phase=phase), Run.QUEUED),
        run_of(None, finished_submission(phase, team, 0.5), Run.QUEUED),
        run_of(None, SubmissionFactory.create(phase=phase), Run.RUNNING),  # a large one, which waits for its slices:
        run_of(None, SubmissionFactory.create(phase=phase), Run.QUEUED),  # one that a worker has just claimed:
    ]
    update_jobs(ScoringRun.objects.filter(pk=as_before[-2].pk), state="queued", lease_expires_at=None)
    update_jobs(ScoringRun.objects.filter(pk=as_before[-1].pk), state="running", lease_expires_at=timezone.now())
    new = ReferenceVersionFactory.create(phase=phase, is_current=False)

    with CaptureQueriesContext(connection) as captured:
        apply.requeue_by(batch, ScoringConfig(new, STRICT, "small"))

    waiting.refresh_from_db()
    assert (waiting.reference_version, waiting.recipe, waiting.profile) == (new, STRICT, "small")
    assert not ScoringRun.objects.exclude(pk=waiting.pk).filter(recipe=STRICT).exists()
    locking = next(query["sql"] for query in captured if "FOR NO KEY UPDATE" in query["sql"])
    assert locking.endswith("SKIP LOCKED"), "teams are locked: a worker that has the job may wait for one"


@pytest.mark.parametrize(
    ("options", "kinds"),
    [
        ({"resets_quota": False, "grants_slots": 0}, []),
        ({"resets_quota": True, "grants_slots": 0}, ["reset"]),
        ({"resets_quota": False, "grants_slots": 2}, ["grant"]),
        ({"resets_quota": True, "grants_slots": 2}, ["reset", "grant"]),
    ],
)
def test_the_quota_is_settled_as_the_organiser_said(options: dict[str, Any], kinds: list[str]) -> None:
    batch = batch_of(PhaseFactory.create(daily_limit=1))
    TeamFactory.create(competition=batch.competition)
    apply.settle_quota(batch, UserFactory.create(), **options)
    lines = QuotaEntry.objects.order_by("pk").values_list("kind", "batch", "reason")
    assert list(lines) == [(kind, batch.pk, batch.reason) for kind in kinds]


@pytest.mark.parametrize("silent", [NO_ANNOUNCEMENT, Announcement(title_ko=" ", body_ko="내용")])
def test_a_notice_is_posted_and_kept_with_the_batch_where_it_has_a_title(phase: Phase, silent: Announcement) -> None:
    batch, organiser = batch_of(phase), UserFactory.create()
    apply.announce([batch], silent, organiser)
    assert not Notice.objects.exists()
    apply.announce([batch], Announcement("제목", "내용", "Title", "Text"), organiser)
    notice, kept = Notice.objects.get(), RescoreBatch.objects.get()
    assert (notice.title_ko, notice.body_ko, notice.title_en, notice.body_en) == ("제목", "내용", "Title", "Text")
    assert (kept.notice_title_ko, kept.notice_body_ko) == ("제목", "내용")
    assert (kept.notice_title_en, kept.notice_body_en) == ("Title", "Text")
