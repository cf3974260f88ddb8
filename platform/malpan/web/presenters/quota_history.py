"""The ledger of a team's quota in the reader's words."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from typing import Final

from django.utils.translation import ngettext

from malpan.accounts.models import User
from malpan.competitions.models import Phase
from malpan.core.errors import SystemFault
from malpan.core.messages import text_of_code
from malpan.submissions.models import QuotaEntry, Submission
from malpan.submissions.quota.ledger import account_from
from malpan.teams.models import Team

Kind = QuotaEntry.Kind
_FAULTS: Final = frozenset(each.code for each in SystemFault.__subclasses__())


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a ledger. ``counts``: no later reset made it void."""

    moment: datetime
    kind: str
    kind_label: str
    amount: str
    day: date | None
    submission: Submission | None
    reason: str
    actor: User | None
    counts: bool


def lines_of(*, phase: Phase, team: Team) -> list[Line]:
    """The ledger, newest line first. One query."""
    rows = QuotaEntry.objects.filter(phase=phase, team=team).select_related("submission", "actor").order_by("pk")
    entries = list(rows)
    last_reset = account_from(entries).last_reset or 0
    return [_line(entry, entry.pk >= last_reset) for entry in reversed(entries)]


def _line(entry: QuotaEntry, counts: bool) -> Line:
    return Line(
        moment=entry.moment,
        kind=entry.kind,
        kind_label=str(entry.get_kind_display()),
        amount=_amount(entry),
        day=entry.day,
        submission=entry.submission,
        reason=text_of_code(entry.reason) if entry.reason in _FAULTS else entry.reason,
        actor=entry.actor,
        counts=counts,
    )


def _amount(entry: QuotaEntry) -> str:
    """``+2회`` for what gives, ``−1회`` for what takes; a reset has none."""
    if entry.kind == Kind.RESET:
        return ""
    text = ngettext("%(count)d회", "%(count)d회", entry.slots) % {"count": entry.slots}
    return f"−{text}" if entry.kind == Kind.CHARGE else f"+{text}"
