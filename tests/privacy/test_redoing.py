"""An erasure outlives the database that it was done in: who comes back with a backup is erased again, nobody else."""

from __future__ import annotations

import re
from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core import mail
from django.core.management import CommandError, call_command
from django.utils import timezone

from malpan.accounts.models import User
from malpan.core.errors import StorageUnavailable
from malpan.core.models import AuditEntry
from malpan.core.storage.collecting import collect
from malpan.core.storage.moving import move
from malpan.core.storage.places import configured, store_at
from malpan.privacy import records, tasks
from malpan.privacy.erasing import erase
from malpan.privacy.records import forget_old, write_missing
from malpan.privacy.redoing import redo
from malpan.privacy.retention import let_go
from malpan.teams.models import Membership
from tests.factories import TeamFactory, UserFactory, leader_of
from tests.in_s3 import new_place
from tests.privacy.conftest import CANARIES, EMAIL, NAME, found_in_tables
from tests.s3_server import S3Server

pytestmark = pytest.mark.django_db


@pytest.fixture(params=["local disk", "s3"], autouse=True)
def store(request: pytest.FixtureRequest, in_s3: S3Server, settings: Any) -> None:
    """The site's files are in a store of each kind in turn."""
    if request.param == "local disk":
        settings.MALPAN_STORAGE = ""


def run(*arguments: str) -> str:
    out = StringIO()
    call_command("redo_erasures", *arguments, stdout=out)
    return out.getvalue()


@pytest.fixture
def erased(person: User, django_capture_on_commit_callbacks: Any) -> User:
    """Somebody who has left; their row as it was before."""
    before = User.objects.get(pk=person.pk)
    with django_capture_on_commit_callbacks(execute=True):
        erase(user=person, actor=person)
    mail.outbox.clear()
    return before


def come_back(before: User) -> None:
    """The row is again as in a backup of before."""
    before.save(force_update=True)


def test_who_comes_back_is_erased_again_as_of_then_and_only_once(
    erased: User, django_capture_on_commit_callbacks: Any
) -> None:
    was = User.objects.get(pk=erased.pk)
    assert (redo().records, redo().people) == (1, [])  # nobody came back
    come_back(erased)

    assert f"numbers {erased.pk}" in run()
    assert User.objects.get(pk=erased.pk).email == EMAIL  # it was a trial
    with django_capture_on_commit_callbacks(execute=True):
        assert f"1 people were erased again (numbers {erased.pk})" in run("--apply")

    now = User.objects.get(pk=erased.pk)
    assert (now.email, now.name, now.erased_at, now.former_addresses) == ("", "", was.erased_at, was.former_addresses)
    assert found_in_tables(CANARIES) == {}
    assert mail.outbox == []  # they were told when they left
    assert AuditEntry.objects.filter(action="user.erase", person=now).count() == 2
    assert "nobody is to be erased again" in run("--apply")
    assert redo().records == 1


def test_addresses_that_were_taken_after_the_backup_stay_known_as_a_former_users(
    erased: User, django_capture_on_commit_callbacks: Any
) -> None:
    [of_then] = User.objects.get(pk=erased.pk).former_addresses
    erased.email = "older.canary@example.com"
    come_back(erased)
    redo()
    assert of_then in User.objects.get(pk=erased.pk).former_addresses
    assert len(User.objects.get(pk=erased.pk).former_addresses) == 2


def test_others_with_the_same_address_or_number_stay(erased: User) -> None:
    again = UserFactory.create(email=EMAIL, name=NAME)  # signed up once more
    assert redo().people == []
    erased.email, erased.date_joined = "other@example.com", erased.date_joined + timedelta(microseconds=1)
    come_back(erased)  # a restored database gives numbers again: to somebody else
    earlier = UserFactory.create(
        email="earlier@example.com", date_joined=erased.date_joined - timedelta(microseconds=1)
    )
    assert redo().people == []
    assert set(User.objects.filter(erased_at=None)) == {again, erased, earlier}


def test_who_leads_others_in_the_backup_is_erased_and_the_next_member_leads(
    django_capture_on_commit_callbacks: Any,
) -> None:
    team = TeamFactory.create(members=1)
    leader, member = leader_of(team), team.memberships.get(role="member").user
    with django_capture_on_commit_callbacks(execute=True):
        erase(user=leader, actor=None, force=True)
    come_back(leader)
    Membership.objects.filter(team=team).update(role="member")
    Membership.objects.create(team=team, user=leader, role="leader", competition=team.competition)
    assert redo().people == [leader.pk]
    assert leader_of(team) == member


def test_the_last_administrator_goes_too_and_the_operator_is_told(django_capture_on_commit_callbacks: Any) -> None:
    one, other = (UserFactory.create(is_superuser=True) for _ in range(2))
    with django_capture_on_commit_callbacks(execute=True):
        erase(user=one, actor=None)
    come_back(one)
    User.objects.filter(pk=other.pk).update(is_superuser=False)
    assert "createsuperuser" in run("--apply")


