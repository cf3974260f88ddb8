"""What is past its time goes, kind by kind; what is not stays, and a trial changes nothing."""

from __future__ import annotations

from datetime import datetime, timedelta
from io import StringIO
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from django.conf import settings as site
from django.contrib.sessions.models import Session
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client
from django.utils import timezone

from malpan.accounts.models import User
from malpan.competitions.models import Competition, CompetitionRole, Question
from malpan.leaderboard.digests import board_digests
from malpan.leaderboard.verification import verify_competition
from malpan.privacy import tasks
from malpan.privacy.retention import FREED_FILE_NAME, let_go
from malpan.submissions.models import Rejection, Submission
from malpan.teams.models import Invitation, Membership
from tests.confirmation import types
from tests.factories import PhaseFactory, TeamFactory, TrackFactory, UserFactory, leader_of
from tests.privacy.conftest import Scene, over

pytestmark = pytest.mark.django_db
NOTHING = {
    "unconfirmed_accounts": 0, "expired_sessions": 0, "answered_requests": 0, "closed_invitations": 0,
    "rejected_files": 0, "texts_of_competitions": 0, "people_of_competitions": 0, "erasure_records": 0,
}  # fmt: skip


def after(days: float) -> datetime:
    return timezone.now() + timedelta(days=days)


def signed_up(email: str, *, verified: bool = False, **fields: Any) -> User:
    user = UserFactory.create(email=email, **fields)
    EmailAddress.objects.create(user=user, email=email, primary=True, verified=verified)
    return user


def test_accounts_that_were_never_confirmed_go_after_thirty_days(db: None) -> None:
    signed_up("forgotten@example.com")
    kept = [
        signed_up("confirmed@example.com", verified=True),
        signed_up("logged.in@example.com", last_login=timezone.now()),  # a site that asks for no confirmation
        signed_up("staff@example.com", is_staff=True),
        UserFactory.create(email="of.an.archive@example.com"),
        leader_of(TeamFactory.create(leader=signed_up("leader@example.com"))),
    ]
    organiser = signed_up("organiser@example.com")
    CompetitionRole.objects.create(user=organiser, competition=PhaseFactory.create().track.competition, role="viewer")

    assert let_go(now=after(29)) == NOTHING
    assert let_go(now=after(31)) == NOTHING | {"unconfirmed_accounts": 1}
    assert set(User.objects.all()) == {*kept, organiser}
    assert not EmailAddress.objects.filter(email="forgotten@example.com").exists()


def test_sessions_that_ended_go(db: None) -> None:
    Client().force_login(UserFactory.create())
    age = timedelta(seconds=site.SESSION_COOKIE_AGE)
    assert let_go(now=timezone.now() + age / 2) == NOTHING
    assert let_go(now=timezone.now() + age * 1.1) == NOTHING | {"expired_sessions": 1}
    assert not Session.objects.exists()


def test_invitations_go_ninety_days_after_they_were_of_use(db: None) -> None:
    team = TeamFactory.create()
    now = timezone.now()
    moments = {"used": {"used_at": now}, "revoked": {"revoked_at": now}, "expired": {}, "open": {}}
    for name, fields in moments.items():
        expires_at = now + timedelta(days=300 if name == "open" else 7)
        Invitation.objects.create(
            team=team, token_sha256=name, created_by=leader_of(team), expires_at=expires_at, **fields
        )
    assert let_go(now=after(89)) == NOTHING
    assert let_go(now=after(91)) == NOTHING | {"closed_invitations": 2}
    assert let_go(now=after(98)) == NOTHING | {"closed_invitations": 1}
    assert Invitation.objects.get().token_sha256 == "open"


def test_what_was_wrong_with_rejected_files_goes_half_a_year_after_the_phase(scene: Scene) -> None:
    Invitation.objects.all().delete()
    Session.objects.all().delete()
    end = (scene.phase.ends_at - timezone.now()).days
    assert let_go(now=after(end + 179)) == NOTHING
    assert let_go(now=after(end + 182)) == NOTHING | {"rejected_files": 1}
    assert not Rejection.objects.exists()


def test_zero_keeps_a_kind_for_ever(scene: Scene, settings: Any) -> None:
    signed_up("forgotten@example.com")
    Session.objects.all().delete()
    settings.RETENTION_UNCONFIRMED_DAYS = settings.RETENTION_INVITATION_DAYS = settings.RETENTION_REJECTION_DAYS = 0
    assert let_go(now=after(9999)) == NOTHING


