"""The first page: what a person takes part in, and what is left there."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from malpan.competitions.models import Phase
from malpan.teams.models import Team
from tests.factories import (
    CompetitionFactory,
    PhaseFactory,
    TeamFactory,
    TrackFactory,
    UserFactory,
    finished_submission,
    leader_of,
)
from tests.web import html

pytestmark = pytest.mark.django_db
DAY = timedelta(days=1)


def own_section(client: Client) -> html.Element | None:
    found = html.parse(client.get("/").content.decode()).all("section", **{"aria-labelledby": "own-contests"})
    return found[0] if found else None


def test_a_member_finds_the_contest_with_what_is_left_and_the_way_to_submit(
    phase: Phase, team: Team, member: Client
) -> None:
    finished_submission(phase, team, 0.5)
    section = own_section(member)
    assert section is not None
    text = " ".join(section.text.split())
    assert "어문 규범 대회" in text
    assert "4 /5회 남음" in text
    assert "39 /40회 남음" in text
    hrefs = {link.attributes["href"] for link in section.all("a")}
    slug = phase.track.competition.slug
    assert f"/competitions/{slug}/submit/?track=norms" in hrefs
    assert f"/competitions/{slug}/submissions/" in hrefs


def test_who_takes_part_in_nothing_sees_no_list(phase: Phase, team: Team, client: Client) -> None:
    assert own_section(client) is None
    client.force_login(UserFactory.create())
    assert own_section(client) is None


def test_unpublished_and_old_contests_stay_out(phase: Phase, team: Team, member: Client) -> None:
    """The newest five of the past are enough; nothing can be submitted there."""
    person, now = leader_of(team), timezone.now()
    for age in range(1, 8):
        track = TrackFactory.create(competition=CompetitionFactory.create(title_ko=f"지난 대회 {age}"))
        PhaseFactory.create(track=track, starts_at=now - (age + 1) * DAY, ends_at=now - age * DAY)
        TeamFactory.create(competition=track.competition, leader=person)
    TeamFactory.create(competition=CompetitionFactory.create(title_ko="숨긴 대회", is_published=False), leader=person)
    section = own_section(member)
    assert section is not None
    titles = [heading.text.strip() for heading in section.all("h3")]
    assert titles == ["어문 규범 대회", *(f"지난 대회 {age}" for age in range(1, 6))]
    assert len([link for link in section.all("a") if "/submit/" in link.attributes["href"]]) == 1


def test_a_disqualified_team_is_not_sent_to_the_form(phase: Phase, team: Team, member: Client) -> None:
    Team.objects.filter(pk=team.pk).update(disqualified_at=timezone.now())
    section = own_section(member)
    assert section is not None
    assert "실격" in section.text
    assert not [link for link in section.all("a") if "/submit/" in link.attributes["href"]]


def test_many_contests_take_few_queries(
    phase: Phase, team: Team, member: Client, django_assert_max_num_queries: Any
) -> None:
    for _number in range(12):
        other = PhaseFactory.create(daily_limit=3)
        TeamFactory.create(competition=other.track.competition, leader=leader_of(team))
    with django_assert_max_num_queries(20):
        assert own_section(member) is not None
