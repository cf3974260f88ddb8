"""The visibility world with something to do on every page: batches, drafts, requests, and more kinds of people."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

from allauth.account.models import EmailAddress
from django.contrib.auth.models import Group
from django.utils import timezone

from malpan.accounts.models import User
from malpan.archive.exporting import export_competition
from malpan.competitions.drafts import create_draft
from malpan.competitions.models import Competition, CompetitionRole, Phase, ReferenceVersion, TermsAcceptance, Track
from malpan.leaderboard.snapshots import publish_final_board
from malpan.stages.contents import final_content, stage_content
from malpan.stages.entering import confirm_table, enter_table
from malpan.stages.models import Award, Stage
from malpan.stages.publishing import publish_final, publish_stage
from malpan.stages.services import create_stage
from malpan.submissions.judge_agreement import record_agreement
from malpan.submissions.models import JudgeAgreement, RescoreBatch, ScoringRun, Submission
from malpan.submissions.quota import services as quota
from malpan.submissions.rescoring import services as rescoring
from malpan.submissions.rescoring.batches import Selection
from malpan.submissions.rescoring.orders import order_application
from malpan.teams.merging import ask_merge
from malpan.teams.models import Membership, MergeRequest, Team
from tests.factories import (
    CompetitionFactory,
    PhaseFactory,
    ScoringRunFactory,
    SubmissionFactory,
    TeamFactory,
    TrackFactory,
    UserFactory,
    file_bytes,
    finished_submission,
    leader_of,
    publish,
    rows,
    update_jobs,
)
from tests.judged_submissions import human_bytes, judged_submission
from tests.web.visibility_world import HOUR, ROLES, State, World, confirmed, make, token_of

STATE: Final = State("running", {"finals_limit": 2, "daily_limit": 50, "total_limit": 90})
# "staff" may enter the admin and nothing else; nobody but they has yet to accept the terms
VIEWERS: Final = (
    *("anonymous", "judge", "other team", "own team", "own member", *ROLES, "owner", "organiser elsewhere"),
    *("staff", "superuser"),
)


@dataclass
class WriteWorld(World):
    """The world, and what only some actions are about."""

    bare: Competition  # hidden and without content; who has a role in the world has the same there
    other_track: Track
    empty_track: Track
    phases: dict[str, Phase]
    free_draft: ReferenceVersion  # of a phase without submissions
    runs: dict[str, ScoringRun]
    batches: dict[str, RescoreBatch]
    merges: dict[str, MergeRequest]
    stages: dict[str, Stage]  # each the last one of a track, by what is to be done there
    judged: Submission
    agreement: JudgeAgreement
    member: Membership  # of the own team, and not its leader
    unconfirmed: EmailAddress
    group: Group
    archive: bytes


def make_writable() -> WriteWorld:
    """The world while its phase is running."""
    world = make(STATE)
    competition, teams = world.competition, world.teams
    Competition.objects.filter(pk=competition.pk).update(terms_ko="약관", terms_version=1)
    bare = CompetitionFactory.create(slug="bare", is_published=False)
    member = Membership.objects.create(team=teams["own"], user=UserFactory.create(), competition=competition)
    teams |= {
        name: TeamFactory.create(competition=competition, name=name) for name in ("third", "fourth", "empty", "out")
    }
    Team.objects.filter(pk=teams["out"].pk).update(disqualified_at=timezone.now())
    other_track = TrackFactory.create(competition=competition, slug="second", position=5)
    phases = _phases(other_track, teams["other"])
    _add_people(world, bare, member)
    judged = judged_submission(world.phase, teams["third"], {"e1": 1.0, "e2": 0.2, "e3": 0.6})
    people = human_bytes({"e1": 5, "e2": 2, "e3": 3})
    batches = {name: _batch(phases[name], state) for name, state in BATCHES.items()}
    order_application(batch=batches["ordered"], actor=UserFactory.create())
    _give(competition, teams["other"])
    archive = io.BytesIO()
    export_competition(competition=bare, actor=None, target=archive)
    return WriteWorld(
        **vars(world),
        bare=bare,
        other_track=other_track,
        empty_track=TrackFactory.create(competition=competition, slug="empty", recipe="captioning@1", position=6),
        phases=phases,
        free_draft=create_draft(phase=phases["free"], data=file_bytes(rows(3, "고친 답이 옳다.")), actor=None),
        runs=_runs(world.phase, teams["third"]),
        batches=batches,
        merges={
            "asked": ask_merge(source=teams["own"], target=teams["third"], actor=leader_of(teams["own"])),
            "offered": ask_merge(source=teams["fourth"], target=teams["own"], actor=leader_of(teams["fourth"])),
        },
        stages={name: _stage(name, teams["other"]) for name in ("open", "pending", "confirmed", "final", "given")},
        judged=judged,
        agreement=record_agreement(
            submission=judged, metric="llm_judge", data=people, source="교사", actor=leader_of(teams["third"])
        ),
        member=member,
        unconfirmed=EmailAddress.objects.create(user=member.user, email="later@example.com"),
        group=Group.objects.create(name="group"),
        archive=archive.getvalue(),
    )


BATCHES: Final = {
    "ready": ScoringRun.State.FINISHED,
    "stuck": ScoringRun.State.FAILED,
    "ordered": ScoringRun.State.FINISHED,
}


def _phases(track: Track, team: Team) -> dict[str, Phase]:
    """Three with a batch to come, one that is over, one without submissions, one without anything."""
    now = timezone.now()
    phases = {name: PhaseFactory.create(track=track, slug=name) for name in (*BATCHES, "free", "empty")}
    phases["over"] = PhaseFactory.create(
        track=track, slug="over", starts_at=now - timedelta(days=9), ends_at=now - HOUR
    )
    for name in (*BATCHES, "free", "over"):
        publish(phases[name])
    for name in (*BATCHES, "over"):
        finished_submission(phases[name], team, 0.5, created_at=now - 2 * HOUR)
    return phases


def _stage(name: str, team: Team) -> Stage:
    """A track whose first stage is published; but for ``final`` a second one has a table as the name says."""
    now, people = timezone.now(), [UserFactory.create() for _ in range(2)]
    for person in people:
        CompetitionRole.objects.create(user=person, competition=team.competition, role="organiser")
    track = TrackFactory.create(competition=team.competition, slug=f"stages-{name}", position=7)
    phase = PhaseFactory.create(track=track, starts_at=now - timedelta(days=9), ends_at=now - HOUR)
    publish(phase)
    finished_submission(phase, team, 0.5, created_at=now - 2 * HOUR)
    publish_final_board(phase=phase, actor=people[0])
    Phase.objects.filter(pk=phase.pk).update(final_published_at=None)  # else no team of the world may be renamed
    first = create_stage(track=track, actor=people[0], title_ko="순위표", phase=phase, weight=50)
    publish_stage(stage=first, actor=people[0], sha256=stage_content(first).sha256)
    if name == "given":
        publish_final(track=track, actor=people[0], sha256=final_content(track).sha256)
    if name in ("final", "given"):
        return first
    stage = create_stage(track=track, actor=people[0], title_ko="평가", weight=50, scale_max=100.0)
    if name != "open":
        table = enter_table(stage=stage, text=f"{team.number},50", actor=people[0], based_on=0)
        if name == "confirmed":
            confirm_table(stage=stage, number=1, sha256=table.sha256, actor=people[1])
    return stage


def _give(competition: Competition, team: Team) -> None:
    """A published award; others may be given by the combined standing of the stage ``given``."""
    Award.objects.create(
        competition=competition, team=team, position=2, title_ko="우수상", awarded_on="2026-12-05", year=2026, serial=1,
        published_at=timezone.now(),
    )  # fmt: skip


def _runs(phase: Phase, team: Team) -> dict[str, ScoringRun]:
    runs = {}
    for state in (ScoringRun.State.QUEUED, ScoringRun.State.FAILED):
        submission = SubmissionFactory.create(phase=phase, team=team)
        if state == ScoringRun.State.FAILED:
            quota.refund(submission=submission, reason="worker_lost")
        runs[str(state)] = ScoringRunFactory.create(submission=submission, state=state)
    return runs


def _batch(phase: Phase, state: str) -> RescoreBatch:
    """An open batch whose runs all ended so."""
    batch = rescoring.start_batch(phase=phase, selection=Selection(), reason="규칙 변경", actor=UserFactory.create())
    is_finished = state == ScoringRun.State.FINISHED
    result: Mapping[str, Any] = (
        {"final_score": 0.6, "scores": {"final_score": 0.6}} if is_finished else {"error_code": "scoring_crashed"}
    )
    update_jobs(batch.runs.all(), state=state, finished_at=timezone.now())
    batch.runs.update(state=state, finished_at=timezone.now(), **result)
    return batch


def _add_people(world: World, bare: Competition, member: Membership) -> None:
    people = world.people
    people |= {"own member": member.user, "owner": UserFactory.create()}
    people |= {"staff": UserFactory.create(is_staff=True)}
    people |= {"superuser": UserFactory.create(is_staff=True, is_superuser=True)}
    for name in ("own member", "owner", "staff", "superuser"):
        confirmed(people[name])
    for role in (*ROLES, "owner"):
        for competition in (world.competition, bare):
            CompetitionRole.objects.get_or_create(user=people[role], competition=competition, defaults={"role": role})
    known: list[User] = [person for name, person in people.items() if person and name != "staff"]
    for person in [*known, *(leader_of(team) for team in world.teams.values())]:
        TermsAcceptance.objects.get_or_create(user=person, competition=world.competition, version=1)
    for name in VIEWERS:
        if (person := people[name]) and name not in world.tokens:
            world.tokens[name] = token_of(person)
