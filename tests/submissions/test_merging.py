"""Two teams become one: only within what one team could have used, all at once, and nothing of it is lost."""

from datetime import datetime, timedelta

import pytest
from django.utils import timezone

from malpan.core.errors import DomainError
from malpan.core.models import AuditEntry
from malpan.core.times import KST
from malpan.submissions.errors import QuotaExceeded
from malpan.submissions.intake import submit
from malpan.submissions.merging import accept_merge
from malpan.submissions.models import Submission
from malpan.submissions.quota import services as quota
from malpan.submissions.selectors import submission_for, team_history
from malpan.teams.errors import InvitationRevoked, MergeImpossible, MergeRequestNotFound, NotTeamLeader, NotTeamMember
from malpan.teams.invitations import create_invitation, join_team
from malpan.teams.merging import ask_merge, withdraw_merge
from malpan.teams.models import Membership, MergeRequest, Team
from malpan.teams.selectors import open_invitations, team_of
from tests.factories import (
    PhaseFactory,
    TeamFactory,
    UserFactory,
    leader_of,
    prediction_bytes,
    publish,
)
from tests.submissions.conftest import collect_rings
from tests.threads import at_once

pytestmark = pytest.mark.django_db
NOON = datetime(2026, 11, 20, 12, tzinfo=KST)


@pytest.fixture(autouse=True)
def _no_broker(monkeypatch):
    collect_rings(monkeypatch)


def open_phase(**fields):
    fields = {"starts_at": NOON - timedelta(days=3), "ends_at": NOON + timedelta(days=3)} | fields
    phase = PhaseFactory.create(**fields)
    publish(phase)
    return phase


def two_teams(phase, **fields):
    competition = phase.track.competition
    return TeamFactory.create(competition=competition, **fields), TeamFactory.create(competition=competition)


def upload(phase, team, moment=NOON, mark=None, **fields) -> Submission:
    mark = f"{team.pk} {moment} {Submission.objects.count()}" if mark is None else mark
    return submit(
        phase=phase,
        team=team,
        user=leader_of(team),
        file_name="a.json",
        upload=prediction_bytes(mark=mark),
        now=moment,
        **fields,
    )


def request_of(source, target, now=NOON) -> MergeRequest:
    return ask_merge(source=source, target=target, actor=leader_of(source), now=now)


def merge(source, target, now=NOON) -> Team:
    return accept_merge(request=request_of(source, target, now), actor=leader_of(target), now=now)


def test_people_submissions_and_charges_move_and_the_other_team_stays_as_a_name():
    phase = open_phase(daily_limit=5, total_limit=9)
    source, target = two_teams(phase, members=1)
    people = [each.user for each in source.memberships.all()]
    moved = upload(phase, source)
    upload(phase, target)

    merge(source, target)

    source.refresh_from_db()
    moved.refresh_from_db()
    assert (source.merged_into, moved.team) == (target, target)
    assert [team_of(person, target.competition) for person in people] == [target, target]
    assert target.memberships.filter(role=Membership.Role.LEADER).count() == 1
    status = quota.status(phase=phase, team=target, now=NOON)
    assert (status.used_today, status.used_total, status.left_today) == (2, 2, 3)
    entries = AuditEntry.objects.filter(action="team.merge")
    assert {entry.object_id for entry in entries} == {str(source.pk), str(target.pk)}
    assert entries[0].after["submissions"] == [moved.pk]


@pytest.mark.parametrize(("first", "second", "is_allowed"), [(2, 3, True), (3, 3, False)])
def test_each_day_together_is_within_the_daily_limit_of_one_team(first, second, is_allowed):
    phase = open_phase(daily_limit=5)
    source, target = two_teams(phase)
    day_before = NOON - timedelta(days=1)
    for team, count in ((source, first), (target, second)):
        for _number in range(count):
            upload(phase, team, day_before)

    if is_allowed:
        merge(source, target)
        return
    with pytest.raises(MergeImpossible) as refusal:
        merge(source, target)
    assert (refusal.value.params["reason"], refusal.value.params["day"]) == ("daily", "2026-11-19")


def test_days_are_kst_days():
    phase = open_phase(daily_limit=1)
    source, target = two_teams(phase)
    midnight = datetime(2026, 11, 20, 0, 0, tzinfo=KST)
    upload(phase, source, midnight - timedelta(seconds=1))
    upload(phase, target, midnight)

    merge(source, target)


