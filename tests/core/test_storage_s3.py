"""What can go wrong with a store on another machine: whose fault it is called, how long it takes, what is left."""

from __future__ import annotations

import hashlib
import os
import time
import urllib.request
from datetime import timedelta
from urllib.error import HTTPError

import pytest
from botocore.exceptions import ResponseStreamingError

from malpan.core.errors import StorageFull, StorageUnavailable, StoredFileCorrupt, StoredFileMissing, SystemFault
from malpan.core.storage import CHUNK_BYTES, public_address, read_private, remove_unfinished, s3, store_private
from malpan.core.storage.places import configured
from malpan.core.storage.s3 import S3Store

pytestmark = pytest.mark.usefixtures("in_s3")
DATA = "정답이 아닌 파일".encode()


@pytest.fixture
def store() -> S3Store:
    found = configured()
    assert isinstance(found, S3Store)
    return found


def unfinished(store: S3Store) -> list[str]:
    answer = store._client.list_multipart_uploads(Bucket=store.bucket, Prefix=store._key(""))
    return [upload["Key"] for upload in answer.get("Uploads", ())]


def test_every_upload_is_a_copy_of_its_own_and_the_newest_sound_one_is_read(store):
    sha256 = store_private(DATA).sha256
    time.sleep(1.1)  # the store's clock counts seconds
    store_private(DATA)
    older, newer = sorted(store.copies(), key=lambda copy: -copy.age)
    store._client.put_object(Bucket=store.bucket, Key=newer.place, Body=b"damaged")

    assert read_private(sha256) == DATA
    store.remove(older)
    assert not store.is_sound(newer)


def test_bytes_that_changed_on_their_way_are_refused_by_the_store(store, monkeypatch):
    monkeypatch.setattr(s3, "_md5", lambda body: "1B2M2Y8AsgTpgAmY7PhCfg==")

    with pytest.raises(StorageUnavailable):
        store_private(DATA)
    assert list(store.copies()) == []


def test_upload_in_parts_that_fails_leaves_nothing(store, monkeypatch):
    monkeypatch.setattr(s3, "PART_BYTES", 5 * CHUNK_BYTES)
    honest, calls = s3._md5, []

    def second_part_is_damaged(body: bytes) -> str:
        calls.append(len(body))
        return honest(body if len(calls) < 2 else b"")

    monkeypatch.setattr(s3, "_md5", second_part_is_damaged)
    with pytest.raises(StorageUnavailable):
        store_private(os.urandom(11 * CHUNK_BYTES))

    assert calls == [5 * CHUNK_BYTES] * 2
    assert (unfinished(store), list(store.copies())) == ([], [])


def test_parts_that_a_killed_process_left_go_when_they_are_old_and_never_earlier(store):
    client, key = store._client, store._key(f"ab/{'ab' * 32}.{'0' * 16}")
    client.create_multipart_upload(Bucket=store.bucket, Key=key)

    assert list(store.copies()) == []  # no file
    assert remove_unfinished() == 0
    assert unfinished(store) == [key]
    assert remove_unfinished(timedelta(seconds=-2)) == 1
    assert unfinished(store) == []


def test_read_that_breaks_off_is_tried_again_and_gives_up_in_the_end(store, monkeypatch):
    sha256 = store_private(DATA).sha256
    fetch, left = S3Store._fetch, [2]

    def break_off(self: S3Store, key: str, into: object) -> str:
        if left[0]:
            left[0] -= 1
            into.write(b"half of it")
            raise ResponseStreamingError(error="broken off")
        return fetch(self, key, into)

    monkeypatch.setattr(S3Store, "_fetch", break_off)
    assert read_private(sha256) == DATA
    left[0] = 3
    with pytest.raises(StorageUnavailable):
        read_private(sha256)


def test_store_that_is_away_is_a_fault_of_ours_within_seconds_and_loses_nothing(store, in_s3):
    sha256 = store_private(DATA).sha256
    in_s3.kill()
    try:
        for act in (lambda: store_private(b"new"), lambda: read_private(sha256), remove_unfinished):
            begun = time.monotonic()
            with pytest.raises(StorageUnavailable) as fault:
                act()
            assert isinstance(fault.value, SystemFault)
            assert fault.value.http_status == 503
            assert time.monotonic() - begun < 30
    finally:
        in_s3.start()

    assert read_private(sha256) == DATA  # although nothing told it to end
    assert read_private(store_private(b"new").sha256) == b"new"


def test_wrong_keys_and_a_missing_bucket_are_faults_of_ours_not_missing_files(settings):
    sha256 = store_private(DATA).sha256
    settings.S3_SECRET_KEY = "wrong"
    with pytest.raises(StorageUnavailable):
        read_private(sha256)
    settings.S3_SECRET_KEY, settings.MALPAN_STORAGE = "the-tests-own", "s3://no-such-bucket/x"
    with pytest.raises(StorageUnavailable):
        read_private(sha256)


def test_store_without_room_is_named(store, monkeypatch):
    def refuse(*_args: object, **_kwargs: object) -> None:
        answer = {"Error": {"Code": "InsufficientStorage"}, "ResponseMetadata": {"HTTPStatusCode": 507}}
        raise s3.ClientError(answer, "PutObject")

    monkeypatch.setattr(store._client, "put_object", refuse)
    with pytest.raises(StorageFull):
        store_private(DATA)


def test_public_address_gives_the_file_under_its_name_for_minutes_and_nothing_else(settings, in_s3, store):
    settings.S3_PUBLIC_ENDPOINT = in_s3.endpoint
    stored = store_private(DATA)
    sha256 = stored.sha256
    address = public_address(stored, "자료 1.json")

    assert f"X-Amz-Expires={s3.ADDRESS_SECONDS}&" in address
    with urllib.request.urlopen(address) as answer:
        assert hashlib.sha256(answer.read()).hexdigest() == sha256
        assert answer.headers["Content-Disposition"] == "attachment; filename*=utf-8''%EC%9E%90%EB%A3%8C%201.json"
        assert answer.headers["Content-Type"] == "application/octet-stream"
    [copy] = store.copies()
    other = address.replace(sha256, store_private(b"another").sha256)
    for refused in (address.partition("?")[0], other, address[:-1] + ("0" if address[-1] != "0" else "1")):
        with pytest.raises(HTTPError, match="403"):
            urllib.request.urlopen(refused)
    store.remove(copy)
    with pytest.raises(StoredFileMissing):
        public_address(stored, "자료 1.json")


def test_public_address_is_of_a_copy_that_is_not_cut(settings, in_s3, store):
    settings.S3_PUBLIC_ENDPOINT = in_s3.endpoint
    stored = store_private(DATA)
    time.sleep(1.1)  # the store's clock counts seconds
    store_private(DATA)
    older, newer = sorted(store.copies(), key=lambda copy: -copy.age)
    store._client.put_object(Bucket=store.bucket, Key=newer.place, Body=DATA[:-1])

    with urllib.request.urlopen(public_address(stored, "자료.json")) as answer:
        assert answer.read() == DATA
    store.remove(older)
    with pytest.raises(StoredFileCorrupt):
        public_address(stored, "자료.json")
