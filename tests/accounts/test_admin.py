"""People, teams and tokens in the admin."""

import json

import pytest
from django.urls import reverse

from malpan.accounts.models import User
from malpan.accounts.services import create_api_token
from malpan.core.models import AuditEntry
from malpan.teams.models import Membership, Team
from tests.admin_pages import address, fields_of, messages_of, organiser, pages
from tests.factories import (
    CompetitionFactory,
    TeamFactory,
    UserFactory,
    leader_of,
)

__all__ = ["organiser", "pages"]
pytestmark = pytest.mark.django_db


def test_team_is_made_with_its_leader_and_a_refusal_is_shown(pages):
    competition, leader = CompetitionFactory.create(), UserFactory.create()
    form = {"competition": competition.pk, "name": "기준 모델", "leader": leader.pk, "is_baseline": "on"}

    pages.post(address(Team, "add"), form)
    again = pages.post(address(Team, "add"), form | {"name": "다른 팀"}, follow=True)

    team = Team.objects.get()
    assert (team.is_baseline, leader_of(team)) == (True, leader)
    assert "이미 팀에 속해" in "".join(messages_of(again))


def test_member_is_taken_out_of_a_team_and_that_is_audited(pages):
    team = TeamFactory.create(members=1)
    page = address(Team, "change", team.pk)
    sent = fields_of(pages.get(page))
    member = team.memberships.get(role=Membership.Role.MEMBER)
    number = next(key for key, value in sent.items() if key.endswith("-id") and str(value) == str(member.pk))

    answer = pages.post(page, sent | {number.replace("-id", "-DELETE"): "on"})

    assert answer.status_code == 302
    assert team.memberships.count() == 1
    assert AuditEntry.objects.get(action="membership.delete").before["user_id"] == member.user_id


def test_person_is_made_and_their_rights_and_password_changes_are_audited(pages):
    secret = "아주긴새암호입니다"
    pages.post(
        address(User, "add"),
        {"email": "new@example.com", "name": "새 사람", "usable_password": "true",
         "password1": secret, "password2": secret},
    )  # fmt: skip
    person = User.objects.get(email="new@example.com")
    page = address(User, "change", person.pk)
    pages.post(page, fields_of(pages.get(page)) | {"is_staff": "on"})
    pages.post(
        reverse("admin:auth_user_password_change", args=[person.pk]),
        {"usable_password": "true", "password1": secret * 2, "password2": secret * 2},
    )

    assert AuditEntry.objects.get(action="user.update").after == {"is_staff": True}
    assert AuditEntry.objects.filter(action="user.set_password", object_id=str(person.pk)).exists()
    person.refresh_from_db()
    kept = json.dumps(list(AuditEntry.objects.values("before", "after")), ensure_ascii=False)
    assert secret not in kept
    assert person.password not in kept


def test_api_token_is_revoked_by_an_action(pages):
    row, _secret = create_api_token(user=UserFactory.create(), label="노트북")

    pages.post(reverse("admin:accounts_apitoken_changelist"), {"action": "revoke", "_selected_action": [row.pk]})

    row.refresh_from_db()
    assert row.revoked_at is not None
