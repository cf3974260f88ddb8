"""Boards that rank by a composite: what happens to one team changes the others, as plain loops over all rows say."""

from __future__ import annotations

import random
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from malpan.competitions.models import Phase, ReferenceVersion
from malpan.competitions.phases import update_phase
from malpan.leaderboard import standings
from malpan.leaderboard.boards import COMPOSITE, View
from malpan.leaderboard.digests import board_digests
from malpan.leaderboard.finals import final_board
from malpan.leaderboard.models import Standing
from malpan.leaderboard.published import published_board
from malpan.leaderboard.rescore_preview import preview
from malpan.leaderboard.selectors import board
from malpan.leaderboard.snapshots import chain_payload, publish_final_board
from malpan.leaderboard.verification import verify_competition
from malpan.submissions.finals import choose_finals
from malpan.submissions.integrity import chain
from malpan.submissions.models import ChainEntry, HiddenResult, RescoreBatch, ScoringRun, Submission
from malpan.submissions.quota.services import refund
from malpan.submissions.rescoring import services as rescoring
from malpan.submissions.withdrawal import withdraw
from malpan.teams.models import Team
from malpan.teams.services import disqualify_team, mark_baseline, reinstate_team
from scoring.signature import json_sha256
from tests.composite_boards import by_loops, install, latest, values
from tests.factories import (
    PhaseFactory,
    ScoringRunFactory,
    TeamFactory,
    current_version,
    finished_submission,
    leader_of,
    person_in,
)

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def recipe(monkeypatch: pytest.MonkeyPatch) -> str:
    return install(monkeypatch)


@pytest.fixture
def phase(recipe: str) -> Phase:
    """A phase in which the latest submission of a team counts."""
    return PhaseFactory.create(track__recipe=recipe, counting=Phase.Counting.LATEST)


@pytest.fixture
def teams(phase: Phase) -> list[Team]:
    """Eight teams with three submissions each, one of them a baseline; values tie often."""
    chance = random.Random(phase.pk % 7)
    made = [TeamFactory.create(competition=phase.track.competition, is_baseline=number == 0) for number in range(8)]
    for hour in range(3):
        for team in made:
            submit(phase, team, hour, chance)
    return made


def submit(phase: Phase, team: Team, hour: int, chance: random.Random) -> Submission:
    scores = values(
        chance.choice([0.4, 0.5, 0.5 + 4e-9, 0.62]),
        chance.choice([0.1, 0.6, 0.7]),
        chance.choice([None, 0.2, 0.9]),
    )
    moment = timezone.now() - timedelta(hours=9 - hour, seconds=chance.randrange(60))
    return finished_submission(phase, team, chance.random(), scores=scores, created_at=moment)


def shown(phase: Phase) -> list[tuple[Any, ...]]:
    found = board(Phase.objects.select_related("track__competition").get(pk=phase.pk))
    return [
        (row.rank, row.team_id, row.submission and row.submission.pk, row.composite and row.composite.value)
        for row in found.rows
    ]


def agrees(phase: Phase, counts: Any = latest) -> bool:
    """Whether ranks and submissions are those of the loops, and composites within 1e-12."""
    found, expected = shown(phase), by_loops(phase, counts)
    assert [row[:3] for row in found] == [row[:3] for row in expected]
    assert [row[3] for row in found] == pytest.approx([row[3] for row in expected], abs=1e-12)
    return True


def composites_without(phase: Phase, team: Team) -> dict[int, float]:
    return {row[1]: row[3] for row in shown(phase) if row[1] != team.pk}


def organiser_of(phase: Phase) -> Any:
    return person_in(phase.track.competition, "owner")


# --- what happens to one team -----------------------------------------------------------------------------------------
def test_one_more_submission_moves_the_others(phase: Phase, teams: list[Team]) -> None:
    assert agrees(phase)
    before = composites_without(phase, teams[3])
    finished_submission(phase, teams[3], 0.1, scores=values(0.01, 0.99, 1.0))
    assert agrees(phase)
    assert shown(phase)[0][1] == teams[3].pk
    assert composites_without(phase, teams[3]) != before