@pytest.mark.parametrize(("total_limit", "is_allowed"), [(4, True), (3, False)])
def test_all_together_are_within_the_total_limit_of_one_team(total_limit, is_allowed):
    phase = open_phase(total_limit=total_limit)
    source, target = two_teams(phase)
    for team in (source, source, target, target):
        upload(phase, team)

    if is_allowed:
        merge(source, target)
        with pytest.raises(QuotaExceeded):
            upload(phase, target)
        return
    with pytest.raises(MergeImpossible) as refusal:
        merge(source, target)
    assert refusal.value.params["reason"] == "total"


def test_refused_merge_changes_nothing():
    phase = open_phase(total_limit=1)
    source, target = two_teams(phase)
    upload(phase, source)
    upload(phase, target)
    request = request_of(source, target)

    with pytest.raises(MergeImpossible):
        accept_merge(request=request, actor=leader_of(target), now=NOON)

    request.refresh_from_db()
    source.refresh_from_db()
    assert (request.state, source.merged_into) == (MergeRequest.State.OPEN, None)
    assert source.memberships.count() == source.submissions.count() == 1


def test_refunded_submission_is_in_nobodys_way_and_moves_without_a_charge():
    phase = open_phase(total_limit=1)
    source, target = two_teams(phase)
    quota.refund(submission=upload(phase, source), reason="fault")
    upload(phase, target)

    merge(source, target)

    assert quota.status(phase=phase, team=target, now=NOON).used_total == 1
    assert target.submissions.count() == 2


def test_refund_after_the_merge_gives_the_slot_back():
    phase = open_phase(total_limit=2)
    source, target = two_teams(phase)
    moved = upload(phase, source)
    upload(phase, target)
    merge(source, target)

    moved.refresh_from_db()
    quota.refund(submission=moved, reason="fault")

    assert quota.status(phase=phase, team=target, now=NOON).left_total == 1


def test_what_the_remaining_team_was_granted_counts_and_the_interval_does_not():
    phase = open_phase(total_limit=1, min_interval=timedelta(hours=72))
    source, target = two_teams(phase)
    upload(phase, source)
    upload(phase, target)
    quota.grant(phase=phase, team=target, slots=1, reason="fault", actor=None)

    merge(source, target)


def test_phase_that_is_over_keeps_its_submissions_where_they_were_made():
    phase = open_phase()
    past = open_phase(track=phase.track, starts_at=NOON - timedelta(days=9), ends_at=NOON - timedelta(days=2))
    source, target = two_teams(phase)
    old = upload(past, source, NOON - timedelta(days=4))
    new = upload(phase, source)

    merge(source, target)

    old.refresh_from_db()
    new.refresh_from_db()
    assert (old.team, new.team) == (source, target)
    for person in target.members.all():
        assert submission_for(person, old.public_id) == old
    assert [entry.submission for entry in team_history(target, past)] == [old]


def test_a_submission_read_before_a_merge_is_refunded_to_the_team_that_has_it_now():
    phase = open_phase(daily_limit=5)
    source, target = two_teams(phase)
    as_read_before = Submission.objects.select_related("team", "phase").get(pk=upload(phase, source).pk)
    merge(source, target)

    assert quota.refund(submission=as_read_before, reason="storage_full")

    assert as_read_before.team == target
    assert quota.status(phase=phase, team=target, now=NOON).used_today == 0


def test_everybody_of_merged_teams_is_found_after_a_second_merge():
    phase = open_phase()
    first, second = two_teams(phase)
    third = TeamFactory.create(competition=phase.track.competition)
    merge(first, second)
    merge(second, third)

    first.refresh_from_db()
    assert first.merged_into == third
    assert set(third.merged_from.all()) == {first, second}
    assert third.memberships.count() == 3


def test_open_invitations_and_requests_of_the_team_that_goes_end():
    phase = open_phase()
    source, target = two_teams(phase)
    third = TeamFactory.create(competition=phase.track.competition)
    _row, token = create_invitation(team=source, actor=leader_of(source), now=NOON)
    waiting = request_of(third, source)

    merge(source, target)

    waiting.refresh_from_db()
    assert waiting.state == MergeRequest.State.DECLINED
    assert not open_invitations(source, NOON).exists()
    with pytest.raises(InvitationRevoked):
        join_team(token=token, user=UserFactory.create(), now=NOON)


def test_finals_of_the_team_that_goes_lapse_where_they_are_too_many():
    phase = open_phase(finals_limit=2)
    source, target = two_teams(phase)
    chosen = [upload(phase, team) for team in (source, source, target)]
    Submission.objects.update(is_final_choice=True)

    merge(source, target)

    assert list(target.submissions.filter(is_final_choice=True)) == [chosen[2]]


def test_same_upload_key_of_both_teams_is_in_nobodys_way():
    phase = open_phase()
    source, target = two_teams(phase)
    for team in (source, target):
        upload(phase, team, mark="same", upload_key="1")

    merge(source, target)

    assert sorted(target.submissions.values_list("upload_key", flat=True)) == ["", "1"]


