"""Which systems a judge never sees: of a team they are a member of, of the own institution, or declared by them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final

from allauth.account.models import EmailAddress
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from malpan.accounts.models import User
from malpan.arena.institutions import is_same, may_be_same
from malpan.arena.locks import lock_campaign, lock_judge
from malpan.arena.models import Assignment, Campaign, CampaignJudge, CampaignSystem, JudgeBar, JudgementDraft
from malpan.arena.panel import redistribute
from malpan.core import audit
from malpan.core.models import AuditEntry
from malpan.teams.models import Membership, Team

Reason, VoidReason = JudgeBar.Reason, Assignment.VoidReason

WAS_MEMBER: Final = ("team.create", "team.join", "team.leave", "team.remove_member", "team.hand_over")
# Mail hosts that say nothing about where somebody works or studies; the last line is reserved for examples (RFC 2606).
PUBLIC_HOSTS: Final = frozenset(
    {
        *("naver.com", "hanmail.net", "daum.net", "kakao.com", "nate.com", "korea.com", "dreamwiz.com", "paran.com"),
        *("gmail.com", "googlemail.com", "outlook.com", "hotmail.com", "live.com", "msn.com", "outlook.kr"),
        *("yahoo.com", "yahoo.co.kr", "icloud.com", "me.com", "mac.com", "proton.me", "protonmail.com", "qq.com"),
        *("163.com", "gmx.com", "gmx.net", "mail.com", "zoho.com", "fastmail.com", "aol.com", "tutanota.com"),
        *("example.com", "example.org", "example.net"),
    }
)


def bars_of(judge: CampaignJudge, systems: Sequence[CampaignSystem]) -> dict[int, JudgeBar.Reason]:
    """The systems that ``judge`` must not see as things are now, by primary key, with the reason.

    Member: of the system's team, or of one merged into it, now or ever. Institution: the same as the system's, or a
    mail host of the judge is that of somebody who is or was a member, or a part of it (hosts of public mail do not
    count). Declared: the teams that the judge said to know, or an organiser barred them from. Near: of a judge who
    came after the opening, an institution with a name like that of the system, until an organiser says that it is
    another one.
    """
    members = _members_ever(merged_into({system.submission.team_id for system in systems}))
    hosts, own_hosts = _hosts_of_members(members), _hosts_of(judge)
    is_late = bool(judge.institution) and judge.barred_at_opening is None and judge.campaign.opened_at is not None
    found: dict[int, JudgeBar.Reason] = {}
    for system in systems:
        team = system.submission.team
        if judge.user_id in members[team.pk] or system.submission.submitted_by_id == judge.user_id:
            found[system.pk] = Reason.MEMBER
        elif is_same(judge.institution, system.institution) or _share_a_host(own_hosts, hosts[team.pk]):
            found[system.pk] = Reason.INSTITUTION
        elif team.number in judge.declared_teams:
            found[system.pk] = Reason.DECLARED
        elif is_late and team.number not in judge.cleared_teams and may_be_same(judge.institution, system.institution):
            found[system.pk] = Reason.NEAR
    return found


def set_bars(*, judge: CampaignJudge, systems: Sequence[CampaignSystem]) -> frozenset[int]:
    """Write the bars of ``judge`` (``bars_of``) in the caller's transaction; the primary keys of the barred systems."""
    found = bars_of(judge, systems)
    JudgeBar.objects.filter(judge=judge).delete()
    JudgeBar.objects.bulk_create(JudgeBar(judge=judge, system_id=pk, reason=reason) for pk, reason in found.items())
    return frozenset(found)


def renew_bars(*, judge: CampaignJudge, now: datetime | None = None) -> None:
    """Write the bars of ``judge`` in an open campaign anew if there are more than at the opening: they joined a team,
    verified an address, or teams merged. Open assignments move as ``declaring`` moves them.
    """
    if not _has_new_bars(judge):
        return
    with transaction.atomic():
        campaign = lock_campaign(judge.campaign_id)
        fresh = lock_judge(judge.pk)
        is_open = campaign.opened_at is not None and campaign.closed_at is None
        if is_open and fresh.is_active and _has_new_bars(fresh):
            facts = bar_anew(campaign, fresh, now or timezone.now())
            audit.record(actor=None, action="campaign_judge.bar", obj=fresh, after=facts)


def is_barred(judge: CampaignJudge, labels: Sequence[str]) -> bool:
    """Whether ``judge`` must not see one of the systems called ``labels``: as written, or as things are now."""
    systems = list(seen_systems(judge).filter(label__in=labels))
    return JudgeBar.objects.filter(judge=judge, system__in=systems).exists() or bool(bars_of(judge, systems))


def _has_new_bars(judge: CampaignJudge) -> bool:
    written = set(JudgeBar.objects.filter(judge=judge).values_list("system_id", flat=True))
    return not bars_of(judge, list(seen_systems(judge))).keys() <= written


