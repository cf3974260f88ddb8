"""The values of items and the scores that were made of them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.db import connection

from malpan.competitions.models import Phase
from malpan.submissions.evaluation.item_check import altered_items, gives
from malpan.submissions.evaluation.results import item_values, keep
from malpan.submissions.models import MetricResult, ScoringRun, Submission
from scoring.engine import score
from scoring.metrics import METRICS
from scoring.reading import read_predictions, read_references
from scoring.recipes import get_recipe
from tests.factories import PhaseFactory, ScoringRunFactory, TeamFactory
from tests.fuzz.sound import RECIPES, sound_file
from tests.leaderboard.sureness_world import report_of, scored
from tests.scoring.fakes import STORE, FakeBertScore, FakeBleurt
from tests.scoring.recipes.test_essay_half_even import files as essay_files
from tests.scoring.recipes.test_essay_half_even import report_of as essay_report


@pytest.mark.parametrize("recipe_id", [*RECIPES, "rag-qa-strict@1"])
def test_the_scores_of_every_recipe_follow_from_its_items(recipe_id: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(METRICS.entries, "bertscore", FakeBertScore)
    monkeypatch.setitem(METRICS.entries, "bleurt", FakeBleurt)
    recipe, form = get_recipe(recipe_id), recipe_id.replace("-strict", "")
    references = read_references(sound_file(form, is_reference=True), recipe)
    predictions = read_predictions(sound_file(form, is_reference=False), recipe, references)
    report = score(recipe_id, references, predictions, store=STORE)
    found = item_values(report)
    assert found
    for (metric, _signature), values in found.items():
        stored = json.loads(json.dumps(values))
        assert gives(metric, stored, report.scores), metric
        if METRICS[metric].has_item_values and stored:
            assert not gives(metric, {**stored, next(iter(stored)): 0.123}, report.scores)


@pytest.mark.parametrize("recipe_id", ["essay-scoring@1", "essay-scoring-half-even@1"])
def test_the_scores_of_essays_follow_from_their_items(recipe_id: str) -> None:
    report = essay_report(recipe_id, essay_files(1, 40, 0.5))
    for (metric, _signature), values in item_values(report).items():
        stored = json.loads(json.dumps(values))
        assert gives(metric, stored, report.scores), metric
        for name in METRICS[metric].score_names:
            if report.scores.get(name) is not None:
                other = {**report.scores, name: report.scores[name] + 0.001}
                assert not gives(metric, stored, other), f"{name} of {metric}"


@pytest.fixture
def phase(db: None) -> Phase:
    return PhaseFactory.create()


def make(phase: Phase) -> Any:
    team = TeamFactory.create(competition=phase.track.competition)
    return scored(phase, team, report_of(1, 0.7), report_of(2, 0.6))


@pytest.mark.parametrize("value", ["0.99", '"x"', "null", "[1, 2, 3]"])
@pytest.mark.parametrize("split", ["public", "private"])
def test_an_altered_value_is_found(phase: Phase, split: str, value: str) -> None:
    submission = make(phase)
    make(phase)
    competition = phase.track.competition
    assert list(altered_items(competition)) == []
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE submissions_metricresult SET values = jsonb_set(values, '{q3}', %s)"
            " WHERE submission_id = %s AND split = %s AND metric = 'bleurt'",
            [value, submission.pk, split],
        )
    assert list(altered_items(competition)) == [(str(submission.public_id), "bleurt")]


def test_what_was_altered_is_told_in_the_order_of_submissions_and_of_rows(phase: Phase) -> None:
    submissions = [make(phase) for _number in range(3)]
    Submission.objects.filter(pk=submissions[0].pk).update(withdrawn_at=None)
    for submission in reversed(submissions):
        for metric in ("rouge1_mecab", "bleurt"):
            rows = MetricResult.objects.filter(submission=submission, split="public", metric=metric)
            rows.update(values={"q3": 0.987})
    rows = MetricResult.objects.filter(split="public", metric__in=["bleurt", "rouge1_mecab"]).order_by(
        "submission", "pk"
    )
    expected = [(str(row.submission.public_id), row.metric) for row in rows.select_related("submission")]
    assert list(altered_items(phase.track.competition)) == expected
    assert len(expected) in {3, 6}


def test_values_of_an_earlier_run_that_laid_out_other_items_are_sound(phase: Phase) -> None:
    """A later run of another recipe has the same signature and other items: the row stays that of the first."""
    submission = make(phase)
    first = submission.live_run
    run = ScoringRunFactory.create(
        submission=submission, reference_version=first.reference_version, state="finished", final_score=0.1,
        finished_at=first.finished_at, scores={"bleurt": 0.1}, signature=first.signature, signature_hash="other",
    )  # fmt: skip
    keep(run, report_of(3, 0.2, items=7), report_of(3, 0.2, items=7))
    type(submission).objects.filter(pk=submission.pk).update(live_run=run)
    assert list(altered_items(phase.track.competition)) == []


def test_rows_of_no_known_run_or_metric_and_of_judges_are_passed_over(phase: Phase) -> None:
    submission = make(phase)
    MetricResult.objects.filter(metric="bleurt").update(metric_signature="other", values={})
    assert gives("no_such_metric", {"a": 1}, {"no_such_metric": 0.0})
    assert gives("llm_judge", {"a": 1}, {"llm_judge": 0.0})
    assert list(altered_items(phase.track.competition)) == []
    ScoringRun.objects.filter(submission=submission).update(signature={})
    assert list(altered_items(phase.track.competition)) == []
