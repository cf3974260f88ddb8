"""Secret tokens of links and of the API: made of 256 random bits, kept only as their sha256."""

from __future__ import annotations

import secrets
from hashlib import sha256


def make_token(mark: str = "") -> str:
    """A new secret, safe in an address; ``mark`` in front tells what kind it is."""
    return mark + secrets.token_urlsafe(32)


def hash_token(token: str) -> str:
    """The sha256 of ``token`` in hex: what is stored and looked up. The token is random, so it needs no salt."""
    return sha256(token.encode()).hexdigest()