def test_under_another_key_nobody_is_erased_until_it_is_given(erased: User, settings: Any) -> None:
    when = User.objects.get(pk=erased.pk).erased_at
    come_back(erased)
    bystander = UserFactory.create()
    earlier, settings.SECRET_KEY = settings.SECRET_KEY, "another-key-of-this-site"
    with pytest.raises(CommandError, match="ERASURE_KEY_FALLBACKS") as refused:
        run("--apply")
    assert timezone.localtime(when).isoformat(timespec="seconds") in str(refused.value)
    assert set(User.objects.filter(erased_at=None)) == {erased, bystander}

    settings.ERASURE_KEY_FALLBACKS = ["a-wrong-one", earlier]
    assert "1 people were erased again" in run("--apply")
    assert set(User.objects.filter(erased_at=None)) == {bystander}
    settings.ERASURE_KEY_FALLBACKS = []
    run()  # it is done: the key is not asked for any more


def test_after_a_change_of_the_key_each_night_writes_the_records_anew(erased: User, settings: Any) -> None:
    settings.ERASURE_KEY = "an-own-key"
    assert (write_missing(), write_missing()) == (1, 0)
    come_back(erased)
    assert redo().people == [erased.pk]


def test_a_store_that_is_away_stops_no_erasure_and_the_night_writes_it_down(
    person: User, monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Any, caplog: Any
) -> None:
    def away(*_args: object) -> None:
        raise StorageUnavailable

    before = User.objects.get(pk=person.pk)
    with monkeypatch.context() as patch, django_capture_on_commit_callbacks(execute=True):
        patch.setattr(records, "configured", away)
        assert erase(user=person, actor=person)
    assert f"the erasure of person {person.pk} is not recorded" in caplog.text
    assert not [word for word in CANARIES if word in caplog.text]
    assert redo().records == 0
    tasks.let_go()
    come_back(before)
    tasks.let_go()
    assert User.objects.get(pk=person.pk).erased_at is not None
    assert "erased again: 1" in caplog.text


def test_a_kind_of_data_that_fails_keeps_nobody_who_was_erased(
    person: User, monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Any
) -> None:
    before = User.objects.get(pk=person.pk)
    with django_capture_on_commit_callbacks(execute=True):
        assert erase(user=person, actor=person)
    come_back(before)
    monkeypatch.setattr("malpan.privacy.retention.let_go", lambda: 1 / 0)
    tasks.let_go()
    assert User.objects.get(pk=person.pk).erased_at is not None


def test_a_record_names_nobody_and_no_collector_takes_it(erased: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("malpan.core.storage.collecting.KEPT", timedelta(days=-1))
    collect()
    [name] = configured().notes()
    text = name + configured().read_note(name).decode()
    assert re.fullmatch(r"erasures/[0-9a-f]{16}\.[0-9a-f]{64}\.\d{8}T\d{12}\[\"[0-9a-f]{64}\"\]", text)


def test_records_go_when_no_backup_of_before_is_kept(erased: User, settings: Any) -> None:
    now = timezone.now()
    assert forget_old(now=now + timedelta(days=364)) == 0
    later = now + timedelta(days=366)
    assert let_go(is_trial=True, now=later)["erasure_records"] == 1
    settings.RETENTION_ERASURE_RECORDS_DAYS = 0
    assert let_go(now=later)["erasure_records"] == 0
    settings.RETENTION_ERASURE_RECORDS_DAYS = 365
    assert let_go(now=later)["erasure_records"] == 1
    assert (list(configured().notes()), write_missing(later)) == ([], 0)


@pytest.mark.parametrize("removes", [False, True])
def test_records_move_with_the_files(erased: User, tmp_path: Path, removes: bool) -> None:
    for target in (store_at(str(tmp_path / "elsewhere")), store_at(new_place())):
        source = configured()
        [name] = source.notes()
        move(source=source, target=target)
        assert [target.read_note(each) for each in target.notes()] == [source.read_note(name)]
    if removes:
        move(source=source, target=target, removes=True)
        assert list(source.notes()) == []


def test_records_of_another_place_are_taken_over(erased: User, settings: Any, tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    move(source=configured(), target=store_at(str(kept)))
    settings.PRIVATE_ROOT, settings.MALPAN_STORAGE = tmp_path / "new", ""
    come_back(erased)
    assert "0 records" in run()
    with pytest.raises(CommandError, match="no records in"):
        run("--from", str(tmp_path / "nothing"))
    assert "1 people were erased again" in run("--apply", "--from", str(kept))


@pytest.mark.parametrize("name", ["../x", "erasures/../x", "erasures", "/etc/passwd", "erasures/.x", "a/b/c"])
def test_no_name_of_a_note_leads_elsewhere(name: str) -> None:
    with pytest.raises(ValueError, match="no name of a note"):
        configured().write_note(name, b"")
