"""What a person used counts wherever they go next: in the other team as before, and in the one they are in now."""

from datetime import datetime, timedelta

import pytest
from django.db import transaction
from django.urls import reverse
from django.utils import timezone

from malpan.core.messages import text_of
from malpan.core.times import KST
from malpan.submissions.errors import QuotaExceeded
from malpan.submissions.intake import submit
from malpan.submissions.merging import accept_merge
from malpan.submissions.models import QuotaEntry, Submission
from malpan.submissions.quota import services as quota
from malpan.submissions.withdrawal import withdraw
from malpan.teams.errors import MergeImpossible, NotTeamMember
from malpan.teams.invitations import create_invitation, join_team
from malpan.teams.merging import ask_merge
from malpan.teams.models import Membership, Team
from malpan.teams.services import create_team, leave_team, remove_member
from malpan.web.presenters.quota_history import lines_of
from tests.factories import (
    PhaseFactory,
    SubmissionFactory,
    TeamFactory,
    UserFactory,
    leader_of,
    prediction_bytes,
    publish,
)
from tests.locks import waits_for
from tests.threads import at_once
from tests.web.conftest import client_of

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _no_broker(monkeypatch):
    monkeypatch.setattr("malpan.jobs.doorbell.ring", lambda: True)


@pytest.fixture
def phase():
    return PhaseFactory.create(total_limit=5)


@pytest.fixture
def person():
    return UserFactory.create(name="홍길동")


def found(phase, person=None, **fields) -> Team:
    """A new team, with ``person`` as its leader."""
    return TeamFactory.create(competition=phase.track.competition, leader=person, **fields)


def join(team, person) -> None:
    """As people do: by an invitation."""
    _row, token = create_invitation(team=team, actor=leader_of(team))
    join_team(token=token, user=person)


def leave(team, person) -> None:
    leave_team(team=team, user=person)


def use(phase, team, person, times=1, **fields) -> list[Submission]:
    return [SubmissionFactory.create(phase=phase, team=team, submitted_by=person, **fields) for _time in range(times)]


def used(phase, team) -> int:
    return quota.status(phase=phase, team=team).used_total


def mover(phase, person, times=4) -> Team:
    """The team in which ``person`` used ``times`` before leaving it."""
    team = found(phase)
    join(team, person)
    use(phase, team, person, times)
    leave(team, person)
    return team


def test_founding_a_new_team_gives_no_fresh_quota(phase, person):
    old = mover(phase, person)

    new = create_team(competition=phase.track.competition, name="새 팀", leader=person)

    status = quota.status(phase=phase, team=new)
    assert (status.used_total, status.left_total) == (4, 1)
    assert (status.elsewhere_total.people, status.elsewhere_total.slots) == (("홍길동",), 4)
    assert used(phase, old) == 4


def test_what_was_used_counts_only_as_long_as_its_person_is_there(phase, person):
    mover(phase, person)
    team = found(phase)
    use(phase, team, leader_of(team))

    join(team, person)
    assert used(phase, team) == 5
    remove_member(team=team, user=person, actor=leader_of(team))
    assert used(phase, team) == 1


def test_a_team_that_was_within_its_limit_is_over_it_without_negative_numbers(phase, person):
    mover(phase, person, times=4)
    team = found(phase)
    use(phase, team, leader_of(team), 4)

    join(team, person)

    status = quota.status(phase=phase, team=team)
    assert (status.used_total, status.left_total, status.can_submit, status.next_allowed_at) == (8, 0, False, None)
    with transaction.atomic(), pytest.raises(QuotaExceeded) as refusal:
        quota.require_room(phase=phase, team=team, now=timezone.now())
    assert "이 팀의 홍길동님이 다른 팀에서 쓴 4회가 포함됩니다." in text_of(refusal.value)


def test_leaving_and_rejoining_again_and_again_counts_each_submission_once(phase, person):
    one, two = found(phase), found(phase)
    for _cycle in range(3):
        for team in (one, two):
            join(team, person)
            use(phase, team, person, 1 if _cycle < 2 else 0)
            assert used(phase, team) == Submission.objects.filter(submitted_by=person).count()
            leave(team, person)

    assert (used(phase, one), used(phase, two)) == (2, 2)


def test_two_members_each_with_a_history_of_their_own_and_together(phase):
    first, second = UserFactory.create(name="가"), UserFactory.create(name="나")
    shared = found(phase)
    for each in (first, second):
        join(shared, each)
        use(phase, shared, each)
        leave(shared, each)
    mover(phase, second, times=2)

    team = found(phase, first)
    join(team, second)

    status = quota.status(phase=phase, team=team)
    assert (status.elsewhere_total.people, status.elsewhere_total.slots) == (("가", "나"), 4)
    assert quota.statuses(phase=phase, teams=[team, shared])[shared.pk].used_total == 2


def test_nobody_asks_for_no_teams(phase):
    assert quota.statuses(phase=phase, teams=[]) == {}


