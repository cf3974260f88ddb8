"""What is written into the ledger, by whom, and what it does to the limits."""

from datetime import timedelta

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from malpan.core.models import AuditEntry
from malpan.core.times import kst_day
from malpan.submissions.errors import GrantWithoutEffect, QuotaExceeded
from malpan.submissions.models import QuotaEntry, RescoreBatch
from malpan.submissions.quota import services as quota
from tests.factories import PhaseFactory, SubmissionFactory, TeamFactory, UserFactory
from tests.locks import waits_for

pytestmark = pytest.mark.django_db
Kind = QuotaEntry.Kind


@pytest.fixture
def organiser():
    return UserFactory.create()


def kinds_of(submission):
    ledger = quota.ledger_of(phase=submission.phase, team=submission.team)
    return [(entry.kind, entry.reason) for entry in ledger.entries]


def left(submission):
    return quota.status(phase=submission.phase, team=submission.team).left_today


@pytest.mark.parametrize(
    ("limits", "kind"),
    [
        ({"daily_limit": 1}, "daily"),
        ({"total_limit": 1}, "total"),
        ({"min_interval": timedelta(hours=1)}, "interval"),
        ({"daily_limit": 1, "total_limit": 1, "min_interval": timedelta(hours=1)}, "total"),
        ({"daily_limit": 1, "min_interval": timedelta(hours=1)}, "daily"),
    ],
)
def test_refusal_names_the_limit_that_holds_longest(limits, kind):
    phase = PhaseFactory.create(**limits)
    submission = SubmissionFactory.create(phase=phase)

    with transaction.atomic(), pytest.raises(QuotaExceeded) as caught:
        quota.require_room(phase=phase, team=submission.team, now=timezone.now())

    assert caught.value.kind == kind


def test_refusal_names_the_limit_with_what_was_granted(organiser):
    submission = SubmissionFactory.create(phase=PhaseFactory.create(daily_limit=0))
    team, phase = submission.team, submission.phase
    quota.grant(phase=phase, team=team, slots=1, reason="r", actor=organiser, day=kst_day(timezone.now()))

    with pytest.raises(QuotaExceeded) as caught:
        quota.require_room(phase=phase, team=team, now=timezone.now())

    assert (caught.value.kind, caught.value.limit) == ("daily", 1)


def test_only_the_team_in_this_phase_counts():
    phase = PhaseFactory.create(total_limit=3)
    team = TeamFactory.create(competition=phase.track.competition)
    SubmissionFactory.create(phase=phase, team=team)
    SubmissionFactory.create(phase=phase)
    SubmissionFactory.create(phase=PhaseFactory.create(track=phase.track), team=team)
    SubmissionFactory.create(phase=phase, team=team, refunded_at=timezone.now())

    assert quota.status(phase=phase, team=team).used_total == 1


def test_status_is_one_query_and_so_are_those_of_many_teams(django_assert_num_queries):
    first = SubmissionFactory.create()
    second = SubmissionFactory.create(phase=first.phase)
    idle = TeamFactory.create(competition=first.team.competition)

    with django_assert_num_queries(1):
        quota.status(phase=first.phase, team=first.team)
    with django_assert_num_queries(1):
        found = quota.statuses(phase=first.phase, teams=[first.team, second.team, idle])

    assert {pk: each.used_total for pk, each in found.items()} == {first.team.pk: 1, second.team.pk: 1, idle.pk: 0}


def test_withdrawn_submission_stays_charged():
    submission = SubmissionFactory.create(phase=PhaseFactory.create(daily_limit=1), withdrawn_at=timezone.now())

    assert left(submission) == 0


def test_refund_gives_the_slot_back_once_and_is_audited():
    submission = SubmissionFactory.create(phase=PhaseFactory.create(daily_limit=1))

    other = SubmissionFactory.create(phase=submission.phase)
    assert quota.refund(submission=submission, reason="worker_lost")
    other.refresh_from_db()
    assert other.refunded_at is None
    assert not quota.refund(submission=submission, reason="worker_lost")

    assert quota.status(phase=submission.phase, team=submission.team).can_submit
    assert kinds_of(submission) == [("charge", ""), ("refund", "worker_lost")]
    entry = AuditEntry.objects.get(action="submission.refund")
    assert (entry.actor, entry.after) == (None, {"reason": "worker_lost"})


