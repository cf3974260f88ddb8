"""A contest in full swing, made by bulk: many teams, many scored submissions with their item values, a fake engine."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from django.db import transaction
from django.utils import timezone

from malpan.accounts.models import User
from malpan.competitions.models import Phase
from malpan.core.storage import store_private
from malpan.jobs import claim, tasks
from malpan.jobs.models import Job
from malpan.submissions.evaluation.runs import RUN
from malpan.submissions.intake import submit
from malpan.submissions.models import QuotaEntry, RescoreBatch, ScoringRun, Submission
from malpan.submissions.rescoring import services as rescoring
from malpan.submissions.rescoring.batches import Selection
from malpan.submissions.scoring_changes import publish_reference_version
from malpan.teams.models import Membership, Team
from scoring.metrics import load_metric as real_load_metric
from tests import database
from tests.factories import CompetitionFactory, PhaseFactory, TrackFactory, UserFactory, file_bytes
from tests.scoring.fakes import FakeBertScore, FakeBleurt, FakeNeural

ITEMS = 6
REASON = "규범에 따라 적는다"
PRIZES = [3, 10]
STRICT = "rag-qa-strict@1"
EVERYTHING = Selection()


@dataclass
class Contest:
    phase: Phase
    teams: list[Team]
    users: list[User]
    organiser: User
    submissions: list[Submission] = field(default_factory=list)


def references(alternative: str = "") -> bytes:
    """Six items; ``alternative`` is a further accepted answer to the first."""
    rows = [_row(number, f"바른말{number}", REASON) for number in range(ITEMS)]
    if alternative:
        rows[0] = _row(0, f"{alternative}#바른말0", REASON)
    return file_bytes(rows)


def answers(seed: int, *, leaves_out_reasons: bool = False) -> bytes:
    """A team's file: some answers right, reasons of various lengths, half of them left out where asked for."""
    chance = random.Random(seed)
    rows = []
    for number in range(ITEMS):
        is_right = chance.random() < 0.3 + (seed % 40) / 80
        reason = " ".join(["규범", "따라", "적는다", "다르게"][: chance.randint(1, 4)])
        has_reason = not (leaves_out_reasons and number % 2)
        rows.append(_row(number, f"바른말{number}" if is_right else f"틀린말{seed}", reason if has_reason else ""))
    return file_bytes(rows)


def _row(number: int, answer: str, reason: str) -> dict[str, Any]:
    return {
        "id": f"q{number}",
        "input": {"question_type": "선택형", "question": f"{number}번 문제"},
        "output": {"answer": f"{answer}이 옳다. {reason}".strip()},
    }


def with_fake_models(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str, str]]:
    """The real engine with fake models; what the neural metrics are asked, pair by pair."""
    from scoring import engine

    fakes = {"bertscore": FakeBertScore, "bleurt": FakeBleurt}
    profile = SimpleNamespace(name="fake", is_demo=False, clip=None)
    store = SimpleNamespace(profile=profile, computed_with=dict)
    for module in ("scoring.engine", "malpan.submissions.evaluation.canary"):
        monkeypatch.setattr(f"{module}.shared_store", lambda *_args: store)
    monkeypatch.setattr(
        engine,
        "load_metric",
        lambda name, *rest: fakes[name]() if name in fakes else real_load_metric(name, *rest),
    )
    FakeNeural.asked.clear()
    return FakeNeural.asked


def found(teams: int, **phase_fields: Any) -> Contest:
    """An open phase with references and teams, no submissions yet."""
    competition = CompetitionFactory.create(prize_places=PRIZES)
    phase = PhaseFactory.create(track=TrackFactory.create(competition=competition), **phase_fields)
    publish_reference_version(phase=phase, data=references(), actor=None)
    users = User.objects.bulk_create(
        [User(email=f"bulk-{competition.pk}-{number}@example.com", name=f"참가자 {number}") for number in range(teams)]
    )
    made = Team.objects.bulk_create(
        [Team(competition=competition, name=f"팀 {number:02d}", number=number + 1) for number in range(teams)]
    )
    Membership.objects.bulk_create(
        [
            Membership(team=team, user=user, competition=competition, role=Membership.Role.LEADER)
            for team, user in zip(made, users, strict=True)
        ]
    )
    return Contest(phase, made, users, UserFactory.create(is_superuser=True))


def fill(contest: Contest, each: int) -> None:
    """``each`` submissions of every team, stored, charged and scored by the real run."""
    start = timezone.now() - timedelta(hours=20)
    rows = []
    for place in range(each * len(contest.teams)):
        team, user = contest.teams[place % len(contest.teams)], contest.users[place % len(contest.teams)]
        stored = store_private(answers(place, leaves_out_reasons=place % 3 == 0))
        rows.append(
            Submission(
                phase=contest.phase,
                team=team,
                submitted_by=user,
                file_name="answers.json",
                file_sha256=stored.sha256,
                file_size=stored.size,
                item_count=ITEMS,
                created_at=start + timedelta(seconds=place),
            )
        )
    contest.submissions = Submission.objects.bulk_create(rows)
    QuotaEntry.objects.bulk_create(
        [
            QuotaEntry(phase=row.phase, team=row.team, kind="charge", submission=row, moment=row.created_at)
            for row in contest.submissions
        ]
    )
    version = contest.phase.reference_versions.get(is_current=True)
    jobs = Job.objects.bulk_create(
        [Job(kind=RUN, flow=f"team:{row.team_id}", queued_at=row.created_at) for row in contest.submissions]
    )
    ScoringRun.objects.bulk_create(
        [
            ScoringRun(
                submission=row,
                reference_version=version,
                recipe="rag-qa@1",
                profile="demo",
                job=job,
                queued_at=row.created_at,
            )
            for row, job in zip(contest.submissions, jobs, strict=True)
        ]
    )
    database.count_rows()
    work_off()


def work_off(limit: int | None = None) -> int:
    """Do what workers do with the queued runs, oldest first; how many there were."""

    waiting = list(Job.objects.filter(state=Job.State.QUEUED).order_by("pk")[:limit])
    for job in waiting:
        with transaction.atomic():
            claim.take(job, "worker-1")
        tasks.perform(job)
    return len(waiting)


def few_teams() -> Contest:
    """Three teams with two scored submissions each."""
    made = found(3, total_limit=10)
    fill(made, 2)
    return made


def start(contest: Contest, selection: Selection = EVERYTHING, **changes: Any) -> RescoreBatch:
    return rescoring.start_batch(
        phase=contest.phase,
        selection=selection,
        reason=changes.pop("reason", "규칙 변경"),
        actor=contest.organiser,
        **changes,
    )


def apply(contest: Contest, batch: RescoreBatch, **options: Any) -> RescoreBatch:
    return rescoring.apply_batch(batch=batch, actor=contest.organiser, **options)


def upload(contest: Contest, place: int = 0, seed: int = 99) -> Submission:
    return submit(
        phase=contest.phase,
        team=contest.teams[place],
        user=contest.users[place],
        file_name="late.json",
        upload=answers(seed),
    )