def test_each_phase_and_each_competition_for_itself(phase, person):
    mover(phase, person)
    later = PhaseFactory.create(track=phase.track, total_limit=5)
    other = PhaseFactory.create(total_limit=5)

    assert used(later, found(later, person)) == 0
    assert used(other, found(other, person)) == 0


def test_day_and_interval_follow_the_person_too(person):
    noon = datetime(2026, 11, 20, 12, tzinfo=KST)
    limits = {"daily_limit": 3, "min_interval": timedelta(hours=1)}
    phase = PhaseFactory.create(starts_at=noon - timedelta(days=2), ends_at=noon + timedelta(days=9), **limits)
    old = found(phase)
    for moment in (noon - timedelta(days=1), noon):
        use(phase, old, person, created_at=moment)
    team = found(phase, person)

    status = quota.status(phase=phase, team=team, now=noon + timedelta(minutes=10))

    assert (status.used_today, status.left_today) == (1, 2)
    assert (status.elsewhere_today.slots, status.elsewhere_total.slots) == (1, 2)
    assert status.next_allowed_at == noon + timedelta(hours=1)


def test_refund_follows_the_charge_and_withdrawal_refunds_nothing(phase, person):
    old = found(phase)
    join(old, person)
    refunded, withdrawn = use(phase, old, person, 2)
    withdraw(submission=withdrawn, actor=person)
    leave(old, person)
    team = found(phase, person)
    assert used(phase, team) == 2

    quota.refund(submission=refunded, reason="worker_lost")
    assert used(phase, team) == used(phase, old) == 1

    quota.charge_again(submission=refunded, actor=UserFactory.create())
    assert used(phase, team) == used(phase, old) == 2


def test_grants_stay_with_the_team(phase, person):
    old = mover(phase, person)
    quota.grant(phase=phase, team=old, slots=3, reason="r", actor=None)

    assert quota.status(phase=phase, team=found(phase, person)).total_limit == 5


def test_reset_ends_what_was_brought_until_then_and_nothing_that_is_brought_later(phase, person):
    mover(phase, person)
    team = found(phase, person)
    late = UserFactory.create()
    mover(phase, late, times=2)

    quota.reset(phase=phase, team=team, reason="r", actor=None)
    assert used(phase, team) == 0

    join(team, late)
    assert used(phase, team) == 2


def test_what_a_reset_of_the_other_team_ended_is_not_brought(phase, person):
    quota.reset(phase=phase, team=mover(phase, person), reason="r", actor=None)

    assert used(phase, found(phase, person)) == 0


def test_reset_for_all_reaches_people_who_move_afterwards(phase, person):
    mover(phase, person)
    quota.reset_all(phase=phase, reason="r", actor=None)

    assert used(phase, found(phase, person)) == 0


def test_who_moves_on_from_a_team_that_was_reset_brings_what_counts_where_it_was_charged(phase, person):
    mover(phase, person)
    team = found(phase)
    join(team, person)
    quota.reset(phase=phase, team=team, reason="r", actor=None)
    leave(team, person)

    assert used(phase, found(phase, person)) == 4


def test_baselines_are_exempt_both_ways(phase, person):
    baseline = found(phase, is_baseline=True, members=1)
    helper = baseline.memberships.get(role=Membership.Role.MEMBER).user
    use(phase, baseline, helper, 3)
    leave(baseline, helper)
    mover(phase, person)
    Membership.objects.create(team=baseline, user=person, competition=baseline.competition)

    assert used(phase, found(phase, helper)) == 0
    assert used(phase, baseline) == 3


def test_after_a_merge_the_ledger_of_the_team_that_remains_tells(phase, person):
    went, remained = found(phase, members=1), found(phase)
    helper = went.memberships.get(role=Membership.Role.MEMBER).user
    first, _second = use(phase, went, helper, 2)
    leave(went, helper)
    accept_merge(request=ask_merge(source=went, target=remained, actor=leader_of(went)), actor=leader_of(remained))
    team = found(phase, helper)
    assert used(phase, team) == used(phase, remained) == 2

    first.refresh_from_db()
    quota.refund(submission=first, reason="r")

    assert used(phase, team) == used(phase, remained) == 1
    of_all = quota.statuses(phase=phase, teams=[team, went, remained])  # the ledger of the team that is gone is read
    assert (of_all[team.pk].used_total, of_all[team.pk].elsewhere_total.slots) == (1, 1)


def test_what_is_brought_goes_to_the_team_of_the_same_competition(phase, person):
    TeamFactory.create(leader=person)  # in another competition, and earlier
    mover(phase, person)
    assert used(phase, found(phase, person)) == 4


@pytest.mark.django_db(transaction=True)
def test_a_submission_that_a_merge_moved_is_written_about_under_the_lock_of_its_new_team(phase, person):
    went, remained = found(phase, person), found(phase)
    [submission] = use(phase, went, person)
    accept_merge(request=ask_merge(source=went, target=remained, actor=leader_of(went)), actor=leader_of(remained))
    with waits_for(remained):
        quota.refund(submission=submission, reason="r")
    assert quota.refund(submission=submission, reason="r")
    assert used(phase, remained) == 0