def test_refund_by_an_organiser_names_them(organiser):
    submission = SubmissionFactory.create(phase=PhaseFactory.create(daily_limit=1))

    quota.refund(submission=submission, reason="잘못된 안내", actor=organiser)

    entry = QuotaEntry.objects.get(kind=Kind.REFUND)
    assert (entry.actor, entry.reason, entry.submission) == (organiser, "잘못된 안내", submission)
    submission.refresh_from_db()
    assert submission.refunded_at == entry.moment


def test_refunded_slot_that_was_used_again_cannot_be_charged_twice(organiser):
    phase = PhaseFactory.create(daily_limit=1)
    refunded = SubmissionFactory.create(phase=phase, refunded_at=timezone.now())

    later = SubmissionFactory.create(phase=phase, team=refunded.team)
    with pytest.raises(QuotaExceeded):
        quota.charge_again(submission=refunded, actor=organiser)

    quota.refund(submission=later, reason="r", actor=organiser)
    quota.charge_again(submission=refunded, actor=organiser)
    assert not quota.status(phase=phase, team=refunded.team).can_submit
    assert [entry.kind for entry in quota.ledger_of(phase=phase, team=refunded.team).entries] == [
        *("charge", "refund"),
        *("charge", "refund"),
        "charge",
    ]


def test_submission_of_before_a_reset_is_charged_again_without_a_slot(organiser):
    phase = PhaseFactory.create(daily_limit=1)
    refunded = SubmissionFactory.create(phase=phase, refunded_at=timezone.now())
    quota.reset(phase=phase, team=refunded.team, reason="r", actor=organiser)
    SubmissionFactory.create(phase=phase, team=refunded.team)

    quota.charge_again(submission=refunded, actor=organiser)

    assert refunded.refunded_at is None
    assert quota.status(phase=phase, team=refunded.team).used_total == 1


def test_grant_gives_one_team_more_and_is_audited(organiser):
    submission = SubmissionFactory.create(phase=PhaseFactory.create(daily_limit=1))
    other = SubmissionFactory.create(phase=submission.phase)
    today = kst_day(timezone.now())

    entry = quota.grant(
        phase=submission.phase, team=submission.team, slots=2, reason="장애 보상", actor=organiser, day=today
    )

    assert (left(submission), left(other)) == (2, 0)
    found = AuditEntry.objects.get(action="quota.grant")
    assert (found.actor, found.object_id, found.competition_pk) == (
        organiser,
        str(entry.pk),
        submission.team.competition_id,
    )
    assert found.after == {
        "phase": submission.phase.pk,
        "reason": "장애 보상",
        "slots": 2,
        "day": today.isoformat(),
    }


@pytest.mark.parametrize(
    ("limits", "for_a_day", "has_effect"),
    [
        ({}, True, False),
        ({}, False, False),
        ({"daily_limit": 1}, True, True),
        ({"daily_limit": 1}, False, True),
        ({"total_limit": 1}, True, False),
        ({"total_limit": 1}, False, True),
    ],
)
def test_grant_must_raise_a_limit_that_the_phase_has(limits, for_a_day, has_effect, organiser):
    phase = PhaseFactory.create(**limits)
    team = TeamFactory.create(competition=phase.track.competition)
    day = kst_day(timezone.now()) if for_a_day else None

    if has_effect:
        quota.grant(phase=phase, team=team, slots=1, reason="r", actor=organiser, day=day)
    else:
        with pytest.raises(GrantWithoutEffect):
            quota.grant(phase=phase, team=team, slots=1, reason="r", actor=organiser, day=day)
        with pytest.raises(GrantWithoutEffect):
            quota.grant_all(phase=phase, slots=1, reason="r", actor=organiser, day=day)

    assert QuotaEntry.objects.exists() == AuditEntry.objects.filter(action="quota.grant").exists() == has_effect


