"""Downloads of the files that organisers publish. Submissions and references are never served."""

from __future__ import annotations

from django.http import FileResponse, HttpRequest
from django.views.decorators.http import require_safe

from competitions.selectors import data_file
from core.storage import open_private


@require_safe
def download(request: HttpRequest, pk: int, name: str) -> FileResponse:
    """The file as an attachment; raises ``DataFileNotFound`` or a storage fault."""
    is_staff = bool(getattr(request.user, "is_staff", False))
    file = data_file(pk, name, include_unpublished=is_staff)
    return FileResponse(open_private(file.file_sha256), as_attachment=True, filename=file.file_name)
