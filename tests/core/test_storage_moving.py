"""All files from a disk to S3 and back: checked, resumable, and the source goes last and only on request."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from malpan.core.errors import StorageUnavailable
from malpan.core.storage.collecting import HELD
from malpan.core.storage.moving import move
from malpan.core.storage.places import store_at
from malpan.core.storage.stores import Store
from tests.confirmation import types


@pytest.fixture
def disk(tmp_path: Path) -> Store:
    return store_at(str(tmp_path / "files"))


@pytest.fixture
def far(in_s3, settings) -> Store:
    address, settings.MALPAN_STORAGE = settings.MALPAN_STORAGE, ""
    return store_at(address)


@pytest.fixture(params=["there", "back"])
def way(request: pytest.FixtureRequest, disk: Store, far: Store) -> tuple[Store, Store]:
    return (disk, far) if request.param == "there" else (far, disk)


def contents(store: Store) -> set[bytes]:
    found = set()
    for copy in store.copies():
        with store.open(copy.sha256) as file:
            found.add(file.read())
    return found


def test_every_file_arrives_and_the_source_keeps_them(way):
    source, target = way
    for number in range(5):
        source.put(b"%d" % number)
    target.put(b"0")

    done = move(source=source, target=target)

    assert (done.copied, done.present, done.damaged, done.removed, done.size) == (4, 1, [], 0, 5)
    assert contents(target) == contents(source) == {b"0", b"1", b"2", b"3", b"4"}
    again = move(source=source, target=target, removes=True)
    assert (again.copied, again.present, again.removed) == (0, 5, 5)
    assert (contents(source), len(contents(target))) == (set(), 5)


@pytest.mark.parametrize("held", [HELD, f"{HELD} of 7/malpan"])
def test_what_is_held_after_a_restore_is_held_in_the_next_store_also_in_one_with_an_owner(way, held):
    """That may be the site's own store of earlier. Who adopts the files before the last move does so again after it:
    each move brings those back that were let go of.
    """
    source, target = way
    move(source=source, target=target)
    assert target.owner() is None
    source.adopt(held)
    move(source=source, target=target)
    assert target.owner() == held
    target.adopt("7/malpan")
    move(source=source, target=target)
    assert target.owner() == held


def test_a_store_with_an_owner_keeps_it_where_nothing_is_held(way):
    source, target = way
    source.adopt("7/malpan")
    move(source=source, target=target)
    assert target.owner() == "7/malpan"
    target.adopt("8/malpan")
    move(source=source, target=target)
    assert target.owner() == "8/malpan"
    target.adopt(HELD)
    move(source=source, target=target)
    assert target.owner() == HELD


def test_a_store_that_was_emptied_has_no_owner(way):
    source, target = way
    source.put(b"a file")
    source.adopt("7/malpan")
    move(source=source, target=target)
    assert source.owner() == "7/malpan"
    move(source=source, target=target, removes=True)
    assert (source.owner(), target.owner()) == (None, "7/malpan")


def test_a_note_that_comes_during_the_move_stays_in_the_source(way):
    source, target = way
    source.write_note("erasures/1", b"early")
    source.put(b"a file")
    move(
        source=source,
        target=target,
        removes=True,
        tell=lambda _done: source.write_note("erasures/2", b"late"),
    )
    assert (list(source.notes()), list(target.notes())) == (["erasures/2"], ["erasures/1"])
    move(source=source, target=target, removes=True)
    assert (list(source.notes()), list(target.notes())) == ([], ["erasures/1", "erasures/2"])


def test_copy_that_arrived_damaged_is_sent_again(way):
    source, target = way
    stored = source.put(b"sound")
    target.put(b"sound")
    [copy] = target.copies()
    if isinstance(target, type(store_at("s3://a/b"))):
        target._client.put_object(Bucket=target.bucket, Key=copy.place, Body=b"half")
    else:
        Path(copy.place).write_bytes(b"half")

    assert move(source=source, target=target).copied == 1
    with target.open(stored.sha256) as file:
        assert file.read() == b"sound"


def test_damaged_file_of_the_source_is_named_and_nothing_is_removed(disk, far):
    damaged, sound = disk.put(b"damaged").sha256, disk.put(b"sound").sha256
    [path] = [Path(copy.place) for copy in disk.copies() if copy.sha256 == damaged]
    path.write_bytes(b"?")

    done = move(source=disk, target=far, removes=True)

    assert (done.damaged, done.copied, done.removed) == ([damaged], 1, 0)
    assert {copy.sha256 for copy in disk.copies()} == {damaged, sound}


def test_store_that_fails_on_the_way_ends_the_move_before_anything_is_removed(disk, far, monkeypatch):
    for number in range(3):
        disk.put(b"%d" % number)
    put, calls = type(far).put, []

    def fail_at_the_second(self, data):
        calls.append(data)
        if len(calls) == 2:
            raise StorageUnavailable
        return put(self, data)

    monkeypatch.setattr(type(far), "put", fail_at_the_second)
    with pytest.raises(StorageUnavailable):
        move(source=disk, target=far, removes=True)
    assert (len(contents(disk)), len(contents(far))) == (3, 1)

    done = move(source=disk, target=far, removes=True)
    assert (done.copied, done.present, done.removed) == (2, 1, 3)


def test_command_tells_what_it_did_and_refuses_to_remove_what_the_site_still_uses(disk, far, settings, monkeypatch):
    settings.PRIVATE_ROOT = disk.root
    disk.put(b"a file")
    there = f"s3://{far.bucket}/{far.prefix}"

    with pytest.raises(CommandError, match="the source stays"):
        call_command("move_files", str(disk.root), there, "--remove")
    with pytest.raises(CommandError, match="one store"):
        call_command("move_files", str(disk.root), f"{disk.root}/../files/")
    out = StringIO()
    call_command("move_files", str(disk.root), there, stdout=out)
    assert "copied 1, 이미 있음 / there already 0, 손상 / damaged 0, 원본 삭제 / removed 0" in out.getvalue()

    settings.MALPAN_STORAGE = there
    types(monkeypatch, "")
    with pytest.raises(CommandError, match="nothing was changed"):
        call_command("move_files", str(disk.root), there, "--remove", stdout=out)
    assert f"1 files in {disk.root} are removed" in out.getvalue()
    assert contents(disk) == {b"a file"}
    call_command("move_files", str(disk.root), there + "/", "--remove", "--yes", stdout=out)
    assert "there already 1, 손상 / damaged 0, 원본 삭제 / removed 1" in out.getvalue()
    assert (contents(disk), contents(far)) == (set(), {b"a file"})


def test_command_fails_where_a_file_is_damaged(disk, far):
    sha256 = disk.put(b"damaged").sha256
    [copy] = disk.copies()
    Path(copy.place).write_bytes(b"?")
    with pytest.raises(CommandError, match=sha256) as error:
        call_command("move_files", str(disk.root), f"s3://{far.bucket}/{far.prefix}", stdout=StringIO())
    assert error.value.returncode == 1