def seen_systems(judge: CampaignJudge) -> QuerySet[CampaignSystem]:
    """The systems of the judge's campaign, with what ``bars_of`` needs."""
    return CampaignSystem.objects.filter(campaign=judge.campaign_id).select_related("submission__team")


def bar_anew(campaign: Campaign, judge: CampaignJudge, now: datetime) -> dict[str, int]:
    """Write the bars and move open assignments, both rows locked; how many moved, and how many nobody can take.

    What the judge was shown is closed to them whosoever it is, the assignment on show as well: if only that of the
    barred system were, they would know which it was.
    """
    systems = list(seen_systems(judge))
    barred = set_bars(judge=judge, systems=systems)
    _void_practice(judge, {system.label for system in systems if system.pk in barred})
    change = redistribute(campaign=campaign, giving=judge, because=VoidReason.BARRED, now=now)
    return {"moved": change.moved, "lost": change.lost + _seal(judge, now)}


def _seal(judge: CampaignJudge, now: datetime) -> int:
    """Close what ``judge`` was shown; how many assignments became void by that, practice left out."""
    shown = Assignment.objects.filter(judge=judge, first_shown_at__isnull=False)
    if not shown.exists():
        return 0
    judge.sealed_at = now
    judge.save(update_fields=["sealed_at"])
    on_show = list(shown.filter(state=Assignment.State.OPEN))
    shown.filter(pk__in=[row.pk for row in on_show]).update(state=Assignment.State.VOID, void_reason=VoidReason.BARRED)
    JudgementDraft.objects.filter(assignment__in=on_show).delete()
    return sum(row.kind != Assignment.Kind.CALIBRATION for row in on_show)


def _void_practice(judge: CampaignJudge, barred: set[str]) -> None:
    """Make open practice with one of the ``barred`` labels void; nothing takes its place."""
    rows = Assignment.objects.filter(judge=judge, kind=Assignment.Kind.CALIBRATION, state=Assignment.State.OPEN)
    out = [row.pk for row in rows if not barred.isdisjoint(row.systems)]
    Assignment.objects.filter(pk__in=out).update(state=Assignment.State.VOID, void_reason=VoidReason.BARRED)


def merged_into(teams: Iterable[int]) -> dict[int, frozenset[int]]:
    """Each team with all that were merged into it, directly or through others."""
    found = {team: {team} for team in teams}
    owners = {team: {team} for team in found}  # of a merged team: the teams that it ended in
    while owners:
        merged = Team.objects.filter(merged_into__in=owners).values_list("pk", "merged_into")
        owners = {pk: owners[into] for pk, into in merged if into is not None}
        for pk, into in owners.items():
            for team in into:
                found[team].add(pk)
    return {team: frozenset(members) for team, members in found.items()}


def _members_ever(teams: Mapping[int, frozenset[int]]) -> dict[int, set[int]]:
    """Everybody who is or was in each of ``teams``, or in one merged into it, as far as they have an account."""
    all_teams = {team for merged in teams.values() for team in merged}
    found: dict[int, set[int]] = {team: set() for team in all_teams}
    for team, person in Membership.objects.filter(team__in=all_teams).values_list("team_id", "user_id"):
        found[team].add(person)
    once = AuditEntry.objects.filter(
        person__isnull=False,
        action__in=WAS_MEMBER,
        object_type="teams.team",
        object_id__in=[str(team) for team in all_teams],
    )
    for key, person in once.values_list("object_id", "person_id"):
        found[int(key)].add(person)
    return {team: {person for each in merged for person in found[each]} for team, merged in teams.items()}


def _hosts_of_members(members: Mapping[int, set[int]]) -> dict[int, set[str]]:
    """By team, the mail hosts of its ``members`` that say something: of their account, and of every address they
    verified.
    """
    people = {person for own in members.values() for person in own}
    verified = EmailAddress.objects.filter(user__in=people, verified=True)
    hosts: dict[int, set[str]] = {person: set() for person in people}
    for rows in (User.objects.filter(pk__in=people).values_list("pk", "email"), verified.values_list("user", "email")):
        for person, email in rows:
            hosts[person] |= _own_hosts([email])
    return {team: {host for person in own for host in hosts[person]} for team, own in members.items()}


def _hosts_of(judge: CampaignJudge) -> set[str]:
    """The mail hosts of the judge that say something: of the invitation, and of every address they verified."""
    verified = EmailAddress.objects.filter(user=judge.user_id, verified=True) if judge.user_id else []
    return _own_hosts([judge.email, *(address.email for address in verified)])


def _own_hosts(emails: Iterable[str]) -> set[str]:
    hosts = {email.rpartition("@")[2].strip().rstrip(".").lower() for email in emails}
    return {host for host in hosts if host and host not in PUBLIC_HOSTS}


def _share_a_host(ones: set[str], others: set[str]) -> bool:
    """Whether a host is in both, or a part of one: ``cs.univ.ac.kr`` is of ``univ.ac.kr``."""
    return any(
        one == other or one.endswith(f".{other}") or other.endswith(f".{one}") for one in ones for other in others
    )
