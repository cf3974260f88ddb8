"""What no row names is removed a day later; what a row names stays, whoever stores at the same moment."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from io import StringIO
from typing import Any

import pytest
from celery.app.trace import build_tracer
from celery.exceptions import Retry
from django.apps import apps
from django.conf import settings as site
from django.core.management import CommandError, call_command
from django.db import models

from malpan.competitions.models import ReferenceVersion
from malpan.core.errors import FilesInUse, StoredFileMissing, StoreOfAnotherSite
from malpan.core.fields import StoredFileField, stored_file_fields
from malpan.core.storage import collecting, local_disk, read_private, store_private
from malpan.core.storage.collecting import KEPT, collect
from malpan.core.storage.places import configured
from malpan.core.storage.stores import Copy, Store
from malpan.submissions.tasks import BACKUP_LASTS, collect_files
from tests.confirmation import types
from tests.factories import PhaseFactory, SubmissionFactory, publish
from tests.threads import at_once

pytestmark = pytest.mark.django_db
LATER = KEPT + timedelta(minutes=1)


@dataclass
class Later:
    """A store as it is some time after the copies that were in it when this was made."""

    store: Store
    passed: timedelta = LATER

    def __post_init__(self) -> None:
        self.then = {(copy.place, copy.stamp) for copy in self.store.copies()}

    def __getattr__(self, name: str) -> Any:
        return getattr(self.store, name)

    def copies(self) -> Iterator[Copy]:
        for copy in self.store.copies():
            is_old = (copy.place, copy.stamp) in self.then
            yield replace(copy, age=copy.age + self.passed) if is_old else copy


def is_there(sha256: str) -> bool:
    try:
        return bool(read_private(sha256))
    except StoredFileMissing:
        return False


def test_what_no_row_names_goes_after_a_day_and_what_one_names_stays(store):
    named = store_private(b"of a submission").sha256
    SubmissionFactory.create(file_sha256=named)
    version = publish(PhaseFactory.create())
    unnamed = store_private(b"of nobody")

    assert collect().copies == 0  # today
    almost = Later(store, KEPT - timedelta(minutes=1))
    assert collect(store=almost).copies == 0
    trial = collect(store=Later(store), is_trial=True)
    assert (trial.copies, trial.size, is_there(unnamed.sha256)) == (1, unnamed.size, True)

    assert collect(store=Later(store)) == trial
    assert [is_there(sha256) for sha256 in (named, version.file_sha256, unnamed.sha256)] == [True, True, False]
    assert collect(store=Later(store)).copies == 0


def test_file_stored_while_the_collector_is_about_to_remove_it_stays(store, monkeypatch):
    old = store_private(b"once more").sha256
    ask = collecting.named_by_rows

    def somebody_stores_it_again(addresses: set[str]) -> set[str]:
        answer = ask(addresses)  # no row names it: that of the new upload is not committed yet
        store_private(b"once more")
        return answer

    monkeypatch.setattr(collecting, "named_by_rows", somebody_stores_it_again)
    collect(store=Later(store))

    assert is_there(old)


def test_upload_waits_while_its_file_is_being_removed_from_the_disk(settings):
    old = store_private(b"once more").sha256
    [copy] = configured().copies()
    uploading = threading.Thread(target=store_private, args=(b"once more",))
    with local_disk._held(settings.PRIVATE_ROOT / old[:2] / old[2:4] / old):
        uploading.start()
        uploading.join(0.2)
        assert uploading.is_alive()
    uploading.join(10)

    assert not configured().remove(copy)
    assert is_there(old)


def test_an_operator_is_told_what_goes_and_what_stays(store, monkeypatch, capsys):
    monkeypatch.setattr(collecting, "KEPT", timedelta(seconds=-2))
    SubmissionFactory.create(file_sha256=store_private(b"named").sha256)
    unnamed = store_private(b"of nobody").sha256
    types(monkeypatch, "", "1", "0")
    with pytest.raises(CommandError, match="nothing was changed"):
        call_command("collect_files")
    assert is_there(unnamed)
    said = capsys.readouterr().out
    assert "1 files (9 bytes) that no row names are removed. 1 files that rows name" in said.replace("\xa0", " ")

    call_command("collect_files")
    assert not is_there(unnamed)
    call_command("collect_files")  # nothing is left to ask about
    store.adopt("7/another")
    call_command("collect_files", "--adopt")
    assert "the last copy of submissions after the backup" in capsys.readouterr().out
    assert store.claim("any") == collecting.this_site()


@pytest.mark.usefixtures("in_s3")
def test_surplus_copies_go_but_the_newest_sound_one_stays():
    store = configured()
    sha256 = store_private(b"twice").sha256
    [first] = store.copies()
    SubmissionFactory.create(file_sha256=sha256)
    later = Later(store)
    store_private(b"twice")
    [second] = [copy for copy in store.copies() if copy != first and copy.place != first.place]

    store._client.put_object(Bucket=store.bucket, Key=second.place, Body=b"damaged")
    assert collect(store=later).copies == 0  # the damaged one is young; the sound one is all there is
    store._client.put_object(Bucket=store.bucket, Key=second.place, Body=b"twice")
    assert collect(store=later).copies == 1
    assert [copy.place for copy in store.copies()] == [second.place]
    assert is_there(sha256)


def test_another_sites_files_are_not_touched_until_it_is_told_that_they_are_its_own(store):
    unnamed = store_private(b"of the other's rows").sha256
    store.adopt("7/another")
    with pytest.raises(StoreOfAnotherSite):
        collect(store=Later(store))
    with pytest.raises(CommandError, match="7/another"):
        call_command("collect_files")
    assert is_there(unnamed)

    out = StringIO()
    call_command("collect_files", "--adopt", "--yes", stdout=out)
    assert "removed: 0" in out.getvalue()
    assert collect(store=Later(store)).copies == 1


def test_the_clock_collects(store, monkeypatch):
    unnamed = store_private(b"of nobody").sha256
    collect_files()
    assert is_there(unnamed)
    monkeypatch.setattr(collecting, "KEPT", timedelta(seconds=-2))
    collect_files()
    assert not is_there(unnamed)


def test_the_clock_waits_for_the_end_of_a_backup(transactional_db, monkeypatch):
    unnamed = store_private(b"of nobody").sha256
    monkeypatch.setattr(collecting, "KEPT", timedelta(seconds=-2))
    with collecting.files_stay(), collecting.files_stay():  # two backups at once
        [refused] = at_once([collect])
        assert isinstance(refused, FilesInUse)
        retried = []
        monkeypatch.setattr(collect_files, "retry", lambda **how: retried.append(how) or Retry())
        assert at_once([runs_later]) == [True]
        [how] = retried
        assert how["countdown"] * how["max_retries"] < timedelta(days=1).total_seconds()
    assert is_there(unnamed)
    [done] = at_once([collect])
    assert (done.copies, is_there(unnamed)) == (1, False)


def test_every_message_of_the_clock_is_still_good_when_it_is_due(transactional_db, monkeypatch):
    """The messages themselves: the first as beat sends it, the others as a worker that was given it does."""
    unnamed = store_private(b"of nobody").sha256
    monkeypatch.setattr(collecting, "KEPT", timedelta(seconds=-2))
    app, sent = collect_files.app, []
    now = datetime.fromisoformat("2026-11-29T04:30:00+09:00")
    monkeypatch.setattr(app, "now", lambda: now)
    monkeypatch.setattr(app.amqp, "send_task_message", lambda _to, _name, message, **_: sent.append(message.headers))
    run = build_tracer(collect_files.name, collect_files._get_current_object(), app=app)
    collect_files.apply_async(**site.CELERY_BEAT_SCHEDULE["collect-files"]["options"])

    with collecting.files_stay():
        for number in range(BACKUP_LASTS):
            at_once([lambda: run(sent[-1]["id"], (), {}, sent[-1])])
            assert len(sent) == number + 2
            now = datetime.fromisoformat(sent[-1]["eta"])
            assert now < datetime.fromisoformat(sent[-1]["expires"]), f"discarded at {now}"
    at_once([lambda: run(sent[-1]["id"], (), {}, sent[-1])])
    assert not is_there(unnamed)


def runs_later() -> bool:
    try:
        collect_files()
    except Retry:
        return True
    return False


def test_every_column_that_holds_the_hash_of_a_file_is_known_to_the_collector():
    known = {(field.model, field.name) for field in stored_file_fields()}
    columns = {
        (model, field.name)
        for model in apps.get_models()
        for field in model._meta.concrete_fields
        if isinstance(field, models.CharField)
        and field.name in (*ReferenceVersion.FILES, "votes_sha256", "result_sha256")
    }
    assert known == columns
    assert len(known) == 7
    for field in stored_file_fields():
        field.model._meta.get_field(field.size)
        assert isinstance(field, StoredFileField)
