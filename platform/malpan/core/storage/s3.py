"""Private files in a store that speaks S3: ``PREFIX/ab/<sha256>.<token>`` in one bucket.

Every ``put`` makes a copy under a key of its own, so that removing a copy never meets a later upload of the same bytes;
``copies`` lists them all, ``open`` takes the newest that is sound. A copy appears when it is complete: a large one is
sent in parts, and what a killed process leaves of those is no copy.
"""

from __future__ import annotations

import base64
import hashlib
import io
import logging
import os
import re
import secrets
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from functools import lru_cache
from typing import IO, Any, BinaryIO, Final, cast

import boto3.session
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError, ReadTimeoutError
from django.conf import settings
from django.utils.http import content_disposition_header

from malpan.core.errors import StorageFull, StorageUnavailable, StoredFileCorrupt, StoredFileMissing, SystemFault
from malpan.core.storage.silence import StoreSilent, Watch
from malpan.core.storage.stores import CHUNK_BYTES, Copy, StoredFile, chunks, is_address, note_name

logger = logging.getLogger(__name__)

PART_BYTES: Final = 16 * CHUNK_BYTES  # above this in parts: one that fails is sent again, not the whole
ADDRESS_SECONDS: Final = 300  # how long a public address is good
_IN_MEMORY_BYTES: Final = 8 * CHUNK_BYTES  # of a file in hand; a larger one is in the machine's temporary folder
_READS: Final = 3  # of a copy, before it is called damaged or its store unreachable
_KEY: Final = re.compile(r"[0-9a-f]{2}/([0-9a-f]{64})\.[0-9a-f]{16}")
_NOTES: Final = "notes/"
_ABSENT: Final = frozenset({"NoSuchKey", "404"})
_FULL: Final = frozenset({"InsufficientStorage", "QuotaExceeded", "XMinioStorageFull", "507"})
_CONNECT_SECONDS: Final = 3.0  # also for a piece of what is sent
_ANSWER_SECONDS: Final = 20.0


