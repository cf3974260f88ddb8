"""Word of an award: to every member of its team, once, in the reader's language, and only while everybody sees it."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest
from django.core import mail
from django.db import connection
from django.test.utils import CaptureQueriesContext

from malpan.accounts.models import User
from malpan.competitions.models import Competition
from malpan.notifications import preferences
from malpan.notifications.events import event_of
from malpan.notifications.models import Endpoint, Letter
from malpan.notifications.rendering import compose
from malpan.notifications.sending import deliver_due
from malpan.stages.awards import create_award, publish_awards, remove_award, update_award, withdraw_awards
from malpan.stages.letters import AWARDED, tell_awarded
from malpan.stages.models import Award
from malpan.teams.models import Membership
from malpan.teams.services import disqualify_team
from tests.factories import UserFactory, leader_of
from tests.stages.conftest import Contest

PRIZE = "국립국어원장상"


@pytest.fixture
def award(contest: Contest) -> Award:
    return give(contest)


def give(contest: Contest, number: int = 1, **values: Any) -> Award:
    given = {"title_ko": "대상", "title_en": "Grand Prize", "prize_ko": PRIZE, "prize_en": "Ministry prize"}
    given |= {"team": contest.teams[number], "awarded_on": date(2026, 12, 5)}
    return create_award(competition=contest.competition, actor=contest.writer, **(given | values))


def publish(contest: Contest) -> None:
    publish_awards(competition=contest.competition, actor=contest.writer)


def withdraw(contest: Contest) -> None:
    withdraw_awards(competition=contest.competition, actor=contest.writer)


def another_member(contest: Contest, number: int = 1) -> User:
    person: User = UserFactory.create()
    Membership.objects.create(
        team=contest.teams[number], competition=contest.competition, user=person, role=Membership.Role.MEMBER
    )
    return person


def sent() -> list[tuple[str, str]]:
    """What is sent now: to whom, and subject and text of it."""
    already = len(mail.outbox)
    deliver_due()
    return [(message.to[0], f"{message.subject}\n{message.body}") for message in mail.outbox[already:]]


def to_whom() -> list[str]:
    return sorted(reader for reader, _said in sent())


def test_every_member_hears_of_the_award_and_where_it_is_got(contest: Contest, award: Award) -> None:
    member = another_member(contest)
    give(contest, 2, title_ko="우수상", prize_ko="", prize_en="")
    assert sent() == [], "nobody hears of what is not published"
    publish(contest)
    said = dict(sent())
    second = leader_of(contest.teams[2]).email
    assert set(said) == {leader_of(award.team).email, member.email, second}
    for text in ("[말판]", "대상", PRIZE, award.team.name, contest.competition.title_ko, "PDF"):
        assert text in said[member.email]
    assert f"/competitions/{contest.competition.slug}/team/" in said[member.email]
    assert "우수상" not in said[member.email]
    assert "우수상" in said[second]
    assert "부상" not in said[second]
    assert to_whom() == []


def test_a_team_hears_of_each_of_its_awards(contest: Contest, award: Award) -> None:
    give(contest, title_ko="특별상")
    publish(contest)
    assert to_whom() == [leader_of(award.team).email] * 2


@pytest.mark.parametrize(
    ("language", "there", "absent"),
    [
        ("ko", ["[말판]", "대상", PRIZE], ["[Malpan]", "Grand Prize", "Ministry prize"]),
        ("en", ["[Malpan]", "Grand Prize", "Ministry prize"], ["[말판]", "대상", PRIZE]),
        ("", ["[말판]", "[Malpan]", "대상", "Grand Prize"], []),
    ],
)
def test_each_reader_has_it_in_their_language(
    contest: Contest, award: Award, language: str, there: list[str], absent: list[str]
) -> None:
    preferences.set_preference(person=leader_of(award.team), language=language, paces={})
    publish(contest)
    [(_reader, said)] = sent()
    assert [text for text in there if text not in said] == []
    assert [text for text in absent if text in said] == []


def test_who_does_not_want_to_hear_of_awards_does_not(contest: Contest, award: Award) -> None:
    member = another_member(contest)
    preferences.mute(person=member, event=AWARDED)
    publish(contest)
    assert to_whom() == [leader_of(award.team).email]


def test_published_anew_it_is_told_again_only_with_other_words(contest: Contest, award: Award) -> None:
    publish(contest)
    reader = leader_of(award.team).email
    assert to_whom() == [reader]
    withdraw(contest)
    update_award(award=award, actor=contest.writer, awarded_on=date(2026, 12, 6))
    publish(contest)
    assert to_whom() == [], "a letter says nothing of the day"
    withdraw(contest)
    update_award(award=award, actor=contest.writer, title_ko="최우수상")
    assert to_whom() == []
    publish(contest)
    [(again, said)] = sent()
    assert again == reader
    assert "최우수상" in said


def test_what_is_added_later_is_told_alone(contest: Contest, award: Award) -> None:
    publish(contest)
    sent()
    give(contest, 3, title_ko="장려상")
    publish(contest)
    assert to_whom() == [leader_of(contest.teams[3]).email]


def test_a_change_of_what_everybody_sees_is_not_told(contest: Contest, award: Award) -> None:
    publish(contest)
    sent()
    update_award(award=award, actor=contest.writer, title_ko="최우수상")
    assert to_whom() == []


def test_what_was_withdrawn_before_it_was_told_is_told_with_the_next_publication(contest: Contest) -> None:
    award, person = give(contest), leader_of(contest.teams[1])
    Endpoint.objects.create(person=person, url="https://hooks.example.com/", events=[AWARDED])
    publish(contest)
    withdraw(contest)
    assert to_whom() == []
    Letter.objects.update(state=Letter.State.DROPPED)
    publish(contest)
    waiting = Letter.objects.filter(event=AWARDED, facts={"award": award.pk}, state=Letter.State.WAITING)
    assert sorted(letter.endpoint is None for letter in waiting) == [False, True]
    assert to_whom() == [person.email]


@pytest.mark.parametrize("change", ["disqualified", "withdrawn", "revoked", "hidden", "left"])
def test_nothing_is_said_of_what_nobody_sees_by_then(contest: Contest, award: Award, change: str) -> None:
    publish(contest)
    if change == "disqualified":
        disqualify_team(team=award.team, actor=contest.writer, note_ko="사유")
    elif change == "withdrawn":
        withdraw(contest)
    elif change == "revoked":
        remove_award(award=award, actor=contest.writer)
    elif change == "hidden":
        Competition.objects.filter(pk=contest.competition.pk).update(is_published=False)
    else:
        award.team.memberships.all().delete()
    assert to_whom() == []
    assert Letter.objects.get().state == Letter.State.DROPPED


def test_programs_hear_of_it_too(contest: Contest, award: Award) -> None:
    person = leader_of(award.team)
    Endpoint.objects.create(person=person, url="https://hooks.example.com/", events=[AWARDED])
    publish(contest)
    assert Letter.objects.exclude(endpoint=None).get().person == person


def test_any_number_of_awards_is_told_with_the_same_number_of_statements(contest: Contest) -> None:
    rows = [give(contest, number, title_ko=f"상 {number}") for number in range(1, 6)]
    counts = []
    for told in (rows[:1], rows[1:]):
        with CaptureQueriesContext(connection) as queries:
            tell_awarded(told)
        counts.append(len(queries))
    assert counts[0] == counts[1]
    assert Letter.objects.count() == 5


def test_the_sample_looks_like_a_letter() -> None:
    sample = event_of(AWARDED).sample
    assert sample is not None
    made = compose(event_of(AWARDED).templates, ("ko", "en"), sample, "https://example.org/")
    assert made is not None
    assert made.subject == "[말판] ‘한글 대회’ 시상: 대상 · [Malpan] Award in “한글 대회”: 대상"
    assert "상: 대상\n부상: 상금 300만 원\n" in made.text
