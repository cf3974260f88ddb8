"""A limit for the files of a request, before any view gets it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.core.files.uploadhandler import FileUploadHandler, SkipFile
from django.http import HttpRequest

from malpan.core.errors import SeveralFiles

View = TypeVar("View", bound=Callable[..., Any])

FORM_BYTES: Final = 64 * 1024  # boundaries, headers and the memo around the file itself
FLAG = "file_too_large"


class CappedUploadHandler(FileUploadHandler):
    """Drops a file when all files of the request exceed ``UPLOAD_MAX_BYTES`` and marks the request.

    The rest of the body is read and dropped, so that the browser gets our response and not a broken connection. Must be
    first in ``FILE_UPLOAD_HANDLERS``.
    """

    received = 0  # bytes of all files of this request: a hundred files of the allowed size could fill the disk

    def receive_data_chunk(self, raw_data: bytes, start: int) -> bytes:
        self.received += len(raw_data)
        if self.received > settings.UPLOAD_MAX_BYTES:
            setattr(self.request, FLAG, True)
            raise SkipFile
        return raw_data

    def file_complete(self, file_size: int) -> UploadedFile | None:
        return None


def takes_file(view: View) -> View:
    """Mark a page that takes a participant's file: what can be refused without reading it is refused before that
    (``web.middleware.UnreadFilesMiddleware``).
    """
    view.takes_file = True  # type: ignore[attr-defined]
    return view


def one_file(request: HttpRequest, name: str) -> UploadedFile | None:
    """The file of the form under ``name``. Raises ``SeveralFiles``: Django would take the last."""
    found = request.FILES.getlist(name)
    if len(found) > 1:
        raise SeveralFiles(field=name, count=len(found))
    return found[0] if found else None


def was_too_large(request: HttpRequest) -> bool:
    """Whether a file of this request was dropped for its size; its body must have been read."""
    return getattr(request, FLAG, False)


def body_size(request: HttpRequest) -> int:
    """The size of the whole body in bytes as the browser declared it: a little more than the file in it."""
    declared = request.META.get("CONTENT_LENGTH") or "0"
    return int(declared) if declared.isdigit() else 0
