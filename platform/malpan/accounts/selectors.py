"""Reads of people and their API tokens."""

from __future__ import annotations

from typing import Final

from allauth.account.models import EmailAddress
from django.contrib.auth.models import AnonymousUser
from django.db.models import F, QuerySet

from malpan.accounts.errors import ApiTokenExpired, ApiTokenInvalid, ApiTokenNotFound, PersonNotFound
from malpan.accounts.models import ApiToken, User
from malpan.accounts.tokens import hash_token
from malpan.core.database.prepared import Prepared


def _valid(token_sha256: str) -> QuerySet[ApiToken]:
    rows = ApiToken.objects.filter(token_sha256=token_sha256, revoked_at=None, user__is_active=True)
    return rows.select_related("user")


_VALID: Final = Prepared(_valid, str)


def person_by_email(email: str) -> User:
    """The person with the account ``email``, whatever its case. Raises ``PersonNotFound``."""
    user = User.objects.filter(email__iexact=email.strip(), is_active=True).first()
    if user is None:
        raise PersonNotFound
    return user


def has_verified(user: User | AnonymousUser, email: str) -> bool:
    """Whether ``email`` is an address that the person has verified as their own."""
    if not user.is_authenticated:
        return False
    return EmailAddress.objects.filter(user=user, email__iexact=email, verified=True).exists()


def api_tokens_of(user: User) -> QuerySet[ApiToken]:
    """The person's tokens: valid ones first, then by the moment of revocation; newest first."""
    return user.api_tokens.order_by(F("revoked_at").desc(nulls_first=True), "-created_at", "-pk")


def api_token_of(user: User, pk: int) -> ApiToken:
    """The person's token with this primary key. Raises ``ApiTokenNotFound``."""
    row = user.api_tokens.filter(pk=pk).first()
    if row is None:
        raise ApiTokenNotFound
    return row


def api_token_by_secret(token: str) -> ApiToken:
    """The token, with its user. Raises ``ApiTokenInvalid`` for an unknown or revoked one and for a closed account,
    and ``ApiTokenExpired``.
    """
    row = _VALID.only(hash_token(token))
    if row is None:
        raise ApiTokenInvalid
    if row.has_expired():
        raise ApiTokenExpired(expired_at=row.expires_at)
    return row
