"""Rows and files for tests. Factories make rows; functions make files in the official format and reports of a scoring.

``CANARY`` is a string that stands in reference answers only: wherever it turns up, an answer has leaked.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import factory
from django.db.models import QuerySet
from django.utils import timezone
from factory.django import DjangoModelFactory

from malpan.accounts.models import User
from malpan.competitions.models import Competition, CompetitionRole, Phase, ReferenceVersion, Track
from malpan.core.database.prepared import Prepared
from malpan.jobs.models import Job
from malpan.submissions.models import QuotaEntry, ScoringRun, Submission
from malpan.submissions.scoring_changes import publish_reference_version
from malpan.teams.models import Membership, Team
from malpan.teams.services import next_team_number
from scoring.records import ItemScores, ScoreReport

CANARY = "비밀카나리아정답"
PASSWORD = "열두글자가넘는암호입니다"


class UserFactory(DjangoModelFactory[User]):
    class Meta:
        model = User
        skip_postgeneration_save = True

    email = factory.Sequence(lambda n: f"person{n}@example.com")
    name = factory.Sequence(lambda n: f"참가자 {n}")
    password = factory.django.Password(PASSWORD)


class CompetitionFactory(DjangoModelFactory[Competition]):
    class Meta:
        model = Competition

    slug = factory.Sequence(lambda n: f"contest-{n}")
    title_ko = factory.Sequence(lambda n: f"말글 대회 {n}")
    title_en = factory.Sequence(lambda n: f"Contest {n}")
    is_published = True


class TrackFactory(DjangoModelFactory[Track]):
    class Meta:
        model = Track

    competition = factory.SubFactory(CompetitionFactory)
    slug = factory.Sequence(lambda n: f"track-{n}")
    title_ko = "어문 규범"
    title_en = "Language norms"
    recipe = "rag-qa@1"
    profile = "demo"


class PhaseFactory(DjangoModelFactory[Phase]):
    """Open since yesterday and for a month, without limits. It has no references: see ``publish``."""

    class Meta:
        model = Phase

    track = factory.SubFactory(TrackFactory)
    slug = factory.Sequence(lambda n: f"phase-{n}")
    title_ko = "본선"
    title_en = "Main"
    starts_at = factory.LazyFunction(lambda: timezone.now() - timedelta(days=1))
    ends_at = factory.LazyFunction(lambda: timezone.now() + timedelta(days=30))


class TeamFactory(DjangoModelFactory[Team]):
    """A team with a leader; ``members=2`` adds two more people."""

    class Meta:
        model = Team
        skip_postgeneration_save = True

    competition = factory.SubFactory(CompetitionFactory)
    name = factory.Sequence(lambda n: f"팀 {n}")
    number = factory.LazyAttribute(lambda row: next_team_number(row.competition))

    @factory.post_generation
    def leader(self: Team, create: bool, extracted: User | None, **kwargs: Any) -> None:
        _join(self, extracted or UserFactory.create(), Membership.Role.LEADER)

    @factory.post_generation
    def members(self: Team, create: bool, extracted: int | None, **kwargs: Any) -> None:
        for _number in range(extracted or 0):
            _join(self, UserFactory.create(), Membership.Role.MEMBER)


class ReferenceVersionFactory(DjangoModelFactory[ReferenceVersion]):
    """The row alone, without a file behind it; ``publish`` makes a real one."""

    class Meta:
        model = ReferenceVersion

    phase = factory.SubFactory(PhaseFactory)
    number = factory.Sequence(lambda n: n + 1)
    file_sha256 = factory.Sequence(lambda n: f"{n:064x}")
    item_count = 3
    is_current = True


class SubmissionFactory(DjangoModelFactory[Submission]):
    """The row and its lines in the ledger, without a file behind it; ``submissions.intake.submit`` makes a real one.

    ``charged=False`` leaves the ledger alone.
    """

    class Meta:
        model = Submission
        skip_postgeneration_save = True

    phase = factory.SubFactory(PhaseFactory)
    team = factory.LazyAttribute(lambda row: TeamFactory.create(competition=row.phase.track.competition))
    submitted_by = factory.LazyAttribute(lambda row: leader_of(row.team))
    file_name = "answers.json"
    file_sha256 = factory.Sequence(lambda n: f"{n:064x}")
    file_size = 100
    item_count = 3
    created_at = factory.LazyFunction(timezone.now)

    @factory.post_generation
    def charged(self: Submission, create: bool, extracted: bool | None, **kwargs: Any) -> None:
        if create and extracted is not False:
            _write_ledger(self)


class JobFactory(DjangoModelFactory[Job]):
    """A queued job of a team; one that runs has a lease, one that is over an end."""

    class Meta:
        model = Job

    kind = "run"
    flow = "team:0"
    state = Job.State.QUEUED
    queued_at = factory.LazyFunction(timezone.now)
    lease_expires_at = factory.LazyAttribute(
        lambda row: timezone.now() + timedelta(seconds=30) if row.state == Job.State.RUNNING else None
    )
    finished_at = factory.LazyAttribute(
        lambda row: timezone.now() if row.state in (Job.State.FINISHED, Job.State.FAILED) else None
    )


class ScoringRunFactory(DjangoModelFactory[ScoringRun]):
    """A queued run by default. It needs a ``reference_version`` of its submission's phase.

    Its job stands as it does; ``job__cost=…`` and the like say more of it.
    """

    class Meta:
        model = ScoringRun

    job = factory.SubFactory(
        JobFactory,
        state=factory.SelfAttribute("..state"),
        lane=factory.LazyAttribute(lambda row: int(row.factory_parent.batch is not None)),
        flow=factory.LazyAttribute(lambda row: flow_of(row.factory_parent)),
    )
    state = ScoringRun.State.QUEUED
    batch = None

    submission = factory.SubFactory(SubmissionFactory)
    reference_version = factory.LazyAttribute(lambda row: current_version(row.submission.phase))
    recipe = factory.LazyAttribute(lambda row: row.submission.phase.track.recipe)
    profile = "demo"
    queued_at = factory.LazyFunction(timezone.now)


def number_on() -> None:
    """Number what is unique on a whole site on behind the rows there are: another process may have made them."""
    for each in (UserFactory, CompetitionFactory):
        last = each._meta.model.objects.order_by("pk").last()  # whose key is no less than its number
        each.reset_sequence(last.pk + 1 if last else 0)


def flow_of(run: Any) -> str:
    """Whose turn a run takes, as ``evaluation.runs`` has it."""
    return f"team:{run.submission.team_id}" if run.batch is None else f"batch:{run.batch.pk}"


def update_jobs(runs: QuerySet[ScoringRun], **fields: Any) -> None:
    """Write ``fields`` to the jobs of ``runs``."""
    Job.objects.filter(pk__in=runs.values("job")).update(**fields)


def finished_submission(
    phase: Phase,
    team: Team,
    final_score: float,
    *,
    signature_hash: str = "s",
    scores: Mapping[str, float] | None = None,
    **fields: Any,
) -> Submission:
    """A submission with a live, finished run."""
    submission = SubmissionFactory.create(phase=phase, team=team, **fields)
    submission.live_run = ScoringRunFactory.create(
        submission=submission,
        state=ScoringRun.State.FINISHED,
        finished_at=timezone.now(),
        final_score=final_score,
        scores={"final_score": final_score, **(scores or {})},
        signature_hash=signature_hash,
    )
    submission.save(update_fields=["live_run"])
    return submission


def person_in(competition: Competition, role: str, **fields: Any) -> User:
    """A new person with ``role`` in ``competition``, who was appointed without an entry in the audit log."""
    user: User = UserFactory.create(**fields)
    CompetitionRole.objects.create(user=user, competition=competition, role=role)
    return user


def leader_of(team: Team) -> User:
    """The person who leads ``team``."""
    membership = _leading.only(team.pk)
    assert membership is not None, f"nobody leads {team}"
    return membership.user


def current_version(phase: Phase) -> ReferenceVersion:
    """The phase's current reference version, made (as a row alone) where there is none."""
    return _current.only(phase.pk) or ReferenceVersionFactory.create(phase=phase)


