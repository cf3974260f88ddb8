"""Judges with something left are written to when an organiser asks, at most once a day, and a day before the end."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings
from django.core import mail
from django.utils import timezone

from malpan.arena import reminders, tasks
from malpan.arena.errors import CampaignNotOpen, CampaignTimeOver
from malpan.arena.judges import remove_judge
from malpan.arena.letters import REMINDER
from malpan.arena.models import Assignment, Campaign
from malpan.arena.progress import left_by_judge
from malpan.arena.reminders import NEAR, PAUSE, Reminded, remind_due, remind_judges
from malpan.competitions.errors import ManageNotFound, NotAllowed
from malpan.core.models import AuditEntry
from malpan.notifications.models import Letter, Preference
from malpan.notifications.sending import deliver_due
from malpan.teams.services import disqualify_team
from tests.arena.panels import Panel, open_panel
from tests.factories import UserFactory, person_in
from tests.threads import at_once

pytestmark = pytest.mark.django_db
HOUR = timedelta(hours=1)


@pytest.fixture
def panel() -> Panel:
    panel = open_panel(judges=3)
    mail.outbox.clear()
    return panel


def remind(panel: Panel, **given: Any) -> Reminded:
    return remind_judges(campaign=panel.campaign, actor=panel.organiser, **given)


def finish(panel: Panel, place: int) -> None:
    Assignment.objects.filter(judge=panel.judges[place]).update(state="done", first_shown_at=panel.now)


def reminded() -> list[str]:
    """The addresses of the reminders, sent now."""
    deliver_due()
    return sorted(message.to[0] for message in mail.outbox)


def addresses(panel: Panel, *places: int) -> list[str]:
    return sorted(panel.judges[place].email for place in places)


def age(by: timedelta) -> None:
    """Let every reminder have been posted earlier."""
    for row in Letter.objects.filter(event=REMINDER):
        Letter.objects.filter(pk=row.pk).update(created_at=row.created_at - by)


def test_who_has_something_left_is_told_how_much_and_until_when(panel: Panel) -> None:
    ends_at = timezone.now() + timedelta(days=9)
    Campaign.objects.update(ends_at=ends_at, title_en="The final")
    panel.campaign.refresh_from_db()
    finish(panel, 1)
    Preference.objects.create(person=panel.judges[2].user, language="en")
    assert remind(panel) == Reminded(told=2, told_before=0)
    assert reminded() == addresses(panel, 0, 2)
    left = left_by_judge(panel.campaign)
    texts = {message.to[0]: f"{message.subject}\n{message.body}" for message in mail.outbox}
    first, third = (texts[panel.judges[place].email] for place in (0, 2))
    assert f"{left[panel.judges[0].pk]}문항이 남았습니다" in first
    assert f"마감 예정: {panel.campaign.end_text}" in first
    assert f"{left[panel.judges[2].pk]} items left" in third.splitlines()[0]
    assert f"Planned end: {panel.campaign.end_text}" in third
    assert "문항" not in third
    assert f"/arena/{panel.campaign.pk}/" in third
    entry = AuditEntry.objects.get(action="campaign.remind_judges")
    assert (entry.actor, entry.after) == (panel.organiser, {"judges": 2})


def test_nobody_is_reminded_twice_within_a_day(panel: Panel) -> None:
    assert remind(panel).told == 3
    assert remind(panel) == Reminded(told=0, told_before=3)
    age(PAUSE - HOUR)
    assert remind(panel) == Reminded(told=0, told_before=3)
    age(2 * HOUR)
    assert remind(panel) == Reminded(told=3, told_before=0)
    assert len(reminded()) == 6


@pytest.mark.django_db(transaction=True)
def test_two_clicks_at_once_write_once(panel: Panel) -> None:
    at_once([lambda: remind(panel), lambda: remind(panel)])
    assert len(reminded()) == 3


def test_what_was_judged_meanwhile_is_not_asked_for(panel: Panel) -> None:
    remind(panel)
    remove_judge(judge=panel.judges[1], actor=panel.organiser, reason="그만둠", accepts_loss=True)
    finish(panel, 0)
    assert reminded() == addresses(panel, 2)


def test_what_cannot_count_any_more_is_not_left(panel: Panel) -> None:
    before = left_by_judge(panel.campaign)
    system = panel.systems[0]
    disqualify_team(team=system.submission.team, actor=panel.organiser, note_ko="사유")
    after = left_by_judge(panel.campaign)
    rows = Assignment.objects.filter(campaign=panel.campaign, state="open", systems__contains=[system.label])
    assert before.total() - after.total() == rows.exclude(kind="calibration").count() > 0


def close(panel: Panel) -> None:
    Campaign.objects.update(closed_at=timezone.now())


def end(panel: Panel) -> None:
    Campaign.objects.update(ends_at=timezone.now())


@pytest.mark.parametrize(("stop", "error"), [(close, CampaignNotOpen), (end, CampaignTimeOver)])
def test_only_while_it_is_judged(panel: Panel, stop: Callable[[Panel], None], error: type[Exception]) -> None:
    remind(panel)
    stop(panel)
    with pytest.raises(error):
        remind(panel)
    assert reminded() == [], "nor is sent what was posted before"


def test_only_who_manages_reminds(panel: Panel) -> None:
    for actor, error in (
        (UserFactory.create(), ManageNotFound),
        (panel.judges[0].user, ManageNotFound),
        (person_in(panel.campaign.track.competition, "viewer"), NotAllowed),
    ):
        assert actor is not None
        with pytest.raises(error):
            remind_judges(campaign=panel.campaign, actor=actor)
    assert not Letter.objects.filter(event=REMINDER).exists()


# --- by the clock -----------------------------------------------------------------------------------------------------
def ending(panel: Panel, within: timedelta, opened_before: timedelta = timedelta(days=5)) -> None:
    now = timezone.now()
    Campaign.objects.update(opened_at=now - opened_before, ends_at=now + within)


def test_a_day_before_the_end_everybody_with_something_left_is_reminded_once(panel: Panel) -> None:
    ending(panel, NEAR + HOUR)
    assert remind_due() == 0
    ending(panel, NEAR - HOUR)
    finish(panel, 2)
    assert (remind_due(), remind_due()) == (1, 0)
    assert reminded() == addresses(panel, 0, 1)
    age(PAUSE + HOUR)
    assert remind_due() == 0, "the same end is told once"
    ending(panel, NEAR - 2 * HOUR)
    assert remind_due() == 1, "another end is another reminder"


def test_who_was_reminded_by_hand_today_is_not_reminded_by_the_clock(panel: Panel) -> None:
    ending(panel, NEAR - HOUR)
    remind(panel)
    remind_due()
    assert len(reminded()) == 3


def test_a_campaign_that_cannot_be_asked_about_stops_no_other(panel: Panel, monkeypatch: pytest.MonkeyPatch) -> None:
    open_panel()
    ending(panel, NEAR / 2)
    people_left = reminders._people_left
    monkeypatch.setattr(
        reminders, "_people_left", lambda campaign: 1 / 0 if campaign == panel.campaign else people_left(campaign)
    )
    assert remind_due() == 1
    monkeypatch.undo()
    assert remind_due() == 1, "the first, when it can be"


@pytest.mark.parametrize("change", ["no end", "over", "closed", "short", "draft"])
def test_the_clock_reminds_of_nothing_else(panel: Panel, change: str) -> None:
    ending(panel, NEAR - HOUR)
    now = timezone.now()
    if change == "no end":
        Campaign.objects.update(ends_at=None)
    elif change == "over":
        Campaign.objects.update(ends_at=now)
    elif change == "closed":
        Campaign.objects.update(closed_at=now)
    elif change == "short":
        ending(panel, NEAR - HOUR, opened_before=timedelta(minutes=30))
    else:
        Campaign.objects.update(opened_at=None)
    assert remind_due() == 0
    assert reminded() == []


def test_the_clock_asks_for_it() -> None:
    scheduled = [each["task"] for each in settings.CELERY_BEAT_SCHEDULE.values()]
    assert tasks.remind_due.name in scheduled
