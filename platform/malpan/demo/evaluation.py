"""The human evaluation of the demo contest that is over: its final board is published, the teams on it are compared by
simulated judges, and the result is published, once with all of them and again without one who did not read. Then the
first teams of the board get awards.

Everything goes through the services that organisers and judges use, as of moments after the end of the phase. What
exists already is not changed, so an interrupted evaluation is completed by the next call.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from django.db import transaction

from malpan.arena.campaigns import create_campaign
from malpan.arena.closing import close_campaign
from malpan.arena.computing import compute_now
from malpan.arena.exclusions import make_exclusion
from malpan.arena.models import Campaign, CampaignResult, Exclusion
from malpan.arena.opening import open_campaign
from malpan.arena.publishing import computed_result, publish_result
from malpan.arena.quality import LiveJudgeQuality, live_quality
from malpan.arena.results import question_of
from malpan.arena.rubrics import create_rubric
from malpan.arena.systems import SYSTEMS_LEAST, choose_top
from malpan.arena.votes_file import votes_of
from malpan.competitions.models import Competition, CompetitionRole, Phase
from malpan.competitions.roles import appoint
from malpan.core.locks import own_rows
from malpan.demo.assembly import ORGANISER, PHASE_SLUG, person
from malpan.demo.awards import give_awards
from malpan.demo.judges import add_judge, agree, do_queue, email_of_judge
from malpan.demo.loading import one_at_a_time
from malpan.demo.readers import Readers
from malpan.leaderboard.snapshots import publish_final_board, unfinished_count
from malpan.submissions.models import ScoringRun, Submission

if TYPE_CHECKING:
    from malpan.accounts.models import User

SLUG: Final = "demo-past"
PLAN: Final[dict[str, Any]] = tomllib.loads((Path(__file__).parent / "evaluation.toml").read_text(encoding="utf-8"))
TEAMS_MOST: Final = 6  # of the final board, besides the baselines
SEED: Final = 20  # of what the simulated judges draw
DAY: Final = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Moments:
    """When what happens, after the end of the phase."""

    board: datetime
    opening: datetime
    judging: datetime
    closing: datetime
    correction: datetime
    awards: datetime

    @classmethod
    def of(cls, phase: Phase) -> Moments:
        end = phase.ends_at
        return cls(end + DAY, end + 3 * DAY, end + 4 * DAY, end + 12 * DAY, end + 14 * DAY, end + 15 * DAY)


def evaluate_demo() -> Campaign | None:
    """Complete the evaluation and return its campaign; ``None`` where there is nothing to evaluate: no such demo
    contest, or its submissions are not all scored yet, or somebody else made the first campaign of the track.

    Of two parallel calls the second waits.
    """
    with one_at_a_time():
        phases = Phase.objects.filter(track__competition__slug=SLUG, track__competition__is_demo=True, slug=PHASE_SLUG)
        phase = phases.select_related("track__competition").first()
        if phase is None or not is_ready(phase):
            return None
        organiser = person(*ORGANISER)
        return _complete(phase, organiser, Moments.of(phase)) if _is_ours(phase, organiser) else None


def _complete(phase: Phase, organiser: User, moments: Moments) -> Campaign:
    appoint_owner(phase.track.competition, organiser)
    if phase.final_published_at is None:
        publish_final_board(phase=phase, actor=organiser, now=moments.board)
    campaign = Campaign.objects.filter(track=phase.track, number=1).first() or _open(phase, organiser, moments)
    if campaign.closed_at is None:
        _judge(campaign, moments.judging)
        campaign = close_campaign(campaign=campaign, actor=organiser, accepts_open=True, now=moments.closing)
    _publish(campaign, organiser, moments)
    give_awards(phase.track, organiser, moments.awards)
    return campaign


def _is_ours(phase: Phase, organiser: User) -> bool:
    """Whether no first campaign of the track was made by anybody else."""
    return not Campaign.objects.filter(track=phase.track, number=1).exclude(created_by=organiser).exists()


def is_ready(phase: Phase) -> bool:
    """Whether all of ``phase`` is scored, and enough teams to be compared have something there."""
    scored = Submission.objects.filter(phase=phase, live_run__state=ScoringRun.State.FINISHED)
    return not unfinished_count(phase) and scored.values("team").distinct().count() >= SYSTEMS_LEAST


def appoint_owner(competition: Competition, organiser: User) -> None:
    """Make the demo's organiser an owner of ``competition``, unless they have a role in it."""
    if not CompetitionRole.objects.filter(competition=competition, user=organiser).exists():
        appoint(competition=competition, user=organiser, role=CompetitionRole.Role.OWNER, actor=None)


def _open(phase: Phase, organiser: User, moments: Moments) -> Campaign:
    """An open campaign with its judges; all of it or nothing."""
    with transaction.atomic(), own_rows():
        rubric = create_rubric(track=phase.track, actor=organiser, now=moments.board, **PLAN["rubric"])
        campaign = create_campaign(
            track=phase.track, actor=organiser, rubric=rubric, phase=phase, now=moments.board, **PLAN["campaign"]
        )
        choose_top(campaign=campaign, actor=organiser, count=TEAMS_MOST, with_baselines=True)
        for place, row in enumerate(PLAN["judges"]):
            judge = add_judge(campaign, organiser, email_of_judge(place + 1), row, moments.board)
            agree(judge, moments.board)
        return open_campaign(campaign=campaign, actor=organiser, now=moments.opening)


def _judge(campaign: Campaign, begin: datetime) -> None:
    """Let every judge do what is left of their queue."""
    behaviours = [row["behaviour"] for row in PLAN["judges"]]
    readers = Readers(behaviours, campaign, SEED)
    judge_of = {judge.email: judge for judge in campaign.judges.select_related("user", "campaign")}
    for place in range(len(behaviours)):
        judge = judge_of.get(email_of_judge(place + 1))
        if judge is not None and judge.is_active:
            do_queue(judge, place, readers, begin + place * timedelta(hours=3))


def _publish(campaign: Campaign, organiser: User, moments: Moments) -> None:
    """Publish the result of all judges, then that without the one who clicked at random."""
    results = CampaignResult.objects.filter(campaign=campaign)
    if not results.exists():
        _publish_once(campaign, organiser, moments.closing)
    exclusions = Exclusion.objects.filter(campaign=campaign)
    if results.count() > 1 or exclusions.exclude(by=organiser).exists():
        return
    if not exclusions.exists():
        place = next(place for place, row in enumerate(PLAN["judges"]) if row["behaviour"] == "random")
        found = next(
            (each for each in live_quality(campaign).judges if each.judge.email == email_of_judge(place + 1)), None
        )
        if found is None:  # whose data were erased
            return
        reason = _reason(found)
        make_exclusion(campaign=campaign, actor=organiser, reason=reason, judge=found.judge, now=moments.correction)
    _publish_once(campaign, organiser, moments.correction, **PLAN["correction"])


def _publish_once(campaign: Campaign, organiser: User, now: datetime, **notes: str) -> None:
    compute_now(question_of(campaign, votes_of(campaign)))
    sha256 = computed_result(campaign=campaign).result_sha256
    publish_result(campaign=campaign, actor=organiser, result_sha256=sha256, now=now, **notes)


def _reason(found: LiveJudgeQuality) -> str:
    """Why a judge is left out, in the figures that the organisers saw."""
    figures = found.figures
    failed = f"확인 문항 {figures.controls}개 가운데 {figures.control_failures}개를 놓쳤고, " if figures else ""
    return f"{failed}판단 하나에 걸린 시간(중앙값)이 {found.median_seconds or 0:.0f}초입니다."
