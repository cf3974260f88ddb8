"""Erasing a person: what identifies them goes, what they did stays provable under a pseudonym.

The row of the person stays, without address, name, password and rights, so that everything that refers to it still
does: submissions, the ledger, the audit log, the members of a team whose competition is over. Neither the hash chain
nor a board names a person, so both stay as they are, to the last digit. What a row says in words the person wrote is
freed of their name and addresses.
"""

from __future__ import annotations

import logging
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from datetime import datetime
from smtplib import SMTPException
from typing import Any

from django.contrib.admin.models import LogEntry
from django.contrib.auth import SESSION_KEY
from django.contrib.contenttypes.models import ContentType
from django.contrib.sessions.models import Session
from django.core.mail import send_mail
from django.db import transaction
from django.db.models import Q
from django.template.loader import render_to_string
from django.utils import timezone

from malpan.accounts.addresses import fingerprint
from malpan.accounts.models import User
from malpan.arena.judges import leave_campaigns
from malpan.competitions import roles
from malpan.competitions.errors import LastOwner
from malpan.competitions.models import CompetitionRole
from malpan.core import audit
from malpan.core.errors import DomainError, RequestError
from malpan.core.text import one_line
from malpan.privacy.answers import free_answers
from malpan.privacy.errors import LeadsOthers, OnlyAdministrator, OwnsAlone
from malpan.privacy.holdings import HOLDINGS, Fate, addresses_of
from malpan.privacy.records import write_record
from malpan.teams.merging import close_request
from malpan.teams.models import Membership, MergeRequest, Team
from malpan.teams.selectors import is_disqualified, last_end
from malpan.teams.services import hand_over, leave_team, lock_teams

logger = logging.getLogger(__name__)

MASK = "***"


def obstacles(user: User, now: datetime | None = None) -> list[DomainError]:
    """What has to be settled before the person's data can be erased; nothing in most cases."""
    moment = now or timezone.now()
    found: list[DomainError] = [
        LeadsOthers(team=team.name, slug=team.competition.slug) for team, _successor in _led(user, moment)
    ]
    found += [OwnsAlone(competition=held.competition.title, slug=held.competition.slug) for held in _owned_alone(user)]
    others = User.objects.filter(is_superuser=True, is_active=True).exclude(pk=user.pk)
    if user.is_superuser and user.is_active and not others.exists():
        found.append(OnlyAdministrator())
    return found


def erase(
    *,
    user: User,
    actor: User | None,
    force: bool = False,
    has_sessions: bool = True,
    tells: bool = True,
    now: datetime | None = None,
) -> bool:
    """Erase what identifies ``user``; false if that has been done. ``actor`` is ``None`` for the operator.

    Raises the first of ``obstacles``. With ``force`` there are none: the member who joined first leads the team, and
    a competition without an owner is left to the administrators. ``has_sessions=False`` does not look for any,
    ``tells=False`` sends no mail. The erasure is recorded outside the database too (``records``).
    """
    moment = now or timezone.now()
    with transaction.atomic():
        # first: nobody waits for a lock while all sessions are looked through
        sessions = _end_sessions(user) if has_sessions else 0
        person = User.objects.select_for_update(no_key=True).get(pk=user.pk)
        if person.erased_at is not None:
            return False
        if not force:
            for obstacle in obstacles(person, moment):
                raise obstacle
        addresses = addresses_of(person)
        primary = person.email
        counts = Counter(sessions=sessions, teams_left=_leave_teams(person, moment))
        counts["campaigns_left"] = leave_campaigns(person=person, now=moment)  # bars need the institution
        counts["roles"] = _give_up_roles(person, actor)
        counts["texts"] = free_texts(person, [person.name, *addresses])
        counts["rows"] = _empty_columns(person) + _remove_rows(person)  # in this order: see ``JUDGE_INVITATIONS``
        _make_pseudonym(person, addresses, moment)
        audit.record(actor=actor, action="user.erase", obj=person, after=dict(counts))
        transaction.on_commit(lambda: write_record(person))
        if tells:
            transaction.on_commit(lambda: _tell(primary))
        transaction.on_commit(lambda: logger.info("the personal data of person %s were erased", person.pk))
    return True


def sessions_of(user: User) -> list[str]:
    """The keys of the person's sessions: a row says whose it is only inside."""
    rows = Session.objects.only("session_data").iterator()  # some 30 µs a row
    return [row.pk for row in rows if row.get_decoded().get(SESSION_KEY) == str(user.pk)]


def teams_affected(user: User, now: datetime | None = None) -> list[tuple[Team, str]]:
    """What becomes of the person's teams, the newest first: they leave one with others in it; alone in it, it is
    ``removed``, or left ``alone`` with what it has submitted; after the end the membership ``stays``, without a name.
    """
    moment = now or timezone.now()
    rows = Membership.objects.filter(user=user).select_related("team__competition").order_by("-pk")
    return [(row.team, _what_becomes_of(row.team, user, moment)) for row in rows]


def _what_becomes_of(team: Team, user: User, now: datetime) -> str:
    ended_at = last_end(team.competition)
    if (ended_at is not None and ended_at <= now) or is_disqualified(team):
        return "stays"
    if team.memberships.exclude(user=user).exists():
        return "left"
    return "alone" if team.submissions.exists() or team.rejections.exists() else "removed"


