"""Teams that were disqualified while a campaign runs: what is shown of them ends, what was judged stays and does not
count. What is open of a team that was reinstated comes back. It is computed where it is read, as ``teams``
knows no campaign.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from functools import reduce
from operator import or_

from django.db.models import Q, QuerySet

from malpan.arena.models import Assignment, Campaign, CampaignSystem
from malpan.core import audit
from malpan.submissions.querysets import counting
from scoring.arena.vote_records import RANKED_LEAST


def disqualified_systems(campaign: Campaign) -> dict[str, CampaignSystem]:
    """The systems that do not count, by label: their team is disqualified, or the submission does not count."""
    return {row.label: row for row in _out(campaign).select_related("submission__team")}


def disqualified_labels(campaign: Campaign) -> frozenset[str]:
    """The labels of ``disqualified_systems``."""
    return frozenset(_out(campaign).values_list("label", flat=True))


def _out(campaign: Campaign) -> QuerySet[CampaignSystem]:
    is_out = Q(submission__team__disqualified_at__isnull=False) | ~counting("submission__")
    return CampaignSystem.objects.filter(is_out, campaign=campaign)


def cannot_count(campaign: Campaign, systems: Sequence[str], out: Set[str]) -> bool:
    """Whether a judgement of ``systems`` would not count, where those in ``out`` do not: a ranking counts for the
    others, while two are left. What is shown stays the same, so that nobody sees who is out.
    """
    kept = sum(label not in out for label in systems)
    return kept < (RANKED_LEAST if campaign.protocol == Campaign.Protocol.RANKING else len(systems))


def void_disqualified(*, campaign: Campaign) -> int:
    """Make open assignments void that cannot count any more, in the caller's transaction; returns how many.

    Without one it is a query and no write.
    """
    labels = disqualified_labels(campaign)
    if not labels:
        return 0
    shown = reduce(or_, (Q(systems__contains=[label]) for label in sorted(labels)))
    found = Assignment.objects.filter(shown, campaign=campaign, state=Assignment.State.OPEN).only("systems")
    rows = Assignment.objects.filter(pk__in=[row.pk for row in found if cannot_count(campaign, row.systems, labels)])
    count = rows.update(state=Assignment.State.VOID, void_reason=Assignment.VoidReason.DISQUALIFIED)
    if count:
        facts = {"systems": sorted(labels), "assignments": count}
        audit.record(actor=None, action="campaign.void_assignments", obj=campaign, after=facts)
    return count


def reinstated(campaign: Campaign) -> QuerySet[Assignment]:
    """The assignments that are void for a disqualification and whose systems all count again; practice stays away."""
    void = {"state": Assignment.State.VOID, "void_reason": Assignment.VoidReason.DISQUALIFIED}
    rows = Assignment.objects.filter(campaign=campaign, **void).exclude(kind=Assignment.Kind.CALIBRATION)
    found = list(rows.values_list("pk", "systems"))
    if not found:  # as nearly always: every judge asks before each assignment
        return Assignment.objects.none()
    labels = disqualified_labels(campaign)
    found = [(pk, systems) for pk, systems in found if not cannot_count(campaign, systems, labels)]
    return Assignment.objects.filter(pk__in=[pk for pk, _systems in found])


def reopen_reinstated(*, campaign: Campaign) -> frozenset[int]:
    """Open the assignments of ``reinstated`` again, in the caller's transaction, the campaign locked; the primary keys
    of the judges who had them.
    """
    rows = list(reinstated(campaign).values_list("pk", "judge"))
    if rows:
        pks = [pk for pk, _judge in rows]
        Assignment.objects.filter(pk__in=pks).update(state=Assignment.State.OPEN, void_reason="")
        facts = {"assignments": len(rows)}
        audit.record(actor=None, action="campaign.reopen_assignments", obj=campaign, after=facts)
    return frozenset(judge for _pk, judge in rows)
