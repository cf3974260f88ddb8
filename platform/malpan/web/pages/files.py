"""Downloads of the files that organisers publish. Submissions and references are never served."""

from __future__ import annotations

from django.http import FileResponse, HttpRequest
from django.views.decorators.http import require_safe

from malpan.competitions.errors import DataFileNotFound
from malpan.competitions.selectors import data_file
from malpan.core.storage import open_private
from malpan.web.pages.context import may_visit


@require_safe
def download(request: HttpRequest, pk: int, name: str) -> FileResponse:
    """The file as an attachment; raises ``DataFileNotFound`` or a storage fault."""
    file = data_file(pk, name, include_unpublished=True)
    if not may_visit(request.user, file.track.competition):
        raise DataFileNotFound
    return FileResponse(open_private(file.file_sha256), as_attachment=True, filename=file.file_name)
