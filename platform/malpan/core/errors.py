"""The base classes of the platform's errors: a named class with its text, an HTTP status and data.

Three base classes, with different headings and consequences:

* ``SubmissionError`` 제출 오류 — the participant must fix it; costs no quota.
* ``SystemFault`` 시스템 오류 — our fault; refunded and retried automatically.
* ``RequestError`` 요청 오류 — the request cannot be granted: a team, an invitation, a permission, an address.

Each app has its errors in its own ``errors`` module. ``str(error)`` is only the code, so that a log line never contains
data; ``core.messages.text_of`` fills the text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, ClassVar

from django.utils.functional import Promise
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _

Text = str | Promise
Texts = Text | Mapping[str, Text]  # one sentence, or several by variant


class DomainError(Exception):
    """Base of all refusals and faults of the platform. ``params`` fill the text; they are safe to show.

    ``code``: the class's name in snake case, used by API clients and stored with failed runs. If ``text`` has several
    sentences, ``variant`` selects one: by the param ``reason``, unless a class has another rule.
    """

    code: ClassVar[str] = "domain_error"
    http_status: ClassVar[int] = 400
    heading: ClassVar[Text] = _("요청 오류")  # who must fix it
    text: ClassVar[Texts] = _("요청을 처리하지 못했습니다. 입력한 내용을 확인하고 다시 시도해 주십시오.")
    retry_after: int | None = None  # seconds after which the same request may succeed
    by_code: ClassVar[dict[str, type[DomainError]]] = {}

    def __init_subclass__(cls) -> None:
        cls.code = re.sub(r"(?<!^)(?=[A-Z])", "_", cls.__name__).lower()
        DomainError.by_code[cls.code] = cls

    def __init__(self, **params: Any) -> None:
        self.params: dict[str, Any] = params
        super().__init__(self.code)

    @property
    def variant(self) -> str:
        """The key of this error's sentence in ``text``, if there are several."""
        return str(self.params["reason"]) if isinstance(self.text, Mapping) else ""

    @property
    def headers(self) -> dict[str, str]:
        """What an answer with this error has among its headers, be it a page or JSON."""
        return {} if self.retry_after is None else {"Retry-After": str(self.retry_after)}

    @classmethod
    def sentence(cls, variant: str = "") -> Text:
        """The sentence of this class, without params."""
        return cls.text[variant] if isinstance(cls.text, Mapping) else cls.text


class SubmissionError(DomainError):
    """제출 오류: the file or the time is wrong. Nothing is charged."""

    heading = _("제출 오류")
    text: ClassVar[Texts] = _("제출을 접수하지 못했습니다. 파일과 제출 기간을 확인해 주십시오.")


class SystemFault(DomainError):
    """시스템 오류: our side failed. Nothing is charged, or the charge is refunded; every text says so."""

    http_status = 503
    heading = _("시스템 오류")
    text: ClassVar[Texts] = _("서버에 문제가 생겼습니다. 잠시 뒤에 다시 시도해 주십시오.")

    promises_no_charge: ClassVar[bool] = True  # false where it is unknown whether an upload was accepted

    @classmethod
    def sentence(cls, variant: str = "") -> Text:
        said = super().sentence(variant)
        if not cls.promises_no_charge:
            return said
        return format_lazy("{} {}", said, _("참가자의 잘못이 아니며 제출 횟수는 차감되지 않습니다."))


class RequestError(DomainError):
    """요청 오류: the request cannot be granted."""

    text: ClassVar[Texts] = _("요청을 처리할 수 없습니다. 주소와 입력한 내용을 확인해 주십시오.")


class Forbidden(RequestError):
    """The person may not do this."""

    http_status = 403


class NotFound(RequestError):
    """It does not exist, or the person must not know of it."""

    http_status = 404


class Conflict(RequestError):
    """It conflicts with the current state."""

    http_status = 409


class Gone(RequestError):
    """It no longer exists."""

    http_status = 410


class UnsupportedMedia(RequestError):
    """The request is in a form that this site does not read."""

    http_status = 415


class Unprocessable(RequestError):
    """The data of the request cannot be used."""

    http_status = 422


class TooMany(RequestError):
    """A limit is reached."""

    http_status = 429


class TooManyRequests(TooMany):
    """A limit of requests a minute is used up. Params: ``limit``, ``seconds``."""

    text = _("1분에 보낼 수 있는 요청 %(limit)s건을 모두 썼습니다. %(seconds)s초 뒤에 다시 보내 주십시오.")

    def __init__(self, *, limit: int, seconds: int) -> None:
        self.retry_after = seconds
        super().__init__(limit=limit, seconds=seconds)


