"""A whole competition from an archive."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.utils.translation import gettext_noop as _

from malpan.api.frame import ApiRequest
from malpan.api.manage.access import ManageOperations
from malpan.api.reading import FORM, uploaded_form
from malpan.api.schemas.manage import records as shown
from malpan.archive.importing import import_competition
from malpan.archive.uploads import ArchiveUploadHandler
from malpan.competitions.setup import require_may_create

operations = ManageOperations(_("운영: 역할과 기록"))
ARCHIVE = {
    "requestBody": {
        "required": True,
        "content": {
            FORM: {
                "schema": {
                    "type": "object",
                    "required": ["file"],
                    "properties": {
                        "file": {"type": "string", "format": "binary"},
                        "slug": {"type": "string", "maxLength": 50},
                        "passphrase": {"type": "string", "maxLength": 1000},
                    },
                }
            }
        },
    }
}


@operations.post(
    "/import/",
    "importCompetition",
    _("보관 파일에서 대회 가져오기"),
    shown.ImportedCompetition,
    status=201,
    extra=ARCHIVE,
    says=_(
        "파일 안의 사람과 팀, 제출을 이 사이트에 만듭니다. 사이트의 대회를 만들 권한이 있어야 하며, slug가 없으면 "
        "내보낸 대회의 주소 이름을 씁니다. 암호화된 정답은 passphrase가 있어야 들어옵니다."
    ),
    is_once=False,
)
def import_archive(request: ApiRequest) -> Any:
    require_may_create(request.auth.person)  # before two gigabytes are read
    request.upload_handlers = [ArchiveUploadHandler(request)]
    form = uploaded_form(request, settings.IMPORT_MAX_BYTES)
    done = import_competition(
        file=form.file("file"),
        actor=request.auth.person,
        slug=form.text("slug"),
        passphrase=form.secret("passphrase", 1000),
    )
    return {
        "slug": done.competition.slug,
        "title_ko": done.competition.title_ko,
        "counts": done.counts,
        "new_people": done.new_people,
        "missing_files": len(done.missing_files),
        "has_references": done.has_references,
    }
