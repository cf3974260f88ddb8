"""What holds wherever private files are: on the disk of a machine, or in a store that speaks S3."""

from __future__ import annotations

import hashlib
import io
import os
import zipfile
from datetime import timedelta
from pathlib import Path

import pytest

from malpan.core.errors import StoredFileCorrupt, StoredFileMissing
from malpan.core.storage import (
    CHUNK_BYTES,
    open_private,
    public_address,
    read_private,
    remove_unfinished,
    store_private,
    stored_files,
)
from malpan.core.storage import s3 as s3_store
from malpan.core.storage.local_disk import LocalDisk
from malpan.core.storage.s3 import S3Store
from malpan.core.storage.stores import Store

pytestmark = pytest.mark.usefixtures("store")
DATA = "정답이 아닌 파일".encode()


def overwrite(store: Store, data: bytes) -> None:
    """Damage every stored file behind the store's back."""
    for copy in store.copies():
        if isinstance(store, LocalDisk):
            Path(copy.place).write_bytes(data)
        else:
            assert isinstance(store, S3Store)
            store._client.put_object(Bucket=store.bucket, Key=copy.place, Body=data)


def test_stored_file_is_found_under_its_sha256(store):
    stored = store_private(DATA)

    assert (stored.sha256, stored.size) == (hashlib.sha256(DATA).hexdigest(), len(DATA))
    with open_private(stored.sha256) as file:
        assert file.read() == DATA
    [copy] = store.copies()
    assert (copy.sha256, copy.size) == (stored.sha256, len(DATA))
    assert timedelta(seconds=-1) <= copy.age < timedelta(minutes=1)
    assert store.is_sound(copy)


def test_every_stored_file_is_named_once_however_often_it_was_stored():
    """As a backup reads them."""
    stored = {store_private(data).sha256 for data in (DATA, DATA, DATA + b"2", b"")}
    assert sorted(stored_files()) == sorted(stored)


def test_file_is_stored_from_its_position_in_chunks():
    data = os.urandom(2 * CHUNK_BYTES + 17)
    sizes: list[int] = []

    class Recorder(io.BytesIO):
        def read(self, size: int | None = -1, /) -> bytes:
            sizes.append(size or 0)
            return super().read(size)

    file = Recorder(b"before" + data)
    file.seek(6)
    stored = store_private(file)

    assert (stored.size, read_private(stored.sha256)) == (len(data), data)
    assert set(sizes) == {CHUNK_BYTES}


def test_large_file_is_stored_whole(monkeypatch):
    monkeypatch.setattr(s3_store, "PART_BYTES", 5 * CHUNK_BYTES)
    data = os.urandom(11 * CHUNK_BYTES)

    assert read_private(store_private(io.BytesIO(data)).sha256) == data
    assert read_private(store_private(data).sha256) == data


def test_empty_file_is_a_file():
    assert read_private(store_private(b"").sha256) == b""


def test_opened_file_can_be_sought_in_as_archives_of_frames_are():
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("1.jpg", DATA)

    with open_private(store_private(buffer.getvalue()).sha256) as file, zipfile.ZipFile(file) as archive:
        assert archive.read("1.jpg") == DATA


@pytest.mark.parametrize("damage", [DATA[:-1] + b"!", DATA[:-1], b""])
def test_damaged_file_is_never_handed_out_and_storing_again_mends_it(store, damage):
    stored = store_private(DATA)
    overwrite(store, damage)

    with pytest.raises(StoredFileCorrupt):
        open_private(stored.sha256)
    assert not any(store.is_sound(copy) for copy in store.copies())

    store_private(DATA)
    assert read_private(stored.sha256) == DATA


@pytest.mark.parametrize("address", ["", "../../etc/passwd", "0" * 63, "A" * 64, "0" * 64])
def test_unknown_address_is_missing_and_never_a_way_out_of_the_store(address):
    store_private(DATA)
    with pytest.raises(StoredFileMissing):
        open_private(address)


def test_removed_copy_is_gone(store):
    stored = store_private(DATA)
    kept = store_private(b"another")
    [copy] = [copy for copy in store.copies() if copy.sha256 == stored.sha256]

    assert store.remove(copy)

    with pytest.raises(StoredFileMissing):
        open_private(stored.sha256)
    assert not store.is_sound(copy)
    assert read_private(kept.sha256) == b"another"


def test_file_stored_again_outlives_the_removal_of_what_was_listed_before(store):
    stored = store_private(DATA)
    listed = list(store.copies())
    store_private(DATA)

    for copy in listed:
        store.remove(copy)

    assert read_private(stored.sha256) == DATA


def test_nothing_is_unfinished_after_a_store():
    store_private(DATA)
    assert remove_unfinished(timedelta(seconds=-5)) == 0


def test_the_site_hands_files_out_itself_unless_told_otherwise():
    assert public_address(store_private(DATA), "자료.json") is None


def test_the_first_site_owns_the_store_until_another_adopts_it(store):
    assert store.owner() is None
    assert store.claim("one") == "one"
    assert store.claim("other") == "one"
    assert store.owner() == "one"
    store.adopt("other")
    assert store.claim("one") == "other"
    assert list(store.copies()) == []
    store.disown()
    store.disown()
    assert store.owner() is None