def test_reset_lets_one_team_begin_anew(organiser):
    phase = PhaseFactory.create(daily_limit=1, total_limit=1, min_interval=timedelta(hours=1))
    first, second = (SubmissionFactory.create(phase=phase) for _team in range(2))

    quota.reset(phase=phase, team=first.team, reason="재시험", actor=organiser)

    assert quota.status(phase=phase, team=first.team).can_submit
    assert not quota.status(phase=phase, team=second.team).can_submit
    assert kinds_of(first) == [("charge", ""), ("reset", "재시험")]
    assert AuditEntry.objects.get(action="quota.reset").after == {"phase": phase.pk, "reason": "재시험"}


def test_reset_and_grant_of_a_phase_reach_every_team_of_the_competition_and_no_other(organiser):
    phase = PhaseFactory.create(total_limit=1)
    used = SubmissionFactory.create(phase=phase).team
    idle = TeamFactory.create(competition=used.competition)
    elsewhere = SubmissionFactory.create(phase=PhaseFactory.create(track=phase.track, total_limit=1), team=used)
    stranger = SubmissionFactory.create(phase=PhaseFactory.create(total_limit=1))

    assert quota.reset_all(phase=phase, reason="채점 기준 변경", actor=organiser) == 2
    assert quota.grant_all(phase=phase, slots=2, reason="채점 기준 변경", actor=organiser) == 2

    assert {team: quota.status(phase=phase, team=team).left_total for team in (used, idle)} == {used: 3, idle: 3}
    for other in (elsewhere, stranger):
        assert quota.status(phase=other.phase, team=other.team).left_total == 0
    reset, granted = (AuditEntry.objects.get(action=f"quota.{kind}_all") for kind in ("reset", "grant"))
    assert reset.after == {"phase": phase.pk, "reason": "채점 기준 변경", "teams": 2}
    assert granted.after["slots"] == granted.after["teams"] == 2
    assert (reset.object_id, reset.competition_pk) == (str(phase.pk), used.competition_id)


@pytest.mark.parametrize(
    "change",
    [lambda rows: rows.update(reason="다른 사유"), lambda rows: rows._raw_delete("default")],
    ids=["update", "delete"],
)
def test_database_refuses_to_change_the_ledger(change):
    SubmissionFactory.create()

    with pytest.raises(IntegrityError), transaction.atomic():
        change(QuotaEntry.objects.all())


# --- what each line says ----------------------------------------------------------------------------------------------
def test_the_ledger_is_read_in_the_order_of_its_numbers(organiser):
    """Whatever the order in which the database keeps its rows."""
    submission = SubmissionFactory.create(phase=PhaseFactory.create(daily_limit=1), charged=False)
    common = {"phase": submission.phase, "team": submission.team, "moment": timezone.now()}
    later = QuotaEntry.objects.create(pk=10**6, kind=Kind.RESET, **common)
    earlier = QuotaEntry.objects.create(pk=10**6 - 1, kind=Kind.CHARGE, submission=submission, **common)

    assert quota.ledger_of(phase=submission.phase, team=submission.team).entries == (earlier, later)
    assert quota.status(phase=submission.phase, team=submission.team).used_total == 0


def test_a_submission_that_counts_is_not_charged_again(organiser):
    submission = SubmissionFactory.create(phase=PhaseFactory.create(daily_limit=5))

    quota.charge_again(submission=submission, actor=organiser)

    assert kinds_of(submission) == [("charge", "")]
    assert not AuditEntry.objects.exists()