def test_merging_counts_what_members_of_both_brought_once(phase, person):
    old = found(phase)
    helper = UserFactory.create()
    for each in (person, helper):
        join(old, each)
        use(phase, old, each, 2)
        leave(old, each)
    source, target = found(phase, person), found(phase, helper)

    accept_merge(request=ask_merge(source=source, target=target, actor=person), actor=helper)

    assert used(phase, target) == 4


def test_merging_with_the_team_one_came_from_counts_its_submissions_once(phase, person):
    old = mover(phase, person, times=4)
    new = found(phase, person)
    use(phase, new, person)

    accept_merge(request=ask_merge(source=new, target=old, actor=person), actor=leader_of(old))

    assert used(phase, old) == 5


def test_merge_is_refused_for_what_was_brought_and_changes_nothing(phase, person):
    mover(phase, person)
    source, target = found(phase, person), found(phase)
    use(phase, target, leader_of(target), 2)
    request = ask_merge(source=source, target=target, actor=person)

    with pytest.raises(MergeImpossible) as refusal:
        accept_merge(request=request, actor=leader_of(target))

    assert (refusal.value.params["used"], refusal.value.params["limit"]) == (6, 5)
    assert source.memberships.get().user == person
    assert not QuotaEntry.objects.filter(team=source).exists()


# --- what is shown


def test_ledger_shows_what_was_brought_without_the_other_team_and_its_file(phase, person):
    old = mover(phase, person, times=1)
    Team.objects.filter(pk=old.pk).update(name="비밀의 팀")
    Submission.objects.update(file_name="theirs.json")
    team = found(phase, person, members=1)

    (line,) = lines_of(phase=phase, team=team)

    assert (line.brought_by, line.brought_from, line.submission, line.counts) == ("홍길동", None, None, True)
    address = reverse("submissions", args=[team.competition.slug])
    for member in team.members.all():
        page = client_of(member).get(address).content.decode()
        assert "홍길동님이 다른 팀에서 제출" in page
        assert "이 팀의 홍길동님이 다른 팀에서 쓴 1회가 포함됩니다." in page
        assert "비밀의 팀" not in page
        assert "theirs.json" not in page


def test_organisers_see_where_it_was_used(phase, person):
    old = mover(phase, person, times=1)
    team = found(phase, person)

    (line,) = lines_of(phase=phase, team=team, for_organisers=True)

    assert (line.brought_from, line.submission) == (old, Submission.objects.get())


def test_line_of_before_a_reset_does_not_count(phase, person):
    mover(phase, person, times=1)
    team = found(phase, person)
    quota.reset(phase=phase, team=team, reason="r", actor=None)

    brought, reset = lines_of(phase=phase, team=team)

    assert (brought.counts, reset.counts) == (False, True)


# --- everything at once


@pytest.mark.django_db(transaction=True)
def test_moving_while_uploading_never_gives_more_than_the_limit():
    phase = PhaseFactory.create(total_limit=5)
    publish(phase)
    old, person = found(phase), UserFactory.create()
    join(old, person)

    def send(team: Team, number: int) -> Submission:
        data = prediction_bytes(mark=f"{team.pk} {number}")
        return submit(phase=phase, team=team, user=person, file_name="a.json", upload=data)

    def move() -> Team:
        leave(old, person)
        return create_team(competition=phase.track.competition, name="새 팀", leader=person)

    send(old, 0)
    uploads = [lambda n=n: send(old, n) for n in range(1, 7)]
    outcomes = at_once([*uploads[:3], move, *uploads[3:]])
    new = Team.objects.get(name="새 팀")
    outcomes += at_once([lambda n=n: send(new, n) for n in range(8)])

    assert Submission.objects.filter(submitted_by=person).count() == 5
    assert used(phase, new) == 5
    refusals = [each for each in outcomes if isinstance(each, Exception)]
    assert all(isinstance(each, NotTeamMember | QuotaExceeded) for each in refusals)


@pytest.mark.django_db(transaction=True)
def test_joining_while_the_team_uploads_never_gives_more_than_the_limit():
    phase = PhaseFactory.create(total_limit=5)
    publish(phase)
    person = UserFactory.create()
    mover(phase, person, times=2)
    team = found(phase)
    leader = leader_of(team)
    _row, token = create_invitation(team=team, actor=leader)

    def send(user, number: int) -> Submission:
        data = prediction_bytes(mark=f"{user.pk} {number}")
        return submit(phase=phase, team=team, user=user, file_name="a.json", upload=data)

    at_once(
        [
            *(lambda n=n: send(leader, n) for n in range(4)),
            lambda: join_team(token=token, user=person),
            *(lambda n=n, user=user: send(user, 10 + n) for n in range(4) for user in (leader, person)),
        ]
    )

    joined_at = person.memberships.get().joined_at
    if Submission.objects.filter(team=team, created_at__gt=joined_at).exists():  # judged with what was brought
        assert Submission.objects.count() == 5
    assert quota.status(phase=phase, team=team).left_total == 0
