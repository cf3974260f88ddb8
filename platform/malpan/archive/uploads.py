"""How an archive is read that comes with a request."""

from __future__ import annotations

from django.conf import settings
from django.core.files.uploadhandler import SkipFile, TemporaryFileUploadHandler


class ArchiveUploadHandler(TemporaryFileUploadHandler):
    """An archive is written to the disk at once, and dropped above ``IMPORT_MAX_BYTES``."""

    received = 0

    def receive_data_chunk(self, raw_data: bytes, start: int) -> None:
        self.received += len(raw_data)
        if self.received > settings.IMPORT_MAX_BYTES:
            raise SkipFile
        super().receive_data_chunk(raw_data, start)
