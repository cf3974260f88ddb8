"""The page on which a team withdraws a submission."""

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from malpan.competitions.models import Phase
from malpan.submissions.models import Submission
from tests.factories import TeamFactory, UserFactory, leader_of
from tests.web import html
from tests.web.conftest import client_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def address(contest):
    return reverse("submission_withdraw", args=[contest.finished.public_id])


def withdrawn(contest):
    return Submission.objects.get(pk=contest.finished.pk).withdrawn_at is not None


def test_submission_page_leads_to_the_withdrawal_and_says_when_it_is_done(contest, member, address):
    detail = reverse("submission", args=[contest.finished.public_id])
    assert address in member.get(detail).content.decode()

    answer = member.post(address, {"confirm": "on"}, follow=True)

    assert answer.redirect_chain == [(detail, 302)]
    assert withdrawn(contest)
    assert address not in answer.content.decode()
    assert "철회한 제출입니다" in answer.content.decode()
    state = html.parse(answer.content.decode()).one("div", "state")
    assert state.text.startswith("철회한 제출 철회해 순위에 반영되지 않는 점수 82.2283946")
    assert "채점 완료" not in state.text
    assert state.all(css_class="state-score") == []


def test_box_must_be_ticked_and_looking_changes_nothing(contest, member, address):
    assert member.get(address).status_code == 200

    answer = member.post(address)

    assert answer.status_code == 422
    assert "확인란에 표시해 주십시오" in answer.content.decode()
    assert not withdrawn(contest)


def test_nobody_else_withdraws(contest, address):
    other = client_of(leader_of(TeamFactory.create(competition=contest.competition)))

    assert other.post(address, {"confirm": "on"}).status_code == 404
    assert client_of(UserFactory.create()).get(address).status_code == 404
    assert Client().post(address, {"confirm": "on"}).status_code == 302
    assert not withdrawn(contest)


def test_after_the_phase_there_is_no_way_to_withdraw(contest, member, address):
    Phase.objects.filter(pk=contest.phase.pk).update(ends_at=timezone.now())

    assert address not in member.get(reverse("submission", args=[contest.finished.public_id])).content.decode()
    answer = member.post(address, {"confirm": "on"}, follow=True)

    assert "철회할 수 없습니다" in answer.content.decode()
    assert not withdrawn(contest)
