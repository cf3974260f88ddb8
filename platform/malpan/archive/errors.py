"""Errors about archives of competitions."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext_lazy as _

from malpan.core.errors import Unprocessable


class ArchiveRefused(Unprocessable):
    """An archive of a competition that cannot be imported. ``reason``: unreadable, version (params ``version``, that
    of the archive, and ``known``, the one that is read; version_older and version_newer where it is a number), name,
    damaged, too_large, passphrase, slug_invalid, slug_taken (params ``slug``), present (its submissions already exist
    here), recipe (it is not installed here; params ``recipe``), foreign_file (it refers to a stored file of this site),
    rows (params ``table``). Nothing was changed.
    """

    text = {
        "unreadable": _("대회 보관 파일로 읽을 수 없습니다. 내보낸 zip 파일을 그대로 올려 주십시오."),
        "version": _("이 말판은 형식 %(known)s의 보관 파일만 읽습니다. 이 파일의 형식(%(version)s)은 알 수 없습니다."),
        "version_older": _(
            "보관 파일의 형식(%(version)s)이 오래되었습니다. 이 말판은 형식 %(known)s만 읽습니다. 파일을 내보낸 "
            "예전 판의 말판에서 가져온 뒤 그 말판을 새 판으로 올려 다시 내보내 주십시오."
        ),
        "version_newer": _(
            "보관 파일의 형식(%(version)s)이 이 말판보다 새롭습니다. 이 말판은 형식 %(known)s만 읽습니다. 이 말판을 "
            "파일을 내보낸 말판과 같은 판으로 올린 뒤 가져와 주십시오."
        ),
        "name": _("보관 파일에 있어서는 안 되는 이름(%(name)s)이 들어 있습니다. 가져오지 않았습니다."),
        "damaged": _("보관 파일의 ‘%(name)s’이(가) 손상되었거나 바뀌었습니다. 가져오지 않았습니다."),
        "too_large": _("보관 파일을 풀면 허용된 크기를 넘습니다. 가져오지 않았습니다."),
        "passphrase": _("암호 구문이 다르거나 암호화된 정답 파일이 바뀌었습니다. 가져오지 않았습니다."),
        "slug_taken": _("주소 이름 ‘%(slug)s’을(를) 다른 대회가 쓰고 있습니다. 다른 주소 이름을 정해 주십시오."),
        "slug_invalid": _("주소 이름에는 영문자, 숫자, 붙임표(-), 밑줄(_)만 쓸 수 있습니다."),
        "present": _("이 대회의 제출이 이미 이 서버에 있습니다. 같은 대회를 두 번 가져올 수 없습니다."),
        "recipe": _(
            "채점 방식 ‘%(recipe)s’이(가) 이 서버에 없습니다. 그 방식을 설치하거나 새로운 말판에서 가져와 주십시오."
        ),
        "foreign_file": _("보관 파일이 담고 있지 않은, 이 서버의 다른 파일을 가리킵니다. 가져오지 않았습니다."),
        "rows": _("보관 파일의 내용이 서로 맞지 않습니다(%(table)s). 가져오지 않았습니다."),
    }

    def __init__(self, *, reason: str, **params: Any) -> None:
        super().__init__(reason=reason, **params)


class PassphraseTooShort(Unprocessable):
    """The passphrase for reference answers in an archive. Params: ``limit``, the smallest number of characters."""

    text = _("암호 구문은 %(limit)s자 이상으로 정해 주십시오.")
