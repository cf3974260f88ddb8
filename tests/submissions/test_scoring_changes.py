"""What submissions are scored with is changed by hand only while none counts: neither refunded nor withdrawn."""

import json

import pytest
from django.utils import timezone

from malpan.competitions.drafts import create_draft, discard_draft
from malpan.competitions.errors import ReferenceDraftInUse, ReferencesInUse, RuleInUse
from malpan.competitions.models import Phase, ReferenceVersion
from malpan.core.models import AuditEntry
from malpan.submissions import scoring_changes
from malpan.submissions.models import ScoringRun, Submission
from malpan.submissions.rescoring.batches import Selection
from malpan.submissions.rescoring.errors import BatchSelectsNothing
from malpan.submissions.rescoring.services import cancel_batch, start_batch
from malpan.submissions.withdrawal import withdraw
from tests.factories import (
    PhaseFactory,
    SubmissionFactory,
    UserFactory,
    file_bytes,
    finished_submission,
    leader_of,
    prediction_bytes,
    publish,
    reference_bytes,
)
from tests.submissions.conftest import limited, send
from tests.threads import at_once

pytestmark = pytest.mark.django_db


def draft_of(phase: Phase) -> ReferenceVersion:
    items = json.loads(reference_bytes(3))
    items[0]["output"]["answer"] = "새 답이 옳다."
    return create_draft(phase=phase, data=file_bytes(items), actor=None, erratum_ko="첫 문항을 고쳤습니다.")


def every_change(phase: Phase):
    """Each way in which a phase comes to be scored with something else."""
    organiser = UserFactory.create()
    draft = draft_of(phase)
    yield ReferencesInUse, lambda: scoring_changes.publish_draft(version=draft, actor=organiser)
    yield (
        ReferencesInUse,
        lambda: scoring_changes.publish_reference_version(phase=phase, data=reference_bytes(3), actor=organiser),
    )
    yield ReferencesInUse, lambda: scoring_changes.split_again(phase=phase, actor=organiser, public_ids=["q1"])
    yield RuleInUse, lambda: scoring_changes.update_track(track=phase.track, actor=organiser, recipe="rag-qa-strict@1")
    yield RuleInUse, lambda: scoring_changes.update_track(track=phase.track, actor=organiser, profile="official")


def test_phase_whose_submissions_are_all_withdrawn_is_no_dead_end(phase, team):
    publish(phase)
    withdraw(submission=finished_submission(phase, team, 0.5), actor=leader_of(team))
    finished_submission(phase, team, 0.5, refunded_at=timezone.now())
    with pytest.raises(BatchSelectsNothing):
        start_batch(phase=phase, selection=Selection(), reason="정정", actor=UserFactory.create())

    for _refusal, change in every_change(phase):
        change()

    assert phase.reference_versions.filter(is_current=True).count() == 1
    assert phase.track.competition.notices.count() == 1  # the erratum of the draft


def test_one_submission_that_counts_keeps_everything_as_it_is(phase, team):
    publish(phase)
    withdraw(submission=finished_submission(phase, team, 0.5), actor=leader_of(team))
    finished_submission(phase, team, 0.5)

    for refusal, change in every_change(phase):
        with pytest.raises(refusal) as caught:
            change()
        assert caught.value.params == {"count": 1}


def test_what_another_phase_or_track_has_and_what_has_no_score_keeps_nothing_as_it_is(phase, team):
    publish(phase)
    finished_submission(PhaseFactory.create(track__competition=phase.track.competition), team, 0.5)

    for _refusal, change in every_change(phase):
        change()

    SubmissionFactory.create(phase=phase, team=team)
    assert scoring_changes.scores_that_count(phase.track) == 0


def test_every_way_writes_that_a_version_became_current_and_which_was_before(phase):
    publish(phase)
    organiser = UserFactory.create()
    scoring_changes.publish_draft(version=draft_of(phase), actor=organiser)
    scoring_changes.split_again(phase=phase, actor=organiser, public_ids=["q1"])

    entries = AuditEntry.objects.filter(action__in=["reference_version.publish", "reference_version.split"])
    # the fixture published the first version, this test three more
    assert [(row.before["current_number"], row.after["number"]) for row in entries.order_by("pk")] == [
        *((None, 1), (1, 2)),
        *((2, 3), (3, 4)),
    ]
    assert entries.latest("pk").after["public_count"] == 1


def test_draft_that_a_batch_scored_with_stays_as_evidence(phase, team, rings):
    send(phase, team)
    draft, organiser = draft_of(phase), UserFactory.create()
    batch = start_batch(phase=phase, selection=Selection(), reason="r", actor=organiser, reference_version=draft)
    cancel_batch(batch=batch, actor=organiser)

    with pytest.raises(ReferenceDraftInUse):
        discard_draft(version=draft, actor=organiser)

    assert ReferenceVersion.objects.filter(pk=draft.pk).exists()
    assert not AuditEntry.objects.filter(action="reference_version.discard").exists()


@pytest.mark.django_db(transaction=True)
def test_publishing_while_files_come_in_leaves_none_scored_by_the_references_before(rings):
    phase, team = limited()
    draft, organiser = draft_of(phase), UserFactory.create()
    uploads = [lambda n=n: send(phase, team, prediction_bytes(mark=n)) for n in range(6)]

    at_once([*uploads[:3], lambda: scoring_changes.publish_draft(version=draft, actor=organiser), *uploads[3:]])

    draft.refresh_from_db()
    used = set(ScoringRun.objects.values_list("reference_version", flat=True))
    assert Submission.objects.count() == 6
    assert used == {ReferenceVersion.objects.get(phase=phase, is_current=True).pk}