def test_withdrawal_and_refund_of_one_team_change_the_others(phase: Phase, teams: list[Team]) -> None:
    agrees(phase)
    before = composites_without(phase, teams[2])
    for submission in Submission.objects.filter(phase=phase, team=teams[2]).order_by("-created_at")[:2]:
        assert withdraw(submission=submission, actor=leader_of(teams[2]))
        assert agrees(phase)
    last = Submission.objects.get(phase=phase, team=teams[2], withdrawn_at=None)
    refund(submission=last, reason="시스템 오류")
    assert agrees(phase)
    assert teams[2].pk not in {row[1] for row in shown(phase)}
    assert composites_without(phase, teams[2]) != before


def test_disqualification_and_its_end_change_the_others(phase: Phase, teams: list[Team]) -> None:
    agrees(phase)
    before, organiser = composites_without(phase, teams[5]), organiser_of(phase)
    disqualify_team(team=teams[5], actor=organiser, note_ko="규정 위반")
    assert agrees(phase)
    assert composites_without(phase, teams[5]) != before
    reinstate_team(team=teams[5], actor=organiser, reason="이의 제기")
    assert agrees(phase)
    assert composites_without(phase, teams[5]) == before


def test_removal_of_all_rows_of_a_team_changes_the_others(phase: Phase, teams: list[Team]) -> None:
    agrees(phase)
    before = composites_without(phase, teams[4])
    Submission.objects.filter(phase=phase, team=teams[4]).update(live_run=None)
    ScoringRun.objects.filter(submission__team=teams[4]).delete()
    assert agrees(phase)
    assert composites_without(phase, teams[4]) != before


def test_a_team_made_a_baseline_changes_nobody_any_more(phase: Phase, teams: list[Team]) -> None:
    agrees(phase)
    organiser = organiser_of(phase)
    mark_baseline(team=teams[6], is_baseline=True, actor=organiser)
    assert agrees(phase)
    before = composites_without(phase, teams[6])
    finished_submission(phase, teams[6], 0.1, scores=values(0.001, 1.0, 1.0))
    assert agrees(phase)
    assert composites_without(phase, teams[6]) == before


def batch_of(phase: Phase, changed: dict[int, dict[str, float]]) -> RescoreBatch:
    """A ready batch of every submission; those of the teams ``changed`` get new scores."""
    batch = RescoreBatch.objects.create(
        competition=phase.track.competition, phase=phase, reason="반올림 규칙 변경", created_by=organiser_of(phase)
    )
    version = current_version(phase)
    for row in Submission.objects.filter(phase=phase).select_related("live_run"):
        assert row.live_run is not None
        scores = {**row.live_run.scores, "mae": 0.25, **changed.get(row.team_id, {})}  # one that ranks nobody is new
        ScoringRunFactory.create(
            submission=row, batch=batch, state="finished", finished_at=timezone.now(), reference_version=version,
            final_score=scores["final_score"], scores=scores, signature_hash="s",
        )  # fmt: skip
    return batch


def test_rescoring_one_team_moves_others_and_the_preview_says_so(phase: Phase, teams: list[Team]) -> None:
    agrees(phase)
    was = {row[1]: row for row in shown(phase)}
    lifted = next(row[1] for row in reversed(shown(phase)) if row[0] is not None)
    batch = batch_of(phase, {lifted: values(0.001, 0.999, 1.0)})

    foreseen = preview(batch)
    rescoring.apply_batch(batch=batch, actor=batch.created_by)

    assert agrees(phase)
    now = {row[1]: row for row in shown(phase)}
    assert foreseen.is_composite
    assert {m.team_id: (m.before, m.after, m.score_before, m.score_after) for m in foreseen.moves} == {
        team: (was[team][0], now[team][0], was[team][3], now[team][3]) for team in now
    }
    assert {move.team_id for move in foreseen.moves if move.is_own} == {lifted}
    indirect = [move for move in foreseen.moves if move.moves and not move.is_own]
    assert indirect, "others move although nothing of theirs changed"
    assert any(move.score_before != move.score_after for move in indirect)
    differences = [now[team][3] - was[team][3] for team in now if now[team][0] is not None]  # no baselines
    unchanged = sum(abs(difference) <= 1e-12 for difference in differences)
    assert foreseen.histogram is not None
    assert foreseen.histogram.unchanged == unchanged < len(differences)
    assert sum(bar.count for bar in foreseen.histogram.bars) == len(differences) - unchanged
    assert foreseen.histogram.bars[-1].high == pytest.approx(max(map(abs, differences)))
    assert foreseen.ranked_by == ("rmse", "spearman", "judge")
    batch.refresh_from_db()
    assert preview(batch).histogram is None, "what was a preview is history: composites are not computed again"


