"""A contest in full swing in a running site's database, through the services; and steps an organiser takes there.

For ``Stack.call``.
"""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

from tests.waiting import wait_for

DISTINCT = 8  # files; the other submissions repeat them, so that a large contest is made in seconds


def prepare(slug: str, teams: int, each: int, items: int, words: int) -> dict[str, Any]:
    """Teams with scored submissions; every value is from the site's worker, of equal files computed once."""
    from malpan.leaderboard import standings
    from malpan.submissions.models import Submission
    from tests.system.make_contest import answers, make

    ids = [f"item-{number}" for number in range(items)]
    make(slug, ids, answers(ids, words))
    phase, made, users = _people(slug, teams)
    files = [answers(ids, max(1, words - number % 3), wrong=min(items, number)) for number in range(DISTINCT)]
    rows = [
        _submission(phase, made[place % teams], users[place % teams], files[(place * 7 + place // teams) % DISTINCT])
        for place in range(teams * each)
    ]
    stored = Submission.objects.bulk_create(rows)
    _charge(stored)
    _score(phase, stored)
    standings.refresh(phase)
    return {"slug": slug, "ids": ids, "submissions": len(stored), "phase": phase.pk}


def organise(slug: str, email: str) -> dict[str, Any]:
    from malpan.accounts.models import User
    from malpan.competitions.models import Competition, CompetitionRole

    competition = Competition.objects.get(slug=slug)
    user = User.objects.get(email=email)
    CompetitionRole.objects.create(user=user, competition=competition, role=CompetitionRole.Role.ORGANISER)
    return {"user": user.pk}


def draft(slug: str, items: int, words: int) -> dict[str, Any]:
    from malpan.competitions.drafts import create_draft
    from malpan.competitions.models import Phase
    from tests.system.make_contest import answers

    ids = [f"item-{number}" for number in range(items)]
    phase = Phase.objects.select_related("track__competition").get(track__competition__slug=slug)
    version = create_draft(phase=phase, data=answers(ids, words), actor=None, note="새 이유")
    return {"reference_version": version.pk}


def _people(slug: str, count: int) -> tuple[Any, list[Any], list[Any]]:
    from malpan.accounts.models import User
    from malpan.competitions.models import Competition, Phase
    from malpan.teams.models import Membership, Team

    competition = Competition.objects.get(slug=slug)
    competition.prize_places = [1, 3, 10]
    competition.save(update_fields=["prize_places"])
    users = User.objects.bulk_create(
        [User(email=f"{slug}-{number}@example.org", name=f"참가자 {number}") for number in range(count)]
    )
    teams = Team.objects.bulk_create(
        [Team(competition=competition, name=f"{number + 1}번 팀", number=number + 1) for number in range(count)]
    )
    leader = Membership.Role.LEADER
    Membership.objects.bulk_create(
        [
            Membership(team=team, user=user, competition=competition, role=leader)
            for team, user in zip(teams, users, strict=True)
        ]
    )
    return Phase.objects.select_related("track__competition").get(track__competition=competition), teams, users


def _submission(phase: Any, team: Any, user: Any, data: bytes) -> Any:
    from django.utils import timezone

    from malpan.core.storage import store_private
    from malpan.submissions.models import Submission

    stored = store_private(data)
    return Submission(
        phase=phase,
        team=team,
        submitted_by=user,
        file_name="answers.json",
        file_sha256=stored.sha256,
        file_size=stored.size,
        item_count=len(json.loads(data)),
        created_at=timezone.now() - timedelta(hours=20),
    )


def _charge(submissions: list[Any]) -> None:
    from malpan.submissions.models import QuotaEntry

    QuotaEntry.objects.bulk_create(
        [
            QuotaEntry(phase=row.phase, team=row.team, kind="charge", submission=row, moment=row.created_at)
            for row in submissions
        ]
    )


def _score(phase: Any, submissions: list[Any]) -> None:
    """Score the first submission of each file; give the others the same run and item values."""
    from malpan.submissions.integrity import chain
    from malpan.submissions.models import MetricResult, ScoringRun, Submission

    distinct = {row.file_sha256: row for row in reversed(submissions)}
    first = {run.submission.file_sha256: run for run in _scored(list(distinct.values()))}
    others = [row for row in submissions if first[row.file_sha256].submission_id != row.pk]
    copies = ScoringRun.objects.bulk_create([_copy(first[row.file_sha256], submission=row, job=None) for row in others])
    for copied in copies:
        copied.submission.live_run = copied
    Submission.objects.bulk_update([copied.submission for copied in copies], ["live_run"])
    values = {run.submission_id: list(MetricResult.objects.filter(submission=run.submission)) for run in first.values()}
    MetricResult.objects.bulk_create(
        [_copy(result, submission=row) for row in others for result in values[first[row.file_sha256].submission_id]]
    )
    chain.append_scores(Submission.objects.filter(phase=phase))


def _scored(submissions: list[Any]) -> list[Any]:
    """The finished runs of ``submissions``."""
    from malpan.submissions.evaluation.runs import queue_run
    from malpan.submissions.models import ScoringRun

    queued = [queue_run(submission=row, cost=1).pk for row in submissions]
    runs = ScoringRun.objects.filter(pk__in=queued).select_related("submission")
    wait_for(lambda: not runs.exclude(state__in=("finished", "failed")).exists(), "the files are scored", seconds=90)
    assert all(run.state == "finished" for run in runs), [run.error_code for run in runs]
    return list(runs)


def _copy(row: Any, **changes: Any) -> Any:
    """The same row once more, not saved."""
    names = [field.name for field in row._meta.concrete_fields if not field.primary_key]
    return type(row)(**{name: getattr(row, name) for name in names} | changes)
