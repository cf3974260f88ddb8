"""The final selection: up to k submissions of one's own, until the phase ends."""

from datetime import timedelta

import pytest
from django.utils import timezone

from malpan.competitions.models import Phase
from malpan.core.models import AuditEntry
from malpan.submissions.errors import FinalNotEligible, FinalsLocked, FinalsNotUsed, TooManyFinals
from malpan.submissions.finals import choose_finals, chosen_at, chosen_finals
from malpan.submissions.models import FinalChoice, Submission
from malpan.teams.errors import NotTeamMember
from tests.factories import PhaseFactory, SubmissionFactory, TeamFactory, UserFactory, finished_submission, leader_of
from tests.locks import waits_for
from tests.threads import at_once

pytestmark = pytest.mark.django_db


@pytest.fixture
def phase():
    return PhaseFactory.create(finals_limit=2)


@pytest.fixture
def team(phase):
    return TeamFactory.create(competition=phase.track.competition, members=1)


def _choose(team, phase, *submissions, actor=None, **options):
    return choose_finals(team=team, phase=phase, submissions=submissions, actor=actor or leader_of(team), **options)


def test_a_choice_takes_the_place_of_the_one_before_and_is_audited(phase, team):
    first, second, third = (finished_submission(phase, team, score) for score in (0.1, 0.2, 0.3))
    member = team.memberships.get(role="member").user

    assert _choose(team, phase, first, second) == [first, second]
    assert _choose(team, phase, third, second, actor=member) == [second, third]
    assert chosen_finals(team, phase) == [second, third]
    entry = AuditEntry.objects.filter(action="team.choose_finals").latest("pk")
    assert entry.actor == member
    assert entry.after["submissions"] == [str(second.public_id), str(third.public_id)]
    assert _choose(team, phase) == []


def test_the_same_choice_again_is_no_change(phase, team):
    row = finished_submission(phase, team, 0.1)
    for _time in range(2):
        _choose(team, phase, row)
    entry = AuditEntry.objects.get(action="team.choose_finals")
    assert entry.before == {"phase": phase.pk, "submissions": []}
    assert entry.after == {"phase": phase.pk, "submissions": [str(row.public_id)]}


def test_the_choice_is_told_in_the_order_of_submission(phase, team):
    later = finished_submission(phase, team, 0.1)
    earlier = finished_submission(phase, team, 0.1, created_at=later.created_at - timedelta(hours=1))
    assert _choose(team, phase, later, earlier) == [earlier, later]


def test_what_others_chose_and_the_team_elsewhere_stays(phase, team):
    other = TeamFactory.create(competition=team.competition)
    elsewhere = PhaseFactory.create(track=phase.track, finals_limit=2)
    theirs, there = finished_submission(phase, other, 0.1), finished_submission(elsewhere, team, 0.1)
    _choose(other, phase, theirs)
    _choose(team, elsewhere, there)
    row = finished_submission(phase, team, 0.1)
    assert _choose(team, phase, row) == chosen_finals(team, phase) == [row]
    assert chosen_finals(other, phase) == [theirs]
    assert chosen_finals(team, elsewhere) == [there]


