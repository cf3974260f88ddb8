"""A stored file as an answer: whole, or from where a broken download left off (RFC 9110, ``Range: bytes=N-``).

Every other range is answered with the whole file, as the RFC allows.
"""

from __future__ import annotations

import re
from os import SEEK_END
from typing import BinaryIO, Final

from django.http import FileResponse, HttpRequest

_REST: Final = re.compile(r"bytes=(\d{1,18})-")


def file_answer(request: HttpRequest, file: BinaryIO, *, name: str, sha256: str) -> FileResponse:
    """``file`` as an attachment; the response closes it."""
    etag = f'"{sha256}"'
    start, size = _start(request, etag), file.seek(0, SEEK_END)
    is_rest = 0 < start < size
    file.seek(start if is_rest else 0)  # FileResponse sends what follows, and says how much that is
    response = FileResponse(file, as_attachment=True, filename=name, content_type="application/octet-stream")
    response["ETag"], response["Accept-Ranges"] = etag, "bytes"
    if is_rest:
        response.status_code = 206
        response["Content-Range"] = f"bytes {start}-{size - 1}/{size}"
    return response


def _start(request: HttpRequest, etag: str) -> int:
    """From which byte on the file is asked for; 0 where it became another one since (``If-Range``)."""
    found = _REST.fullmatch(request.headers.get("Range", ""))
    return int(found[1]) if found and request.headers.get("If-Range", etag) == etag else 0
