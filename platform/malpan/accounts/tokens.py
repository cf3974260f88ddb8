"""Secret tokens of links and of the API: 256 random bits, stored only as their sha256."""

from __future__ import annotations

import secrets
from hashlib import sha256


def make_token(mark: str = "") -> str:
    """A new secret, safe in an address; the prefix ``mark`` says what kind it is."""
    return mark + secrets.token_urlsafe(32)


def hash_token(token: str) -> str:
    """The sha256 of ``token`` in hex: what is stored and looked up. The token is random, so it needs no salt."""
    return sha256(token.encode()).hexdigest()
