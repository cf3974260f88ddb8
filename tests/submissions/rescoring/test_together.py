"""Batches of several phases of a track: started, applied and cancelled together, all or none."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from malpan.competitions.drafts import create_draft
from malpan.competitions.models import Notice, Phase, Track
from malpan.core.models import AuditEntry
from malpan.leaderboard.rescore_orders import carry_out_due
from malpan.leaderboard.rescore_preview import preview, require_all_seen, seen_together
from malpan.leaderboard.selectors import board
from malpan.notifications.models import Letter
from malpan.submissions.integrity import chain
from malpan.submissions.models import ChainEntry, QuotaEntry, RescoreBatch, RescoreOrder, ScoringRun, Submission
from malpan.submissions.rescoring import apply as steps
from malpan.submissions.rescoring import batches, orders
from malpan.submissions.rescoring import services as rescoring
from malpan.submissions.rescoring.apply import Announcement
from malpan.submissions.rescoring.batches import Selection
from malpan.submissions.rescoring.errors import (
    BatchClosed,
    BatchHurtsOtherPhases,
    BatchNotReady,
    BatchOpenAlready,
    BatchOrderedAlready,
    BatchOutdated,
    BatchPhasesApart,
    BatchPreviewOutdated,
    BatchSelectsNothing,
)
from malpan.submissions.scoring_changes import publish_reference_version
from tests.factories import PhaseFactory, finished_submission
from tests.submissions.conftest import claim_run, collect_rings, fail_run, work_uncommitted
from tests.submissions.rescoring.contest_of_many import (
    STRICT,
    Contest,
    apply,
    few_teams,
    fill,
    references,
    start,
    with_fake_models,
    work_off,
)

pytestmark = pytest.mark.django_db
State = RescoreBatch.State


def with_second_phase() -> Contest:
    """Three teams with two scored submissions each in the first phase, and one in the second."""
    made = few_teams()
    second = PhaseFactory.create(track=made.phase.track, slug="second", total_limit=10)
    publish_reference_version(phase=second, data=references(), actor=None)
    other = Contest(second, made.teams, made.users, made.organiser)
    fill(other, 1)
    return made


@pytest.fixture(scope="module")
def made(kept: None) -> Contest:
    with pytest.MonkeyPatch.context() as patched:
        collect_rings(patched)
        with_fake_models(patched)
        work_uncommitted(patched)
        return with_second_phase()


@pytest.fixture
def contest(made: Contest, rings: list[str], neural: list[Any], uncommitted_work: None) -> Contest:
    return copy.deepcopy(made)


def second_of(contest: Contest) -> Phase:
    return Phase.objects.get(track=contest.phase.track, slug="second")


def both(contest: Contest, **changes: Any) -> list[RescoreBatch]:
    """The batches of both phases, that of the first one first."""
    return batches.together(start(contest, also=[second_of(contest)], **{"recipe": STRICT} | changes))


def states(found: list[RescoreBatch]) -> list[str]:
    return list(RescoreBatch.objects.filter(pk__in=[each.pk for each in found]).values_list("state", flat=True))


def pointers() -> list[int | None]:
    return list(Submission.objects.order_by("pk").values_list("live_run", flat=True))


def fail(run: ScoringRun) -> None:
    for _attempt in range(3):
        claimed = claim_run(run)
        assert claimed is not None
        fail_run(run, attempt=claimed.attempt)


# --- start ------------------------------------------------------------------------------------------------------------
def test_each_phase_has_its_batch_of_one_group(contest: Contest) -> None:
    first, second = both(contest)
    assert (first.phase, second.phase) == (contest.phase, second_of(contest))
    assert first.group == second.group is not None
    assert (first.recipe, second.recipe) == (STRICT, STRICT)
    assert (first.runs.count(), second.runs.count()) == (6, 3)
    assert AuditEntry.objects.filter(action="rescoring.start", after__group=str(first.group)).count() == 2
    alone = start(few_teams())
    assert (alone.group, batches.together(alone)) == (None, [alone])


def test_new_references_are_those_of_the_first_phase_alone(contest: Contest) -> None:
    draft = create_draft(phase=contest.phase, data=references("다른말"), actor=None)
    first, second = both(contest, reference_version=draft)
    assert (first.reference_version, second.reference_version) == (draft, None)


def test_all_start_or_none(contest: Contest) -> None:
    second, empty = second_of(contest), PhaseFactory.create(track=contest.phase.track)
    with pytest.raises(BatchPhasesApart):
        start(contest, also=[few_teams().phase])
    publish_reference_version(phase=empty, data=references(), actor=None)
    with pytest.raises(BatchSelectsNothing):
        start(contest, also=[second, empty])
    rescoring.start_batch(phase=second, selection=Selection(), reason="먼저", actor=contest.organiser)
    with pytest.raises(BatchOpenAlready):
        start(contest, also=[second])
    assert RescoreBatch.objects.count() == 1
    assert not ScoringRun.objects.filter(batch__phase=contest.phase).exists()


# --- apply ------------------------------------------------------------------------------------------------------------
def test_all_are_applied_at_once_with_one_notice(contest: Contest) -> None:
    first, second = both(contest)
    work_off()
    before = pointers()
    assert steps.other_phases_hurt(first) == steps.other_phases_hurt(second) == 0

    notice = Announcement("규칙 변경", "다시 채점했습니다.")
    assert apply(contest, second, grants_slots=1, resets_quota=True, announcement=notice).pk == second.pk

    assert states([first, second]) == [State.APPLIED, State.APPLIED]
    assert not set(before) & set(pointers())
    assert Submission.objects.filter(live_run__batch=first).count() == 6
    assert Submission.objects.filter(live_run__batch=second).count() == 3
    assert Track.objects.get(pk=contest.phase.track_id).recipe == STRICT
    assert AuditEntry.objects.filter(action="track.update").count() == 1
    assert Notice.objects.count() == 1
    assert set(RescoreBatch.objects.values_list("notice_title_ko", "resets_quota", "grants_slots")) == {
        ("규칙 변경", True, 1)
    }
    for batch in (first, second):
        assert QuotaEntry.objects.filter(batch=batch, phase=batch.phase, kind="grant").count() == 3
        assert AuditEntry.objects.filter(action="rescoring.apply", object_id=str(batch.pk)).count() == 1
        phase = Phase.objects.get(pk=batch.phase_id)
        assert len(board(phase).rows) == 3
    assert chain.verify(ChainEntry.objects.order_by("number")) == []
    told = {letter.facts["batch"] for letter in Letter.objects.filter(event="rescored")}
    assert told == {first.pk, second.pk}
    with pytest.raises(BatchClosed):
        apply(contest, first)


def test_one_that_is_not_ready_keeps_all_from_being_applied(contest: Contest) -> None:
    first, second = both(contest)
    work_off(6)
    assert batches.state_of(first) == State.READY
    assert batches.common_state([batches.state_of(first), batches.state_of(second)]) == State.RUNNING
    before = pointers()
    for batch in (first, second):
        with pytest.raises(BatchNotReady):
            apply(contest, batch)
    assert (states([first, second]), pointers()) == ([State.RUNNING, State.RUNNING], before)
    work_off()
    assert batches.common_state([batches.state_of(first), batches.state_of(second)]) == State.READY
    apply(contest, first)


def test_each_phase_without_a_batch_of_the_group_may_still_be_hurt(contest: Contest) -> None:
    third = PhaseFactory.create(track=contest.phase.track)
    finished_submission(third, contest.teams[0], 0.5)
    first, second = both(contest)
    work_off()
    assert steps.other_phases_hurt(first) == steps.other_phases_hurt(second) == 1
    with pytest.raises(BatchHurtsOtherPhases):
        apply(contest, first)
    assert states([first, second]) == [State.RUNNING, State.RUNNING]
    apply(contest, first, leaves_other_phases=True)


def test_an_outdated_one_keeps_all_from_being_applied(contest: Contest) -> None:
    first, second = both(contest)
    work_off()
    publish = create_draft(phase=second.phase, data=references("고친말"), actor=None)
    second.phase.reference_versions.update(is_current=False)
    type(publish).objects.filter(pk=publish.pk).update(is_current=True)
    with pytest.raises(BatchOutdated):
        apply(contest, first)
    assert states([first, second]) == [State.RUNNING, State.RUNNING]


def test_a_fault_in_the_last_step_changes_nothing_of_any(contest: Contest, monkeypatch: pytest.MonkeyPatch) -> None:
    found = both(contest)
    work_off()
    before, entries = pointers(), AuditEntry.objects.count()

    def fall_over(*_arguments: Any) -> None:
        raise OSError("the disk is gone")

    with monkeypatch.context() as patched:
        patched.setattr(chain, "append_scores", fall_over)
        with pytest.raises(OSError, match="the disk"):
            apply(contest, found[0])
    assert (states(found), pointers(), AuditEntry.objects.count()) == ([State.RUNNING] * 2, before, entries)
    assert Track.objects.get(pk=contest.phase.track_id).recipe == "rag-qa@1"


def test_errata_of_several_phases_are_one_notice(contest: Contest) -> None:
    draft = create_draft(phase=contest.phase, data=references("다른말"), actor=None, erratum_ko="1번을 고쳤습니다.")
    first, _second = both(contest, reference_version=draft)
    work_off()
    apply(contest, first, announcement=Announcement("재채점", "안내"))
    assert Notice.objects.get().body_ko == "안내\n\n1번을 고쳤습니다."
    draft.refresh_from_db()
    assert draft.is_current


def test_each_preview_has_to_have_been_seen(contest: Contest) -> None:
    found = both(contest)
    work_off()
    seen = seen_together(preview(each) for each in found)
    require_all_seen(found, seen)
    one, other = seen.split(",")
    for text in ("", one, f"{other},{one}", f"{one},{one}", f"{seen},{one}", f"{one},"):
        with pytest.raises(BatchPreviewOutdated):
            require_all_seen(found, text)
    run = found[1].runs.earliest("pk")
    ScoringRun.objects.filter(pk=run.pk).update(scores=run.scores | {"final_score": 0.123}, final_score=0.123)
    with pytest.raises(BatchPreviewOutdated):
        apply(contest, found[0], check=lambda held: require_all_seen(held, seen))
    assert states(found) == [State.RUNNING, State.RUNNING]
    seen = seen_together(preview(each) for each in found)
    apply(contest, found[0], check=lambda held: require_all_seen(held, seen))


# --- cancel, retry ----------------------------------------------------------------------------------------------------
def test_all_are_cancelled_together(contest: Contest) -> None:
    found = both(contest)
    work_off(4)
    before = pointers()
    rescoring.cancel_batch(batch=found[1], actor=contest.organiser)
    assert (states(found), pointers()) == ([State.CANCELLED, State.CANCELLED], before)
    dropped = AuditEntry.objects.filter(action="rescoring.cancel").order_by("pk")
    assert [each.after["dropped_runs"] for each in dropped] == [2, 3]
    assert not ScoringRun.objects.filter(state=ScoringRun.State.QUEUED).exists()
    both(contest)


def test_a_failed_run_is_retried_or_left_out_in_its_own_batch(contest: Contest) -> None:
    first, second = both(contest)
    fail(second.runs.earliest("pk"))
    work_off()
    assert rescoring.retry_failed(batch=first, actor=contest.organiser) == 0
    assert rescoring.retry_failed(batch=second, actor=contest.organiser) == 1
    work_off()
    apply(contest, first)


# --- ordered ----------------------------------------------------------------------------------------------------------
def test_an_order_is_about_all_and_is_carried_out_when_all_are_scored(contest: Contest) -> None:
    first, second = both(contest)
    order = orders.order_application(batch=second, actor=contest.organiser, guarded_places=0)
    with pytest.raises(BatchOrderedAlready):
        orders.order_application(batch=first, actor=contest.organiser)
    assert orders.waiting_order(first) == orders.waiting_order(second) == order
    work_off(6)
    assert carry_out_due() == 0
    work_off()
    assert carry_out_due() == 1
    assert states([first, second]) == [State.APPLIED, State.APPLIED]
    assert RescoreOrder.objects.get().state == RescoreOrder.State.APPLIED


def test_places_that_change_in_one_phase_refuse_the_order_for_all(contest: Contest) -> None:
    found = both(contest, recipe="")
    order = orders.order_application(batch=found[0], actor=contest.organiser, guarded_places=1)
    work_off()
    worst = found[1].runs.order_by("final_score", "pk")[0]
    ScoringRun.objects.filter(pk=worst.pk).update(final_score=1.0, scores=worst.scores | {"final_score": 1.0})
    assert carry_out_due() == 0
    order.refresh_from_db()
    assert (order.state, order.refusal["code"]) == (RescoreOrder.State.REFUSED, "batch_places_change")
    assert states(found) == [State.RUNNING, State.RUNNING]


def test_a_failure_waits_for_the_other_batch_and_then_refuses_the_order(contest: Contest) -> None:
    first, second = both(contest, recipe="")
    order = orders.order_application(batch=first, actor=contest.organiser)
    fail(first.runs.earliest("pk"))
    work_off(5)
    assert batches.progress_of(first).is_decided
    assert carry_out_due() == 0
    order.refresh_from_db()
    assert order.is_waiting
    work_off()
    assert batches.progress_of(second).is_complete
    carry_out_due()
    order.refresh_from_db()
    assert order.refusal["code"] == "batch_not_ready"


def test_a_cancelled_group_takes_its_order_along(contest: Contest) -> None:
    first, second = both(contest)
    order = orders.order_application(batch=first, actor=contest.organiser)
    rescoring.cancel_batch(batch=second, actor=contest.organiser)
    order.refresh_from_db()
    assert (order.state, order.ended_by) == (RescoreOrder.State.WITHDRAWN, contest.organiser)