@dataclass(frozen=True, slots=True)
class S3Store:
    """The files below ``prefix`` in ``bucket``; see ``stores.Store`` for what the methods promise."""

    bucket: str
    prefix: str

    def put(self, data: bytes | IO[bytes]) -> StoredFile:
        with _named_faults(), _in_hand(data) as (stored, file):
            key = self._key(f"{stored.sha256[:2]}/{stored.sha256}.{secrets.token_hex(8)}")
            if stored.size > PART_BYTES:
                self._put_parts(key, file)
            else:
                self._put_object(key, file.read())
            return stored

    def open(self, sha256: str) -> BinaryIO:
        with _named_faults():
            there = self._copies_of(sha256)
            for copy in there:
                if (file := self._checked(copy)) is not None:
                    return file
        raise StoredFileCorrupt(sha256=sha256) if there else StoredFileMissing(sha256=sha256)

    def copies(self) -> Iterator[Copy]:
        with _named_faults():
            yield from self._listed("")

    def is_sound(self, copy: Copy) -> bool:
        with _named_faults():
            file = self._checked(copy)
            if file is not None:
                file.close()
            return file is not None

    def remove(self, copy: Copy) -> bool:
        with _named_faults():
            self._client.delete_object(Bucket=self.bucket, Key=copy.place)
            return True

    def remove_unfinished(self, older_than: timedelta) -> int:
        removed = 0
        with _named_faults():
            pages = self._client.get_paginator("list_multipart_uploads")
            for page in pages.paginate(Bucket=self.bucket, Prefix=self._key("")):
                now = _clock_of(page)
                for upload in page.get("Uploads", ()):
                    if now - upload["Initiated"] > older_than:
                        self._abort(upload["Key"], upload["UploadId"])
                        removed += 1
        return removed

    def public_address(self, stored: StoredFile, file_name: str) -> str | None:
        if not settings.S3_PUBLIC_ENDPOINT:
            return None
        with _named_faults():
            there = self._copies_of(stored.sha256)
            if not there:
                raise StoredFileMissing(sha256=stored.sha256)
            # not read, as ``open`` does: one of another size is damaged, and that much the list of copies tells
            sound = next((copy for copy in there if copy.size == stored.size), None)
            if sound is None:
                raise StoredFileCorrupt(sha256=stored.sha256)
            wanted = {
                "Bucket": self.bucket,
                "Key": sound.place,
                "ResponseContentDisposition": content_disposition_header(True, file_name),
                "ResponseContentType": "application/octet-stream",  # never a page at the store's address
            }
            client = _client(settings.S3_PUBLIC_ENDPOINT, *_credentials())
            return str(client.generate_presigned_url("get_object", Params=wanted, ExpiresIn=ADDRESS_SECONDS))

    def silent_since(self) -> datetime | None:
        return _watch(settings.S3_ENDPOINT, os.getpid()).silent_since

    def owner(self) -> str | None:
        with _named_faults():
            try:
                answer = self._client.get_object(Bucket=self.bucket, Key=self._key("site"))
            except ClientError as error:
                if _code(error) in _ABSENT:
                    return None
                raise
            return str(answer["Body"].read().decode())

    def claim(self, site: str) -> str:
        if (owner := self.owner()) is not None:
            return owner
        self.adopt(site)
        return site

    def adopt(self, site: str) -> None:
        with _named_faults():
            self._put_object(self._key("site"), site.encode())

    def disown(self) -> None:
        with _named_faults():
            self._client.delete_object(Bucket=self.bucket, Key=self._key("site"))

    def write_note(self, name: str, body: bytes) -> None:
        with _named_faults():
            self._put_object(self._note(name), body)

    def notes(self) -> Iterator[str]:
        with _named_faults():
            start = self._key(_NOTES)
            for page in self._client.get_paginator("list_objects_v2").paginate(Bucket=self.bucket, Prefix=start):
                yield from (found["Key"].removeprefix(start) for found in page.get("Contents", ()))

    def read_note(self, name: str) -> bytes:
        with _named_faults():
            try:
                return bytes(self._client.get_object(Bucket=self.bucket, Key=self._note(name))["Body"].read())
            except ClientError as error:
                if _code(error) in _ABSENT:
                    raise StoredFileMissing(sha256=name) from None
                raise

    def remove_note(self, name: str) -> None:
        with _named_faults():
            self._client.delete_object(Bucket=self.bucket, Key=self._note(name))

    @property
    def _client(self) -> Any:
        return _client(settings.S3_ENDPOINT, *_credentials())

    def _key(self, name: str) -> str:
        return f"{self.prefix}/{name}" if self.prefix else name

    def _note(self, name: str) -> str:
        return self._key(f"{_NOTES}{note_name(name)}")

    def _copies_of(self, sha256: str) -> list[Copy]:
        """The newest first."""
        if not is_address(sha256):
            return []
        return sorted(self._listed(f"{sha256[:2]}/{sha256}."), key=lambda copy: copy.age)

    def _listed(self, start: str) -> Iterator[Copy]:
        pages = self._client.get_paginator("list_objects_v2")
        for page in pages.paginate(Bucket=self.bucket, Prefix=self._key(start)):
            now = _clock_of(page)
            for found in page.get("Contents", ()):
                if name := _KEY.fullmatch(found["Key"].removeprefix(self._key(""))):
                    yield Copy(name[1], found["Size"], found["Key"], now - found["LastModified"])

    def _checked(self, copy: Copy) -> BinaryIO | None:
        """The copy's bytes, at their start; ``None`` if it is gone or damaged. A read that fails is tried again."""
        for tries_left in reversed(range(_READS)):
            with ExitStack() as stack:
                spool = stack.enter_context(tempfile.SpooledTemporaryFile(_IN_MEMORY_BYTES))
                file = cast(BinaryIO, spool)
                try:
                    sha256 = self._fetch(copy.place, file)
                except ClientError as error:
                    if _code(error) in _ABSENT:
                        return None
                    raise
                except BotoCoreError as error:
                    if not tries_left or isinstance(error, ReadTimeoutError | StoreSilent):
                        raise
                    continue
                if sha256 == copy.sha256:
                    file.seek(0)
                    stack.pop_all()  # the caller closes it
                    return file
        logger.error("the bytes of %s/%s are not those of its name", self.bucket, copy.place)
        return None

    def _fetch(self, key: str, into: BinaryIO) -> str:
        """Write the object's bytes to ``into``; returns their sha256."""
        answer = self._client.get_object(Bucket=self.bucket, Key=key)
        digest = hashlib.sha256()
        for chunk in answer["Body"].iter_chunks(CHUNK_BYTES):
            digest.update(chunk)
            into.write(chunk)
        return digest.hexdigest()

    def _put_object(self, key: str, body: bytes) -> None:
        # with its digest: else some stores keep what they have of a request that breaks off
        self._client.put_object(Bucket=self.bucket, Key=key, Body=body, ContentMD5=_md5(body))

    def _put_parts(self, key: str, file: IO[bytes]) -> None:
        target = {"Bucket": self.bucket, "Key": key}
        upload = self._client.create_multipart_upload(**target)["UploadId"]
        try:
            parts: list[dict[str, Any]] = []
            while body := file.read(PART_BYTES):
                place = {"UploadId": upload, "PartNumber": len(parts) + 1}
                sent = self._client.upload_part(**target, **place, Body=body, ContentMD5=_md5(body))
                parts.append({"PartNumber": place["PartNumber"], "ETag": sent["ETag"]})
            self._client.complete_multipart_upload(**target, UploadId=upload, MultipartUpload={"Parts": parts})
        except BaseException:
            with suppress(BotoCoreError, ClientError):  # else ``remove_unfinished`` does it
                self._abort(key, upload)
            raise

    def _abort(self, key: str, upload: str) -> None:
        try:
            self._client.abort_multipart_upload(Bucket=self.bucket, Key=key, UploadId=upload)
        except ClientError as error:
            if _code(error) != "NoSuchUpload":  # it was finished meanwhile
                raise


