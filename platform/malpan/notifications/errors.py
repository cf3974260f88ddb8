"""Errors of notifications."""

from django.utils.translation import gettext_lazy as _

from malpan.core.errors import Conflict, NotFound, Unprocessable


class UnsubscribeLinkInvalid(NotFound):
    """The link in the mail was changed or cut, or its person left. Params: none."""

    text = _(
        "이 수신 거부 링크는 쓸 수 없습니다. 메일에 있는 주소 전체를 열었는지 확인하거나, 로그인해 알림 설정에서 "
        "바꾸어 주십시오."
    )


class EventUnknown(NotFound):
    """No event has this name. Params: none."""

    text = _("이런 알림은 없습니다. 알림 설정에서 다시 골라 주십시오.")


class EndpointNotFound(NotFound):
    """No webhook, or delivery to one, of this person has this primary key. Params: none."""

    text = _("이 웹훅을 찾을 수 없습니다. 웹훅 목록에서 다시 골라 주십시오.")


class EndpointAddressRefused(Unprocessable):
    """The address is none that this site sends to. Params: none."""

    text = _(
        "웹훅의 주소는 https://로 시작하고, 사용자 이름과 비밀번호가 없으며, 포트가 443이거나 1024 이상이어야 합니다."
    )


class EndpointAddressPrivate(EndpointAddressRefused):
    """The address is one of a private network or of the machine itself. Params: none."""

    text = _(
        "웹훅의 주소는 인터넷에서 닿는 주소여야 합니다. 사설망의 주소나 localhost처럼 사이트의 컴퓨터를 가리키는 "
        "주소로는 보내지 않습니다."
    )


class EventNotForYou(Unprocessable):
    """Only others hear of this event. Params: ``event``."""

    text = _("%(event)s 사건은 사이트를 운영하는 사람만 받을 수 있습니다. 다른 사건을 골라 주십시오.")


class TooManyEndpoints(Conflict):  # which no waiting ends
    """The person has as many webhooks as they may have. Params: ``limit``."""

    text = _("웹훅이 이미 %(limit)s개 있습니다. 쓰지 않는 웹훅을 지운 뒤 다시 만들어 주십시오.")


class EndpointOff(Conflict):
    """Nothing is sent to a webhook that is switched off. Params: none."""

    text = _("꺼져 있는 웹훅에는 보낼 수 없습니다. 웹훅을 켠 뒤 다시 보내 주십시오.")