def test_what_was_chosen_just_before_any_moment_stays_known(phase, team):
    """A choice that ended and came back has two spans, and the first one stays as it was."""
    other = TeamFactory.create(competition=team.competition)
    elsewhere = PhaseFactory.create(track=phase.track, finals_limit=2)
    first, second = (finished_submission(phase, team, score) for score in (0.1, 0.2))
    theirs, there = finished_submission(phase, other, 0.1), finished_submission(elsewhere, team, 0.1)
    at = [phase.starts_at + timedelta(hours=hour) for hour in range(6)]
    _choose(other, phase, theirs, now=at[0])
    _choose(team, elsewhere, there, now=at[0])
    choices = ([first], [second], [first, second], [first], [])
    for moment, rows in zip(at[1:], choices, strict=True):
        _choose(team, phase, *rows, now=moment)

    instant = timedelta(microseconds=1)
    before = [[], *choices]
    for hour, moment in enumerate(at[1:]):
        own = {row.pk for row in before[hour]}
        assert chosen_at(phase, moment, [team.pk]) == own, "the choice of that very moment is none yet"
        assert chosen_at(phase, moment) == own | {theirs.pk}
        assert chosen_at(phase, moment + instant, [team.pk]) == {row.pk for row in before[hour + 1]}
    assert chosen_at(phase, at[0]) == set()
    assert chosen_at(elsewhere, at[5] + instant) == {there.pk}
    spans = FinalChoice.objects.filter(submission__in=[first, second]).order_by("pk")
    assert [(row.submission_id, row.chosen_at, row.ended_at) for row in spans] == [
        (first.pk, at[1], at[2]), (second.pk, at[2], at[4]), (first.pk, at[3], at[5]),
    ]  # fmt: skip


def test_no_more_than_the_limit(phase, team):
    rows = [finished_submission(phase, team, 0.1) for _number in range(3)]
    with pytest.raises(TooManyFinals):
        _choose(team, phase, *rows)
    assert chosen_finals(team, phase) == []


def test_only_own_submissions_of_the_phase_that_count(phase, team):
    own = finished_submission(phase, team, 0.5)
    foreign = finished_submission(phase, TeamFactory.create(competition=team.competition), 0.9)
    elsewhere = finished_submission(PhaseFactory.create(track=phase.track), team, 0.9)
    refunded = finished_submission(phase, team, 0.9, refunded_at=timezone.now())
    withdrawn = finished_submission(phase, team, 0.9, withdrawn_at=timezone.now())
    for wrong in (foreign, elsewhere, refunded, withdrawn):
        with pytest.raises(FinalNotEligible):
            _choose(team, phase, own, wrong)
    assert chosen_finals(team, phase) == []


def test_a_submission_still_being_scored_may_be_chosen(phase, team):
    last_minute = SubmissionFactory.create(phase=phase, team=team)
    assert _choose(team, phase, last_minute) == [last_minute]


def test_the_choice_is_locked_at_the_end_of_the_phase(phase, team):
    row = finished_submission(phase, team, 0.5)
    with pytest.raises(FinalsLocked):
        _choose(team, phase, row, now=phase.ends_at)
    assert _choose(team, phase, row, now=phase.ends_at - timedelta(microseconds=1)) == [row]


def test_the_choice_is_locked_once_the_final_board_is_published(phase, team):
    row = finished_submission(phase, team, 0.5)
    Phase.objects.update(final_published_at=timezone.now())
    with pytest.raises(FinalsLocked):
        _choose(team, phase, row)


def test_strangers_choose_nothing(phase, team):
    with pytest.raises(NotTeamMember):
        _choose(team, phase, finished_submission(phase, team, 0.5), actor=UserFactory.create())


def test_a_phase_without_a_limit_has_no_selection(phase, team):
    Phase.objects.update(finals_limit=None)
    with pytest.raises(FinalsNotUsed):
        _choose(team, phase, finished_submission(phase, team, 0.5))


@pytest.mark.django_db(transaction=True)
def test_a_choice_waits_for_whoever_changes_the_team(phase, team):
    row = finished_submission(phase, team, 0.1)
    with waits_for(team):
        _choose(team, phase, row)
    assert chosen_finals(team, phase) == []


@pytest.mark.django_db(transaction=True)
def test_members_choosing_at_once_never_exceed_the_limit(phase, team):
    rows = [finished_submission(phase, team, 0.1) for _number in range(8)]
    leader = leader_of(team)
    pairs = [rows[start : start + 2] for start in range(0, 8, 2)]

    at_once([lambda pair=pair: _choose(team, phase, *pair, actor=leader) for pair in pairs])

    assert Submission.objects.filter(is_final_choice=True).count() == 2
