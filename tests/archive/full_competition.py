"""A competition that has something of everything, and what an archive of it holds."""

from __future__ import annotations

import io
import zipfile
from datetime import date, timedelta
from decimal import Decimal
from uuid import UUID

from django.utils import timezone

from malpan.accounts.models import User
from malpan.archive.exporting import export_competition
from malpan.competitions.models import Competition, Phase, Question, TermsAcceptance
from malpan.competitions.services import add_data_file, post_notice
from malpan.competitions.targets import set_targets
from malpan.core import audit
from malpan.jobs.claim import claim_next
from malpan.leaderboard.models import BoardSnapshot
from malpan.stages.awards import create_award, publish_awards, remove_award
from malpan.stages.contents import final_content, stage_content
from malpan.stages.entering import confirm_table, enter_table, reject_table
from malpan.stages.publishing import publish_final, publish_stage
from malpan.stages.services import create_stage
from malpan.submissions import intake
from malpan.submissions.evaluation import runs
from malpan.submissions.finals import mark_chosen, unmark_chosen
from malpan.submissions.integrity import chain
from malpan.submissions.models import HiddenResult, QuotaEntry, Rejection, RescoreBatch, Submission
from malpan.teams.models import Team
from scoring.recipes.targets import Target
from scoring.signature import json_sha256
from tests.factories import (
    PhaseFactory,
    ScoringRunFactory,
    TeamFactory,
    UserFactory,
    leader_of,
    person_in,
    prediction_bytes,
    publish,
    report,
)


def make() -> Competition:
    """Something of everything, by the real services where there are some."""
    ladder = {"score_step": Decimal("0.005"), "is_ladder": True}
    phase = PhaseFactory.create(min_interval=timedelta(0), daily_limit=5, split_seed="씨앗", **ladder)
    publish(phase)
    competition = phase.track.competition
    submissions = [scored(phase, number) for number in range(3)]
    owner = person_in(competition, "owner", name="주인")
    set_targets(track=phase.track, targets=[Target("baseline", 0.3, "작년 1위", "")], actor=owner)
    add_data_file(track=phase.track, kind="data", title_ko="자료", file_name="q.json", data=b"[1]", actor=owner)
    post_notice(competition=competition, title_ko="공지", body_ko="본문", actor=owner)
    Question.objects.create(competition=competition, asked_by=leader_of(submissions[0].team), title="문의", body="?")
    TermsAcceptance.objects.create(user=leader_of(submissions[0].team), competition=competition, version=1)
    reject(phase, submissions[0].team)
    rescore(phase, submissions, owner)
    merge(submissions)
    snapshot(phase, owner)
    judge(phase, owner)
    give(phase, submissions, owner)
    audit.record(actor=owner, action="competition_role.remove", obj=owner, before={"role": "viewer"})
    age(competition)
    return competition


def scored(phase: Phase, number: int) -> Submission:
    team = TeamFactory.create(competition=phase.track.competition, members=1)
    data = prediction_bytes(mark=number)
    submission = intake.submit(phase=phase, team=team, user=leader_of(team), file_name="가.json", upload=data)
    job = claim_next(worker="w")
    assert job is not None
    runs.finish_run(run_id=submission.runs.get().pk, attempt=job.attempt, report=report(0.1 + number / 7))
    mark_chosen([submission.pk], submission.created_at)
    if number:
        unmark_chosen([submission.pk], timezone.now())
    return submission


def reject(phase: Phase, team: Team) -> None:
    Rejection.objects.create(
        phase=phase,
        team=team,
        submitted_by=leader_of(team),
        file_name="wrong.json",
        file_size=3,
        errors=[{"code": "x"}],
        error_count=1,
        created_at=timezone.now(),
    )


