"""Log-ins without the log-in page: what a browser's cookies would say afterwards."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from malpan.accounts.models import User

CSRF: Final = "a" * 32  # the token of forms, and its cookie


def session_of(user: User) -> str:
    """The session cookie of ``user``, logged in."""
    from django.conf import settings
    from django.test import Client

    client = Client()
    client.force_login(user)
    return str(client.cookies[settings.SESSION_COOKIE_NAME].value)


def cookies_of(session: str) -> dict[str, str]:
    """The cookies of a browser with ``session``, which may send forms with ``CSRF``."""
    return {"sessionid": session, "csrftoken": CSRF}
