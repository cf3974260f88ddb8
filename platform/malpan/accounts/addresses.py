"""What is kept of the addresses of people whose data were erased: keyed hashes, which name nobody."""

from __future__ import annotations

from datetime import datetime

from django.conf import settings
from django.utils.crypto import salted_hmac

from malpan.accounts.models import User


def erasure_keys() -> list[str]:
    """The key of all that is kept of people whose data were erased, and then earlier ones, which only find."""
    return [settings.ERASURE_KEY or settings.SECRET_KEY, *settings.ERASURE_KEY_FALLBACKS]


def fingerprint(email: str, key: str | None = None) -> str:
    """The same for the same address, whatever its case; worth nothing without the key (unset: that of today)."""
    secret = key or erasure_keys()[0]
    text = email.strip().lower()
    return salted_hmac("malpan.accounts.addresses", text, secret=secret, algorithm="sha256").hexdigest()


def who_had(email: str, at: datetime) -> User | None:
    """Whose address ``email`` was at that moment, as an archive of then knows it: an account, the pseudonym of somebody
    whose data were erased since, or ``None`` for a stranger.

    Somebody erased earlier stays the pseudonym too, where another site still knows the address, unless they came back.
    """
    erased = User.objects.filter(former_addresses__overlap=[fingerprint(email, key) for key in erasure_keys()])
    return (
        erased.filter(erased_at__gte=at).order_by("erased_at").first()
        or User.objects.filter(email__iexact=email).first()
        or erased.order_by("-erased_at").first()
    )
