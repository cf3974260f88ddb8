"""What is kept of the addresses of people whose data were erased: keyed hashes, which name nobody."""

from __future__ import annotations

from datetime import datetime

from django.utils.crypto import salted_hmac

from malpan.accounts.models import User


def fingerprint(email: str) -> str:
    """The same for the same address, whatever its case; worth nothing without this site's ``SECRET_KEY``."""
    return salted_hmac("malpan.accounts.addresses", email.strip().lower(), algorithm="sha256").hexdigest()


def who_had(email: str, at: datetime) -> User | None:
    """Whose address ``email`` was at that moment, as an archive of then knows it: an account, the pseudonym of somebody
    whose data were erased since, or ``None`` for a stranger.

    Somebody erased earlier stays the pseudonym too, where another site still knows the address, unless they came back.
    """
    erased = User.objects.filter(former_addresses__contains=[fingerprint(email)])
    return (
        erased.filter(erased_at__gte=at).order_by("erased_at").first()
        or User.objects.filter(email__iexact=email).first()
        or erased.order_by("-erased_at").first()
    )
