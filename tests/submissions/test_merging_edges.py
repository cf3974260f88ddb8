"""What a merge leaves alone, and what the log and a refusal say of it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from malpan.core.models import AuditEntry
from malpan.submissions.finals import choose_finals
from malpan.submissions.merging import accept_merge
from malpan.submissions.models import FinalChoice, QuotaEntry, Rejection, Submission
from malpan.submissions.quota import services as quota
from malpan.teams.errors import MergeImpossible, TeamNotFound
from malpan.teams.invitations import create_invitation
from malpan.teams.merging import decline_merge
from malpan.teams.models import Invitation, Membership, MergeRequest, Team
from tests.factories import TeamFactory, UserFactory, leader_of
from tests.submissions.conftest import collect_rings
from tests.submissions.test_merging import NOON, merge, open_phase, request_of, two_teams, upload

pytestmark = pytest.mark.django_db
DAY_BEFORE = NOON - timedelta(days=1)


@pytest.fixture(autouse=True)
def _no_broker(monkeypatch: pytest.MonkeyPatch) -> None:
    collect_rings(monkeypatch)


def choose(team: Team, *submissions: Submission) -> None:
    phase = submissions[0].phase
    choose_finals(team=team, phase=phase, submissions=submissions, actor=leader_of(team), now=NOON)


def reject(phase: Any, team: Team) -> Rejection:
    return Rejection.objects.create(
        phase=phase, team=team, submitted_by=leader_of(team), file_name="bad.json", file_size=3,
        errors=[], error_count=1, created_at=DAY_BEFORE,
    )  # fmt: skip


def merge_entry() -> AuditEntry:
    return AuditEntry.objects.filter(action="team.merge").first()


def test_the_log_names_all_that_moved_in_the_order_in_which_it_was_made() -> None:
    phase = open_phase(finals_limit=2)
    source, target = two_teams(phase)
    for pk in (20_000_000, 10_000_000):
        Membership.objects.create(pk=pk, team=source, user=UserFactory.create(), competition=source.competition)
    moved = [upload(phase, source) for _number in range(3)]
    choose(source, *moved[:2])
    choose(target, upload(phase, target))
    people = list(source.memberships.order_by("pk").values_list("user_id", flat=True))

    merge(source, target)

    said = merge_entry().after
    assert (said["source"], said["target"], said["people"]) == (source.pk, target.pk, people)
    assert said["submissions"] == [each.pk for each in moved]
    assert said["choices_lapsed"] == [each.pk for each in moved[:2]]


def test_a_refusal_says_the_limits_with_what_was_granted() -> None:
    phase = open_phase(daily_limit=1, total_limit=4)
    source, target = two_teams(phase)
    quota.grant(phase=phase, team=target, slots=1, day=NOON.date(), reason="fault", actor=None)
    quota.grant(phase=phase, team=source, slots=1, day=NOON.date(), reason="fault", actor=None)
    for team in (source, source, target):
        upload(phase, team)

    with pytest.raises(MergeImpossible) as refusal:
        merge(source, target)
    said = {"reason": "daily", "day": NOON.date().isoformat(), "used": 3, "limit": 2, "phase": phase.title}
    assert refusal.value.params == said

    MergeRequest.objects.all().delete()
    phase.daily_limit, phase.total_limit = None, 1
    phase.save()
    quota.grant(phase=phase, team=target, slots=1, reason="fault", actor=None)
    with pytest.raises(MergeImpossible) as refusal:
        merge(source, target)
    assert refusal.value.params == {"reason": "total", "used": 3, "limit": 2, "phase": phase.title}


def test_charges_move_in_the_order_of_the_uploads() -> None:
    phase = open_phase(total_limit=9)
    source, target = two_teams(phase)
    late, early = upload(phase, source, NOON), upload(phase, source, DAY_BEFORE)

    merge(source, target)

    charges = QuotaEntry.objects.filter(team=target, kind=QuotaEntry.Kind.CHARGE).order_by("pk")
    assert [each.submission for each in charges] == [early, late]


def test_only_the_open_invitations_of_the_team_that_goes_are_revoked() -> None:
    phase = open_phase()
    source, target = two_teams(phase)
    made = {
        name: create_invitation(team=team, actor=leader_of(team), now=NOON)[0].pk
        for name, team in {"open": source, "used": source, "revoked": source, "other": target}.items()
    }
    Invitation.objects.filter(pk=made["used"]).update(used_at=DAY_BEFORE, used_by=UserFactory.create())
    Invitation.objects.filter(pk=made["revoked"]).update(revoked_at=DAY_BEFORE)

    merge(source, target)

    revoked = dict(Invitation.objects.values_list("pk", "revoked_at"))
    expected = {"open": NOON, "used": None, "revoked": DAY_BEFORE, "other": None}
    assert {name: revoked[pk] for name, pk in made.items()} == expected


def test_requests_to_others_and_answers_of_before_stay_as_they_are() -> None:
    phase = open_phase()
    source, target = two_teams(phase)
    one, two = two_teams(phase)
    elsewhere, answered = request_of(one, target), request_of(two, source)
    decline_merge(request=answered, actor=leader_of(source), now=DAY_BEFORE)

    merge(source, target)

    assert MergeRequest.objects.get(pk=elsewhere.pk).state == MergeRequest.State.OPEN
    assert MergeRequest.objects.get(pk=answered.pk).answered_at == DAY_BEFORE


def test_a_request_of_a_team_that_is_gone_is_refused() -> None:
    phase = open_phase()
    source, target = two_teams(phase)
    request = request_of(source, target)
    Membership.objects.filter(team=source).delete()
    Team.objects.filter(pk=source.pk).delete()

    with pytest.raises(TeamNotFound):
        accept_merge(request=request, actor=leader_of(target), now=NOON)


def test_choices_that_are_not_too_many_stay() -> None:
    phase = open_phase(finals_limit=2)
    other_phase = open_phase(track=phase.track, finals_limit=9)
    source, target = two_teams(phase)
    third = TeamFactory.create(competition=phase.track.competition)
    chosen = {team: upload(phase, team) for team in (source, target, third)}
    for team, submission in chosen.items():
        upload(phase, team)  # chosen by nobody
        choose(team, submission)
        choose(team, upload(other_phase, team))

    merge(source, target)

    assert set(target.submissions.filter(is_final_choice=True, phase=phase)) == {chosen[source], chosen[target]}
    assert FinalChoice.objects.filter(ended_at=None).count() == 6
    assert merge_entry().after["choices_lapsed"] == []


def test_without_a_limit_no_choice_lapses_and_a_lapsed_one_ends_with_the_merge() -> None:
    phase = open_phase(finals_limit=1)
    open_ended = open_phase(track=phase.track, finals_limit=1)
    source, target = two_teams(phase)
    lapsing, kept = upload(phase, source), upload(open_ended, source)
    for team, submission in ((source, lapsing), (source, kept), (target, upload(phase, target))):
        choose(team, submission)
    choose(target, upload(open_ended, target))
    open_ended.finals_limit = None
    open_ended.save()

    merge(source, target)

    assert merge_entry().after["choices_lapsed"] == [lapsing.pk]
    assert [(each.submission, each.ended_at) for each in FinalChoice.objects.exclude(ended_at=None)] == [
        (lapsing, NOON)
    ]


def test_people_who_move_are_members_from_the_merge_on_and_others_stay_what_they_are() -> None:
    phase = open_phase()
    source, target = two_teams(phase)
    third = TeamFactory.create(competition=phase.track.competition)
    moved = leader_of(source)
    joined = dict(Membership.objects.values_list("user", "joined_at"))

    merge(source, target)

    membership = target.memberships.get(user=moved)
    assert (membership.role, membership.joined_at) == (Membership.Role.MEMBER, NOON)
    for team in (target, third):
        leads = team.memberships.get(role=Membership.Role.LEADER)
        assert leads.joined_at == joined[leads.user_id]


def test_an_upload_key_stays_where_the_other_team_has_no_such_upload() -> None:
    phase = open_phase()
    source, target = two_teams(phase)
    third = TeamFactory.create(competition=phase.track.competition)
    alone = upload(phase, source, mark="one", upload_key="1")
    same_key = upload(phase, source, mark="two", upload_key="2")
    same_file = upload(phase, source, mark="three", upload_key="3")
    upload(phase, target, mark="other", upload_key="2")
    upload(phase, target, mark="three", upload_key="33")
    upload(phase, third, mark="one", upload_key="1")

    merge(source, target)

    keys = dict(Submission.objects.values_list("pk", "upload_key"))
    assert [keys[each.pk] for each in (alone, same_key, same_file)] == ["1", "2", "3"]


def test_rejected_files_move_with_the_team_but_for_those_of_phases_that_are_over() -> None:
    phase = open_phase()
    past = open_phase(track=phase.track, starts_at=NOON - timedelta(days=9), ends_at=NOON - timedelta(days=2))
    source, target = two_teams(phase)
    third = TeamFactory.create(competition=phase.track.competition)
    moving, staying, foreign = reject(phase, source), reject(past, source), reject(phase, third)

    merge(source, target)

    teams = dict(Rejection.objects.values_list("pk", "team"))
    assert teams == {moving.pk: target.pk, staying.pk: source.pk, foreign.pk: third.pk}


def test_a_team_that_has_nothing_to_do_with_it_stays_a_team() -> None:
    phase = open_phase()
    source, target = two_teams(phase)
    third = TeamFactory.create(competition=phase.track.competition)

    merge(source, target)

    third.refresh_from_db()
    assert third.merged_into is None
