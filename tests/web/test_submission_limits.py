"""What the pages say of the limits of a phase: why nothing more is taken, and what a withdrawal leaves as it is."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.core.exceptions import ValidationError
from django.utils import timezone

from malpan.competitions.models import Phase
from malpan.submissions.models import QuotaEntry, Submission
from malpan.teams.models import Team
from malpan.web.forms.intervals import IntervalField
from tests.factories import PhaseFactory, TeamFactory, finished_submission, leader_of
from tests.web import html
from tests.web.conftest import client_of

pytestmark = pytest.mark.django_db
LEFT = "쓰지 않은 3회가 남아 있지만"


@pytest.fixture
def phase() -> Phase:
    return PhaseFactory.create(
        total_limit=4, daily_limit=None, min_interval=timedelta(hours=72), ends_at=timezone.now() + timedelta(hours=48)
    )


@pytest.fixture
def team(phase: Phase) -> Team:
    made: Team = TeamFactory.create(competition=phase.track.competition)
    return made


def charge(phase: Phase, team: Team) -> Submission:
    made = finished_submission(phase, team, 0.5)
    QuotaEntry.objects.create(phase=phase, team=team, kind="charge", submission=made, moment=made.created_at)
    return made


def text_of(team: Team, address: str) -> str:
    response = client_of(leader_of(team)).get(address)
    assert response.status_code == 200
    page = html.parse(response.content.decode())
    assert html.problems(page) == []
    return page.text


def submit_text(phase: Phase, team: Team) -> str:
    return text_of(team, f"/competitions/{phase.track.competition.slug}/submit/")


def test_a_phase_that_is_over_promises_no_next_submission(phase: Phase, team: Team) -> None:
    Phase.objects.update(starts_at=timezone.now() - timedelta(days=9), ends_at=timezone.now() - timedelta(days=1))
    text = submit_text(phase, team)
    assert "없음(마감함)" in text
    assert "마감 전에는 없음" not in text
    assert "회 남음" not in text


def test_what_an_interval_beyond_the_deadline_leaves_unused_is_not_called_used(phase: Phase, team: Team) -> None:
    charge(phase, team)
    text = submit_text(phase, team)
    assert "제출 간 최소 간격은 72시간이고, 그 전에 이 단계가 끝납니다" in text
    assert LEFT in text
    assert "마감 전에는 없음" in text
    assert "모두 썼습니다" not in text
    assert "남은 기회 없음" not in text


def test_all_slots_used_are_called_used(phase: Phase, team: Team) -> None:
    Phase.objects.filter(pk=phase.pk).update(total_limit=1, min_interval=timedelta())
    charge(phase, team)
    text = submit_text(phase, team)
    assert "전체 제출 한도 1회를 모두 썼습니다" in text
    assert "남아 있지만" not in text


def test_an_interval_that_ends_before_the_deadline_has_its_moment(phase: Phase, team: Team) -> None:
    Phase.objects.filter(pk=phase.pk).update(min_interval=timedelta(hours=24))
    charge(phase, team)
    text = submit_text(phase, team)
    assert "부터 다시 제출할 수 있습니다" in text
    assert "남아 있지만" not in text


def test_a_withdrawal_does_not_end_the_interval_and_says_so(phase: Phase, team: Team) -> None:
    made = charge(phase, team)
    address = f"/submissions/{made.public_id}/withdraw/"
    assert "제출 간 72시간 간격도 그대로입니다" in text_of(team, address)
    Phase.objects.filter(pk=phase.pk).update(min_interval=timedelta())
    assert "간격도 그대로" not in text_of(team, address)


@pytest.mark.parametrize(
    ("text", "span"),
    [
        ("72시간", timedelta(hours=72)),
        ("90분", timedelta(minutes=90)),
        ("1시간 30분", timedelta(minutes=90)),
        ("1시간30분", timedelta(minutes=90)),
        ("3일", timedelta(days=3)),
        ("45초", timedelta(seconds=45)),
        ("72 hours", timedelta(hours=72)),
        ("2d 1H", timedelta(days=2, hours=1)),
        ("90", timedelta(minutes=90)),
        ("0", timedelta()),
    ],
)
def test_an_interval_is_read_as_people_write_it_and_shown_as_it_is_read(text: str, span: timedelta) -> None:
    field = IntervalField()
    assert field.clean(text) == span
    assert field.clean(field.prepare_value(span)) == span
    assert not field.has_changed(span, text)


@pytest.mark.parametrize("text", ["", "-1", "72 사과", "1.5시간", "시간", "366일", "9" * 9 + "시간", "1시간 " * 20])
def test_what_is_no_interval_is_refused(text: str) -> None:
    with pytest.raises(ValidationError):
        IntervalField().clean(text)