@pytest.mark.parametrize("limits", [{"daily_limit": 1}, {"total_limit": 1}, {"daily_limit": 1, "total_limit": 2}])
def test_charging_again_needs_room_and_is_kept_and_audited(limits, organiser):
    phase = PhaseFactory.create(**limits)
    refunded = SubmissionFactory.create(phase=phase, refunded_at=timezone.now())
    other = SubmissionFactory.create(phase=phase, team=refunded.team)
    with pytest.raises(QuotaExceeded) as caught:
        quota.charge_again(submission=refunded, actor=organiser)
    assert caught.value.next_allowed_at is None, "it will not be taken at any later moment"
    quota.refund(submission=other, reason="r")

    quota.charge_again(submission=refunded, actor=organiser)

    refunded.refresh_from_db()
    other.refresh_from_db()
    assert (refunded.refunded_at, other.refunded_at is None) == (None, False)
    assert AuditEntry.objects.get(action="submission.charge_again").actor == organiser


def test_the_audit_log_has_what_was_granted_and_what_was_reset(organiser):
    phase = PhaseFactory.create(daily_limit=1)
    team = TeamFactory.create(competition=phase.track.competition)
    day = kst_day(timezone.now())

    quota.grant(phase=phase, team=team, slots=2, reason="장애", actor=organiser, day=day)
    quota.grant(phase=phase, team=team, slots=3, reason="장애", actor=organiser)
    quota.reset(phase=phase, team=team, reason="다시", actor=organiser)

    entries = AuditEntry.objects.filter(action__in=["quota.grant", "quota.reset"]).order_by("pk")
    assert [entry.after for entry in entries] == [
        {"phase": phase.pk, "reason": "장애", "slots": 2, "day": day.isoformat()},
        {"phase": phase.pk, "reason": "장애", "slots": 3, "day": None},
        {"phase": phase.pk, "reason": "다시"},
    ]


def test_a_batch_gives_every_team_but_those_that_merged_and_says_so(organiser):
    phase = PhaseFactory.create(daily_limit=1)
    competition = phase.track.competition
    first, second = TeamFactory.create_batch(2, competition=competition)
    TeamFactory.create(competition=competition, merged_into=first)
    TeamFactory.create()
    batch = RescoreBatch.objects.create(competition=competition, phase=phase, reason="r", created_by=organiser)

    for given in (None, batch):
        assert quota.grant_all(phase=phase, slots=1, reason="r", actor=organiser, batch=given) == 2
        assert quota.reset_all(phase=phase, reason="r", actor=organiser, batch=given) == 2

    lines = QuotaEntry.objects.order_by("pk").values_list("team", "kind", "batch")
    assert list(lines) == [
        (team.pk, kind, given and given.pk)
        for given in (None, batch)
        for kind in (Kind.GRANT, Kind.RESET)
        for team in (first, second)
    ]
    log = AuditEntry.objects.filter(action__startswith="quota.").order_by("pk")
    assert [(entry.action, entry.after["teams"], entry.after.get("batch")) for entry in log] == [
        ("quota.grant_all", 2, None),
        ("quota.reset_all", 2, None),
        ("quota.grant_all", 2, batch.pk),
        ("quota.reset_all", 2, batch.pk),
    ]


def test_nothing_is_audited_where_there_is_no_team(organiser):
    assert quota.reset_all(phase=PhaseFactory.create(), reason="r", actor=organiser) == 0
    assert not AuditEntry.objects.exists()


# --- at once with others ----------------------------------------------------------------------------------------------
@pytest.mark.django_db(transaction=True)
def test_every_line_is_written_under_the_lock_of_the_team(organiser):
    submission = SubmissionFactory.create(phase=PhaseFactory.create(daily_limit=1))
    phase, team = submission.phase, submission.team

    with waits_for(team):
        quota.refund(submission=submission, reason="r", actor=organiser)
    with waits_for(team):
        quota.grant(phase=phase, team=team, slots=1, reason="r", actor=organiser)
    with waits_for(team):
        quota.reset(phase=phase, team=team, reason="r", actor=organiser)
    with waits_for(team):
        quota.grant_all(phase=phase, slots=1, reason="r", actor=organiser)
    with waits_for(team):
        quota.reset_all(phase=phase, reason="r", actor=organiser)

    assert [entry.kind for entry in QuotaEntry.objects.all()] == ["charge"]
