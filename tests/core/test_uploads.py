"""The cap on uploads: what one request may put on the disk, whatever it is sent to."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import RequestFactory

from malpan.core.uploads import was_too_large


@pytest.mark.parametrize(("sizes", "kept"), [([600, 400], 2), ([600, 401], 1), ([1001, 1], 0)])
def test_all_files_of_a_request_share_one_cap(settings, sizes, kept):
    settings.UPLOAD_MAX_BYTES = 1_000
    files = {f"file{number}": SimpleUploadedFile("a.json", b"x" * size) for number, size in enumerate(sizes)}

    request = RequestFactory().post("/anywhere/", files)

    assert len(request.FILES) == kept
    assert was_too_large(request) == (kept < len(sizes))
