"""Writes of people's accounts: their API tokens, and their address confirmed by an administrator."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Final

from allauth.account.models import EmailAddress
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from malpan.accounts.errors import TooManyApiTokens
from malpan.accounts.models import AnsweredRequest, ApiToken, Scope, User
from malpan.accounts.tokens import hash_token, make_token
from malpan.core import audit

API_TOKENS_MAX: Final = 10  # valid tokens for each person
API_KEY_MARK: Final = "mlp_"  # lets a secret scanner, and a person, recognise a leaked token
ANSWER_KEPT: Final = timedelta(days=1)  # for how long a request sent again gets the answer of the first
USE_NOTED_EVERY: Final = timedelta(minutes=1)  # a script may ask many times a second


def create_api_token(
    *, user: User, label: str, scopes: Collection[str] = (Scope.READ, Scope.SUBMIT), expires_at: datetime | None = None
) -> tuple[ApiToken, str]:
    """Make an API token for ``user``, which may read whatever its ``scopes`` are. The token is returned only here; only
    its sha256 is stored.

    Raises ``TooManyApiTokens`` if the person already has ``API_TOKENS_MAX`` valid tokens.
    """
    token = make_token(API_KEY_MARK)
    granted = [scope.value for scope in Scope if scope == Scope.READ or scope in scopes]
    with transaction.atomic():
        locked = User.objects.select_for_update(no_key=True).get(pk=user.pk)
        valid = locked.api_tokens.filter(Q(expires_at=None) | Q(expires_at__gt=timezone.now()), revoked_at=None)
        if valid.count() >= API_TOKENS_MAX:
            raise TooManyApiTokens(limit=API_TOKENS_MAX)
        row = ApiToken.objects.create(
            user=user,
            label=label,
            prefix=token[:8],
            token_sha256=hash_token(token),
            scopes=granted,
            expires_at=expires_at,
        )
        audit.record(actor=user, action="api_token.create", obj=row, after={"prefix": row.prefix, "scopes": granted})
    return row, token


def revoke_api_token(*, api_token: ApiToken, actor: User) -> None:
    """Make the token invalid from now on. Revoking twice is harmless."""
    with transaction.atomic():
        if ApiToken.objects.filter(pk=api_token.pk, revoked_at=None).update(revoked_at=timezone.now()):
            audit.record(actor=actor, action="api_token.revoke", obj=api_token, after={"prefix": api_token.prefix})


def revoke_api_tokens_of(*, user: User, actor: User) -> int:
    """Make all tokens of ``user`` invalid, such as after a leak; returns how many were valid."""
    working = list(user.api_tokens.filter(revoked_at=None))
    for api_token in working:
        revoke_api_token(api_token=api_token, actor=actor)
    return len(working)


def confirm_email(*, user: User, actor: User) -> bool:
    """Confirm the person's address without the link by e-mail, if mail does not reach them.

    Returns false if the same address is confirmed for somebody else.
    """
    with transaction.atomic():
        address, _made = EmailAddress.objects.get_or_create(user=user, email=user.email.lower())
        if not address.set_verified():
            return False
        address.set_as_primary()
        audit.record(actor=actor, action="user.confirm_email", obj=user)
    return True


def note_token_use(*, api_token: ApiToken) -> None:
    """Store when the token was last used, to the minute, so that its owner can recognise an unused one."""
    now = timezone.now()
    if api_token.last_used_at is None or api_token.last_used_at <= now - USE_NOTED_EVERY:
        ApiToken.objects.filter(pk=api_token.pk).update(last_used_at=now)


def claim_key(*, api_token: ApiToken, key: str, now: datetime | None = None) -> tuple[AnsweredRequest, bool]:
    """The request of ``key``, and whether it is new: then the caller does what is asked, in the same transaction.

    Where another transaction is at it, this waits until that one has ended. A key is new again after ``ANSWER_KEPT``.
    """
    now = now or timezone.now()
    AnsweredRequest.objects.filter(api_token=api_token, key=key, created_at__lt=now - ANSWER_KEPT).delete()
    return AnsweredRequest.objects.get_or_create(api_token=api_token, key=key, defaults={"created_at": now})
