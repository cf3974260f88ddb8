"""What the clock makes happen is told once, to the people of the teams, by mail and webhook, in both languages."""

from __future__ import annotations

from collections import Counter
from datetime import datetime, timedelta

import pytest
from django.conf import settings
from django.core import mail
from django.utils import timezone

from malpan.competitions.models import Competition, Notice, Phase
from malpan.competitions.services import post_notice, update_notice, withdraw_notice
from malpan.notifications import preferences
from malpan.notifications.models import Endpoint, Letter, Told
from malpan.notifications.sending import deliver_due
from malpan.teams import tasks
from malpan.teams.letters import DEADLINE_NEAR, NEAR, NOTICE, PHASE_CLOSED, PHASE_OPENED
from malpan.teams.models import Team
from malpan.teams.telling import LATE, tell_due
from tests.factories import PhaseFactory, TeamFactory, TrackFactory, leader_of
from tests.threads import at_once

pytestmark = pytest.mark.django_db
DAY, MINUTE = timedelta(days=1), timedelta(minutes=1)


@pytest.fixture
def team() -> Team:
    """Of two people; another team is of another competition."""
    TeamFactory.create()
    return TeamFactory.create(members=1)


def phase_of(team: Team, *, starts: timedelta, ends: timedelta, **fields: object) -> Phase:
    """A phase that starts and ends so long from now."""
    now = timezone.now()
    track = fields.pop("track", None) or TrackFactory.create(competition=team.competition)
    return PhaseFactory.create(track=track, starts_at=now + starts, ends_at=now + ends, **fields)


def notice_of(competition: Competition, published_at: datetime, **fields: str) -> Notice:
    texts = {"title_ko": "자료 안내", "body_ko": "올렸습니다.", **fields}
    return post_notice(competition=competition, published_at=published_at, **texts)


def events() -> dict[str, int]:
    return dict(Counter(Letter.objects.values_list("event", flat=True)))


def mails() -> list[str]:
    deliver_due()
    return [f"{message.subject}\n{message.body}" for message in mail.outbox]


@pytest.mark.parametrize(
    ("starts", "ends", "event"),
    [
        (-MINUTE, 9 * DAY, PHASE_OPENED),
        (-9 * DAY, NEAR - MINUTE, DEADLINE_NEAR),
        (-9 * DAY, -MINUTE, PHASE_CLOSED),
        (-MINUTE, NEAR - 2 * MINUTE, PHASE_OPENED),  # a short one, whose end is told with its beginning
    ],
)
def test_a_phase_is_told_of_once_to_each_of_its_people(
    team: Team, starts: timedelta, ends: timedelta, event: str
) -> None:
    phase = phase_of(team, starts=starts, ends=ends)
    assert (tell_due(), tell_due()) == (1, 0)
    assert events() == {event: 2}
    TeamFactory.create(competition=team.competition)
    assert tell_due() == 0, "who comes later does not hear of it"
    for said in mails():
        for text in ("[말판]", "[Malpan]", phase.title_ko, phase.title_en, team.competition.title_en, "KST"):
            assert text in said
    assert {message.to[0] for message in mail.outbox} == {each.user.email for each in team.memberships.all()}


@pytest.mark.parametrize(
    ("starts", "ends"),
    [
        (MINUTE, 9 * DAY),
        (-9 * DAY, NEAR + MINUTE),
        (-LATE - MINUTE, 9 * DAY),
        (-9 * DAY, -LATE - MINUTE),
    ],
)  # fmt: skip
def test_what_is_still_to_come_or_long_past_is_not_told(team: Team, starts: timedelta, ends: timedelta) -> None:
    phase_of(team, starts=starts, ends=ends)
    notice_of(team.competition, timezone.now() + MINUTE)
    notice_of(team.competition, timezone.now() - LATE - MINUTE)
    assert tell_due() == 0
    assert not Told.objects.exists()


def test_phases_of_one_moment_are_in_one_letter(team: Team) -> None:
    first = phase_of(team, starts=-MINUTE, ends=9 * DAY, title_ko="예선")
    PhaseFactory.create(
        track=TrackFactory.create(competition=team.competition), starts_at=first.starts_at, title_ko="번외"
    )
    assert tell_due() == 1
    assert all("예선" in said and "번외" in said for said in mails())
    assert len(mail.outbox) == 2


