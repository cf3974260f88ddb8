"""How sure a board is: computed by a job behind all scoring, once for the same board, shown only to whom it may be."""

from __future__ import annotations

import json
import statistics
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

import pytest
from django.utils import timezone

from malpan.competitions.models import Phase
from malpan.jobs.models import Job
from malpan.leaderboard import standings
from malpan.leaderboard.models import BoardItems, BoardSureness, ResultSureness
from malpan.leaderboard.published import published_board
from malpan.leaderboard.selectors import board
from malpan.leaderboard.snapshots import publish_final_board
from malpan.leaderboard.sureness import computing, results
from malpan.leaderboard.sureness.items import FEWEST, items_found
from malpan.leaderboard.sureness.queueing import queue_due
from malpan.leaderboard.sureness.results import intervals_of
from malpan.submissions.models import MetricResult, ScoringRun
from scoring.cli.compare import compare_many
from scoring.report import report_as_json
from scoring.significance.board import Entrant, board_sureness
from tests.factories import (
    PhaseFactory,
    ReferenceVersionFactory,
    ScoringRunFactory,
    TeamFactory,
    UserFactory,
    finished_submission,
)
from tests.leaderboard.sureness_world import RECIPE, compute, report_of, scored, teams_with, work

pytestmark = pytest.mark.django_db
TRIALS = computing.TRIALS


