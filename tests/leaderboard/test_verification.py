"""A score or board that was published, and the chain that recorded it: no change by any hand goes unseen."""

from __future__ import annotations

from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.utils import timezone

from malpan.competitions.models import Competition, Phase, Track
from malpan.leaderboard import standings
from malpan.leaderboard.models import BoardSnapshot
from malpan.leaderboard.verification import TEXTS, Finding, verify_competition
from malpan.submissions.integrity import chain, receipts
from malpan.submissions.models import ChainEntry, HiddenResult, ScoringRun, Submission
from malpan.teams.models import Team
from scoring.signature import json_sha256
from tests.factories import (
    PhaseFactory,
    ScoringRunFactory,
    TeamFactory,
    UserFactory,
    finished_submission,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def phase() -> Phase:
    """Three recorded submissions, one rescored, and a published final board."""
    phase = PhaseFactory.create()
    submissions = []
    for number in range(3):
        team = TeamFactory.create(competition=phase.track.competition)
        submission = finished_submission(phase, team, 0.1 * number, scores={"bleurt": 1 / (number + 3)})
        HiddenResult.objects.create(
            run=submission.live_run, final_score=0.3 * number, scores={"bleurt": 0.7}, signature_hash="h"
        )
        receipts.issue_receipt(submission=submission)
        submissions.append(submission)
    chain.append_scores(submissions)
    rescore(submissions[0])
    publish_board(phase)
    return phase


def rescore(submission: Submission) -> None:
    run = ScoringRunFactory.create(
        submission=submission,
        state="finished",
        finished_at=timezone.now(),
        final_score=0.9,
        scores={"bleurt": 0.2},
        signature_hash="t",
    )
    HiddenResult.objects.create(run=run, final_score=0.4, scores={}, signature_hash="h")
    Submission.objects.filter(pk=submission.pk).update(live_run=run)
    chain.append_scores([submission])


def publish_board(phase: Phase) -> None:
    rows = [{"rank": 1, "team": "가", "final_score": 0.1 + 0.2, "scores": {"bleurt": 0.7}}]
    digest = json_sha256(rows)
    track = phase.track
    BoardSnapshot.objects.create(
        phase=phase,
        number=1,
        recipe="rag-qa@1",
        rows=rows,
        sha256=digest,
        published_by=UserFactory.create(),
        published_at=timezone.now(),
    )
    payload = {"track": track.slug, "phase": phase.slug, "snapshot": 1, "rows_sha256": digest}
    chain.append(competition=track.competition, kind="board", payload=payload)


def sql(statement: str) -> None:
    """What somebody with the database's own keys could do."""
    with connection.cursor() as cursor:
        cursor.execute("SET session_replication_role = replica")
        cursor.execute(statement)
        cursor.execute("SET session_replication_role = DEFAULT")


def codes(competition: Competition) -> set[str]:
    return {finding.code for finding in verify_competition(competition)}


def test_a_sound_competition_has_no_findings(phase: Phase) -> None:
    assert verify_competition(phase.track.competition) == []


@pytest.mark.parametrize(
    ("statement", "code"),
    [
        ("UPDATE submissions_scoringrun SET final_score = final_score + 1e-9", "score_differs"),
        ("UPDATE submissions_scoringrun SET scores = jsonb_set(scores, '{bleurt}', '0.99')", "score_differs"),
        ("UPDATE submissions_scoringrun SET scores = scores || '{\"more\": 1}'", "score_differs"),
        ("UPDATE submissions_scoringrun SET scores = '{}'", "score_differs"),
        ("UPDATE submissions_scoringrun SET signature_hash = 'u'", "score_differs"),
        ("UPDATE submissions_scoringrun SET recipe = 'other@1'", "score_differs"),
        ("UPDATE submissions_hiddenresult SET final_score = 1", "score_differs"),
        ("UPDATE submissions_hiddenresult SET scores = '{\"bleurt\": 1}'", "score_differs"),
        ("DELETE FROM submissions_hiddenresult", "score_gone"),
        ("UPDATE submissions_scoringrun SET state = 'failed'", "score_gone"),
        ("UPDATE submissions_submission SET file_sha256 = repeat('0', 64)", "receipt_differs"),
        ("UPDATE submissions_submission SET created_at = created_at - interval '1 second'", "receipt_differs"),
        ("UPDATE leaderboard_boardsnapshot SET rows = jsonb_set(rows, '{0,final_score}', '0.9')", "board_differs"),
        ("UPDATE leaderboard_boardsnapshot SET rows = jsonb_set(rows, '{0,team}', '\"나\"')", "board_differs"),
        ("UPDATE leaderboard_boardsnapshot SET sha256 = repeat('0', 64)", "board_differs"),
        ("DELETE FROM leaderboard_boardsnapshot", "board_gone"),
        ("UPDATE leaderboard_boardsnapshot SET number = 2", "board_missing"),
        ("UPDATE submissions_chainentry SET payload = payload || '{\"team\": 9}' WHERE kind = 'receipt'", "hash"),
        ("UPDATE submissions_chainentry SET salt = repeat('0', 32) WHERE kind = 'score'", "score_differs"),
        ("UPDATE submissions_chainentry SET salt = repeat('0', 32) WHERE kind = 'receipt'", "receipt_differs"),
        (
            "UPDATE submissions_chainentry SET facts = facts || '{\"team\": 9}' WHERE kind = 'receipt'",
            "receipt_differs",
        ),
        ("UPDATE submissions_chainentry SET sha256 = repeat('0', 64) WHERE number = 4", "previous"),
        ("UPDATE submissions_chainentry SET previous_sha256 = 'x' WHERE number = 4", "hash"),
        ("DELETE FROM submissions_chainentry WHERE number = 2", "receipt_missing"),
        ("DELETE FROM submissions_chainentry WHERE number = 2", "number"),
        ("DELETE FROM submissions_chainentry WHERE kind = 'score'", "score_missing"),
    ],
)
def test_any_change_by_sql_is_found(phase: Phase, statement: str, code: str) -> None:
    sql(statement)
    assert code in codes(phase.track.competition)


def test_a_live_run_switched_back_by_hand_is_found(phase: Phase) -> None:
    rescored = Submission.objects.order_by("pk").first()
    assert rescored is not None
    Submission.objects.filter(pk=rescored.pk).update(live_run=rescored.runs.order_by("pk").first())
    assert verify_competition(phase.track.competition) == [
        Finding("score_missing", str(rescored.public_id)),
        Finding("score_missing", str(rescored.public_id)),  # of the public and of the private split
    ]


def test_an_earlier_score_stays_bound_after_a_rescoring(phase: Phase) -> None:
    superseded = ScoringRun.objects.order_by("submission_id", "pk").first()
    assert superseded is not None
    ScoringRun.objects.filter(pk=superseded.pk).update(final_score=0.5)
    assert codes(phase.track.competition) == {"score_differs"}


@pytest.mark.parametrize(
    ("statement", "teams"),
    [
        ("UPDATE leaderboard_standing SET final_score = final_score + 0.01 WHERE team_id = %(second)s", [2]),
        ("UPDATE leaderboard_standing SET key = ARRAY[0.0] WHERE team_id = %(second)s", [2]),
        ("UPDATE leaderboard_standing SET scores = '{}'", [1, 2, 3]),
        ("UPDATE leaderboard_standing SET team_id = %(other)s WHERE team_id = %(second)s", [2, 4]),
        ("UPDATE leaderboard_standing SET is_baseline = true WHERE team_id = %(second)s", [2]),
        ("DELETE FROM leaderboard_standing WHERE team_id = %(second)s", [2]),
    ],
)
@pytest.mark.parametrize("is_composite", [False, True])
def test_an_altered_row_of_the_board_is_found(
    phase: Phase, statement: str, teams: list[int], is_composite: bool
) -> None:
    if is_composite:
        Track.objects.update(composite=[{"score": "final_score", "weight": 45}, {"score": "bleurt", "weight": 45}])
    standings.refresh_all()
    competition = phase.track.competition
    assert verify_competition(competition) == []
    number = {team.number: team.pk for team in Team.objects.filter(competition=competition)}
    number[4] = TeamFactory.create(competition=competition, number=4).pk
    sql(statement % {"second": number[2], "other": number[4]})
    where = f"{phase.track.slug}/{phase.slug} live"
    assert verify_competition(competition) == [Finding("standing_differs", f"{where} {each}") for each in teams]


def test_an_altered_composite_is_found_and_none_where_a_team_is_due(phase: Phase) -> None:
    Track.objects.update(composite=[{"score": "final_score", "weight": 45}, {"score": "bleurt", "weight": 45}])
    standings.refresh_all()
    sql("UPDATE leaderboard_standing SET composite = jsonb_set(composite, '{value}', '0.5')")
    assert codes(phase.track.competition) == {"standing_differs"}
    standings.recompute(Phase.objects.select_related("track").get(pk=phase.pk))
    Submission.objects.filter(pk=Submission.objects.order_by("pk")[0].pk).update(withdrawn_at=timezone.now())
    assert verify_competition(phase.track.competition) == []


def test_every_finding_has_a_text() -> None:
    assert all(Finding(code, "").text for code in TEXTS)


def test_command_names_what_differs_in_both_languages_and_fails(phase: Phase) -> None:
    slug = phase.track.competition.slug
    assert "기록과 같습니다" in run_command(slug)
    sql("UPDATE submissions_scoringrun SET final_score = 0.99")
    output = StringIO()
    with pytest.raises(CommandError, match=slug):
        call_command("verify_chain", slug, stdout=output)
    assert "점수가 기록과 다릅니다" in output.getvalue()


def test_submissions_from_before_the_chain_are_recorded_when_asked_and_changed_ones_are_not() -> None:
    phase = PhaseFactory.create()
    competition = phase.track.competition
    old, recorded = (
        finished_submission(phase, TeamFactory.create(competition=competition), 0.1 * number) for number in (1, 2)
    )
    receipts.issue_receipt(submission=recorded)
    chain.append_scores([recorded])
    assert codes(competition) == {"receipt_missing", "score_missing"}
    run_command(competition.slug, record=True)
    assert verify_competition(competition) == []
    sql(f"UPDATE submissions_scoringrun SET final_score = 1 WHERE submission_id = {old.pk}")
    with pytest.raises(CommandError):
        run_command(competition.slug, record=True)
    assert ChainEntry.objects.filter(competition=competition).count() == 4


def run_command(slug: str, **options: Any) -> str:
    output = StringIO()
    call_command("verify_chain", slug, stdout=output, **options)
    return output.getvalue()
