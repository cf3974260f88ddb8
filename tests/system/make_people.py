"""People in a running site's database who are logged in already: for ``Stack.call``."""

from __future__ import annotations

import uuid


def log_in_somebody() -> dict[str, str]:
    """A new account without a password: its address, which no mail has confirmed, and the cookie of its session."""
    from allauth.account.models import EmailAddress
    from django.conf import settings
    from django.test import Client

    from malpan.accounts.models import User

    email = f"{uuid.uuid4().hex[:12]}@example.org"
    user = User.objects.create_user(email, password=None, name="김운영")
    EmailAddress.objects.create(user=user, email=email, primary=True, verified=False)
    client = Client()
    client.force_login(user, backend=settings.AUTHENTICATION_BACKENDS[0])
    return {"email": email, "cookie": settings.SESSION_COOKIE_NAME, "session": client.session.session_key}