def rescore(phase: Phase, submissions: list[Submission], owner: User) -> None:
    """A batch that names teams and submissions by number, with a run that became the live one."""
    first, second, *_ = submissions
    selection = {"teams": [second.team_id, first.team_id], "excluded": {str(second.pk): "사유"}, "states": ["finished"]}
    batch = RescoreBatch.objects.create(
        competition=phase.track.competition,
        phase=phase,
        reason="정오",
        selection=selection,
        state="applied",
        group=UUID(int=7),
        created_by=owner,
    )
    run = ScoringRunFactory.create(
        submission=first,
        batch=batch,
        state="finished",
        finished_at=timezone.now(),
        final_score=2 / 3,
        scores={"a": 1e-9},
    )
    HiddenResult.objects.create(run=run, final_score=0.25, scores={"final_score": 0.25}, signature_hash="h")
    Submission.objects.filter(pk=first.pk).update(live_run=run)
    QuotaEntry.objects.create(team=first.team, phase=phase, kind="grant", slots=2, batch=batch, moment=timezone.now())
    chain.append_scores([first])


def merge(submissions: list[Submission]) -> None:
    Team.objects.filter(pk=submissions[0].team_id).update(merged_into=submissions[2].team_id)


def judge(phase: Phase, owner: User) -> None:
    """Two stages: a table that was sent back and one that was confirmed, both stages and the final published."""
    track, second = phase.track, UserFactory.create(name="둘째 사람", is_superuser=True)
    first = create_stage(track=track, actor=owner, title_ko="순위표", phase=phase, weight=45, notice_ko="안내")
    publish_stage(stage=first, actor=owner, sha256=stage_content(first).sha256)
    stage = create_stage(track=track, actor=owner, title_ko="평가", weight=55, scale_max=10.0, cut=1)
    wrong = enter_table(stage=stage, text="1,3\n", actor=owner, based_on=0)
    reject_table(stage=stage, number=1, sha256=wrong.sha256, reason="소수점", actor=second)
    table = enter_table(stage=stage, text="1,3.3\n", actor=second, based_on=1, reason="소수점")
    confirm_table(stage=stage, number=2, sha256=table.sha256, actor=owner)
    publish_stage(stage=stage, actor=owner, sha256=stage_content(stage).sha256, note_ko="발표", note_en="Out")
    publish_final(track=track, actor=owner, sha256=final_content(track).sha256)


def give(phase: Phase, submissions: list[Submission], owner: User) -> None:
    """One award by the combined standing that everybody sees, one that was revoked, one that waits."""
    given = {"competition": phase.track.competition, "actor": owner, "awarded_on": date(2026, 12, 5)}
    create_award(**given, team=submissions[2].team, title_ko="대상", prize_ko="300만 원", track=phase.track)
    revoked = create_award(**given, team=submissions[1].team, title_ko="우수상")
    publish_awards(competition=phase.track.competition, actor=owner)
    remove_award(award=revoked, actor=owner)
    create_award(**given, team=submissions[1].team, title_ko="장려상", title_en="Encouragement")


def snapshot(phase: Phase, owner: User) -> None:
    row = {"rank": 1, "team": "가", "team_number": 1, "final_score": 2 / 3, "scores": {"a": 0.1 + 0.2}}
    row |= {"is_baseline": False, "is_demo_models": True, "public_rank": None, "public_score": None}
    rows = [row | {"submission": "x", "submission_count": 1, "submitted_at": "2026-11-01T00:00:00+00:00"}]
    BoardSnapshot.objects.create(
        phase=phase,
        number=1,
        recipe="rag-qa@1",
        rows=rows,
        sha256=json_sha256(rows),
        published_by=owner,
        published_at=timezone.now(),
    )
    payload = {
        "track": phase.track.slug,
        "phase": phase.slug,
        "snapshot": 1,
        "rows_sha256": json_sha256(rows),
    }
    chain.append(competition=phase.track.competition, kind="board", payload=payload)


def age(competition: Competition) -> None:
    """Moments that are set by themselves lie in the past, so that a new one would show."""
    past = timezone.now() - timedelta(days=100)
    Competition.objects.filter(pk=competition.pk).update(created_at=past)
    Team.objects.filter(competition=competition).update(created_at=past)


def exported(competition: Competition, passphrase: str = "") -> io.BytesIO:
    target = io.BytesIO()
    export_competition(competition=competition, actor=None, target=target, passphrase=passphrase)
    return target


def members(archive: io.BytesIO) -> dict[str, bytes]:
    with zipfile.ZipFile(archive) as opened:
        return {name: opened.read(name) for name in opened.namelist()}