@pytest.fixture
def past(scene: Scene) -> Scene:
    """Over for 61 days; the organisers keep personal data for two months. Nothing else is past its time."""
    over(scene.phase, days=61)
    Competition.objects.filter(pk=scene.competition.pk).update(personal_data_months=2)
    User.objects.update(last_login=timezone.now() - timedelta(days=70))
    Session.objects.all().delete()
    return scene


def test_personal_data_of_a_competition_go_when_its_organisers_said(past: Scene) -> None:
    before, others = board_digests(), set(User.objects.filter(erased_at=None))
    quiet = {membership.user for membership in past.other.memberships.all()}
    Competition.objects.filter(pk=past.competition.pk).update(personal_data_months=None)
    assert let_go() == NOTHING
    Competition.objects.filter(pk=past.competition.pk).update(personal_data_months=3)
    assert let_go() == NOTHING
    Competition.objects.filter(pk=past.competition.pk).update(personal_data_months=2)

    counts = let_go()

    assert counts["people_of_competitions"] == len(quiet) == 2
    assert set(User.objects.filter(erased_at=None)) == others - quiet  # the person organises elsewhere
    assert Membership.objects.filter(team=past.other).count() == 2
    submissions = Submission.objects.of(past.competition)
    assert set(submissions.values_list("memo", "file_name")) == {("", FREED_FILE_NAME)}
    assert Submission.objects.exclude(pk__in=submissions).count() == 0
    assert not Rejection.objects.filter(phase=past.phase).exists()
    assert not Invitation.objects.filter(team__competition=past.competition).exists()
    assert [q.answer_ko for q in Question.objects.filter(competition=past.competition)] == ["공개로 답합니다."]
    assert Question.objects.exclude(competition=past.competition).exists()
    assert board_digests() == before
    assert verify_competition(past.competition) == []
    assert let_go() == NOTHING


@pytest.mark.parametrize("stays", ["logs in", "takes part", "organises"])
def test_who_is_still_here_keeps_their_account(past: Scene, stays: str) -> None:
    leader = leader_of(past.other)
    if stays == "logs in":
        User.objects.filter(pk=leader.pk).update(last_login=timezone.now() - timedelta(days=59))
    elif stays == "takes part":
        running = PhaseFactory.create(track=TrackFactory.create())
        TeamFactory.create(competition=running.track.competition, leader=leader)
    else:
        CompetitionRole.objects.create(user=leader, competition=past.elsewhere, role="viewer")
    assert let_go()["people_of_competitions"] == 1
    assert User.objects.get(pk=leader.pk).erased_at is None


def everything() -> dict[str, list[Any]]:
    """Every row of every table."""
    with connection.cursor() as cursor:
        tables = connection.introspection.table_names(cursor)
        found = {}
        for table in tables:
            cursor.execute(f'SELECT row::text FROM "{table}" AS row ORDER BY 1')
            found[table] = cursor.fetchall()
    return found


def test_a_trial_counts_the_same_and_changes_nothing(past: Scene, caplog: pytest.LogCaptureFixture) -> None:
    signed_up("forgotten@example.com", date_joined=timezone.now() - timedelta(days=31))
    before = everything()
    with caplog.at_level("INFO"):
        out = StringIO()
        call_command("retention", "--dry-run", stdout=out)
    assert everything() == before

    done = let_go()

    assert out.getvalue().splitlines() == [f"{name}: {count}" for name, count in done.items()]
    assert done["unconfirmed_accounts"] == 1
    assert everything() != before
    assert "retention (trial): unconfirmed_accounts=1" in caplog.text
    assert "@" not in caplog.text


def test_an_operator_is_told_what_goes_and_types_how_many(
    past: Scene, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    found = let_go(is_trial=True)
    types(monkeypatch, "", str(sum(found.values())))
    with pytest.raises(CommandError, match="nothing was changed"):
        call_command("retention")
    assert let_go(is_trial=True) == found
    said = capsys.readouterr().out
    assert f"people of such competitions alone (their submissions stay, as a former user's): {2}" in said
    assert "Scores, boards, hash chains and the audit log stay as they are." in said
    call_command("retention")
    assert let_go(is_trial=True) == NOTHING
    call_command("retention")  # nothing is left to ask about


def test_the_clock_runs_it_every_night(db: None) -> None:
    tasks.let_go()
    assert tasks.let_go.name in {entry["task"] for entry in site.CELERY_BEAT_SCHEDULE.values()}
