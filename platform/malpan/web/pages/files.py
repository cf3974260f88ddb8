"""Downloads of the files that organisers publish. Submissions and references are never served."""

from __future__ import annotations

from django.http import FileResponse, HttpRequest, HttpResponseRedirect
from django.utils.cache import add_never_cache_headers
from django.views.decorators.http import require_safe

from malpan.competitions.errors import DataFileNotFound
from malpan.competitions.selectors import data_file
from malpan.core.downloads import file_answer
from malpan.core.storage import StoredFile, open_private, public_address
from malpan.web.pages.context import may_visit


@require_safe
def download(request: HttpRequest, pk: int, name: str) -> FileResponse | HttpResponseRedirect:
    """The file as an attachment, or the way to it; raises ``DataFileNotFound`` or a storage fault."""
    file = data_file(pk, name, include_unpublished=True)
    if not may_visit(request.user, file.track.competition):
        raise DataFileNotFound
    stored = StoredFile(file.file_sha256, file.file_size)
    if (address := public_address(stored, file.file_name)) is not None:
        answer = HttpResponseRedirect(address)
        add_never_cache_headers(answer)  # the address is good for some minutes only
        return answer
    return file_answer(request, open_private(file.file_sha256), name=file.file_name, sha256=file.file_sha256)