@contextmanager
def _in_hand(data: bytes | IO[bytes]) -> Iterator[tuple[StoredFile, IO[bytes]]]:
    """The address of ``data``, and its bytes as a file at its start: an address is known only after the last byte."""
    if isinstance(data, bytes):
        yield StoredFile(hashlib.sha256(data).hexdigest(), len(data)), io.BytesIO(data)
        return
    digest = hashlib.sha256()
    with tempfile.SpooledTemporaryFile(_IN_MEMORY_BYTES) as file:
        for chunk in chunks(data):
            digest.update(chunk)
            file.write(chunk)
        stored = StoredFile(digest.hexdigest(), file.tell())
        file.seek(0)
        yield stored, cast(IO[bytes], file)


def _credentials() -> tuple[str, str, str, int]:
    # a client is made in each process: one that was forked must not share its parent's connections
    return settings.S3_REGION, settings.S3_ACCESS_KEY, settings.S3_SECRET_KEY, os.getpid()


@lru_cache(maxsize=8)
def _client(endpoint: str, region: str, access_key: str, secret_key: str, pid: int) -> Any:
    """A client, safe for threads. Without an endpoint it is Amazon's; without keys they are found as boto3 does."""
    client = boto3.session.Session().client(
        "s3",
        endpoint_url=endpoint or None,
        region_name=region or None,
        aws_access_key_id=access_key or None,
        aws_secret_access_key=secret_key or None,
        config=Config(
            signature_version="s3v4",
            connect_timeout=_CONNECT_SECONDS,
            read_timeout=_ANSWER_SECONDS,
            retries={"mode": "standard", "total_max_attempts": 3},
            tcp_keepalive=True,
            # stores other than Amazon's do not know the newest checksums: Content-MD5 is checked by all
            request_checksum_calculation="when_required",
            response_checksum_validation="when_required",
            s3={"addressing_style": "path"} if endpoint else None,
        ),
    )
    _watch(endpoint, pid).watch(client)
    return client


@lru_cache(maxsize=8)
def _watch(endpoint: str, pid: int) -> Watch:
    return Watch(endpoint or "Amazon", _CONNECT_SECONDS)


def _md5(body: bytes) -> str:
    """The store refuses bytes that do not have it."""
    return base64.b64encode(hashlib.md5(body, usedforsecurity=False).digest()).decode()


def _clock_of(answer: dict[str, Any]) -> datetime:
    """The moment of ``answer`` by the store's clock, with which its files' moments are compared."""
    date = answer["ResponseMetadata"]["HTTPHeaders"].get("date")
    return parsedate_to_datetime(date) if date else datetime.now(UTC)


def _code(error: ClientError) -> str:
    return str(error.response.get("Error", {}).get("Code", ""))


@contextmanager
def _named_faults() -> Iterator[None]:
    """Turn errors of the store, and of the machine's temporary folder, into the platform's named faults."""
    try:
        yield
    except (ClientError, BotoCoreError, OSError) as error:
        is_full = isinstance(error, ClientError) and _code(error) in _FULL
        fault: SystemFault = StorageFull() if is_full else StorageUnavailable()
        raise fault from error
