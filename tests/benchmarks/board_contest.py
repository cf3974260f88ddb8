"""A contest of many teams in a running site's database, scored without scoring: for ``Stack.call``.

The scores are random; everything a board shows is there.
"""

from __future__ import annotations

import random
from datetime import timedelta
from typing import Any
from uuid import uuid4

SCORES = ("exact_match", "descriptive_avg", "bleurt", "bertscore", "rouge_1")
SIGNATURE = "a" * 64
WORDS = ("한글", "누리", "바른", "말모이", "온새미로", "글벗", "가온", "아라", "새벽", "연구소")


def make(slug: str, teams: int, each: int) -> dict[str, Any]:
    """``teams`` teams with ``each`` finished, live submissions."""
    from django.db import transaction

    from malpan.accounts.models import User
    from malpan.competitions.models import Competition, Phase
    from malpan.teams.models import Team
    from tests.system.make_contest import answers
    from tests.system.make_contest import make as make_contest

    chance = random.Random(teams)
    make_contest(slug, ["a", "b"], answers(["a", "b"], 3))
    competition = Competition.objects.get(slug=slug)
    phase = Phase.objects.select_related("track").get(track__competition=competition)
    user = User.objects.create(email=f"{slug}@example.org", name="참가자")
    made = Team.objects.bulk_create(
        [
            Team(competition=competition, number=number, name=f"{' '.join(chance.sample(WORDS, 2))} {number}")
            for number in range(1, teams + 1)
        ],
        batch_size=2000,
    )
    for start in range(0, teams, 1000):
        _submissions(phase, made[start : start + 1000], each, user, chance)
    with transaction.atomic():
        _be_sure(phase)
    return {"slug": slug, "teams": teams}


def _be_sure(phase: Any) -> None:
    """What a worker computes of the board from the values of items, which these submissions have not."""
    from django.utils import timezone

    from malpan.jobs.models import Job
    from malpan.leaderboard import standings
    from malpan.leaderboard.models import BoardSureness, Standing, StandingsVersion
    from malpan.leaderboard.sureness.sources import ROWS

    standings.refresh(phase)
    rows = standings.page(phase, Standing.Scope.LIVE, SIGNATURE, 0, ROWS)
    ends = {str(each.submission.public_id): [each.final_score - 0.02, each.final_score + 0.02] for each in rows}
    known = {
        name: {
            "rank": rank, "scores": {"final_score": interval}, "places": [max(rank - 3, 1), rank + 3],
            "band": (rank + 3) // 4, "first": (rank - 1) // 4 * 4 + 1, "tied": 4, "p": 0.2,
        }
        for rank, (name, interval) in enumerate(ends.items(), start=1)
    }  # fmt: skip
    sure, _created = BoardSureness.objects.update_or_create(
        phase=phase,
        scope=Standing.Scope.LIVE,
        defaults={
            "version": StandingsVersion.objects.get(phase=phase).value,
            "signature_hash": SIGNATURE,
            "rows": known,
            "reason": "",
            "trials": 10_000,
            "level": 0.95,
            "items": 1000,
            "pairs": len(rows) - 1,
            "computed_at": timezone.now(),
            "stamp": uuid4(),
        },
    )
    Job.objects.filter(pk=sure.job_id).delete()  # the site has begun by itself, and finds no items


def append_scores(slug: str, most: int) -> int:
    """Commit to the scores of the next ``most`` submissions that the chain lacks; returns how many these are."""
    from malpan.submissions.integrity import chain
    from malpan.submissions.models import Submission

    of_contest = Submission.objects.filter(phase__track__competition__slug=slug)
    return len(chain.append_scores(of_contest.filter(chain_entries=None).order_by("pk")[:most]))


def _submissions(phase: Any, teams: list[Any], each: int, user: Any, chance: random.Random) -> None:
    from django.db import connection
    from django.utils import timezone

    from malpan.submissions.models import ScoringRun, Submission

    now, version = timezone.now(), phase.reference_versions.get(is_current=True)
    rows = [
        Submission(
            phase=phase, team=team, submitted_by=user, file_name="answers.json", file_sha256=f"{team.pk:064x}",
            file_size=1000, item_count=2, created_at=now - timedelta(seconds=chance.randrange(80_000)),
        )
        for team in teams
        for _again in range(each)
    ]  # fmt: skip
    submissions = Submission.objects.bulk_create(rows, batch_size=2000)
    runs = []
    for submission in submissions:
        scores = {name: chance.random() for name in SCORES}
        scores["final_score"] = (scores["exact_match"] + scores["descriptive_avg"]) / 2
        runs.append(
            ScoringRun(
                submission=submission, reference_version=version, recipe=phase.track.recipe, profile="demo",
                state="finished", queued_at=submission.created_at, finished_at=now, scores=scores,
                final_score=scores["final_score"], signature_hash=SIGNATURE, signature={"models": "none" * 500},
            )
        )  # fmt: skip
    ScoringRun.objects.bulk_create(runs, batch_size=2000)
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE submissions_submission s SET live_run_id = r.id FROM submissions_scoringrun r"
            " WHERE r.submission_id = s.id AND s.live_run_id IS NULL"
        )
