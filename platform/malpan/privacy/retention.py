"""What is past its time goes: by the clock every night, and by ``manage.py retention``.

Each kind is a function that removes and counts; a trial does the same and takes it back. Nothing here changes a score,
a board, the ledger, the audit log or the hash chain.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final

from django.conf import settings
from django.contrib.sessions.models import Session
from django.db import transaction
from django.db.models import Exists, OuterRef, ProtectedError, Q, QuerySet
from django.utils import timezone

from malpan.accounts.models import AnsweredRequest, User
from malpan.accounts.services import ANSWER_KEPT
from malpan.competitions.models import Competition
from malpan.core.errors import DomainError
from malpan.core.one_by_one import one_by_one
from malpan.privacy.erasing import erase
from malpan.privacy.records import forget_old
from malpan.submissions.models import Rejection, Submission
from malpan.teams.models import Invitation, Membership
from malpan.teams.selectors import last_end

logger = logging.getLogger(__name__)

MONTH: Final = timedelta(days=30)
FREED_FILE_NAME: Final = "submission"


def let_go(*, is_trial: bool = False, now: datetime | None = None) -> dict[str, int]:
    """Remove what is past its time and return how much of each kind; with ``is_trial`` nothing changes.

    A setting of 0 keeps that kind for ever. A run that is killed has removed less; the next removes the rest. A kind
    that cannot be removed is logged and has no count; the others are removed.
    """
    moment = now or timezone.now()

    def counted(remove: Callable[[datetime], int]) -> int:
        return _counted(remove, moment, is_trial)

    def people() -> int:
        """Each in a transaction of their own, in a trial too: it locks their teams."""
        found = _people_of_competitions(moment)
        return sum(one_by_one(found, lambda user: counted(partial(_is_erased, user)), "the people of competitions"))

    kinds: dict[str, Callable[[], int]] = {name: partial(counted, remove) for name, remove in _KINDS.items()}
    kinds["people_of_competitions"] = people
    kinds["erasure_records"] = partial(forget_old, is_trial=is_trial, now=moment)
    counts = dict(one_by_one(kinds.items(), lambda kind: (kind[0], kind[1]()), "the kinds of personal data"))
    text = " ".join(f"{name}={count}" for name, count in counts.items())
    logger.info("retention%s: %s", " (trial)" if is_trial else "", text)
    return counts


def _counted(remove: Callable[[datetime], int], now: datetime, is_trial: bool) -> int:
    if not is_trial:
        return remove(now)
    with transaction.atomic():
        count = remove(now)
        transaction.set_rollback(True)
    return count


def _unconfirmed_accounts(now: datetime) -> int:
    """Accounts that somebody made with an address that was never confirmed, and never logged in to."""
    if not settings.RETENTION_UNCONFIRMED_DAYS:
        return 0
    made_before = now - timedelta(days=settings.RETENTION_UNCONFIRMED_DAYS)
    rows = User.objects.filter(date_joined__lt=made_before, last_login=None, erased_at=None)
    rows = rows.filter(emailaddress__isnull=False, is_staff=False, is_superuser=False, competition_roles=None)
    rows = rows.exclude(pk__in=User.objects.filter(emailaddress__verified=True).values("pk")).distinct()
    return sum(one_by_one(rows, _is_deleted, "the unconfirmed accounts"))


def _is_deleted(user: User) -> bool:
    try:
        with transaction.atomic():
            user.delete()
    except ProtectedError:  # an organiser made them the leader of a team, or an archive brought them
        return False
    return True


def _expired_sessions(now: datetime) -> int:
    return _deleted(Session.objects.filter(expire_date__lt=now))


def _answered_requests(now: datetime) -> int:
    """What programs were answered under keys that are new again."""
    return _deleted(AnsweredRequest.objects.filter(created_at__lt=now - ANSWER_KEPT))


def _closed_invitations(now: datetime) -> int:
    """Invitations that nobody has been able to use for a while."""
    if not settings.RETENTION_INVITATION_DAYS:
        return 0
    before = now - timedelta(days=settings.RETENTION_INVITATION_DAYS)
    return _deleted(
        Invitation.objects.filter(Q(used_at__lt=before) | Q(revoked_at__lt=before) | Q(expires_at__lt=before))
    )


def _rejected_files(now: datetime) -> int:
    """What was wrong with files that were not accepted, in phases that ended a while ago."""
    if not settings.RETENTION_REJECTION_DAYS:
        return 0
    before = now - timedelta(days=settings.RETENTION_REJECTION_DAYS)
    return _deleted(Rejection.objects.filter(phase__ends_at__lt=before))


def _private_texts_of_competitions(now: datetime) -> int:
    """Of competitions past the time that their organisers set: invitations, rejected files, questions that were not
    answered publicly, and the memos and file names of submissions.
    """
    done = 0
    for competition in _past_their_time(now):
        done += _deleted(Invitation.objects.filter(team__competition=competition))
        done += _deleted(Rejection.objects.filter(phase__track__competition=competition))
        done += _deleted(competition.questions.exclude(is_public=True, answered_at__isnull=False))
        named = Submission.objects.of(competition).exclude(memo="", file_name=FREED_FILE_NAME)
        done += named.update(memo="", file_name=FREED_FILE_NAME)
    return done


def _people_of_competitions(now: datetime) -> Iterator[User]:
    """Participants of such competitions who are in nothing else and have not logged in for as long, each once."""
    past = list(_past_their_time(now))
    elsewhere = Membership.objects.filter(user=OuterRef("pk")).exclude(competition__in=past)
    seen: set[int] = set()
    for competition in past:
        people = User.objects.filter(memberships__competition=competition, erased_at=None, is_staff=False)
        people = people.filter(is_superuser=False, competition_roles=None)
        people = people.exclude(last_login__gte=now - _kept_for(competition))
        for user in people.exclude(Exists(elsewhere)).exclude(pk__in=seen).order_by("pk"):
            seen.add(user.pk)
            yield user


def _is_erased(user: User, now: datetime) -> bool:
    try:
        return erase(user=user, actor=None, has_sessions=False, now=now)  # nor a log-in, for months
    except DomainError:  # something of theirs is still open
        return False


def _past_their_time(now: datetime) -> Iterator[Competition]:
    for competition in Competition.objects.exclude(personal_data_months=None).order_by("pk"):
        ended_at = last_end(competition)
        if ended_at is not None and ended_at < now - _kept_for(competition):
            yield competition


def _kept_for(competition: Competition) -> timedelta:
    return (competition.personal_data_months or 0) * MONTH


def _deleted(rows: QuerySet[Any]) -> int:
    """Delete ``rows``; returns how many, without what goes with them."""
    _total, by_model = rows.delete()
    return by_model.get(rows.model._meta.label, 0)


_KINDS: Final = {
    "unconfirmed_accounts": _unconfirmed_accounts,
    "expired_sessions": _expired_sessions,
    "answered_requests": _answered_requests,
    "closed_invitations": _closed_invitations,
    "rejected_files": _rejected_files,
    "texts_of_competitions": _private_texts_of_competitions,
}
