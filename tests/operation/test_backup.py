"""The drill: a site in use is backed up, restored elsewhere, and is the same; and what must not pass for a backup."""

from __future__ import annotations

import errno
import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.conf import settings as site
from django.core.management import CommandError, call_command
from django.db import DatabaseError, connection
from django.test import Client
from django.utils import timezone

from malpan.accounts.models import User
from malpan.competitions.models import Competition, Phase
from malpan.core import storage
from malpan.core.errors import FilesInUse, StorageUnavailable, StoredFileMissing, StoreOfAnotherSite
from malpan.core.models import AuditEntry, Chore
from malpan.core.storage import collecting
from malpan.core.storage.local_disk import LocalDisk
from malpan.core.storage.places import configured
from malpan.jobs.heartbeat import beat
from malpan.jobs.models import Worker
from malpan.operation.backup import making, postgres, restoring
from malpan.operation.backup.errors import BackupError
from malpan.operation.backup.facts import NAMES_OF_FILES, read_facts
from malpan.operation.backup.keeping import make_dated_backup
from malpan.operation.backup.manifest import DUMP, MANIFEST, Manifest
from malpan.privacy.erasing import erase
from malpan.privacy.records import ErasureRecord
from malpan.submissions.models import PairValue, ScoringRun, Submission
from tests import database
from tests.archive import full_competition
from tests.confirmation import types
from tests.factories import PASSWORD, CompetitionFactory, UserFactory
from tests.killing import Step, dies
from tests.paths import ROOT
from tests.privacy.conftest import found_in_tables
from tests.threads import at_once
from tests.waiting import wait_for

# another token in every answer; and how long ago something was, which changes by itself
CHANGING = re.compile(rb'name="csrfmiddlewaretoken" value="\w+"|<span class="ago">[^<]+</span>')


def pages(competition: Competition) -> dict[str, bytes]:
    """What anybody sees of the competition: boards and chain, byte by byte."""
    phase = Phase.objects.select_related("track").get(track__competition__slug=competition.slug)
    start = f"/competitions/{competition.slug}/"
    api = f"/api/v1/competitions/{competition.slug}/tracks/{phase.track.slug}/board/"
    answers = {path: Client().get(path) for path in (f"{start}board/", f"{start}chain/", api)}
    assert [answer.status_code for answer in answers.values()] == [200] * 3
    return {path: CHANGING.sub(b"", answer.content) for path, answer in answers.items()}


@contextmanager
def uploads(phase: Phase) -> Iterator[list[int]]:
    """Teams that upload, and a worker that scores, all the time; the keys of their submissions."""
    made: list[int] = []
    stop = threading.Event()

    def go_on() -> None:
        while not stop.is_set():
            made.append(full_competition.scored(phase, 100 + len(made)).pk)
        connection.close()

    thread = threading.Thread(target=go_on)
    thread.start()
    try:
        wait_for(lambda: made, "the first upload")
        yield made
    finally:
        stop.set()
        thread.join()


def everything() -> dict[str, list[tuple]]:
    """Every row of every table, but for the values of pairs, for when a backup was last made and for who works."""
    with connection.cursor() as cursor:
        others = {model._meta.db_table for model in (PairValue, Chore, Worker)}
        tables = set(connection.introspection.table_names(cursor)) - others
        found = {}
        for table in tables:
            cursor.execute(f'SELECT md5(x::text) FROM "{table}" x ORDER BY 1')
            found[table] = cursor.fetchall()
    return found


@pytest.fixture(params=["local disk", "s3"])
def store(request: pytest.FixtureRequest) -> None:
    """Both sites of the drill keep their files in a store of this kind."""
    if request.param == "s3":
        request.getfixturevalue("in_s3")


