"""A team takes a submission back."""

from datetime import timedelta

import pytest
from django.utils import timezone

from malpan.core.models import AuditEntry
from malpan.submissions.errors import WithdrawalClosed
from malpan.submissions.finals import mark_chosen
from malpan.submissions.models import FinalChoice, Submission
from malpan.submissions.quota import services as quota
from malpan.submissions.withdrawal import withdraw
from malpan.teams.errors import NotTeamMember
from tests.factories import PhaseFactory, SubmissionFactory, UserFactory, leader_of
from tests.locks import waits_for

pytestmark = pytest.mark.django_db


def test_withdrawn_submission_stays_charged_and_is_no_final_choice():
    submission = SubmissionFactory.create(phase=PhaseFactory.create(daily_limit=1), is_final_choice=True)
    leader = leader_of(submission.team)

    assert withdraw(submission=submission, actor=leader)

    found = Submission.objects.get()
    assert found.withdrawn_at == submission.withdrawn_at is not None
    assert not found.is_final_choice
    assert quota.status(phase=submission.phase, team=submission.team).left_today == 0
    entry = AuditEntry.objects.get(action="submission.withdraw")
    assert (entry.actor, entry.before) == (leader, {"is_final_choice": True})
    assert not submission.is_final_choice, "whoever holds the object sees it as well"


def test_only_this_submission_is_withdrawn_and_stops_being_a_choice():
    first = SubmissionFactory.create()
    second = SubmissionFactory.create(phase=first.phase, team=first.team)
    before, moment = timezone.now() - timedelta(minutes=2), timezone.now() - timedelta(minutes=1)
    mark_chosen([first.pk, second.pk], before)

    withdraw(submission=first, actor=leader_of(first.team), now=moment)

    found = Submission.objects.order_by("pk").values_list("pk", "withdrawn_at", "is_final_choice")
    assert list(found) == [(first.pk, moment, False), (second.pk, None, True)]
    ended = FinalChoice.objects.order_by("submission").values_list("submission", "ended_at")
    assert list(ended) == [(first.pk, moment), (second.pk, None)]


def test_withdrawing_twice_changes_nothing():
    submission = SubmissionFactory.create()
    withdraw(submission=submission, actor=leader_of(submission.team))
    first = submission.withdrawn_at

    assert not withdraw(submission=Submission.objects.get(), actor=leader_of(submission.team))

    assert Submission.objects.get().withdrawn_at == first
    assert AuditEntry.objects.filter(action="submission.withdraw").count() == 1


def test_only_the_team_withdraws():
    submission = SubmissionFactory.create()

    with pytest.raises(NotTeamMember):
        withdraw(submission=submission, actor=UserFactory.create())


def test_nothing_is_withdrawn_from_the_end_of_the_phase_on():
    submission = SubmissionFactory.create()
    ends_at, leader = submission.phase.ends_at, leader_of(submission.team)

    with pytest.raises(WithdrawalClosed):
        withdraw(submission=submission, actor=leader, now=ends_at)

    assert Submission.objects.get().withdrawn_at is None
    assert withdraw(submission=submission, actor=leader, now=ends_at - timedelta(microseconds=1))
    assert timezone.now() < ends_at


@pytest.mark.django_db(transaction=True)
def test_a_withdrawal_waits_for_whoever_changes_the_team():
    submission = SubmissionFactory.create()
    with waits_for(submission.team):
        withdraw(submission=submission, actor=leader_of(submission.team))
    assert Submission.objects.get().withdrawn_at is None
