"""People in the admin: made, edited, let in, their tokens revoked; each with an audit entry."""

import io
import json

import pytest
from allauth.account.models import EmailAddress
from django.contrib.auth.models import Permission
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from malpan.accounts.models import User
from malpan.accounts.services import create_api_token
from malpan.core.models import AuditEntry
from tests.admin_pages import address, fields_of, organiser, pages
from tests.factories import UserFactory

__all__ = ["organiser", "pages"]
pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("contexts")]


def act(pages: Client, action: str, *people: User):
    chosen = [person.pk for person in people]
    return pages.post(address(User, "changelist"), {"action": action, "_selected_action": chosen}, follow=True)


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


def test_permissions_given_are_audited_and_nobody_is_deleted(pages):
    founder, other = UserFactory.create_batch(2)
    page = address(User, "change", founder.pk)
    permission = Permission.objects.get(codename="add_competition")
    pages.post(page, fields_of(pages.get(page)) | {"user_permissions": [permission.pk]})
    assert pages.post(address(User, "delete", other.pk), {"post": "yes"}).status_code == 403
    act(pages, "delete_selected", other)

    assert AuditEntry.objects.get(action="user.relate").after == {"user_permissions": [permission.pk]}
    assert User.objects.filter(pk=other.pk).exists()


def test_all_tokens_of_a_person_are_revoked_by_an_action_and_nobody_elses(pages, organiser):
    leaked, kept = UserFactory.create_batch(2)
    rows = [create_api_token(user=user, label="노트북")[0] for user in (leaked, leaked, kept)]

    answer = act(pages, "revoke_tokens", leaked)

    assert "API 토큰 2개를 폐기했습니다." in answer.content.decode()
    assert [bool(row.revoked_at) for row in type(rows[0]).objects.order_by("pk")] == [True, True, False]
    assert set(AuditEntry.objects.filter(action="api_token.revoke").values_list("actor", flat=True)) == {organiser.pk}


def test_an_address_is_confirmed_by_an_action_but_for_one_that_is_somebody_elses(pages):
    person, other = UserFactory.create_batch(2)
    EmailAddress.objects.create(user=UserFactory.create(), email=other.email, verified=True, primary=False)

    answer = act(pages, "confirm_emails", person, other)

    assert "이메일 1개를 인증한 것으로 표시했습니다." in answer.content.decode()
    assert EmailAddress.objects.get(user=person).verified
    assert not EmailAddress.objects.filter(user=other, verified=True).exists()
    assert AuditEntry.objects.get(action="user.confirm_email").object_id == str(person.pk)


def test_the_command_says_that_an_address_is_taken(db, monkeypatch):
    monkeypatch.setenv("DJANGO_SUPERUSER_PASSWORD", "아주긴새암호입니다")
    UserFactory.create(email="taken@example.com")
    with pytest.raises(CommandError, match="이미 가입된 이메일입니다"):
        call_command("createsuperuser", interactive=False, email="Taken@example.com", name="관리자")
    call_command("createsuperuser", interactive=False, email="free@example.com", name="관리자", stdout=io.StringIO())
    assert User.objects.get(email="free@example.com").is_superuser