def test_a_deadline_that_is_put_off_is_told_anew_and_the_old_one_no_more(team: Team) -> None:
    phase = phase_of(team, starts=-9 * DAY, ends=NEAR - MINUTE)
    tell_due()
    Phase.objects.filter(pk=phase.pk).update(ends_at=timezone.now() + NEAR - timedelta(hours=1))
    assert tell_due() == 1
    assert events() == {DEADLINE_NEAR: 4}
    assert len(mails()) == 2


def test_nothing_of_a_hidden_competition_is_told_and_disqualified_teams_hear_of_notices_alone(team: Team) -> None:
    phase_of(team, starts=-MINUTE, ends=9 * DAY)
    notice_of(team.competition, timezone.now())
    Competition.objects.update(is_published=False)
    assert tell_due() == 0
    Competition.objects.update(is_published=True)
    Team.objects.filter(pk=team.pk).update(disqualified_at=timezone.now())
    assert tell_due() == 2
    assert events() == {NOTICE: 2}


def test_who_left_or_was_disqualified_after_it_hears_nothing(team: Team) -> None:
    phase_of(team, starts=-MINUTE, ends=9 * DAY)
    tell_due()
    leader_of(team).memberships.all().delete()
    Team.objects.filter(pk=team.pk).update(disqualified_at=timezone.now())
    assert mails() == []
    assert set(Letter.objects.values_list("state", flat=True)) == {Letter.State.DROPPED}


def test_a_notice_is_told_when_it_appears(team: Team) -> None:
    soon = timezone.now() + timedelta(hours=3)
    notice = notice_of(team.competition, soon, title_en="Data", body_en="It is there.", body_ko="가" * 3_000)
    assert tell_due() == 0
    assert tell_due(soon) == 1
    update_notice(notice=notice, actor=None, published_at=timezone.now(), title_ko="고친 안내")
    assert tell_due(soon) == 0
    said = mails()
    assert len(said) == 2
    for each in said:
        assert f"/notices/#notice-{notice.pk}" in each
        for text in ("고친 안내", "Data", "It is there.", "…"):
            assert text in each
        assert "가" * 2_000 not in each


@pytest.mark.parametrize("change", ["withdrawn", "put off"])
def test_a_notice_that_is_gone_again_is_not_mailed(team: Team, change: str) -> None:
    notice = notice_of(team.competition, timezone.now())
    tell_due()
    if change == "withdrawn":
        withdraw_notice(notice=notice, actor=None)
    else:
        update_notice(notice=notice, actor=None, published_at=timezone.now() + DAY)
    assert mails() == []


def test_a_program_hears_and_who_wants_no_mail_gets_none(team: Team) -> None:
    person = leader_of(team)
    preferences.mute(person=person, event=PHASE_CLOSED)
    Endpoint.objects.create(person=person, url="https://hooks.example.com/", events=[PHASE_CLOSED])
    phase_of(team, starts=-9 * DAY, ends=-MINUTE)
    tell_due()
    assert Letter.objects.exclude(endpoint=None).get().person == person
    assert len(mails()) == 1
    assert person.email not in mail.outbox[0].to


@pytest.mark.django_db(transaction=True)
def test_two_beats_at_once_tell_it_once(team: Team) -> None:
    phase_of(team, starts=-MINUTE, ends=9 * DAY)
    notice_of(team.competition, timezone.now())
    assert sum(at_once([tell_due for _ in range(6)])) == 2  # type: ignore[arg-type]
    assert events() == {PHASE_OPENED: 2, NOTICE: 2}
    assert Told.objects.count() == 2


@pytest.mark.django_db(transaction=True)
def test_a_pass_that_dies_leaves_it_to_the_next(team: Team, monkeypatch: pytest.MonkeyPatch) -> None:
    phase_of(team, starts=-MINUTE, ends=9 * DAY)
    with monkeypatch.context() as patched:
        patched.setattr(Letter.objects, "bulk_create", _dies)
        with pytest.raises(KeyboardInterrupt):
            tell_due()
    assert not Told.objects.exists()
    assert tell_due() == 1
    assert events() == {PHASE_OPENED: 2}


def _dies(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


def test_the_beat_tells(team: Team) -> None:
    assert tasks.tell_due.name in {entry["task"] for entry in settings.CELERY_BEAT_SCHEDULE.values()}
    notice_of(team.competition, timezone.now())
    tasks.tell_due()
    assert events() == {NOTICE: 2}
