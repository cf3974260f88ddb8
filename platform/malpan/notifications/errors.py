"""Errors of notifications."""

from django.utils.translation import gettext_lazy as _

from malpan.core.errors import NotFound


class UnsubscribeLinkInvalid(NotFound):
    """The link in the mail was changed or cut, or its person left. Params: none."""

    text = _(
        "이 수신 거부 링크는 쓸 수 없습니다. 메일에 있는 주소 전체를 열었는지 확인하거나, 로그인해 알림 설정에서 "
        "바꾸어 주십시오."
    )


class EventUnknown(NotFound):
    """No event has this name. Params: none."""

    text = _("이런 알림은 없습니다. 알림 설정에서 다시 골라 주십시오.")