# --- which submission counts ------------------------------------------------------------------------------------------
def test_the_latest_the_chosen_or_the_best_by_a_score_counts(phase: Phase, teams: list[Team]) -> None:
    def best(name: str, sign: int) -> Any:
        def counts(rows: list[Submission]) -> Submission:
            return min(rows, key=lambda row: (sign * round(row.live_run.scores[name], 8), row.created_at, row.pk))

        return counts

    assert agrees(phase)
    update_phase(phase=phase, actor=None, counting="best", counting_score="spearman")
    assert agrees(phase, best("spearman", -1))
    update_phase(phase=phase, actor=None, counting="best", counting_score="rmse")
    assert agrees(phase, best("rmse", 1))
    update_phase(phase=phase, actor=None, counting="best", counting_score="")
    assert agrees(phase, best("final_score", -1))
    update_phase(phase=phase, actor=None, counting="chosen", finals_limit=1)
    assert agrees(phase), "nobody chose: the latest"
    first = Submission.objects.filter(phase=phase, team=teams[3]).earliest("created_at")
    choose_finals(team=teams[3], phase=phase, submissions=[first], actor=leader_of(teams[3]))
    assert agrees(phase, lambda rows: next((row for row in rows if row.is_final_choice), latest(rows)))
    assert first.pk in {row[2] for row in shown(phase)}
    choose_finals(team=teams[3], phase=phase, submissions=[], actor=leader_of(teams[3]))
    assert agrees(phase)


def test_a_frozen_board_shows_what_was_chosen_when_it_froze(phase: Phase, teams: list[Team]) -> None:
    update_phase(phase=phase, actor=None, counting="chosen", finals_limit=1)
    team = teams[3]
    first, last = Submission.objects.filter(phase=phase, team=team).order_by("created_at")[::2]
    now = timezone.now()

    def choose(submission: Submission, minutes: int) -> None:
        moment = now + timedelta(minutes=minutes)
        choose_finals(team=team, phase=phase, submissions=[submission], actor=leader_of(team), now=moment)

    choose(first, -3)
    update_phase(phase=phase, actor=None, board="frozen", frozen_at=now - timedelta(minutes=2))
    frozen = shown(phase)
    assert agrees(phase, lambda rows: next((row for row in rows if row.pk == first.pk), latest(rows)))
    choose(last, -1)
    assert shown(phase) == frozen, "a later choice changes nothing"
    choose(first, 0)
    choose(last, 1)
    assert shown(phase) == frozen, "neither does going back and forth"
    fresh = Phase.objects.select_related("track__competition").get(pk=phase.pk)
    assert last.pk in {row.submission.pk for row in board(fresh, for_organiser=True).rows if row.submission}
    update_phase(phase=phase, actor=None, board="frozen", frozen_at=now - timedelta(seconds=30))
    assert last.pk in {row[2] for row in shown(phase)}, "frozen later, between two choices"
    withdraw(submission=last, actor=leader_of(team))
    assert last.pk not in {row[2] for row in shown(phase)}


def test_only_rows_of_one_signature_are_ranked_together(phase: Phase, teams: list[Team]) -> None:
    before = shown(phase)
    stranger = TeamFactory.create(competition=phase.track.competition)
    finished_submission(phase, stranger, 0.9, scores=values(0.0, 1.0, 1.0), signature_hash="other")
    assert shown(phase) == before
    other = Standing.objects.get(phase=phase, signature_hash="other")
    assert other.composite["value"] == 1.0, "alone with its signature"