def test_only_the_leader_of_the_asked_team_accepts_and_only_once():
    phase = open_phase()
    source, target = two_teams(phase)
    request = request_of(source, target)

    for stranger in (leader_of(source), leader_of(TeamFactory.create(competition=source.competition))):
        with pytest.raises(NotTeamLeader):
            accept_merge(request=request, actor=stranger, now=NOON)
    accept_merge(request=request, actor=leader_of(target), now=NOON)
    with pytest.raises(MergeRequestNotFound):
        accept_merge(request=request, actor=leader_of(target), now=NOON)


@pytest.mark.parametrize(
    ("change", "reason"),
    [({"disqualified_at": timezone.now()}, "disqualified"), ({"is_baseline": True}, "baseline")],
)
def test_what_changed_since_the_request_is_looked_at_again(change, reason):
    phase = open_phase()
    source, target = two_teams(phase)
    request = request_of(source, target)
    Team.objects.filter(pk=source.pk).update(**change)

    with pytest.raises(MergeImpossible) as refusal:
        accept_merge(request=request, actor=leader_of(target), now=NOON)
    assert refusal.value.params["reason"] == reason


def test_nothing_merges_after_the_last_deadline():
    phase = open_phase()
    source, target = two_teams(phase)
    request = request_of(source, target)

    with pytest.raises(MergeImpossible) as refusal:
        accept_merge(request=request, actor=leader_of(target), now=phase.ends_at)
    assert refusal.value.params["reason"] == "over"


@pytest.mark.django_db(transaction=True)
def test_two_acceptances_at_once_merge_once():
    phase = open_phase(total_limit=9)
    source, target = two_teams(phase)
    upload(phase, source)
    request, leader = request_of(source, target), leader_of(target)

    outcomes = at_once([lambda: accept_merge(request=request, actor=leader, now=NOON) for _click in range(8)])

    assert sum(isinstance(each, Team) for each in outcomes) == 1
    assert quota.status(phase=phase, team=target, now=NOON).used_total == 1
    assert AuditEntry.objects.filter(action="team.merge").count() == 2


@pytest.mark.django_db(transaction=True)
def test_teams_that_accept_each_other_at_once_become_one():
    phase = open_phase()
    one, two = two_teams(phase)
    leaders = {one: leader_of(one), two: leader_of(two)}
    there, back = request_of(one, two), request_of(two, one)

    outcomes = at_once(
        [
            lambda: accept_merge(request=there, actor=leaders[two], now=NOON),
            lambda: accept_merge(request=back, actor=leaders[one], now=NOON),
        ]
    )

    assert sum(isinstance(each, Team) for each in outcomes) == 1
    assert Team.objects.filter(merged_into=None).get().memberships.count() == 2


@pytest.mark.django_db(transaction=True)
def test_accepting_and_withdrawing_at_once_has_one_outcome():
    phase = open_phase()
    source, target = two_teams(phase)
    request, asker, leader = request_of(source, target), leader_of(source), leader_of(target)

    outcomes = at_once(
        [
            lambda: accept_merge(request=request, actor=leader, now=NOON),
            lambda: withdraw_merge(request=request, actor=asker, now=NOON),
        ]
    )

    request.refresh_from_db()
    source.refresh_from_db()
    assert sum(isinstance(each, DomainError) for each in outcomes) == 1
    assert (request.state == MergeRequest.State.ACCEPTED) == (source.merged_into == target)


@pytest.mark.django_db(transaction=True)
def test_uploads_during_a_merge_never_exceed_the_limit_of_one_team():
    phase = open_phase(total_limit=6)
    source, target = two_teams(phase)
    people = {source: leader_of(source), target: leader_of(target)}
    request = request_of(source, target)

    def send(team: Team, number: int):
        data = prediction_bytes(mark=f"{team.pk} {number}")
        return submit(phase=phase, team=team, user=people[team], file_name="a.json", upload=data, now=NOON)

    outcomes = at_once(
        [
            *(lambda n=n, team=team: send(team, n) for n in range(5) for team in (source, target)),
            lambda: accept_merge(request=request, actor=people[target], now=NOON),
        ]
    )

    source.refresh_from_db()
    if source.merged_into is None:  # both together were over the limit before the merge had its turn
        assert any(isinstance(each, MergeImpossible) for each in outcomes)
        return
    assert Submission.objects.filter(team=target).count() <= 6
    assert not Submission.objects.filter(team=source).exists()
    refusals = [each for each in outcomes if isinstance(each, DomainError)]
    assert all(isinstance(each, NotTeamMember | QuotaExceeded) for each in refusals)