class StorageFull(SystemFault):
    """The disk of the private store has no room left. Params: none."""

    http_status = 507
    text = _("서버의 저장 공간이 부족해 파일을 저장하지 못했습니다. 운영자에게 알려 주십시오.")


class DatabaseAway(SystemFault):
    """The database does not answer; whether it did what it was asked is unknown. Params: none."""

    retry_after = 30
    text = _(
        "데이터베이스에 연결하지 못했습니다. 이용하시는 분의 잘못이 아니며, 접수된 제출은 그대로 남아 있습니다. 파일을 "
        "올리던 중이었다면 이미 접수되었을 수 있으니 ‘내 제출’에서 먼저 확인하고, 프로그램에서는 같은 "
        "Idempotency-Key로 다시 보내 주십시오."
    )
    promises_no_charge = False


class DatabaseFull(SystemFault):
    """The disk of the database has no room left; what was asked of it was not done. Params: none."""

    http_status = 507
    text = _("서버의 저장 공간이 부족해 요청을 처리하지 못했습니다. 저장된 것은 없습니다. 운영자에게 알려 주십시오.")


class CacheAway(SystemFault):
    """Redis, where failed log-ins are counted, does not answer. Params: none."""

    retry_after = 30
    text = _(
        "로그인 시도를 세는 서버가 답하지 않아 지금은 이 요청을 처리하지 못합니다. 비밀번호가 틀린 것이 아니며, 이미 "
        "로그인한 분은 그대로 이용할 수 있습니다. 잠시 뒤에 다시 시도해 주십시오."
    )


class MailNotSent(SystemFault):
    """The mail server refused a message or is away; what the mail was for is undone. Params: ``reason``."""

    text: ClassVar[Texts] = {
        "invitation": _(
            "초대 메일을 보내지 못했습니다. 초대는 취소했으니 잠시 뒤에 다시 시도하거나 초대 링크를 직접 전해 주십시오."
        ),
        "account": _(
            "메일 서버에 문제가 있어 메일을 보내지 못했습니다. 입력하신 내용이 틀린 것이 아니며, 바뀐 것은 없습니다. "
            "잠시 뒤에 다시 시도해 주시고, 계속되면 운영자에게 알려 주십시오."
        ),
    }
    promises_no_charge = False  # nothing of it concerns submissions

    @classmethod
    def sentence(cls, variant: str = "account") -> Text:
        return super().sentence(variant)


class StorageUnavailable(SystemFault):
    """The private store cannot be written or read. Params: none."""

    text = _("서버가 파일을 저장하거나 읽지 못했습니다. 잠시 뒤에 다시 시도해 주십시오.")


class StoredFileMissing(SystemFault):
    """A file of the private store is missing. Params: ``sha256``."""

    text = _("서버에 저장된 파일을 찾지 못했습니다. 운영자에게 알려 주십시오.")


class StoredFileCorrupt(SystemFault):
    """The bytes on disk no longer have the sha256 of their address. Params: ``sha256``."""

    text = _("서버에 저장된 파일이 손상되었습니다. 운영자에게 알려 주십시오.")


class StoreOfAnotherSite(Conflict):
    """The rows that name the store's files are in another database. Params: ``owner``, that database."""

    text = _(
        "이 저장소의 파일은 다른 데이터베이스(%(owner)s)의 사이트가 쓰고 있어 지우지 않았습니다. 데이터베이스를 옮긴 "
        "것이라면 manage.py collect_files --adopt로 이 사이트의 저장소로 정해 주십시오."
    )


class FilesInUse(Conflict):
    """A backup copies the private files, or another collector removes some. Params: none."""

    text = _("백업이나 다른 정리가 진행 중이라 파일을 지우지 않았습니다. 끝난 뒤에 다시 실행해 주십시오.")


class AddressNotFound(NotFound):
    """The site has no page at this address."""

    text = _("이런 주소는 없습니다.")


class AuditEntryNotFound(NotFound):
    """No such entry in the audit log of this competition."""

    text = _("감사 기록을 찾을 수 없습니다. 목록에서 다시 열어 주십시오.")


class SeveralFiles(RequestError):
    """A request has more than one file where one is read. Params: ``field``, ``count``."""

    text = _("요청에 ‘%(field)s’ 파일이 %(count)s개 있어 어느 것인지 알 수 없습니다. 하나만 보내 주십시오.")


class UnsupportedCharset(UnsupportedMedia):
    """The request names a character set other than UTF-8. Params: ``charset``."""

    text = _(
        "이 사이트는 UTF-8만 읽습니다(받은 charset: %(charset)s). "
        "Content-Type에서 charset을 빼거나 utf-8로 적어 주십시오."
    )
