"""The signature of a webhook, by Standard Webhooks (https://www.standardwebhooks.com/).

No secret is stored: it is derived from the site's ``SECRET_KEY`` and the endpoint's id, so that neither a copy of the
database nor a backup has it. Another ``SECRET_KEY`` makes other secrets: then people have to make their webhooks anew.
"""

from __future__ import annotations

import hmac
from base64 import b64decode, b64encode
from hashlib import sha256
from typing import Final

from django.utils.crypto import salted_hmac

from malpan.notifications.models import Endpoint

PREFIX: Final = "whsec_"
_SALT: Final = "malpan.notifications.webhook"


def secret_of(endpoint: Endpoint) -> str:
    """The secret that the owner of ``endpoint`` is shown once."""
    return PREFIX + b64encode(salted_hmac(_SALT, str(endpoint.public_id), algorithm="sha256").digest()).decode()


def signed(*, secret: str, message_id: str, timestamp: int, body: bytes) -> dict[str, str]:
    """The headers by which a receiver knows who sent ``body``, when, and whether it came before."""
    content = f"{message_id}.{timestamp}.".encode() + body
    digest = hmac.new(b64decode(secret.removeprefix(PREFIX)), content, sha256).digest()
    return {
        "webhook-id": message_id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": f"v1,{b64encode(digest).decode()}",
    }
