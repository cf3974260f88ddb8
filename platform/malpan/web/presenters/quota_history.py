"""The ledger of a team's quota, in the reader's language."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date, datetime

from django.utils.translation import ngettext

from malpan.accounts.models import User
from malpan.competitions.models import Phase
from malpan.core.errors import DomainError, SystemFault
from malpan.core.messages import text_of_code
from malpan.submissions.models import QuotaEntry, Submission
from malpan.submissions.quota.ledger import Brought
from malpan.submissions.quota.services import ledger_of
from malpan.teams.models import Team

Kind = QuotaEntry.Kind


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a ledger. ``counts``: no later reset cancelled it.

    ``brought_by``: who used it in another team. Only organisers see that team and the ``submission``.
    """

    moment: datetime
    kind: str
    kind_label: str
    amount: str
    day: date | None
    submission: Submission | None
    reason: str
    actor: User | None
    counts: bool
    brought_by: str = ""
    brought_from: Team | None = None


def lines_of(*, phase: Phase, team: Team, for_organisers: bool = False) -> list[Line]:
    """The ledger: what members brought from other teams, then its own lines, newest first. One query."""
    ledger = ledger_of(phase=phase, team=team)
    account = ledger.account()
    brought = sorted(ledger.brought, key=lambda each: each.charge.moment, reverse=True)
    return [
        *(_brought_line(each, each in account.brought, for_organisers) for each in brought),
        *(_line(entry, entry.pk >= (account.last_reset or 0)) for entry in reversed(ledger.entries)),
    ]


def _brought_line(brought: Brought, counts: bool, for_organisers: bool) -> Line:
    """Without ``for_organisers`` the other team and its file are not named."""
    line = replace(_line(brought.charge, counts), brought_by=brought.person)
    return replace(line, brought_from=brought.charge.team) if for_organisers else replace(line, submission=None)


def _line(entry: QuotaEntry, counts: bool) -> Line:
    return Line(
        moment=entry.moment,
        kind=entry.kind,
        kind_label=str(entry.get_kind_display()),
        amount=_amount(entry),
        day=entry.day,
        submission=entry.submission,
        reason=_reason_of(entry.reason),
        actor=entry.actor,
        counts=counts,
    )


def _reason_of(reason: str) -> str:
    """Its sentence where a fault gave the slot back; else what a person wrote."""
    error = DomainError.by_code.get(reason)
    return text_of_code(reason) if error and issubclass(error, SystemFault) else reason


def _amount(entry: QuotaEntry) -> str:
    """``+2회`` for a grant, ``−1회`` for a use; empty for a reset."""
    if entry.kind == Kind.RESET:
        return ""
    text = ngettext("%(count)d회", "%(count)d회", entry.slots) % {"count": entry.slots}
    return f"−{text}" if entry.kind == Kind.CHARGE else f"+{text}"