def test_a_frozen_board_keeps_its_composites(phase: Phase, teams: list[Team]) -> None:
    before = [(row[1], row[3]) for row in shown(phase)]
    update_phase(phase=phase, actor=None, board="frozen")
    finished_submission(
        phase, teams[2], 0.9, scores=values(0.0, 1.0, 1.0), created_at=timezone.now() + timedelta(seconds=5)
    )
    assert [(row[1], row[3]) for row in shown(phase)] == before
    fresh = Phase.objects.select_related("track__competition").get(pk=phase.pk)
    assert board(fresh, for_organiser=True).rows[0].team_id == teams[2].pk


def test_public_values_are_rounded_before_they_are_ranked(phase: Phase) -> None:
    one, two = TeamFactory.create_batch(2, competition=phase.track.competition)
    finished_submission(phase, one, 0.5, scores=values(0.501, 0.601))
    finished_submission(phase, two, 0.5, scores=values(0.499, 0.602))
    assert [row[1] for row in shown(phase)] == [two.pk, one.pk]
    update_phase(phase=phase, actor=None, score_step=Decimal("0.01"))
    found = board(Phase.objects.select_related("track__competition").get(pk=phase.pk)).rows
    assert [row.team_id for row in found] == [one.pk, two.pk], "equal as shown: the earlier"
    assert [part.rank for row in found if row.composite for part in row.composite.parts] == [1.5] * 4
    assert [part.value for part in found[0].composite.parts] == [0.5, 0.6]  # type: ignore[union-attr]


def test_pages_ranks_and_sorting_agree_with_the_whole_board(phase: Phase, teams: list[Team]) -> None:
    whole = board(phase).rows
    for limit in (1, 3):
        pages = [board(phase, view=View(offset=start, limit=limit)) for start in range(0, len(whole), limit)]
        assert [row for page in pages for row in page.rows] == list(whole)
    own = board(phase, viewer_team=teams[7], view=View(limit=1)).own_row
    assert own is not None
    assert (own.rank, own.composite) == next((row.rank, row.composite) for row in whole if row.team_id == teams[7].pk)
    assert next(row.team_id for row in board(phase, view=View(COMPOSITE, None)).rows) == whole[0].team_id
    by_error = board(phase, view=View("rmse", None))
    assert by_error.view.is_descending is False, "lower is better, so it stands first"
    assert [row.scores["rmse"] for row in by_error.rows] == sorted(row.scores["rmse"] for row in whole)
    assert board(phase, view=View("spearman", None)).view.is_descending is True


# --- the final board --------------------------------------------------------------------------------------------------
@pytest.fixture
def over(phase: Phase, teams: list[Team]) -> Phase:
    """The phase after its end, with private values that differ from the public ones."""
    ReferenceVersion.objects.filter(phase=phase).update(public_ids=["q1"])
    chance = random.Random(5)
    for run in ScoringRun.objects.filter(submission__phase=phase):
        scores = {**values(chance.choice([0.3, 0.7]), chance.random(), 0.5), "final_score": chance.random()}
        HiddenResult.objects.create(run=run, final_score=scores["final_score"], scores=scores, signature_hash="h")
    Phase.objects.filter(pk=phase.pk).update(ends_at=timezone.now() - timedelta(minutes=1))
    return Phase.objects.select_related("track__competition").get(pk=phase.pk)


def test_the_final_board_is_the_composite_of_the_private_values_that_count(over: Phase) -> None:
    found = final_board(over)
    public = {team: value for _rank, team, _submission, value in by_loops(over)}
    private = {run.submission_id: run.hidden_result.scores for run in ScoringRun.objects.filter(live_for__phase=over)}
    for run in ScoringRun.objects.filter(live_for__phase=over):
        ScoringRun.objects.filter(pk=run.pk).update(scores=private[run.submission_id])
    expected = by_loops(over)
    assert [(row.rank, row.run.submission.team_id, row.run.submission_id) for row in found.rows] == [
        row[:3] for row in expected
    ]
    assert [row.composite.value for row in found.rows if row.composite] == pytest.approx(
        [row[3] for row in expected], abs=1e-12
    )
    assert {row.run.submission.team_id: row.public_composite and row.public_composite.value for row in found.rows} == (
        pytest.approx(public, abs=1e-12)
    )


