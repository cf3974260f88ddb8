"""The person whom an operator means."""

from __future__ import annotations

from allauth.account.models import EmailAddress
from django.db.models import Q

from malpan.accounts.errors import PersonNotFound
from malpan.accounts.models import User


def person_of(text: str) -> User:
    """The person with this e-mail address (any of theirs, whatever its case) or number. Raises ``PersonNotFound``."""
    wanted = text.strip()
    if wanted.isascii() and wanted.isdigit():
        found = User.objects.filter(pk=int(wanted)).first()
    else:
        others = EmailAddress.objects.filter(email__iexact=wanted, verified=True).values("user")
        known = User.objects.filter(Q(email__iexact=wanted) | Q(pk__in=others), erased_at=None)
        found = known.order_by("pk").first()
    if found is None:
        raise PersonNotFound
    return found
