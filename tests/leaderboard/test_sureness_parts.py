"""The parts of a board's sureness by themselves: what it is computed from, what is written, what readers get of it."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.utils import timezone

from malpan.competitions.models import Phase
from malpan.jobs import outcome
from malpan.jobs.claim import claim_next
from malpan.leaderboard import standings
from malpan.leaderboard.boards import BoardRow, RowSureness, Sureness
from malpan.leaderboard.models import BoardItems, BoardSnapshot, BoardSureness, StandingsVersion
from malpan.leaderboard.sureness import computing, selectors, sources
from malpan.leaderboard.sureness.queueing import queue_due
from malpan.leaderboard.sureness.sources import Basis, Source
from malpan.submissions.models import HiddenResult, MetricResult, RescoreBatch, ScoringRun
from scoring.composite import Component
from scoring.recipes import get_recipe
from scoring.records import ItemScores
from tests.factories import PhaseFactory, ReferenceVersionFactory, ScoringRunFactory, TeamFactory, UserFactory
from tests.leaderboard.sureness_world import RECIPE, compute, report_of, scored, teams_with, work

NOW = timezone.now()
SIGNATURE: dict[str, Any] = {"metrics": {"exact_match": {"metric": "exact_match"}}, "recipe": RECIPE}


@pytest.fixture(autouse=True)
def few_trials(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(computing, "TRIALS", 200)


@pytest.fixture
def phase(db: None) -> Phase:
    phase: Phase = PhaseFactory.create(track__recipe=RECIPE)
    return phase


def version_of(phase: Phase) -> UUID:
    return StandingsVersion.objects.get(phase=phase).value


def row(name: str, rank: int | None = 1) -> BoardRow:
    return BoardRow(
        rank=rank, place=1, team_id=1, team_name=name, is_baseline=False, is_own=False, scores={}, final_score=0.5,
        submission_count=1, submitted_at=NOW, is_demo_models=False, submission_name=name,
    )  # fmt: skip


# --- what it is computed from -----------------------------------------------------------------------------------------
def test_a_result_is_as_the_instrument_has_it() -> None:
    run = ScoringRun(
        recipe=RECIPE, final_score=0.5, scores={"bleurt": 0.25}, signature=SIGNATURE, signature_hash="public"
    )
    hidden = HiddenResult(final_score=0.75, scores={"bleurt": 1.0}, signature={}, signature_hash="private")
    values = {"rouge1_mecab": {"b": 0.5, "a": 1}, "bleu": {"c": [1, 2], "a": [3, 4]}}

    found = sources.report_of(Source("name", 1, run), get_recipe(RECIPE), values)

    assert (found.recipe, found.final_score, found.signature_hash) == (RECIPE, 0.5, "public")
    assert found.scores == {"bleurt": 0.25, "final_score": 0.5}
    assert found.items == (
        ItemScores("a", {"rouge_1": 1.0}, {"bleu": (3, 4)}),
        ItemScores("b", {"rouge_1": 0.5}, {}),
        ItemScores("c", {}, {"bleu": (1, 2)}),
    )
    assert set(found.metric_signatures) == {"exact_match"}
    private = sources.report_of(Source("name", 1, run, hidden), get_recipe(RECIPE), {})
    assert (private.final_score, private.signature_hash, private.items) == (0.75, "private", ())
    assert private.metric_signatures == {}


def test_all_that_decides_the_result_is_in_its_basis() -> None:
    run, other = ScoringRun(pk=7), ScoringRun(pk=8)
    part = Component("bleurt", 2.0, higher_is_better=True)
    basis = Basis(get_recipe(RECIPE), "s", (part,), (Source("a", 1, run),), lacks=False)
    changed = [
        replace(basis, recipe=get_recipe("rag-qa-strict@1")),
        replace(basis, signature_hash="t"),
        replace(basis, is_rounded=True),
        *(replace(basis, components=(each,)) for each in (replace(part, weight=1.0), replace(part, score="bertscore"))),
        *(
            replace(basis, sources=(each,))
            for each in (Source("b", 1, run), Source("a", 2, run), Source("a", 1, other), Source("a", None, run))
        ),
        replace(basis, sources=(Source("a", 1, run, HiddenResult()),)),
    ]
    contents = [str(each.content(100, 1)) for each in (basis, *changed)]
    contents += [str(basis.content(101, 1)), str(basis.content(100, 2))]
    assert len(set(contents)) == len(contents)


def test_values_are_those_that_the_signature_of_the_result_names(phase: Phase) -> None:
    one, other = teams_with(phase, [0.9, 0.5])
    assert one.live_run is not None
    assert other.live_run is not None
    version = ReferenceVersionFactory.create(phase=phase, is_current=False)
    of_one = MetricResult.objects.filter(submission=one)
    expected = {each.metric: each.values for each in of_one}
    for each in of_one.filter(metric="bleurt"):
        for change in ({"metric_signature": "0" * 64}, {"split": "public"}, {"reference_version": version}):
            kept = {"submission": one, "metric": "bleurt", "values": {"q0": 9.0}}
            same = {"metric_signature": each.metric_signature, "split": each.split}
            MetricResult.objects.create(**kept | same | {"reference_version": each.reference_version} | change)

    found = sources.stored_values([Source("b", 2, other.live_run), Source("a", 1, one.live_run)])

    assert found[1] == expected
    assert found[0] != expected


def test_a_published_board_is_computed_from_the_runs_of_its_signature(phase: Phase) -> None:
    first, second = teams_with(phase, [0.9, 0.5])
    assert first.live_run is not None
    rows = [{"submission": str(each.public_id), "rank": at} for at, each in enumerate((first, second), 1)]
    snapshot = BoardSnapshot(
        phase=phase, rows=rows, recipe=RECIPE, signature_hash=first.live_run.signature_hash, kind="public"
    )
    wanted = BoardSureness(phase=phase, snapshot=snapshot)

    basis = sources.basis_of(wanted)
    assert [(each.name, each.rank, each.run) for each in basis.sources] == [
        (rows[0]["submission"], 1, first.live_run), (rows[1]["submission"], 2, second.live_run),
    ]  # fmt: skip
    assert not basis.lacks
    ScoringRun.objects.filter(pk=first.live_run_id).update(signature_hash="of other models")
    snapshot.rows = [*rows, {"rank": 3}]
    found = sources.basis_of(wanted)
    assert [each.rank for each in found.sources] == [2]
    assert found.lacks


def test_of_several_runs_of_its_signature_a_published_board_takes_the_newest_and_no_repeat(phase: Phase) -> None:
    """The scores of repeats are not those of the items that are kept: with them it would have no intervals at all."""
    (submission,) = teams_with(phase, [0.9])
    published = submission.live_run
    assert published is not None
    signature = published.signature_hash
    again, _repeat = (
        ScoringRunFactory.create(
            submission=submission, state="finished", final_score=0.1, finished_at=NOW, signature_hash=signature,
            batch=RescoreBatch.objects.create(
                competition=phase.track.competition, phase=phase, reason="r", created_by=UserFactory.create(),
                repeats=repeats, state="cancelled",
            ),
        )
        for repeats in (1, 2)
    )  # fmt: skip
    ScoringRun.objects.filter(pk=published.pk).update(profile="official")  # in the table it is behind the others now
    rows = [{"submission": str(submission.public_id), "rank": 1}]
    snapshot = BoardSnapshot(phase=phase, rows=rows, recipe=RECIPE, signature_hash=signature, kind="public")

    basis = sources.basis_of(BoardSureness(phase=phase, snapshot=snapshot))

    assert [each.run for each in basis.sources] == [again]


# --- what is written --------------------------------------------------------------------------------------------------
def test_how_long_it_took_is_noted(phase: Phase) -> None:
    teams_with(phase, [0.9, 0.5])
    found = compute(phase)
    assert 0 < found.seconds < 60
    assert found.computed_at is not None
    assert (found.signature_hash != "", found.trials, found.level) == (True, 200, 0.05)
    assert BoardItems.objects.filter(sureness=found).exists()


def test_a_late_result_writes_nothing(phase: Phase, monkeypatch: pytest.MonkeyPatch) -> None:
    teams_with(phase, [0.9, 0.5])
    standings.refresh(phase)
    queue_due()
    monkeypatch.setattr(outcome, "finish", lambda **_job: False)

    work()

    found = BoardSureness.objects.get()
    assert (found.rows, found.stamp, found.computed_at) == ({}, None, None)


def test_giving_up_one_board_leaves_the_others_as_they_are(phase: Phase) -> None:
    other, phase = phase, PhaseFactory.create(track__recipe=RECIPE)
    for each in (other, phase):
        teams_with(each, [0.9, 0.5])
        assert compute(each).version == version_of(each)
    kept = BoardSureness.objects.get(phase=other)
    BoardSureness.objects.update(computed_at=NOW - timedelta(hours=1))
    scored(phase, TeamFactory.create(competition=phase.track.competition), report_of(9, 0.7))
    standings.refresh(phase)
    assert queue_due() == 1
    job = claim_next(worker="w")
    assert job is not None

    computing.ComputeSureness().given_up(job)

    found = BoardSureness.objects.get(phase=phase)
    assert (found.reason, found.rows, found.basis) == ("crashed", {}, "")
    assert found.version == version_of(phase)
    again = BoardSureness.objects.get(phase=other)
    assert (again.stamp, again.reason, again.version) == (kept.stamp, "", kept.version)


def test_a_track_of_a_recipe_that_is_gone_says_so(phase: Phase) -> None:
    teams_with(phase, [0.9])
    compute(phase)
    BoardSureness.objects.update(computed_at=NOW - timedelta(hours=1), version=None)
    phase.track.recipe = "gone@1"
    phase.track.save()
    queue_due()
    work()
    found = BoardSureness.objects.get()
    assert (found.reason, found.signature_hash, found.rows) == ("recipe", "", {})
    assert (found.items, found.pairs, found.level) == (0, 0, 0.0)


def test_ties_and_baselines_are_told_by_row(phase: Phase) -> None:
    teams_with(phase, [0.5, 0.5])
    plain = TeamFactory.create(competition=phase.track.competition, is_baseline=True)
    baseline = scored(phase, plain, report_of(9, 0.95))

    rows = compute(phase).rows

    of_baseline = rows.pop(str(baseline.public_id))
    assert [of_baseline[name] for name in ("rank", "places", "band", "first", "tied", "p")] == [
        None, None, None, None, 0, None,
    ]  # fmt: skip
    assert of_baseline["scores"]["final_score"]
    assert sorted((each["rank"], each["band"], each["first"], each["tied"]) for each in rows.values()) == [
        (1, 1, 1, 2), (2, 1, 1, 2),
    ]  # fmt: skip
    assert sorted(each["p"] is not None for each in rows.values()) == [False, True]
    assert all(1 <= each["places"][0] <= each["places"][1] <= 2 for each in rows.values())


# --- what readers get -------------------------------------------------------------------------------------------------
def test_a_row_that_moved_keeps_the_intervals_of_its_scores_alone() -> None:
    whole = RowSureness({"final_score": (0.4, 0.6)}, (1, 2), 1, 1, 2, 0.5)
    found = Sureness(
        NOW, 1, 100, 0.05, 40, 1, "", "s", {"a": whole, "b": whole}, {"a": 1, "b": 2}, uuid4(), is_current=False
    )
    rows = [row("a", 1), row("b", 3), row("c", 2)]

    shown = [each.sureness for each in selectors.with_sureness(rows, found)]

    assert shown == [whole, RowSureness(whole.scores), None]
    current = selectors.with_sureness(rows, replace(found, is_current=True))
    assert [each.sureness for each in current] == [whole, whole, None]
    assert selectors.with_sureness(iter(rows), None) == rows


def test_what_is_stored_is_read_by_its_stamp_for_the_standings_shown(phase: Phase) -> None:
    teams_with(phase, [0.9, 0.5])
    stored = compute(phase)
    other = BoardSureness.objects.create(phase=phase, scope="frozen", stamp=uuid4())

    found = selectors.of_phase(stored.stamp, stored.version)

    assert found is not None
    assert (found.is_current, found.tests, found.items, found.trials) == (True, 1, 40, 200)
    assert {name: each.band for name, each in found.rows.items()} == {
        name: each["band"] for name, each in stored.rows.items()
    }
    earlier = selectors.of_phase(stored.stamp, uuid4())
    assert earlier is not None
    assert not earlier.is_current
    for stamp in (None, uuid4(), other.stamp):
        assert selectors.of_phase(stamp, stored.version) is None
