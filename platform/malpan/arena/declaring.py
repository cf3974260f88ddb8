"""Teams that a judge must not see as they know them: declared by the judge alone, or barred by an organiser.

Whoever declares sees what is left, and whose it is if that is little. So a judge alone hides so few teams that enough
are left, as if every team they name took part: whether one does is not said. Beyond that an organiser bars them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from django.db import transaction
from django.utils import timezone

from malpan.arena.bars import bar_anew, bars_of, seen_systems
from malpan.arena.errors import CampaignNotOpen, JudgeNotFound, OrganiserMustBar, TooManyDeclared
from malpan.arena.institutions import folded
from malpan.arena.locks import lock_campaign, lock_judge
from malpan.arena.models import Assignment, Campaign, CampaignJudge, CampaignSystem, JudgeBar
from malpan.core import audit
from malpan.teams.models import Team

if TYPE_CHECKING:
    from malpan.accounts.models import User

LATE_MOST: Final = 2  # teams that a judge declares alone after the first output they were shown
UNKNOWN_MOST: Final = 100  # names that are kept
BEYOND_A_GROUP: Final = 2  # systems that are left besides those shown together


def declare_bars(
    *,
    judge: CampaignJudge,
    actor: User,
    team_numbers: Sequence[int] = (),
    team_names: Sequence[str] = (),
    now: datetime | None = None,
) -> None:
    """Record the teams that a judge says to know, as ``record_declared``, without an organiser.

    Raises ``JudgeNotFound`` for another person's, ``CampaignNotOpen`` after the closing, ``OrganiserMustBar`` if too
    few systems could be left (``least_seen``), ``TooManyDeclared`` beyond ``LATE_MOST`` teams after the first output
    that they were shown: they see whether it was that team's.
    """
    if judge.user_id != actor.pk:
        raise JudgeNotFound
    record_declared(judge=judge, actor=actor, team_numbers=team_numbers, team_names=team_names, is_alone=True, now=now)
    _keep_unknown(judge, unknown_teams(judge.campaign, team_numbers, team_names))


def _keep_unknown(judge: CampaignJudge, names: Sequence[str]) -> None:
    """Keep for the organisers what a judge typed that is no team: a name with a slip, or one that was never there."""
    with transaction.atomic():
        fresh = lock_judge(judge.pk)
        new = [name for name in names if name not in fresh.unknown_teams]
        if new:
            fresh.unknown_teams = [*fresh.unknown_teams, *new][-UNKNOWN_MOST:]
            fresh.save(update_fields=["unknown_teams"])


def record_declared(
    *,
    judge: CampaignJudge,
    actor: User,
    team_numbers: Sequence[int] = (),
    team_names: Sequence[str] = (),
    is_alone: bool = False,
    reason: str = "",
    now: datetime | None = None,
) -> None:
    """Record the teams that a judge knows, by number or by name, whatever its case, width and spaces; of one that there
    is not nothing is said to the judge. After the opening their open assignments with them are moved.

    What nobody else can take becomes void: a judge is never made to judge a team that they know. Declaring is never
    taken back by declaring fewer. ``is_alone``: it is the judge who declares; an organiser also stands for what the
    judge declared before. Raises ``CampaignNotOpen`` after the closing, and of who is alone as ``declare_bars``.
    """
    with transaction.atomic():
        campaign = lock_campaign(judge.campaign_id)
        if campaign.closed_at is not None:
            raise CampaignNotOpen
        fresh = lock_judge(judge.pk)
        known = _known(campaign, team_numbers, team_names)
        new, confirmed = known - set(fresh.declared_teams), known - set(fresh.barred_teams)
        if not (new if is_alone else confirmed):
            return
        if is_alone:
            _require_allowed(fresh, new)
        else:
            fresh.barred_teams = sorted({*fresh.barred_teams, *confirmed})
        fresh.declared_teams = sorted({*fresh.declared_teams, *new})
        fresh.save(update_fields=["declared_teams", "declared_late", "barred_teams"])
        facts: dict[str, Any] = {"declared_teams": sorted(new if is_alone else confirmed)}
        facts |= {"reason": reason} if reason else {}
        if new and campaign.opened_at is not None and fresh.is_active:
            facts |= bar_anew(campaign, fresh, now or timezone.now())
        action = "campaign_judge.declare" if is_alone else "campaign_judge.bar"
        audit.record(actor=actor, action=action, obj=fresh, after=facts)


def unknown_teams(campaign: Campaign, team_numbers: Sequence[int], team_names: Sequence[str]) -> list[str]:
    """What of ``team_numbers`` and ``team_names`` is no team of the competition, as it was typed. A number that is
    among the names as well may be either.
    """
    teams = Team.objects.filter(competition=campaign.track.competition_id).values_list("number", "name")
    numbers, names = {number for number, _name in teams}, {folded(name) for _number, name in teams}
    typed = {name: int(name) for name in team_names if name.isascii() and name.isdigit()}
    asked = [*team_names, *(str(number) for number in team_numbers if number not in typed.values())]
    by_number = {str(number) for number in team_numbers if number in numbers}
    by_number |= {name for name, number in typed.items() if number in numbers and number in team_numbers}
    by_name = {name for name in team_names if folded(name) in names}
    return [each for each in dict.fromkeys(asked) if each not in by_number | by_name]


def least_seen(campaign: Campaign, systems: int) -> int:
    """How many of ``systems`` a judge must be left with for nobody to tell whose an output is: half of them, and more
    than are shown together.
    """
    return max(campaign.group_size + BEYOND_A_GROUP, (systems + 1) // 2)


def alone_teams(judge: CampaignJudge) -> list[int]:
    """The numbers of the teams that ``judge`` declared and no organiser stands for."""
    return sorted(set(judge.declared_teams) - set(judge.barred_teams))


def hides_too_much(judge: CampaignJudge, systems: Sequence[CampaignSystem]) -> bool:
    """Whether what ``judge`` declared without an organiser leaves them fewer of ``systems`` than ``least_seen``."""
    if not alone_teams(judge):
        return False
    left, without = len(systems) - len(bars_of(judge, systems)), len(systems) - len(_barred_by_others(judge, systems))
    return left < without and left < least_seen(judge.campaign, len(systems))


def judges_hiding_too_much(
    judges: Iterable[CampaignJudge], systems: Sequence[CampaignSystem]
) -> tuple[CampaignJudge, ...]:
    """Those of ``judges`` whose declared teams an organiser must look at before the opening."""
    return tuple(judge for judge in judges if judge.is_active and hides_too_much(judge, systems))


def _require_allowed(judge: CampaignJudge, new: set[int]) -> None:
    """Raise ``OrganiserMustBar`` or ``TooManyDeclared`` if ``judge`` cannot declare ``new`` alone; count the late ones.

    So many that ``least_seen`` systems are left if all these teams take part. Before any system is chosen that is not
    known: then it is looked at when the campaign opens.
    """
    systems = list(seen_systems(judge))
    others = _barred_by_others(judge, systems)
    hidden = {row.submission.team.number for row in systems if row.pk in others}
    most = max(0, len(systems) - len(others) - least_seen(judge.campaign, len(systems)))
    if systems and len({*alone_teams(judge), *new} - hidden) > most:
        raise OrganiserMustBar(limit=most, reason="some" if most else "none")
    if Assignment.objects.filter(judge=judge, first_shown_at__isnull=False).exists():
        judge.declared_late += len(new)
        if judge.declared_late > LATE_MOST:
            raise TooManyDeclared(limit=LATE_MOST)


def _barred_by_others(judge: CampaignJudge, systems: Sequence[CampaignSystem]) -> set[int]:
    """The systems, by primary key, that ``judge`` would not see if they had declared nothing themselves."""
    of_organisers = {row.pk for row in systems if row.submission.team.number in judge.barred_teams}
    bars = bars_of(judge, systems)
    return {pk for pk, reason in bars.items() if reason != JudgeBar.Reason.DECLARED} | (of_organisers & bars.keys())


def _known(campaign: Campaign, team_numbers: Sequence[int], team_names: Sequence[str]) -> set[int]:
    """The numbers of the teams of the competition that are meant."""
    numbers, names = set(team_numbers), {folded(name) for name in team_names}
    teams = Team.objects.filter(competition=campaign.track.competition_id).values_list("number", "name")
    return {number for number, name in teams if number in numbers or folded(name) in names}
