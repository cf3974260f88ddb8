"""What a batch is started with, what it refuses and leaves alone, and what the log says of it."""

from __future__ import annotations

import copy
import json
from collections.abc import Sequence
from typing import Any

import pytest

from malpan.competitions import drafts
from malpan.core.models import AuditEntry
from malpan.leaderboard.models import BoardSnapshot
from malpan.submissions.models import ChainEntry, QuotaEntry, RescoreBatch, ScoringRun, Submission
from malpan.submissions.rescoring import services as rescoring
from malpan.submissions.rescoring.batches import Selection, excluded_of
from malpan.submissions.rescoring.errors import (
    BatchClosed,
    BatchNotFound,
    BatchReferencesUnfit,
    BatchRunNotFailed,
)
from malpan.submissions.scoring_changes import publish_reference_version
from tests.factories import PhaseFactory, SubmissionFactory, file_bytes
from tests.submissions.rescoring.contest_of_many import (
    STRICT,
    Contest,
    apply,
    references,
    start,
    upload,
    work_off,
)
from tests.submissions.rescoring.test_services import fail_everything_queued

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("uncommitted_work")]
State = RescoreBatch.State


@pytest.fixture
def contest(made: Contest, rings: list[str], neural: list[Any]) -> Contest:
    return copy.deepcopy(made)


def entry_of(action: str) -> AuditEntry:
    return AuditEntry.objects.get(action=f"rescoring.{action}")


# --- start ------------------------------------------------------------------------------------------------------------
def test_what_equals_the_rule_of_now_is_no_change_of_a_batch(contest: Contest) -> None:
    same = start(
        contest,
        recipe=contest.phase.track.recipe,
        profile=contest.phase.track.profile,
        reference_version=contest.phase.reference_versions.get(is_current=True),
    )
    assert (same.recipe, same.profile, same.reference_version) == ("", "", None)
    rescoring.cancel_batch(batch=same, actor=contest.organiser)
    draft = drafts.create_draft(phase=contest.phase, data=references("새말"), actor=None)

    changed = start(contest, recipe=STRICT, profile="other", reference_version=draft)

    stored = RescoreBatch.objects.get(pk=changed.pk)
    assert (stored.recipe, stored.profile, stored.reference_version) == (STRICT, "other", draft)
    assert set(stored.runs.values_list("recipe", "profile", "reference_version")) == {(STRICT, "other", draft.pk)}
    rescoring.cancel_batch(batch=changed, actor=contest.organiser)  # of two that there are
    assert set(RescoreBatch.objects.values_list("state", flat=True)) == {State.CANCELLED}


def test_a_long_reason_is_cut_and_the_log_has_what_was_started(contest: Contest) -> None:
    batch = start(contest, Selection(teams=(contest.teams[0].pk,)), reason=f" {'가' * 301}")

    assert batch.reason == "가" * 300
    entry = entry_of("start")
    assert (entry.actor, entry.object_id) == (contest.organiser, str(batch.pk))
    said = {"submissions": 2, "selection": {"teams": [contest.teams[0].pk]}, "repeats": 1, "grants_slots": 0}
    assert entry.after == entry.after | said | {"reason": batch.reason, "state": "running", "resets_quota": False}


def test_submissions_are_scored_in_the_order_in_which_they_came(contest: Contest) -> None:
    batch = start(contest)
    order = [each.pk for each in contest.submissions]
    assert list(batch.runs.order_by("pk").values_list("submission", flat=True)) == order


def test_references_of_another_phase_are_refused(contest: Contest) -> None:
    other = PhaseFactory.create(track=contest.phase.track)
    current = publish_reference_version(phase=other, data=references(), actor=None)
    draft = drafts.create_draft(phase=other, data=references("새말"), actor=None)
    for version in (current, draft):
        with pytest.raises(BatchReferencesUnfit) as refused:
            start(contest, reference_version=version)
        assert refused.value.params == {"count": version.item_count}


def test_references_that_the_new_recipe_cannot_read_are_refused(contest: Contest) -> None:
    with pytest.raises(BatchReferencesUnfit) as refused:
        start(contest, recipe="regression@1")
    assert refused.value.params["count"] > 0


def test_an_added_item_is_refused_where_no_answer_may_be_empty_and_elsewhere_is_not(contest: Contest) -> None:
    further = json.loads(references())
    further.append(further[0] | {"id": "q6"})
    start(contest, reference_version=drafts.create_draft(phase=contest.phase, data=file_bytes(further), actor=None))

    numbers = [{"id": name, "output": number} for number, name in enumerate("abc")]
    phase = PhaseFactory.create(track__recipe="regression@1")
    publish_reference_version(phase=phase, data=file_bytes(numbers[:2]), actor=None)
    SubmissionFactory.create(phase=phase)
    of_numbers = Contest(phase, [], [], contest.organiser)
    for rows, added in ((numbers, 1), (numbers[1:], 1), (numbers[:1], 0)):
        draft = drafts.create_draft(phase=phase, data=file_bytes(rows), actor=None)
        if added:
            with pytest.raises(BatchReferencesUnfit) as refused:
                start(of_numbers, reference_version=draft)
            assert refused.value.params == {"count": added}
        else:
            start(of_numbers, reference_version=draft)


# --- an open batch ----------------------------------------------------------------------------------------------------
def test_cancelling_drops_what_is_not_over_and_says_how_much(contest: Contest) -> None:
    batch = start(contest)
    work_off(2)

    rescoring.cancel_batch(batch=batch, actor=contest.organiser)

    entry = entry_of("cancel")
    assert (entry.actor, entry.before) == (contest.organiser, {"state": "running"})
    assert entry.after == {"state": "cancelled", "dropped_runs": 4}
    assert batch.runs.filter(state=ScoringRun.State.FINISHED).count() == 2