@pytest.fixture(autouse=True)
def few_trials(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(computing, "TRIALS", 500)


@pytest.fixture
def phase() -> Phase:
    return PhaseFactory.create(track__recipe=RECIPE)


def rows_of(phase: Phase, **reader: object) -> list:
    return list(board(phase, **reader).rows)


def test_rows_have_intervals_ranks_and_bands(phase: Phase) -> None:
    teams_with(phase, [0.9, 0.5, 0.5])
    assert board(phase).sureness is None
    compute(phase)
    shown = board(phase)
    assert shown.sureness is not None
    assert shown.sureness.is_current
    assert (shown.sureness.trials, shown.sureness.seed, shown.sureness.items) == (500, computing.SEED, 40)
    assert shown.sureness.tests == 3
    for row in shown.rows:
        low, high = row.sureness.scores["final_score"]
        assert low <= row.final_score <= high
    assert [row.sureness.band for row in shown.rows] == [1, 2, 2]
    assert [row.sureness.shared_rank for row in shown.rows] == [1, 2, 2]
    assert [row.sureness.tied for row in shown.rows] == [1, 2, 2]
    assert [row.rank for row in shown.rows] == [1, 2, 3]


def test_anybody_computes_the_same_from_the_result_files(phase: Phase, tmp_path) -> None:
    """``python -m scoring compare A.json B.json C.json`` has the trials and the seed of the site."""
    reports = [report_of(seed, 0.4 + seed / 10) for seed in range(3)]
    for report in reports:
        scored(phase, TeamFactory.create(competition=phase.track.competition), report)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(computing, "TRIALS", TRIALS)
        compute(phase)
    paths = []
    for number, report in enumerate(reports):
        paths.append(str(tmp_path / f"{number}.json"))
        (tmp_path / f"{number}.json").write_text(report_as_json(report), encoding="utf-8")
    told = json.loads(compare_many(paths, None, "json", "ko"))["results"]
    for row, each in zip(rows_of(phase), told, strict=True):
        assert each["score"] == row.final_score
        assert each["intervals"]["final_score"] == pytest.approx(row.sureness.scores["final_score"], abs=1e-12)
        assert tuple(each["rank_interval"]) == row.sureness.places
        assert (each["band"], each["above_p"]) == (row.sureness.band, row.sureness.above_p)


def test_a_board_is_computed_once_for_the_same_results(phase: Phase, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another submission that does not count changes the standings and nothing on the board's order."""
    (first, *_others) = teams_with(phase, [0.9, 0.5])
    before = compute(phase)
    assert queue_due() == 0
    BoardSureness.objects.update(computed_at=timezone.now() - timedelta(hours=1))
    scored(phase, first.team, report_of(7, 0.1))
    monkeypatch.setattr(computing, "compute", lambda *_: pytest.fail("computed again"))
    after = compute(phase)
    assert (after.basis, after.rows) == (before.basis, before.rows)
    assert after.version != before.version
    assert after.stamp != before.stamp
    assert board(phase).sureness.is_current


def test_a_new_score_makes_it_due_after_the_pause(phase: Phase) -> None:
    teams_with(phase, [0.9, 0.5])
    compute(phase)
    scored(phase, TeamFactory.create(competition=phase.track.competition), report_of(9, 0.7))
    standings.refresh(phase)
    assert queue_due() == 0  # just computed
    shown = board(phase)
    assert not shown.sureness.is_current
    top, new, moved = shown.rows
    assert top.sureness.band == 1  # where it was
    assert new.sureness is None
    assert moved.sureness.band is None  # was second
    assert moved.sureness.scores["final_score"]
    BoardSureness.objects.update(computed_at=timezone.now() - timedelta(seconds=11), seconds=0.01)
    assert queue_due() == 1
    assert queue_due() == 0  # one job a board
    work()
    assert all(row.sureness.places for row in rows_of(phase))


def test_its_job_is_behind_all_scoring(phase: Phase) -> None:
    teams_with(phase, [0.9, 0.5])
    standings.refresh(phase)
    queue_due()
    run = ScoringRunFactory.create(submission=finished_submission(phase, TeamFactory.create(), 0.1))
    from malpan.jobs import claim

    assert claim.due(timezone.now()).first() == run.job
    assert claim.due(timezone.now()).last().kind == "sureness"
    assert Job.objects.get(kind="sureness").lane == Job.Lane.FIGURES


def test_a_board_of_rounded_scores_gives_no_digit_away(phase: Phase) -> None:
    teams_with(phase, [0.9, 0.5])
    compute(phase)
    Phase.objects.update(score_step=Decimal("0.01"))
    phase.refresh_from_db()
    assert all(row.sureness is None for row in rows_of(phase))  # at once, before a worker comes by
    BoardSureness.objects.update(computed_at=timezone.now() - timedelta(hours=1))
    found = compute(phase)
    assert (found.reason, found.rows) == ("rounded", {})
    assert all(row.sureness is None for row in rows_of(phase))


def test_the_frozen_board_has_that_of_what_it_shows(phase: Phase) -> None:
    old = timezone.now() - timedelta(hours=2)
    early = teams_with(phase, [0.9, 0.5], created_at=old)
    Phase.objects.update(board=Phase.Board.FROZEN, frozen_at=old + timedelta(hours=1))
    late = scored(phase, early[1].team, report_of(9, 0.99))
    phase.refresh_from_db()
    compute(phase)
    shown = board(phase)
    assert [row.submission for row in shown.rows] == early
    assert str(late.public_id) not in shown.sureness.rows
    assert all(row.sureness.places for row in shown.rows)
    everything = board(phase, for_organiser=True)
    assert everything.rows[0].submission == late
    assert everything.rows[0].sureness.places


def test_nothing_of_a_hidden_board_is_shown(phase: Phase) -> None:
    teams_with(phase, [0.9, 0.5])
    compute(phase)
    Phase.objects.update(board=Phase.Board.HIDDEN)
    phase.refresh_from_db()
    assert board(phase).sureness is None


def test_results_without_items_have_no_intervals_and_say_so(phase: Phase) -> None:
    first, _second = teams_with(phase, [0.9, 0.5])
    MetricResult.objects.filter(submission=first).delete()
    assert compute(phase).reason == "no_items"
    assert board(phase).sureness.reason == "no_items"


def test_a_published_final_board_has_that_of_its_private_scores(phase: Phase) -> None:
    """And keeps it when scores change."""
    ReferenceVersionFactory.create(phase=phase, is_current=True, public_ids=["q0"])
    for seed, (public, private) in enumerate([(0.9, 0.2), (0.2, 0.9)]):
        team = TeamFactory.create(competition=phase.track.competition)
        hidden = report_of(seed, private, name="p")
        scored(phase, team, report_of(seed, public), hidden)
    Phase.objects.update(ends_at=timezone.now() - timedelta(minutes=1), starts_at=timezone.now() - timedelta(days=1))
    phase.refresh_from_db()
    publish_final_board(phase=phase, actor=UserFactory.create(is_superuser=True))
    compute(phase)
    final = published_board(phase)
    assert final is not None
    assert final.sureness is not None
    assert final.sureness.reason == ""
    for row in final.rows:
        low, high = row.sureness.scores["final_score"]
        assert low <= row.final_score <= high
    assert [row.sureness.scores for row in final.rows] != [row.sureness.scores for row in rows_of(phase)]
    stamp = BoardSureness.objects.exclude(snapshot=None).get().stamp
    BoardSureness.objects.update(computed_at=timezone.now() - timedelta(hours=1))
    ScoringRun.objects.update(final_score=0.1)
    compute(phase)
    assert BoardSureness.objects.exclude(snapshot=None).get().stamp == stamp


def test_a_fault_of_ours_leaves_the_board_as_it_is(phase: Phase, monkeypatch: pytest.MonkeyPatch, settings) -> None:
    settings.JOB_MAX_FAILURES = 1
    teams_with(phase, [0.9, 0.5])
    standings.refresh(phase)
    queue_due()
    monkeypatch.setattr(computing, "compute", lambda *_: 1 / 0)
    work()
    assert Job.objects.get(kind="sureness").state == Job.State.FAILED
    assert board(phase).sureness.reason == "crashed"
    BoardSureness.objects.update(computed_at=timezone.now() - timedelta(hours=1))
    assert queue_due() == 0  # not for ever


def test_a_result_of_other_items_is_no_reason_to_fail(phase: Phase) -> None:
    whole = report_of(1, 0.5)
    fewer = replace(whole, items=whole.items[1:])
    for report in (whole, fewer):
        scored(phase, TeamFactory.create(competition=phase.track.competition), report)
    assert compute(phase).reason == "items"


def assert_same(found: dict, expected: dict) -> None:
    assert found.keys() == expected.keys()
    for name, ends in expected.items():
        assert found[name] == pytest.approx(ends, abs=1e-12)


def test_every_result_has_intervals_those_of_a_board_where_it_counts(phase: Phase) -> None:
    """Also one that is not its team's best, one that was withdrawn and one of other conditions."""
    counting, _other = teams_with(phase, [0.9, 0.5])
    worse = scored(phase, counting.team, report_of(7, 0.4))
    withdrawn = scored(phase, counting.team, report_of(8, 0.6), withdrawn_at=timezone.now())
    compute(phase)
    row = next(row for row in rows_of(phase) if row.submission == counting)
    assert_same(intervals_of(counting.live_run_id)[False], row.sureness.scores)
    for submission, report in ((worse, report_of(7, 0.4)), (withdrawn, report_of(8, 0.6))):
        [alone] = board_sureness([Entrant("alone", report)], trials=500, seed=computing.SEED).entrants
        expected = {name: (ends.low, ends.high) for name, ends in alone.intervals.items()}
        assert_same(intervals_of(submission.live_run_id)[False], expected)
        low, high = expected["final_score"]
        assert low < report.final_score < high


def test_intervals_of_results_are_computed_once_and_a_part_of_them_at_a_time(
    phase: Phase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(results, "BATCH", 2)
    teams_with(phase, [0.9, 0.5, 0.3])
    standings.refresh(phase)
    queue_due()
    work()
    assert ResultSureness.objects.count() == 2
    BoardSureness.objects.update(computed_at=timezone.now() - timedelta(hours=1))
    compute(phase)
    assert ResultSureness.objects.count() == 3
    before = list(ResultSureness.objects.order_by("pk").values_list("pk", "scores"))
    BoardSureness.objects.update(computed_at=timezone.now() - timedelta(hours=1), version=None)
    compute(phase)
    assert list(ResultSureness.objects.order_by("pk").values_list("pk", "scores")) == before
    BoardSureness.objects.update(computed_at=timezone.now() - timedelta(hours=1))
    assert queue_due() == 0


def test_intervals_of_private_results_come_with_the_final_board(phase: Phase) -> None:
    ReferenceVersionFactory.create(phase=phase, is_current=True, public_ids=["q0"])
    team = TeamFactory.create(competition=phase.track.competition)
    hidden = report_of(3, 0.3, name="p")
    submission = scored(phase, team, report_of(2, 0.8), hidden)
    compute(phase)
    assert set(intervals_of(submission.live_run_id)) == {False}
    Phase.objects.update(ends_at=timezone.now() - timedelta(minutes=1), starts_at=timezone.now() - timedelta(days=1))
    phase.refresh_from_db()
    publish_final_board(phase=phase, actor=UserFactory.create(is_superuser=True))
    compute(phase)
    low, high = intervals_of(submission.live_run_id)[True]["final_score"]
    assert low < hidden.final_score < high


def test_a_result_without_items_has_none_and_is_not_looked_at_again(phase: Phase) -> None:
    (submission,) = teams_with(phase, [0.9])
    MetricResult.objects.all().delete()
    compute(phase)
    assert intervals_of(submission.live_run_id) == {False: {}}


def test_what_the_items_of_a_board_say_is_what_its_values_say(phase: Phase) -> None:
    """Difficulty, correlations and wins of the teams, counted here once more without numpy; baselines are no teams."""
    skills = [0.9, 0.5, 0.4]
    teams_with(phase, skills)
    plain = TeamFactory.create(competition=phase.track.competition, is_baseline=True)
    scored(phase, plain, report_of(9, 0.95))
    compute(phase)
    shown = board(phase)
    found = items_found(shown.sureness)
    assert found is not None
    assert found.teams == 3
    values = [{item.id: item.scores for item in report_of(seed, skill).items} for seed, skill in enumerate(skills)]
    order = [str(row.submission.public_id) for row in shown.rows if row.rank is not None]
    assert list(found.wins.submissions) == order
    by_place = [values[[0.9, 0.5, 0.4].index(skill)] for skill in sorted(skills, reverse=True)]
    for item in ("q0", "q39"):
        expected = sum(each[item]["bleurt"] for each in values) / 3
        assert found.means["bleurt"][item] == pytest.approx(expected)
    for one, other in ((0, 1), (1, 2), (2, 0)):
        pairs = [(by_place[one][item]["exact_match"], by_place[other][item]["exact_match"]) for item in by_place[0]]
        assert found.wins.wins["exact_match"][one][other] == sum(a > b for a, b in pairs)
        assert found.wins.ties["exact_match"][one][other] == sum(a == b for a, b in pairs)
    assert [found.wins.ties["exact_match"][at][at] for at in range(3)] == [0, 0, 0]
    at, to = (list(found.metrics).index(name) for name in ("bleurt", "bertscore"))
    pooled = [(each[item]["bleurt"], each[item]["bertscore"]) for each in values for item in each]
    assert found.correlations[at][to] == pytest.approx(statistics.correlation(*zip(*pooled, strict=True)))
    assert found.correlations[to][at] == found.correlations[at][to]
    assert found.correlations[at][at] is None


def test_of_few_items_nothing_is_told_of_pairs_of_teams(phase: Phase) -> None:
    for seed in range(2):
        team = TeamFactory.create(competition=phase.track.competition)
        scored(phase, team, report_of(seed, 0.5, items=FEWEST - 1))
    compute(phase)
    found = items_found(board(phase).sureness)
    assert found is not None
    assert found.wins.wins == found.wins.ties == {}


def test_a_board_published_by_an_earlier_version_has_its_items_looked_into(phase: Phase) -> None:
    teams_with(phase, [0.9, 0.5])
    Phase.objects.update(ends_at=timezone.now() - timedelta(minutes=1), starts_at=timezone.now() - timedelta(days=1))
    phase.refresh_from_db()
    publish_final_board(phase=phase, actor=UserFactory.create(is_superuser=True))
    compute(phase)
    BoardItems.objects.all().delete()
    BoardSureness.objects.update(basis="of an earlier method")
    assert items_found(published_board(phase).sureness) is None
    assert queue_due() == 1
    work()
    assert items_found(published_board(phase).sureness).teams == 2
    assert queue_due() == 0
