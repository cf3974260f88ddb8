"""Two clicks on the button that erases."""

from __future__ import annotations

import pytest

from malpan.core.models import AuditEntry
from malpan.privacy.erasing import erase
from tests.factories import TeamFactory, UserFactory
from tests.privacy.conftest import EMAIL, NAME
from tests.threads import at_once


@pytest.mark.django_db(transaction=True)
def test_two_clicks_at_once_erase_once(rings: list[str]) -> None:
    person = UserFactory.create(name=NAME, email=EMAIL)
    TeamFactory.create(leader=person)
    assert sorted(at_once([lambda: erase(user=person, actor=person)] * 2), key=str) == [False, True]
    assert AuditEntry.objects.filter(action="user.erase").count() == 1
    assert AuditEntry.objects.filter(action="team.remove").count() == 1
