"""A team withdraws one of its submissions."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction
from django.utils import timezone

from malpan.accounts.models import User
from malpan.core import audit
from malpan.submissions.errors import WithdrawalClosed
from malpan.submissions.finals import unmark_chosen
from malpan.submissions.models import Submission
from malpan.submissions.quota import services as quota
from malpan.teams.selectors import require_member


def withdraw(*, submission: Submission, actor: User, now: datetime | None = None) -> bool:
    """Remove ``submission`` from the board for good, and from the choices for the final board; it stays charged.

    Returns false and does nothing if it is already withdrawn. Raises ``NotTeamMember``, and ``WithdrawalClosed`` from
    the end of the phase on.
    """
    moment = now or timezone.now()
    phase = submission.phase
    require_member(actor, submission.team)
    if phase.is_over(moment):
        raise WithdrawalClosed(ends_at=phase.ends_at)
    with transaction.atomic():
        quota.lock_team_of(submission)
        row = Submission.objects.get(pk=submission.pk)
        if row.withdrawn_at is not None:
            return False
        was_chosen, row.withdrawn_at = row.is_final_choice, moment
        row.save(update_fields=["withdrawn_at"])
        unmark_chosen([row.pk], moment)
        audit.record(
            actor=actor,
            action="submission.withdraw",
            obj=row,
            before={"is_final_choice": was_chosen},
            after={"withdrawn_at": moment.isoformat()},
        )
    submission.withdrawn_at, submission.is_final_choice = moment, False
    return True
