"""What went wrong with a delivery to a webhook, in words. The outbox keeps the name of the error, or the status."""

from __future__ import annotations

import re
from typing import Final

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

_SENTENCES: Final = {
    "gaierror": _("주소를 찾을 수 없습니다(DNS)."),
    "UnicodeError": _("주소를 찾을 수 없습니다(DNS)."),
    "AddressRefused": _("사설망의 주소라 보내지 않았습니다."),
    "TimeoutError": _("정해진 시간 안에 답이 없었습니다."),
    "ConnectionRefusedError": _("받는 쪽이 연결을 거부했습니다."),
    "ConnectionResetError": _("받는 쪽이 연결을 끊었습니다."),
    "BrokenPipeError": _("받는 쪽이 연결을 끊었습니다."),
    "RemoteDisconnected": _("받는 쪽이 답하지 않고 연결을 끊었습니다."),
    "SSLCertVerificationError": _("받는 쪽의 인증서를 믿을 수 없습니다(TLS)."),
    "SSLError": _("암호화된 연결을 맺지 못했습니다(TLS)."),
    "SSLEOFError": _("암호화된 연결을 맺지 못했습니다(TLS)."),
    "BadStatusLine": _("받는 쪽의 답이 HTTP가 아닙니다."),
    "OSError": _("받는 쪽에 연결하지 못했습니다."),
}


def said_of(error: str) -> str:
    """``error`` as the outbox keeps it, in the language of the reader; one that is not known stays as it is."""
    if found := re.fullmatch(r"HTTP (\d{3})", error):
        return gettext("받는 쪽이 HTTP %(status)s(으)로 답했습니다.") % {"status": found[1]}
    return str(_SENTENCES.get(error, error))