@pytest.mark.usefixtures("store")
def test_a_site_backed_up_while_teams_upload_is_the_same_elsewhere(
    competition: Competition, other_site: Callable[[], None], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    phase = Phase.objects.get(track__competition=competition)
    person = UserFactory.create()
    PairValue.objects.create(key=b"k" * 32, value=0.5)
    beat("scoring@a/0", {})
    with uploads(phase) as during:
        before = len(during)
        call_command("backup", tmp_path / "busy")
        wait_for(lambda: len(during) > before + 1, "uploads after the backup")
    call_command("backup", tmp_path / "quiet")
    now, shown, facts = everything(), pages(competition), read_facts()
    count = Submission.objects.count()

    other_site()
    call_command("restore", tmp_path / "quiet")
    assert not Worker.objects.exists()  # those of the other site
    assert everything() == now
    assert pages(competition) == shown
    assert read_facts() == facts
    assert not PairValue.objects.exists()
    assert set(storage.stored_files()) >= set(facts.files)
    assert Client().login(email=person.email, password=PASSWORD)
    full_competition.scored(Phase.objects.get(pk=phase.pk), 5000)  # it goes on: numbers, chain and all
    call_command("verify_chain")

    assert configured().owner() == collecting.this_site()
    call_command("restore", tmp_path / "busy", "--replace", "--yes")
    assert 0 < Submission.objects.count() < count
    assert all(storage.read_private(name) for name in read_facts().files)
    assert "순위표 1개와 사슬 1개가 백업할 때와 같고" in capsys.readouterr().out.splitlines()[-1]


@pytest.mark.usefixtures("store")
@pytest.mark.parametrize("key", ["the same", "another", "another, and the earlier one"])
def test_who_left_after_the_backup_is_erased_again_by_the_restore(
    competition: Competition, tmp_path: Path, settings: Any, capsys: pytest.CaptureFixture[str], key: str
) -> None:
    stays, before, leaves = UserFactory.create_batch(3)
    account = {"email": leaves.email, "password": PASSWORD}
    erase(user=before, actor=None)
    call_command("backup", tmp_path / "b")
    erase(user=leaves, actor=leaves)
    shown, log = pages(competition), AuditEntry.objects.filter(action="user.erase").count()
    earlier = settings.SECRET_KEY
    if key != "the same":
        settings.SECRET_KEY = "another key"
    if key == "another, and the earlier one":
        settings.ERASURE_KEY_FALLBACKS = [earlier]
    capsys.readouterr()

    if key == "another":
        with pytest.raises(CommandError, match="what is said above"):
            call_command("restore", tmp_path / "b", "--replace", "--yes")
        assert Client().login(**account), "nobody is erased on a guess"
        said = capsys.readouterr().err
        assert "1 records of erasures were made under another key" in said  # not those that the backup knows
        settings.ERASURE_KEY_FALLBACKS = [earlier]
        call_command("redo_erasures", "--apply")
    else:
        call_command("restore", tmp_path / "b", "--replace", "--yes")

    assert f"1 people were erased again (numbers {leaves.pk})" in capsys.readouterr().out
    assert not Client().login(**account)
    assert not found_in_tables((leaves.email, leaves.name))
    assert User.objects.get(pk=stays.pk).erased_at is None
    assert pages(competition) == shown
    assert AuditEntry.objects.filter(action="user.erase").count() == log
    call_command("verify_chain")


def test_a_backup_carries_the_erasures_until_then_to_a_site_with_an_older_one(
    competition: Competition, other_site: Callable[[], None], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    leaves = UserFactory.create()
    call_command("backup", tmp_path / "older")
    erase(user=leaves, actor=leaves)
    call_command("backup", tmp_path / "newer")

    other_site()  # the disk with the records is lost too
    call_command("restore", tmp_path / "older")
    assert User.objects.get(pk=leaves.pk).erased_at is None
    call_command("redo_erasures", "--apply", "--from", tmp_path / "newer")
    assert User.objects.get(pk=leaves.pk).erased_at is not None


def test_a_backup_from_before_the_oldest_record_is_told_of(
    transactional_db: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    call_command("backup", tmp_path / "b")
    body = json.loads((tmp_path / "b" / MANIFEST).read_text())
    body["made_at"] = (timezone.now() - timedelta(days=366)).isoformat()
    (tmp_path / "b" / MANIFEST).write_text(json.dumps(body))
    call_command("restore", tmp_path / "b", "--replace", "--yes")
    assert "RETENTION_ERASURE_RECORDS_DAYS" in capsys.readouterr().err


def test_a_store_that_is_away_leaves_a_restored_site_with_the_step_that_is_left(
    transactional_db: None, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    call_command("backup", tmp_path / "b")

    def away() -> Iterator[ErasureRecord]:
        raise StorageUnavailable

    monkeypatch.setattr("malpan.privacy.redoing.records", away)
    with pytest.raises(CommandError, match="what is said above"):
        call_command("restore", tmp_path / "b", "--replace", "--yes")
    assert "Before you start the site, say manage.py redo_erasures --apply" in capsys.readouterr().err


def test_a_restore_leaves_a_site_with_data_alone_unless_told_otherwise(
    competition: Competition, tmp_path: Path
) -> None:
    call_command("backup", tmp_path / "b")
    CompetitionFactory.create(slug="later")
    with pytest.raises(CommandError, match="--replace"):
        call_command("restore", tmp_path / "b")
    assert Competition.objects.filter(slug="later").exists()

    call_command("restore", tmp_path / "b", "--replace", "--yes")
    assert not Competition.objects.filter(slug="later").exists()


def test_a_restore_names_the_programs_that_use_the_database_and_changes_nothing(
    competition: Competition, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    call_command("backup", tmp_path / "b")
    CompetitionFactory.create(slug="later")
    monkeypatch.setattr(restoring, "PATIENCE_SECONDS", 0.2)
    with database.server(connection.settings_dict["NAME"]) as other:
        other.execute("SET application_name = 'forgotten worker'")
        with pytest.raises(CommandError, match=rf"1 sessions(?s:.)*forgotten worker .*{other.info.backend_pid}$"):
            call_command("restore", tmp_path / "b", "--replace", "--yes")
    assert Competition.objects.filter(slug="later").exists()


@pytest.fixture
def roles() -> Iterator[tuple[str, str]]:
    """One that owns the tables and one that the site logs in as, which owns nothing."""
    names = (f"owner_{os.getpid()}", f"site_{os.getpid()}")
    with database.server() as server:
        for name in names:
            server.execute(f"CREATE ROLE {name} LOGIN")
        yield names
        for name in names:
            server.execute(f"DROP ROLE {name}")


def test_a_restore_by_the_owner_sees_the_sessions_of_a_role_that_owns_nothing(
    competition: Competition, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, roles: tuple[str, str]
) -> None:
    call_command("backup", tmp_path / "b")
    monkeypatch.setattr(restoring, "PATIENCE_SECONDS", 0.2)
    owner, role = roles
    with database.server(connection.settings_dict["NAME"], user=role) as other, connection.cursor() as cursor:
        other.execute("SET application_name = 'the site'")
        cursor.execute(f"SET ROLE {owner}")
        try:
            assert len(postgres.other_sessions()) == 1
            with pytest.raises(BackupError, match=rf"the site \({role}, \?\), PID {other.info.backend_pid}$"):
                restoring.restore_backup(tmp_path / "b", replaces=True)
        finally:
            cursor.execute("RESET ROLE")
    assert Competition.objects.exists()


def test_a_restore_waits_for_a_session_that_is_about_to_end(
    competition: Competition, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    call_command("backup", tmp_path / "b")
    CompetitionFactory.create(slug="later")
    sessions = postgres.other_sessions
    with database.server(connection.settings_dict["NAME"]) as other:
        ends = threading.Timer(0.5, other.close)

        def ends_once_seen() -> list[str]:
            if (found := sessions()) and ends.ident is None:
                ends.start()
            return found

        monkeypatch.setattr(postgres, "other_sessions", ends_once_seen)
        call_command("restore", tmp_path / "b", "--replace", "--yes")
        ends.join()
    assert not Competition.objects.filter(slug="later").exists()


def test_an_operator_reads_what_a_restore_erases_and_types_the_name_of_the_database(
    competition: Competition, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    call_command("backup", tmp_path / "b")
    full_competition.scored(Phase.objects.get(track__competition=competition), 900)
    count, name = Submission.objects.count(), connection.settings_dict["NAME"]
    types(monkeypatch, "yes", name)
    with pytest.raises(CommandError, match="nothing was changed"):
        call_command("restore", tmp_path / "b", "--replace")
    said = capsys.readouterr().out
    assert "1 competitions" in said
    assert f"{count} submissions, of which 1 are later than the backup" in said
    assert Submission.objects.count() == count

    call_command("restore", tmp_path / "b", "--replace")
    assert Submission.objects.count() == count - 1
    postgres.drop_everything()
    call_command("restore", tmp_path / "b", "--replace")  # nothing is there: nobody is asked


def test_a_restore_keeps_the_files_of_later_uploads_until_an_operator_lets_them_go(
    competition: Competition, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    call_command("backup", tmp_path / "b")
    phase = Phase.objects.get(track__competition=competition)
    later = full_competition.scored(phase, 700).file_sha256
    call_command("restore", tmp_path / "b", "--replace", "--yes")
    assert "1 files are there that no row names" in capsys.readouterr().err
    path = Path(site.PRIVATE_ROOT) / later[:2] / later[2:4] / later
    os.utime(path, (0, 0))  # old enough to be collected
    with pytest.raises(CommandError, match="collect_files --adopt"):
        call_command("collect_files")
    assert path.exists()

    call_command("collect_files", "--adopt", "--yes")
    assert not path.exists()


def _is_kept(sha256: str) -> bool:
    """Whether the file is there after the collector came by, however much of a site it found."""
    with suppress(StoreOfAnotherSite, DatabaseError):
        collecting.collect()
    try:
        return bool(storage.read_private(sha256))
    except StoredFileMissing:
        return False


def test_a_restore_killed_at_any_step_leaves_later_uploads_and_the_next_one_gives_the_store_back(
    competition: Competition, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Steps are before and after each call that changes the database or the store's owner, or that compares."""
    call_command("backup", tmp_path / "older")
    later = full_competition.scored(Phase.objects.get(track__competition=competition), 700).file_sha256
    call_command("backup", tmp_path / "newer")
    monkeypatch.setattr(collecting, "KEPT", timedelta(seconds=-2))
    collecting.collect()
    this_site = collecting.this_site()
    places = (
        (postgres, "drop_everything"),
        (LocalDisk, "adopt"),
        (postgres, "run"),
        (restoring, "call_command"),
        (restoring, "_compared"),
        (restoring, "give_back"),
    )

    def restored(step: Step) -> None:
        with pytest.MonkeyPatch.context() as patch:
            for owner, name in places:
                patch.setattr(owner, name, _stepping(step, getattr(owner, name)))
            restoring.restore_backup(tmp_path / "older", replaces=True)

    kills = 0
    while _dies(restored, kills + 1):
        kills += 1
        assert _is_kept(later), kills
        restoring.restore_backup(tmp_path / "newer", replaces=True)
        assert configured().owner() == this_site
    assert kills == 2 * len(places)
    assert configured().owner() == f"{collecting.HELD} of {this_site}"
    assert _is_kept(later)


def _stepping(step: Step, call: Callable[..., Any]) -> Callable[..., Any]:
    def stepped(*arguments: Any, **named: Any) -> Any:
        step()
        done = call(*arguments, **named)
        step()
        return done

    return stepped


def _dies(work: Callable[[Step], object], killed_at: int) -> bool:
    connection.close()  # the child has one of its own
    return dies(work, killed_at)


@pytest.mark.parametrize("fault", ["a table that is another's", "a store that is away"])
def test_a_restore_that_could_not_empty_the_database_leaves_the_store_as_it_was(
    competition: Competition, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: str, roles: tuple[str, str]
) -> None:
    call_command("backup", tmp_path / "b")
    collecting.collect()
    before = configured().owner()
    owner, _role = roles
    with connection.cursor() as cursor, pytest.MonkeyPatch.context() as patch:
        if fault == "a store that is away":
            patch.setattr(LocalDisk, "adopt", lambda *_: (_ for _ in ()).throw(StorageUnavailable))
            with pytest.raises(StorageUnavailable):
                restoring.restore_backup(tmp_path / "b", replaces=True)
        else:
            cursor.execute(f"SET ROLE {owner}")
            with pytest.raises(DatabaseError, match="must be owner"):
                restoring.restore_backup(tmp_path / "b", replaces=True)
            cursor.execute("RESET ROLE")
    assert (configured().owner(), before) == (before, collecting.this_site())
    assert Competition.objects.exists()


def _change_a_file(folder: Path) -> None:
    next(folder.glob("files/*/*/*")).write_bytes(b"other")


def _lose_a_file(folder: Path) -> None:
    next(folder.glob("files/*/*/*")).unlink()


def _add_a_file(folder: Path) -> None:
    (folder / "files" / "stray").write_bytes(b"")


def _cut_the_dump(folder: Path) -> None:
    os.truncate(folder / DUMP, 1000)


def _lose_the_manifest(folder: Path) -> None:
    (folder / MANIFEST).unlink()


def _cut_the_manifest(folder: Path) -> None:
    os.truncate(folder / MANIFEST, 400)


def _come_from_the_future(folder: Path) -> None:
    body = json.loads((folder / MANIFEST).read_text())
    (folder / MANIFEST).write_text(json.dumps(body | {"migrations": [*body["migrations"], "core.0999_later"]}))


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (_change_a_file, "changed: files/"),
        (_lose_a_file, "missing: files/"),
        (_add_a_file, "not in the manifest: files/stray"),
        (_cut_the_dump, f"changed: {DUMP}"),
        (_lose_the_manifest, "Not a complete backup"),
        (_cut_the_manifest, "Not a complete backup"),
        (_come_from_the_future, "core.0999_later"),
    ],
)
def test_a_damaged_backup_is_refused_before_anything_is_changed(
    transactional_db: None, tmp_path: Path, damage: Callable[[Path], None], said: str
) -> None:
    storage.store_private(b"a file")
    call_command("backup", tmp_path / "b")
    call_command("restore", tmp_path / "b", "--check")
    damage(tmp_path / "b")
    CompetitionFactory.create(slug="kept")
    with pytest.raises(CommandError, match=said):
        call_command("restore", tmp_path / "b", "--replace", "--yes")
    assert Competition.objects.get().slug == "kept"


def test_a_dump_that_breaks_off_leaves_an_empty_database_not_half_of_one(
    competition: Competition, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    call_command("backup", tmp_path / "b")
    os.truncate(tmp_path / "b" / DUMP, (tmp_path / "b" / DUMP).stat().st_size // 2)
    monkeypatch.setattr(Manifest, "verify", lambda *_args: None)
    with pytest.raises(CommandError, match="pg_restore"):
        call_command("restore", tmp_path / "b", "--replace", "--yes")
    assert connection.introspection.table_names() == []
    assert collecting.is_held(configured().owner() or "")
    database.made_anew()  # for the tests after this one


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ("ALTER TABLE competitions_phase ADD COLUMN other integer NOT NULL DEFAULT 1", "competitions_phase.other"),
        (
            "ALTER TABLE notifications_preference RENAME COLUMN person_id TO reader",
            "notifications_preference.person_id",
        ),
    ],
)
def test_tables_of_another_version_under_the_same_migrations_are_told_of(
    competition: Competition, other_site: Callable[[], None], tmp_path: Path, change: str, named: str
) -> None:
    """Migrations were edited in place between two versions: ``migrate`` has nothing to do, and pages would fail."""
    call_command("backup", tmp_path / "b")
    other_site()
    restore_dump = postgres.run

    def of_another_version(*command: Any) -> None:
        restore_dump(*command)
        with connection.cursor() as cursor:
            cursor.execute(change)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(postgres, "run", of_another_version)
        with pytest.raises(CommandError, match="restore --replace again with the version that made") as refused:
            call_command("restore", tmp_path / "b")
    assert named in str(refused.value).splitlines()
    assert Competition.objects.values_list("slug").get() == (competition.slug,), "nothing is lost"

    call_command("restore", tmp_path / "b", "--replace", "--yes")  # by the version that made it


def test_what_is_not_as_it_was_is_told(
    competition: Competition, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    call_command("backup", tmp_path / "b")
    assert Chore.objects.get(name=Chore.Name.CHAIN_CHECK).facts["broken"] == []
    body = json.loads((tmp_path / "b" / MANIFEST).read_text())
    [board] = body["facts"]["boards"]
    body["facts"]["boards"][board] = "0" * 64
    (tmp_path / "b" / MANIFEST).write_text(json.dumps(body))
    with pytest.raises(CommandError, match=f"board: {board}"):
        call_command("restore", tmp_path / "b", "--replace", "--yes")

    run = ScoringRun.objects.filter(live_for__isnull=False).last()
    ScoringRun.objects.filter(pk=run.pk).update(final_score=0.987)  # somebody had altered it before the backup
    call_command("backup", tmp_path / "c")
    assert f"not as recorded: {competition.slug}" in capsys.readouterr().err
    assert Chore.objects.get(name=Chore.Name.CHAIN_CHECK).facts["broken"] == [competition.slug]
    with pytest.raises(CommandError, match="score_differs"):
        call_command("restore", tmp_path / "c", "--replace", "--yes")


def test_files_that_the_site_lacks_are_named_and_the_rest_is_backed_up(
    competition: Competition, tmp_path: Path
) -> None:
    lost, broken, *_ = sorted(read_facts().files)
    for name, data in ((lost, None), (broken, b"rot")):
        path = Path(site.PRIVATE_ROOT) / name[:2] / name[2:4] / name
        path.unlink() if data is None else path.write_bytes(data)
    with pytest.raises(CommandError, match=f"{lost}\n{broken}"):
        call_command("backup", tmp_path / "b")
    call_command("restore", tmp_path / "b", "--replace", "--yes")
    assert Submission.objects.exists()


def test_an_error_half_way_leaves_nothing_with_the_name_of_the_backup(
    transactional_db: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    storage.store_private(b"a file")
    with monkeypatch.context() as patch:
        patch.setattr(making, "open_new", lambda _path: (_ for _ in ()).throw(OSError(28, "No space left on device")))
        with pytest.raises(CommandError, match="No space left"):
            call_command("backup", tmp_path / "b")
    assert not (tmp_path / "b").exists()
    with pytest.raises(CommandError, match="Not a complete backup"):
        call_command("restore", tmp_path / "b.unfinished", "--replace", "--yes")
    call_command("backup", tmp_path / "b")  # starts afresh
    assert sorted(path.name for path in tmp_path.iterdir()) == ["b"]
    with pytest.raises(CommandError, match="exists already"):
        call_command("backup", tmp_path / "b")


def test_a_backup_that_is_killed_never_looks_whole(transactional_db: None, tmp_path: Path, settings: Any) -> None:
    pipe = Path(settings.PRIVATE_ROOT) / "ab" / "cd" / ("abcd" + "0" * 60)
    pipe.parent.mkdir(parents=True)
    os.mkfifo(pipe)  # whoever reads it waits: the backup stands still there
    name = connection.settings_dict["NAME"]
    environment = os.environ | {
        "DJANGO_SETTINGS_MODULE": "malpan.settings",
        "DATABASE_URL": os.environ["DATABASE_URL"].replace("/malpan?", f"/{name}?"),
        "PRIVATE_ROOT": str(settings.PRIVATE_ROOT),
        "MALPAN_VAR": str(tmp_path),
    }
    command = [sys.executable, "manage.py", "backup", str(tmp_path / "b")]
    process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL)
    try:
        held = wait_for(lambda: _opened(pipe), "the backup reaches the pipe")
        with pytest.raises(CommandError, match="Another backup is at work"):
            call_command("backup", tmp_path / "b")
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    os.close(held)
    assert (tmp_path / "b.unfinished" / DUMP).exists()
    assert not (tmp_path / "b").exists()
    pipe.unlink()
    call_command("backup", tmp_path / "b")
    call_command("restore", tmp_path / "b", "--check")


def test_backups_by_the_clock_keep_the_newest_and_touch_nothing_else(
    competition: Competition, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    times = iter(datetime(2026, 11, day, 3, tzinfo=UTC) for day in range(1, 8))
    monkeypatch.setattr("malpan.operation.backup.keeping.timezone.localtime", lambda: next(times))
    shelf = tmp_path / "shelf"
    (shelf / "malpan-2026-10-01T030000").mkdir(parents=True)  # no manifest: not a backup
    (shelf / "by-hand").mkdir()
    for _night in range(3):
        call_command("backup", shelf, "--keep", "2")
    kept = ["malpan-2026-11-02T030000", "malpan-2026-11-03T030000"]
    assert sorted(each.name for each in shelf.iterdir()) == ["by-hand", "malpan-2026-10-01T030000", *kept]
    assert kept[1] in capsys.readouterr().out
    assert Chore.objects.get(name="backup").done_at > timezone.now() - timedelta(minutes=5)

    lost = sorted(read_facts().files)[0]
    (Path(site.PRIVATE_ROOT) / lost[:2] / lost[2:4] / lost).unlink()
    with pytest.raises(CommandError, match=lost):
        call_command("backup", shelf, "--keep", "2")
    assert {each.name for each in shelf.iterdir()} >= set(kept), "an older one may have what the site has lost"
    with pytest.raises(CommandError, match="at least 1"):
        call_command("backup", shelf, "--keep", "0")


def test_what_broke_off_by_the_clock_is_gone_before_the_next_so_that_a_full_shelf_recovers(
    competition: Competition, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    full = pytest.MonkeyPatch()
    full.setattr(making, "read_facts", _no_room)
    for day in (1, 2):  # a night that fails, twice: each has a name of its own
        moment = datetime(2026, 11, day, 3, tzinfo=UTC)
        monkeypatch.setattr("malpan.operation.backup.keeping.timezone.localtime", lambda: moment)  # noqa: B023
        with pytest.raises(OSError, match="No space left"):
            make_dated_backup(tmp_path, 2)
        assert [each.name for each in tmp_path.iterdir()] == [f"malpan-2026-11-0{day}T030000.unfinished"]
    full.undo()
    at_work, by_hand = tmp_path / "malpan-2026-11-01T040000.unfinished", tmp_path / "mine.unfinished"
    by_hand.mkdir()
    at_work.mkdir()
    monkeypatch.setattr("malpan.operation.backup.keeping.timezone.localtime", lambda: datetime(2026, 11, 3, 3))
    with making.only_one(at_work):
        made, _manifest = make_dated_backup(tmp_path, 2)
    assert {each.name for each in tmp_path.iterdir()} == {made.name, at_work.name, by_hand.name}


def _no_room() -> Any:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_nothing_is_collected_while_a_backup_copies_files(
    transactional_db: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file whose row goes after the moment of the backup is still named by it."""
    unnamed = storage.store_private(b"of a row that is gone by now").sha256
    monkeypatch.setattr(collecting, "KEPT", timedelta(seconds=-2))
    read, meanwhile = making.read_facts, list[Any]()

    def facts_of_a_moment() -> Any:
        meanwhile.extend(at_once([collecting.collect]))
        return read()

    monkeypatch.setattr(making, "read_facts", facts_of_a_moment)
    making.make_backup(tmp_path / "b")
    assert [type(each) for each in meanwhile] == [FilesInUse]
    assert (tmp_path / "b" / "files" / unnamed[:2] / unnamed[2:4] / unnamed).exists()
    assert collecting.collect().copies == 1


def _opened(pipe: Path) -> int | None:
    """``pipe`` opened to write, which works when somebody reads it; who reads it waits until it is closed."""
    try:
        return os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
    except OSError:
        return None


def test_every_column_that_names_a_file_is_known() -> None:
    others = {
        "token_sha256",
        "previous_sha256",
        "sha256",
        "seed_sha256",
        "design_sha256",
        "given_sha256",
        "request_sha256",
    }  # tokens, chains, boards, designs, requests
    found = {
        (model, field.name)
        for model in apps.get_models()
        for field in model._meta.get_fields()
        if field.name.endswith("sha256") and field.name not in others
    }
    assert found == set(NAMES_OF_FILES)


def test_a_backup_is_readable_by_its_owner_alone_and_holds_no_key_of_the_site(
    transactional_db: None, tmp_path: Path
) -> None:
    User.objects.create_user(email="a@example.com", password=PASSWORD)
    storage.store_private(b"a file")
    call_command("backup", tmp_path / "b")
    paths = [tmp_path / "b", *(tmp_path / "b").rglob("*")]
    assert all(path.is_dir() or path.stat().st_mode & 0o077 == 0 for path in paths)
    assert (tmp_path / "b").stat().st_mode & 0o077 == 0
    files = b"".join(path.read_bytes() for path in paths if path.is_file())
    assert site.SECRET_KEY.encode() not in files
