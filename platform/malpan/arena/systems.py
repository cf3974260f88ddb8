"""The systems of a campaign: one submission for each team, by hand or from the top of a board, baselines included."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from django.db import transaction

from malpan.arena.errors import NoBoard, SystemUnfit, TooManySystems
from malpan.arena.locks import lock_draft
from malpan.arena.models import Campaign, CampaignSystem
from malpan.competitions.models import Phase
from malpan.competitions.permissions import Permission, require
from malpan.core import audit
from malpan.core.text import without_unseen
from malpan.leaderboard.finals import final_board
from malpan.leaderboard.models import BoardSnapshot
from malpan.submissions.errors import SubmissionNotFound
from malpan.submissions.models import ScoringRun, Submission
from malpan.teams.selectors import disqualified_teams

if TYPE_CHECKING:
    from malpan.accounts.models import User

SYSTEMS_LEAST: Final = 2
SYSTEMS_MOST: Final = 100
INSTITUTION_MAX: Final = 120

Placed = tuple[int, bool, str]  # number of the team, whether it is a baseline, public id of the submission


def choose_systems(
    *,
    campaign: Campaign,
    actor: User,
    submissions: Sequence[uuid.UUID | str],
    institutions: Mapping[int, str] | None = None,
) -> list[CampaignSystem]:
    """Make exactly these submissions (public ids) the systems of a draft, in their order. ``institutions``: by number
    of the team; those not named keep what they had.

    Raises ``ManageNotFound`` and ``NotAllowed`` without the permission to manage, ``CampaignOpened``,
    ``SubmissionNotFound``, ``SystemUnfit``, ``TooManySystems``.
    """
    require(actor, campaign.track.competition, Permission.MANAGE)
    with transaction.atomic():
        fresh = lock_draft(campaign.pk)
        chosen = _submissions(fresh, submissions)
        require_fit(chosen, fresh.phase)
        held = systems_of(fresh)
        known = {row.submission.team.number: row.institution for row in held}
        known |= {number: without_unseen(text)[:INSTITUTION_MAX] for number, text in (institutions or {}).items()}
        fresh.systems.all().delete()
        rows = [
            CampaignSystem(campaign=fresh, submission=row, position=place, institution=known.get(row.team.number, ""))
            for place, row in enumerate(chosen, start=1)
        ]
        made = CampaignSystem.objects.bulk_create(rows)
        before, after = audit.changed(_facts(held), _facts(made))
        if after:
            audit.record(actor=actor, action="campaign.choose_systems", obj=fresh, before=before, after=after)
    return made


def choose_top(*, campaign: Campaign, actor: User, count: int, with_baselines: bool = False) -> list[CampaignSystem]:
    """Make the submissions of the first ``count`` teams the systems: of the newest published final board of the phase,
    or of the final board as it would be published now. ``with_baselines``: those on the board come as well.

    A team that was disqualified since is passed over. Raises as ``choose_systems``, and ``NoBoard``.
    """
    require(actor, campaign.track.competition, Permission.MANAGE)
    gone = set(disqualified_teams(campaign.track.competition).values_list("number", flat=True))
    placed = [row for row in _on_board(campaign.phase) if row[0] not in gone]
    teams = [row for row in placed if not row[1]][: max(count, 0)]
    baselines = [row for row in placed if row[1]] if with_baselines else []
    if not teams:
        raise NoBoard(phase=campaign.phase.title)
    names = [name for _number, _is_baseline, name in (*teams, *baselines)]
    return choose_systems(campaign=campaign, actor=actor, submissions=names)


def _facts(rows: Iterable[CampaignSystem]) -> dict[str, Any]:
    """What the audit log has of them: the submissions, and where their teams are from."""
    rows = list(rows)
    return {
        "submissions": [str(row.submission.public_id) for row in rows],
        "institutions": {str(row.submission.team.number): row.institution for row in rows if row.institution},
    }


def systems_of(campaign: Campaign) -> list[CampaignSystem]:
    """The systems in their order, with submission and team."""
    rows = CampaignSystem.objects.filter(campaign=campaign).select_related("submission__team", "submission__live_run")
    return list(rows.order_by("position"))


def require_fit(submissions: Iterable[Submission], phase: Phase) -> None:
    """Raises ``SystemUnfit`` for the first that cannot take part, ``TooManySystems``."""
    chosen = list(submissions)
    if len(chosen) > SYSTEMS_MOST:
        raise TooManySystems(count=len(chosen), most=SYSTEMS_MOST)
    teams: set[int] = set()
    for row in chosen:
        root = row.team.merged_into_id or row.team_id
        reason = "twice" if root in teams else unfitness(row, phase)
        if reason:
            raise SystemUnfit(reason, team=row.team.name, submission=str(row.public_id)[:8])
        teams.add(root)


def unfitness(submission: Submission, phase: Phase) -> str:
    """Why ``submission`` cannot be evaluated, a key of ``SystemUnfit.text``; empty if it can."""
    if submission.phase_id != phase.pk:
        return "other_phase"
    if submission.withdrawn_at is not None:
        return "withdrawn"
    if submission.refunded_at is not None:
        return "refunded"
    if submission.team.disqualified_at is not None:
        return "disqualified"
    is_scored = submission.live_run is not None and submission.live_run.state == ScoringRun.State.FINISHED
    return "" if is_scored else "not_scored"


def _submissions(campaign: Campaign, names: Sequence[uuid.UUID | str]) -> list[Submission]:
    """The submissions called ``names``, each once, in their order. Raises ``SubmissionNotFound``."""
    try:
        wanted = list(dict.fromkeys(uuid.UUID(str(name)) for name in names))
    except ValueError:
        raise SubmissionNotFound from None
    rows = Submission.objects.filter(phase__track__competition=campaign.track.competition_id, public_id__in=wanted)
    found = {row.public_id: row for row in rows.select_related("team", "live_run")}
    if len(found) < len(wanted):
        raise SubmissionNotFound
    return [found[name] for name in wanted]


def _on_board(phase: Phase) -> list[Placed]:
    """The published final board, or the one that would be published now, in its order."""
    snapshots = BoardSnapshot.objects.filter(phase=phase, kind=BoardSnapshot.Kind.FINAL)
    snapshot = snapshots.order_by("-number").first()
    if snapshot is not None:
        return [(row["team_number"], row["is_baseline"], row["submission"]) for row in snapshot.rows]
    submissions = [row.run.submission for row in final_board(phase).rows]
    return [(row.team.number, row.team.is_baseline, str(row.public_id)) for row in submissions]