def test_the_log_has_what_was_tried_again_and_left_out_and_why(contest: Contest) -> None:
    batch = start(contest)
    work_off(4)
    fail_everything_queued()
    first, second = contest.submissions[4:]
    assert rescoring.retry_failed(batch=batch, actor=contest.organiser) == 2
    assert entry_of("retry").after == {"submissions": [str(first.public_id), str(second.public_id)]}
    fail_everything_queued()

    for submission, reason in ((first, " 파일 손상 "), (second, "가" * 301)):
        rescoring.exclude_submission(batch=batch, submission=submission, reason=reason, actor=contest.organiser)

    batch.refresh_from_db()
    assert excluded_of(batch) == {str(first.pk): "파일 손상", str(second.pk): "가" * 300}
    entries = AuditEntry.objects.filter(action="rescoring.exclude").order_by("pk")
    assert [each.after["submission"] for each in entries] == [str(first.public_id), str(second.public_id)]


def test_what_was_left_out_stays_beside_what_was_selected(contest: Contest) -> None:
    batch = start(contest, Selection(teams=(contest.teams[0].pk,)))
    fail_everything_queued()
    one = contest.submissions[0]
    rescoring.exclude_submission(batch=batch, submission=one, reason="파일 손상", actor=contest.organiser)

    stored = RescoreBatch.objects.get(pk=batch.pk).selection
    assert stored == {"teams": [contest.teams[0].pk], "excluded": {str(one.pk): "파일 손상"}}


def test_only_a_submission_whose_newest_run_failed_is_left_out(contest: Contest) -> None:
    batch = start(contest, Selection(teams=(contest.teams[0].pk,)))
    fail_everything_queued()
    rescoring.retry_failed(batch=batch, actor=contest.organiser)
    work_off()
    scored_after_all, outside = contest.submissions[0], contest.submissions[1]

    for submission in (scored_after_all, outside):
        with pytest.raises(BatchRunNotFailed):
            rescoring.exclude_submission(batch=batch, submission=submission, reason="왜", actor=contest.organiser)


def test_a_closed_batch_takes_nothing(contest: Contest) -> None:
    batch = start(contest)
    fail_everything_queued()
    rescoring.cancel_batch(batch=batch, actor=contest.organiser)
    failed, actor = contest.submissions[0], contest.organiser
    for call in (
        lambda: rescoring.retry_failed(batch=batch, actor=actor),
        lambda: rescoring.exclude_submission(batch=batch, submission=failed, reason="왜", actor=actor),
    ):
        with pytest.raises(BatchClosed):
            call()


def test_a_batch_is_found_in_its_own_competition(contest: Contest) -> None:
    batch = start(contest)
    rescoring.cancel_batch(batch=batch, actor=contest.organiser)
    later, competition = start(contest), contest.phase.track.competition

    assert [rescoring.get_batch(competition.pk, each.pk) for each in (batch, later)] == [batch, later]
    for place, pk in ((PhaseFactory.create().track.competition.pk, batch.pk), (competition.pk, later.pk + 1)):
        with pytest.raises(BatchNotFound):
            rescoring.get_batch(place, pk)


# --- apply ------------------------------------------------------------------------------------------------------------
def test_applying_changes_no_quota_by_itself_and_the_log_has_how_much_changed(contest: Contest) -> None:
    batch = start(contest)
    work_off()
    seen: list[Sequence[RescoreBatch]] = []

    apply(contest, batch, check=seen.append)

    assert seen == [[batch]]
    assert not QuotaEntry.objects.filter(batch=batch).exists()
    entry = entry_of("apply")
    assert (entry.actor, entry.before, entry.after["state"], entry.after["submissions"]) == (
        contest.organiser, {"state": "ready"}, "applied", 6,
    )  # fmt: skip
    assert (entry.after["resets_quota"], entry.after["grants_slots"]) == (False, 0)


def test_what_the_check_raises_refuses_the_application(contest: Contest) -> None:
    batch = start(contest)
    work_off()

    def refuse(_batches: Sequence[RescoreBatch]) -> None:
        raise BatchClosed

    with pytest.raises(BatchClosed):
        apply(contest, batch, check=refuse)
    assert RescoreBatch.objects.get(pk=batch.pk).state == State.RUNNING


def test_what_a_batch_did_not_score_has_no_other_score_in_the_chain(contest: Contest) -> None:
    batch = start(contest, Selection(teams=(contest.teams[0].pk,)), profile="other")
    work_off()
    late = upload(contest, 1)
    last = ChainEntry.objects.order_by("number").last()
    assert last is not None

    apply(contest, batch)

    own = [each.pk for each in contest.submissions if each.team_id == contest.teams[0].pk]
    entries = ChainEntry.objects.filter(number__gt=last.number, kind="score").order_by("number")
    assert list(entries.values_list("submission", flat=True)) == own
    assert Submission.objects.get(pk=late.pk).live_run is None


def test_the_board_of_before_is_kept_and_committed_to_in_the_chain(contest: Contest) -> None:
    contest.phase.track.composite = [{"score": "bleurt", "weight": 1}]
    contest.phase.track.save()
    batch = start(contest, recipe=STRICT)
    work_off()

    apply(contest, batch)

    kept = BoardSnapshot.objects.get(kind=BoardSnapshot.Kind.PUBLIC)
    assert kept.sha256 in str(ChainEntry.objects.get(kind=ChainEntry.Kind.BOARD).payload)