def test_a_snapshot_carries_the_parts_and_the_chain_what_they_are_made_of(over: Phase) -> None:
    before = board_digests()
    snapshot = publish_final_board(phase=over, actor=organiser_of(over))
    stored = type(snapshot).objects.get()
    assert stored.sha256 == json_sha256(stored.rows)
    assert [part["score"] for part in stored.rows[0]["composite"]["parts"]] == ["rmse", "spearman", "judge"]
    payload = ChainEntry.objects.get(kind="board").payload
    assert payload["components"] == [
        {"score": "rmse", "weight": "45.0", "higher_is_better": False},
        {"score": "spearman", "weight": "45.0", "higher_is_better": True},
        {"score": "judge", "weight": "10.0", "higher_is_better": True},
    ]
    unrecorded = {"receipt_missing", "score_missing"}  # rows of a factory
    assert {finding.code for finding in verify_competition(over.track.competition)} == unrecorded
    final = published_board(over)
    assert final is not None
    assert [component.score for component in final.components] == ["rmse", "spearman", "judge"]
    assert [row.composite and row.composite.value for row in final.rows] == [
        row["composite"]["value"] for row in stored.rows
    ]
    assert board_digests() == before


def test_a_board_without_composite_has_the_payload_of_before(recipe: str) -> None:
    phase = PhaseFactory.create(ends_at=timezone.now() - timedelta(seconds=1))
    finished_submission(phase, TeamFactory.create(competition=phase.track.competition), 0.5)
    snapshot = publish_final_board(phase=phase, actor=organiser_of(phase))
    payload = ChainEntry.objects.get(kind="board").payload
    assert payload.keys() == {"track", "phase", "snapshot", "recipe", "signature_hash", "rows", "rows_sha256"}
    assert "composite" not in snapshot.rows[0]


@pytest.mark.parametrize(
    "change",
    [
        lambda rows: rows[0]["composite"].update(value=0.5),
        lambda rows: rows[1]["composite"]["parts"][0].update(rank=1.0),
        lambda rows: rows[1]["scores"].update(rmse=0.0001),
        lambda rows: rows.insert(0, rows.pop(1)),
        lambda rows: rows[0].update(rank=2),
        lambda rows: rows[0].pop("composite"),
    ],
)
def test_a_manipulated_row_is_found_even_where_its_hash_was_made_to_fit(over: Phase, change: Any) -> None:
    snapshot = publish_final_board(phase=over, actor=organiser_of(over))
    change(snapshot.rows)
    snapshot.sha256 = json_sha256(snapshot.rows)
    snapshot.save()
    with connection.cursor() as cursor:  # what somebody with the database's own keys could do
        cursor.execute("SET session_replication_role = replica")
        cursor.execute("DELETE FROM submissions_chainentry WHERE kind = 'board'")
        cursor.execute("SET session_replication_role = DEFAULT")
    chain.append(competition=over.track.competition, kind=ChainEntry.Kind.BOARD, payload=chain_payload(snapshot))
    assert "composite_differs" in {finding.code for finding in verify_competition(over.track.competition)}


# --- one transaction, and how many statements -------------------------------------------------------------------------
def test_a_change_takes_as_many_statements_for_many_teams_as_for_few(phase: Phase, teams: list[Team]) -> None:
    def statements() -> int:
        """Of refreshing the board after a team came from its end to its top."""
        for scores in (values(9.9, -1.0, 0.0), values(0.0, 1.0, 1.0)):
            standings.refresh(phase)
            finished_submission(phase, teams[1], 0.4, scores=scores)
        with CaptureQueriesContext(connection) as queries:
            standings.refresh(phase)
        return len(queries)

    statements()
    few = statements()
    for _number in range(12):
        finished_submission(
            phase, TeamFactory.create(competition=phase.track.competition), 0.4, scores=values(random.random(), 0.4)
        )
    standings.refresh(phase)
    assert statements() == few
    assert agrees(phase)
