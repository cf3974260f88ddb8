"""Rescoring batches that are applied by themselves: when, as what, by whom, and what keeps them from it."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from django.conf import settings
from django.utils import timezone

from malpan.accounts.models import User
from malpan.competitions.models import CompetitionRole, Notice, Track
from malpan.competitions.permissions import may
from malpan.core.models import AuditEntry
from malpan.leaderboard import tasks
from malpan.leaderboard.rescore_orders import carry_out_due
from malpan.notifications.events import event_of
from malpan.notifications.models import Letter
from malpan.notifications.rendering import render
from malpan.submissions.integrity import chain
from malpan.submissions.models import QuotaEntry, RescoreBatch, RescoreOrder, ScoringRun, Submission
from malpan.submissions.rescoring import orders
from malpan.submissions.rescoring import services as rescoring
from malpan.submissions.rescoring.apply import Announcement
from malpan.submissions.rescoring.errors import (
    BatchClosed,
    BatchHurtsOtherPhases,
    BatchNeverApplies,
    BatchNotOrdered,
    BatchNotReady,
    BatchOrderedAlready,
    BatchOutdated,
)
from tests.factories import PhaseFactory, finished_submission, person_in
from tests.submissions.conftest import claim_run, fail_run
from tests.submissions.rescoring.contest_of_many import (
    STRICT,
    Contest,
    apply,
    few_teams,
    start,
    upload,
    work_off,
)

pytestmark = pytest.mark.django_db
ORDER_OVER = "rescoring_order_over"
State = RescoreOrder.State


@pytest.fixture
def contest(made: Contest, rings: list[str], neural: list[Any], uncommitted_work: None) -> Contest:
    return copy.deepcopy(made)


def organiser_of(contest: Contest) -> User:
    """Who can log in, and so gets letters."""
    person = person_in(contest.phase.track.competition, "organiser")
    person.set_password("correct horse battery")
    person.save()
    return person


def ordered(contest: Contest, batch: RescoreBatch, **choices: Any) -> RescoreOrder:
    return orders.order_application(batch=batch, actor=choices.pop("actor", contest.organiser), **choices)


def outcome(order: RescoreOrder) -> tuple[str, str]:
    """What became of it, and the code of what refused it."""
    order.refresh_from_db()
    return order.state, order.refusal.get("code", "")


def is_applied(batch: RescoreBatch) -> bool:
    batch.refresh_from_db()
    return batch.state == RescoreBatch.State.APPLIED


def pointers() -> list[int | None]:
    return list(Submission.objects.order_by("pk").values_list("live_run", flat=True))


def give(batch: RescoreBatch, place: int, score: float) -> None:
    """Give the submissions of the team on ``place`` of the board as it is another score in ``batch``."""
    live = ScoringRun.objects.filter(live_for__phase=batch.phase_id).order_by("-final_score", "submission")
    ranking = list(dict.fromkeys(live.values_list("submission__team", flat=True)))
    for run in batch.runs.filter(submission__team=ranking[place - 1]):
        ScoringRun.objects.filter(pk=run.pk).update(final_score=score, scores=run.scores | {"final_score": score})


def fail(run: ScoringRun) -> None:
    """Let every attempt of it fail."""
    for _attempt in range(3):
        claimed = claim_run(run)
        assert claimed is not None
        fail_run(run, attempt=claimed.attempt)


# --- carried out ------------------------------------------------------------------------------------------------------
def test_it_is_applied_when_the_last_run_is_finished_as_ordered_and_as_who_ordered_it(contest: Contest) -> None:
    organiser, before = organiser_of(contest), pointers()
    batch = start(contest, recipe=STRICT)
    order = ordered(
        contest,
        batch,
        actor=organiser,
        guarded_places=0,
        resets_quota=True,
        grants_slots=2,
        announcement=Announcement("규칙 변경", "다시 채점했습니다.", "New rule", "Scored again."),
    )
    assert carry_out_due() == 0
    work_off(5)
    assert carry_out_due() == 0
    assert (pointers(), outcome(order)) == (before, (State.WAITING, ""))

    work_off()
    tasks.apply_ordered()

    assert is_applied(batch)
    assert (batch.closed_by, batch.resets_quota, batch.grants_slots) == (organiser, True, 2)
    assert outcome(order) == (State.APPLIED, "")
    assert Submission.objects.filter(live_run__batch=batch).count() == 6
    assert QuotaEntry.objects.filter(batch=batch, kind="reset").count() == 3
    assert QuotaEntry.objects.filter(batch=batch, kind="grant", slots=2).count() == 3
    assert Track.objects.get(pk=contest.phase.track_id).recipe == STRICT
    notice = Notice.objects.get()
    assert (notice.title_ko, notice.body_ko, notice.title_en, notice.body_en) == (
        *("규칙 변경", "다시 채점했습니다."),
        *("New rule", "Scored again."),
    )
    entries = AuditEntry.objects.filter(object_type="submissions.rescorebatch").order_by("pk")
    assert [(each.action, each.actor) for each in entries] == [
        ("rescoring.start", contest.organiser),
        ("rescoring.order", organiser),
        ("rescoring.apply", organiser),
    ]
    assert [each.after.get("is_ordered") for each in entries] == [None, None, True]
    assert carry_out_due() == 0, "never twice"


def test_who_ordered_it_is_told_what_came_of_it(contest: Contest) -> None:
    organiser = organiser_of(contest)
    batch = start(contest, recipe=STRICT)
    ordered(contest, batch, actor=organiser, guarded_places=0)
    work_off()
    assert carry_out_due() == 1
    letter = Letter.objects.get(event=ORDER_OVER, endpoint=None)
    assert letter.person == organiser
    mail = render(letter)
    assert mail is not None
    assert "예약한 재채점을 적용했습니다" in mail.subject
    assert f"#{batch.pk}: 규칙 변경" in mail.text
    assert f"/manage/rescoring/{batch.pk}/" in mail.text
    sample = event_of(ORDER_OVER).sample
    assert sample is not None
    assert sample().context.keys() == event_of(ORDER_OVER).compose(organiser, letter.facts).context.keys()  # type: ignore[union-attr]
    assert event_of(ORDER_OVER).compose(contest.organiser, letter.facts) is None, "it is nobody else's"


def test_nobody_waits_for_what_was_uploaded_since(contest: Contest) -> None:
    batch = start(contest)
    order = ordered(contest, batch)
    work_off()
    late = upload(contest)
    assert late.runs.filter(batch=batch, state=ScoringRun.State.QUEUED).exists()
    assert carry_out_due() == 1
    assert outcome(order) == (State.APPLIED, "")


def test_it_waits_for_the_first_result_where_only_late_uploads_are_left(contest: Contest) -> None:
    batch = start(contest)
    order = ordered(contest, batch)
    upload(contest)
    Submission.objects.filter(pk__in=[each.pk for each in contest.submissions]).update(withdrawn_at=timezone.now())
    assert carry_out_due() == 0
    assert outcome(order) == (State.WAITING, "")
    work_off()
    assert carry_out_due() == 1


def test_it_is_done_by_beat() -> None:
    [entry] = [each for each in settings.CELERY_BEAT_SCHEDULE.values() if each["task"] == tasks.apply_ordered.name]
    assert entry["schedule"] <= 5


# --- kept from it -----------------------------------------------------------------------------------------------------
def test_a_failed_run_ends_the_order_with_the_reason_and_a_letter(contest: Contest) -> None:
    organiser, before = organiser_of(contest), pointers()
    batch = start(contest)
    order = ordered(contest, batch, actor=organiser)
    work_off(5)
    fail(batch.runs.get(state=ScoringRun.State.QUEUED))

    assert carry_out_due() == 0

    assert outcome(order) == (State.REFUSED, "batch_not_ready")
    assert order.refusal["params"] == {"unfinished": 0, "failed": 1}
    assert (is_applied(batch), batch.is_open, pointers()) == (False, True, before)
    letter = Letter.objects.get(event=ORDER_OVER, endpoint=None)
    mail = render(letter)
    assert mail is not None
    assert "적용하지 않았습니다" in mail.subject
    assert "실패한 채점 1건" in mail.text
    entry = AuditEntry.objects.get(action="rescoring.refuse_order")
    assert (entry.actor, entry.person, entry.after["reason"]) == (None, organiser, "batch_not_ready")
    assert carry_out_due() == 0
    with pytest.raises(BatchNotReady):
        ordered(contest, batch)
    rescoring.retry_failed(batch=batch, actor=organiser)
    ordered(contest, batch, actor=organiser)
    work_off()
    assert carry_out_due() == 1


def test_a_failure_that_is_retried_before_the_end_keeps_the_order(contest: Contest) -> None:
    batch = start(contest)
    order = ordered(contest, batch)
    fail(batch.runs.earliest("pk"))
    assert carry_out_due() == 0
    assert outcome(order) == (State.WAITING, ""), "others are still scored"
    rescoring.retry_failed(batch=batch, actor=contest.organiser)
    work_off()
    assert carry_out_due() == 1


@pytest.mark.parametrize(
    ("guarded", "is_done"),
    [(3, False), (2, False), (1, True), (0, True)],
)
def test_where_the_order_of_the_guarded_places_changes_somebody_looks_first(
    contest: Contest, guarded: int, is_done: bool
) -> None:
    """The second and the third change places."""
    batch = start(contest)
    order = ordered(contest, batch, guarded_places=guarded)
    work_off()
    for place, score in ((1, 0.99), (2, 0.3), (3, 0.6)):
        give(batch, place, score)
    before = pointers()

    assert carry_out_due() == int(is_done)

    if is_done:
        assert outcome(order) == (State.APPLIED, "")
    else:
        assert outcome(order) == (State.REFUSED, "batch_places_change")
        assert order.refusal["params"] == {"places": guarded, "changed": 2}
        assert (is_applied(batch), pointers()) == (False, before)
        apply(contest, batch)
        assert is_applied(batch)


def test_scores_that_change_no_place_need_no_look(contest: Contest) -> None:
    batch = start(contest)
    ordered(contest, batch, guarded_places=3)
    work_off()
    for place, score in ((1, 0.9), (2, 0.8), (3, 0.7)):
        give(batch, place, score)
    assert carry_out_due() == 1


def test_a_rule_that_was_changed_meanwhile_refuses_it(contest: Contest) -> None:
    batch = start(contest)
    order = ordered(contest, batch, guarded_places=0)
    work_off()
    Track.objects.filter(pk=contest.phase.track_id).update(recipe=STRICT)
    assert carry_out_due() == 0
    assert outcome(order) == (State.REFUSED, "batch_outdated")


def test_other_phases_are_only_hurt_by_who_said_so(contest: Contest) -> None:
    other = PhaseFactory.create(track=contest.phase.track)
    finished_submission(other, contest.teams[0], 0.5)
    batch = start(contest, recipe=STRICT)
    with pytest.raises(BatchHurtsOtherPhases):
        ordered(contest, batch)
    ordered(contest, batch, leaves_other_phases=True, guarded_places=0)
    work_off()
    assert carry_out_due() == 1


def test_scores_of_another_phase_that_came_since_refuse_it(contest: Contest) -> None:
    batch = start(contest, recipe=STRICT)
    order = ordered(contest, batch, guarded_places=0)
    finished_submission(PhaseFactory.create(track=contest.phase.track), contest.teams[0], 0.5)
    work_off()
    assert carry_out_due() == 0
    assert outcome(order) == (State.REFUSED, "batch_hurts_other_phases")


@pytest.mark.parametrize("loss", ["role", "smaller role", "account"])
def test_who_may_no_longer_apply_it_does_not_by_an_order_either(contest: Contest, loss: str) -> None:
    organiser = organiser_of(contest)
    batch = start(contest)
    order = ordered(contest, batch, actor=organiser, guarded_places=0)
    work_off()
    if loss == "account":
        User.objects.filter(pk=organiser.pk).update(is_active=False)
    elif loss == "role":
        CompetitionRole.objects.filter(user=organiser).delete()
    else:
        CompetitionRole.objects.filter(user=organiser).update(role="operator")
    assert not may(User.objects.get(pk=organiser.pk), contest.phase.track.competition, "manage")  # type: ignore[arg-type]
    assert carry_out_due() == 0
    assert outcome(order) == (State.REFUSED, "not_allowed")
    assert not is_applied(batch)
    assert Letter.objects.filter(event=ORDER_OVER).count() == (loss != "account")


def test_one_order_that_is_refused_keeps_no_other_waiting(contest: Contest) -> None:
    batch = start(contest)
    refused = ordered(contest, batch, guarded_places=0)
    work_off()
    Track.objects.filter(pk=contest.phase.track_id).update(recipe=STRICT)
    other = few_teams()
    fine = ordered(other, start(other))
    work_off()
    assert carry_out_due() == 1
    assert (outcome(refused)[0], outcome(fine)[0]) == (State.REFUSED, State.APPLIED)


def test_a_fault_of_the_server_changes_nothing_and_it_is_tried_again(
    contest: Contest, monkeypatch: pytest.MonkeyPatch
) -> None:
    batch = start(contest, recipe=STRICT)
    order = ordered(contest, batch, guarded_places=0, resets_quota=True)
    work_off()
    before, entries = pointers(), AuditEntry.objects.count()
    with monkeypatch.context() as patched:
        patched.setattr(chain, "append_scores", _fall_over)  # the very last step
        assert carry_out_due() == 0
    assert (is_applied(batch), pointers(), AuditEntry.objects.count()) == (False, before, entries)
    assert outcome(order) == (State.WAITING, "")
    assert not QuotaEntry.objects.filter(batch=batch).exists()
    assert not Letter.objects.filter(event__in=[ORDER_OVER, "rescored"]).exists()
    assert carry_out_due() == 1


def _fall_over(*_arguments: Any) -> None:
    raise OSError("the disk is gone")


# --- ordered, withdrawn, overtaken ------------------------------------------------------------------------------------
def test_there_is_one_order_at_a_time(contest: Contest) -> None:
    batch = start(contest)
    first = ordered(contest, batch)
    with pytest.raises(BatchOrderedAlready):
        ordered(contest, batch)
    assert orders.withdraw_order(batch=batch, actor=contest.organiser).pk == first.pk
    ordered(contest, batch)
    work_off()
    assert carry_out_due() == 1
    with pytest.raises(BatchClosed):
        ordered(contest, batch)
    with pytest.raises(BatchClosed):
        orders.withdraw_order(batch=batch, actor=contest.organiser)


def test_repetitions_and_outdated_batches_take_no_order(contest: Contest) -> None:
    with pytest.raises(BatchNeverApplies):
        ordered(contest, start(contest, repeats=2))
    batch = start(contest)
    Track.objects.filter(pk=contest.phase.track_id).update(recipe=STRICT)
    with pytest.raises(BatchOutdated):
        ordered(contest, batch)
    assert not RescoreOrder.objects.exists()


def test_an_order_that_was_withdrawn_applies_nothing(contest: Contest) -> None:
    organiser = organiser_of(contest)
    batch = start(contest)
    order = ordered(contest, batch, actor=organiser)
    with pytest.raises(BatchNotOrdered):
        orders.withdraw_order(batch=start(few_teams()), actor=organiser)
    orders.withdraw_order(batch=batch, actor=organiser)
    work_off()
    assert carry_out_due() == 0
    with pytest.raises(BatchNotOrdered):  # whoever read it before
        rescoring.apply_batch(batch=batch, actor=organiser, order=order)
    assert (outcome(order), is_applied(batch)) == ((State.WITHDRAWN, ""), False)
    entry = AuditEntry.objects.get(action="rescoring.withdraw_order")
    assert (entry.actor, entry.before["guarded_places"]) == (organiser, 3)
    assert not Letter.objects.filter(event=ORDER_OVER).exists(), "they know"


@pytest.mark.parametrize("way", ["apply", "cancel", "withdraw"])
def test_who_ordered_it_hears_that_somebody_else_ended_it(contest: Contest, way: str) -> None:
    organiser = organiser_of(contest)
    batch = start(contest)
    order = ordered(contest, batch, actor=organiser)
    work_off()
    if way == "apply":
        apply(contest, batch)
    elif way == "cancel":
        rescoring.cancel_batch(batch=batch, actor=contest.organiser)
    else:
        orders.withdraw_order(batch=batch, actor=contest.organiser)
    assert carry_out_due() == 0
    assert outcome(order) == (State.WITHDRAWN, "")
    assert order.ended_by == contest.organiser
    mail = render(Letter.objects.get(event=ORDER_OVER, endpoint=None))
    assert mail is not None
    assert "다른 운영자가 거두었습니다" in mail.text
