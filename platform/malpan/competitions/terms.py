"""The terms of a competition: who accepted which version. Version 0 means that there are none to accept."""

from __future__ import annotations

from django.contrib.auth.models import AnonymousUser
from django.db import transaction

from malpan.accounts.models import User
from malpan.competitions.errors import TermsChanged, TermsNotAccepted
from malpan.competitions.locks import lock_competition
from malpan.competitions.models import Competition, TermsAcceptance
from malpan.core import audit


def acceptance_of(user: User | AnonymousUser, competition: Competition) -> TermsAcceptance | None:
    """The person's acceptance of the current version, or ``None``."""
    if not user.is_authenticated:
        return None
    return TermsAcceptance.objects.filter(user=user, competition=competition, version=competition.terms_version).first()


def is_accepted(user: User | AnonymousUser, competition: Competition) -> bool:
    """Whether there are no terms, or the person has accepted the current ones."""
    return competition.terms_version == 0 or acceptance_of(user, competition) is not None


def require_accepted(user: User | AnonymousUser, competition: Competition) -> None:
    """Raise ``TermsNotAccepted`` unless the person accepted the current version. No query if there are none."""
    if not is_accepted(user, competition):
        raise TermsNotAccepted(version=competition.terms_version)


def accept_terms(*, user: User, competition: Competition, version: int) -> TermsAcceptance:
    """Record that ``user`` accepted ``version``, the one they read. Accepting twice is harmless.

    Raises ``TermsChanged`` if another version is now the current one.
    """
    with transaction.atomic():
        current = lock_competition(competition.pk).terms_version
        if version != current or current == 0:
            raise TermsChanged(version=current)
        row, is_new = TermsAcceptance.objects.get_or_create(user=user, competition=competition, version=version)
        if is_new:
            audit.record(actor=user, action="terms.accept", obj=row, after={"version": version})
    return row