# each submission that a test makes asks both
_leading = Prepared(
    lambda team: Membership.objects.filter(team=team, role=Membership.Role.LEADER).select_related("user"), int
)
_current = Prepared(lambda phase: ReferenceVersion.objects.filter(phase=phase, is_current=True), int)


def publish(phase: Phase, count: int = 3) -> ReferenceVersion:
    """Publish reference answers of ``count`` items, each holding ``CANARY``, through the real service."""
    return publish_reference_version(phase=phase, data=reference_bytes(count), actor=None)


def rows(count: int = 3, answer: str = "‘맞히다’가 옳다.") -> list[dict[str, Any]]:
    """Items in the official format; the ids are ``q1``, ``q2``…"""
    return [
        {
            "id": f"q{number}",
            "input": {"question_type": "선택형", "question": f"{number}번 문제"},
            "output": {"answer": answer},
        }
        for number in range(1, count + 1)
    ]


def file_bytes(items: Any) -> bytes:
    """``items`` as an uploaded JSON file."""
    return json.dumps(items, ensure_ascii=False).encode()


def file_with_errors(total: int) -> bytes:
    """A predictions file with so many errors: items of unknown ids, and that there are too many items."""
    unknown = [{"id": f"x{number}", "output": {"answer": "답"}} for number in range(1, total)]
    return file_bytes([*rows(), *unknown])


def reference_bytes(count: int = 3) -> bytes:
    return file_bytes(rows(count, f"{CANARY}가 옳다."))


def prediction_bytes(count: int = 3, mark: object = "") -> bytes:
    """A sound predictions file; another ``mark`` makes another file."""
    return file_bytes(rows(count, f"‘맞히다’{mark}가 옳다."))


def report(final_score: float = 0.5, *, items: int = 3, metric: str = "exact_match", **fields: Any) -> ScoreReport:
    """What the engine would return."""
    values: dict[str, Any] = {
        "recipe": "rag-qa@1",
        "final_score": final_score,
        "scores": {"final_score": final_score, metric: final_score},
        "coverage": {"items": items},
        "warnings": (),
        "items": tuple(ItemScores(f"q{number}", {metric: final_score}) for number in range(1, items + 1)),
        "signature": {"recipe": "rag-qa@1", "about": {"is_demo": True}},
        "signature_hash": "f" * 64,
        "metric_signatures": {metric: "e" * 64},
    }
    return ScoreReport(**(values | fields))


def _join(team: Team, user: User, role: str) -> None:
    Membership.objects.create(team=team, user=user, competition=team.competition, role=role)


def _write_ledger(submission: Submission) -> None:
    """The charge of ``submission`` and, where it is refunded, the refund."""
    common = {"team": submission.team, "phase": submission.phase, "submission": submission}
    QuotaEntry.objects.create(kind=QuotaEntry.Kind.CHARGE, moment=submission.created_at, **common)
    if submission.refunded_at is not None:
        QuotaEntry.objects.create(kind=QuotaEntry.Kind.REFUND, moment=submission.refunded_at, **common)