def _led(user: User, now: datetime) -> list[tuple[Team, User]]:
    """The teams with other members that the person leads in competitions that are not over, with the successors."""
    rows = Membership.objects.filter(user=user, role=Membership.Role.LEADER).select_related("team__competition")
    led = []
    for row in rows.order_by("team"):
        others = row.team.memberships.exclude(user=user).filter(user__is_active=True).select_related("user")
        successor = others.order_by("joined_at", "pk").first()
        ended_at = last_end(row.team.competition)
        if successor is not None and (ended_at is None or ended_at > now):
            led.append((row.team, successor.user))
    return led


def _owned_alone(user: User) -> list[CompetitionRole]:
    held = CompetitionRole.objects.filter(user=user, role=roles.OWNER).select_related("competition").order_by("pk")
    owners = CompetitionRole.objects.filter(role=roles.OWNER, user__is_active=True).exclude(user=user)
    return [row for row in held if not owners.filter(competition=row.competition_id).exists()]


def _leave_teams(person: User, now: datetime) -> int:
    """Leave what can be left. Where the competition is over, or the team has submitted and has nobody else, the
    membership stays, as the pseudonym's.
    """
    teams = lock_teams(Team.objects.filter(memberships__user=person))
    for team, successor in _led(person, now):
        hand_over(team=team, to=successor, actor=person)
    left = 0
    for team in teams:
        try:
            leave_team(team=team, user=person, now=now)
        except RequestError:
            _close_merge_requests(team, person, now)
        else:
            left += 1
    return left


def _close_merge_requests(team: Team, person: User, now: datetime) -> None:
    """Nobody is left to answer them, unless others are in the team."""
    if team.memberships.filter(user__erased_at=None).exclude(user=person).exists():
        return
    for request in MergeRequest.objects.filter(Q(source=team) | Q(target=team), state=MergeRequest.State.OPEN):
        is_own = request.source_id == team.pk
        state = MergeRequest.State.WITHDRAWN if is_own else MergeRequest.State.DECLINED
        close_request(request, state, actor=person, now=now)


def _give_up_roles(person: User, actor: User | None) -> int:
    held = list(CompetitionRole.objects.filter(user=person).order_by("pk"))
    for role in held:
        try:
            roles.dismiss(held=role, actor=actor)
        except LastOwner:  # with ``force`` alone
            audit.record(actor=actor, action="role.dismiss", obj=role, before={"role": role.role})
            role.delete()
    return len(held)


def free_texts(person: User, words: Iterable[str]) -> int:
    """Mask ``words``, a name and addresses, in what the person wrote and in what programs were answered; returns how
    many rows had them.
    """
    forms = {unicodedata.normalize(form, word) for form in ("NFC", "NFD") for word in words if len(word) > 1}
    known = sorted(forms, key=len, reverse=True)
    pattern = re.compile("|".join(map(re.escape, known)), re.IGNORECASE)
    if not known:
        return 0
    changed = free_answers(pattern, MASK)
    for holding in HOLDINGS:
        if not holding.texts:
            continue
        for pk, *texts in holding.rows(person).values_list("pk", *holding.texts):
            freed = [pattern.sub(MASK, text) for text in texts]
            if freed != texts:
                columns: dict[str, Any] = dict(zip(holding.texts, freed, strict=True))
                changed += holding.model._default_manager.filter(pk=pk).update(**columns)
    return changed


def _remove_rows(person: User) -> int:
    removed = 0
    for holding in reversed(HOLDINGS):  # what is found by an address before the addresses
        if holding.subject.fate is Fate.REMOVED and holding.model is not User:
            removed += holding.rows(person).delete()[0]
    about = LogEntry.objects.filter(content_type=ContentType.objects.get_for_model(User), object_id=str(person.pk))
    return removed + about.delete()[0]  # the admin's own log names whom it changed; the audit log has the same


def _empty_columns(person: User) -> int:
    """Empty what says who the person is in rows that stay; returns how many there are."""
    emptied = 0
    for holding in HOLDINGS:
        if holding.emptied:
            emptied += holding.rows(person).update(**dict.fromkeys(holding.emptied, ""))
    return emptied


def _end_sessions(person: User) -> int:
    return Session.objects.filter(pk__in=sessions_of(person)).delete()[0]


def _make_pseudonym(person: User, addresses: Iterable[str], now: datetime) -> None:
    person.email = person.name = ""
    person.former_addresses = sorted(map(fingerprint, addresses))
    person.set_unusable_password()
    person.is_active = person.is_staff = person.is_superuser = False
    person.last_login, person.erased_at = None, now
    person.privacy_version, person.privacy_accepted_at = "", None
    person.save()


def _tell(email: str) -> None:
    """The last mail to the person, in both languages: somebody else may have closed the account."""
    subject = one_line(render_to_string("emails/account_closed_subject.txt"))
    try:
        send_mail(subject, render_to_string("emails/account_closed_message.txt"), None, [email])
    except (OSError, SMTPException):
        logger.warning("the mail about a closed account was not sent", exc_info=True)
