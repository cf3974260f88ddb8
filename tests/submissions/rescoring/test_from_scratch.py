"""A worker computed wrong numbers: what it left is used by nobody that scores from scratch."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from malpan.competitions import drafts
from malpan.submissions.evaluation.item_check import altered_items
from malpan.submissions.intake import submit
from malpan.submissions.models import FreshResult, MetricResult, RescoreBatch, ScoringRun, Submission
from malpan.submissions.rescoring import services as rescoring
from tests.factories import file_bytes
from tests.scoring.fakes import FakeBertScore
from tests.submissions.rescoring.contest_of_many import Contest, answers, apply, references, start, upload, work_off

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("uncommitted_work")]
ERROR = 0.1


@pytest.fixture
def contest(made: Contest, rings: list[str], neural: list[Any]) -> Contest:
    return copy.deepcopy(made)


def faulty(self: Any, references: Any, candidates: Any, progress: Any = None) -> list[float]:
    """BERTScore as a damaged worker computes it."""
    return [value + ERROR for value in right(self, references, candidates)]


right: Any = FakeBertScore.score_pairs


@pytest.fixture
def wronged(contest: Contest, monkeypatch: pytest.MonkeyPatch) -> Submission:
    """Scored by a worker that was faulty then."""
    with monkeypatch.context() as patched:
        patched.setattr(FakeBertScore, "score_pairs", faulty)
        submission = send(contest)
        work_off()
    return submission


def send(contest: Contest, place: int = 0) -> Submission:
    """A file whose reasons nobody else wrote."""
    rows = json.loads(answers(place))
    for number, row in enumerate(rows):
        row["output"]["answer"] = f"바른말{number}이 옳다. {'새로 적은 까닭 ' * (number + 1)}".strip()
    return submit(
        phase=contest.phase,
        team=contest.teams[place],
        user=contest.users[place],
        file_name="answers.json",
        upload=file_bytes(rows),
    )


def score_of(submission: Submission) -> float:
    submission.refresh_from_db()
    assert submission.live_run is not None
    return float(submission.live_run.scores["bertscore"])


def values_of(submission: Submission) -> dict[str, float]:
    [row] = MetricResult.objects.filter(submission=submission, metric="bertscore")
    return dict(row.values)


def rescore(contest: Contest, **options: Any) -> RescoreBatch:
    batch = start(contest, **options)
    work_off()
    return apply(contest, batch)


def test_what_a_faulty_worker_left_stays_until_it_is_scored_from_scratch(contest: Contest, wronged: Submission) -> None:
    wrong_score, wrong_values = score_of(wronged), values_of(wronged)
    rescore(contest)
    assert score_of(wronged) == wrong_score  # nothing is computed that is known

    batch = start(contest, is_from_scratch=True)
    work_off()
    assert (score_of(wronged), values_of(wronged)) == (wrong_score, wrong_values)  # nobody sees it yet
    apply(contest, batch)
    assert score_of(wronged) == pytest.approx(wrong_score - ERROR)
    assert values_of(wronged) == pytest.approx({item: value - ERROR for item, value in wrong_values.items()})
    assert not FreshResult.objects.exists()
    assert list(altered_items(contest.phase.track.competition)) == []


def test_what_was_right_is_the_same_again(contest: Contest) -> None:
    before = {row.pk: row.scores for row in ScoringRun.objects.all()}
    known = sorted(MetricResult.objects.values_list("submission", "split", "metric", "metric_signature"))
    rescore(contest, is_from_scratch=True)
    for submission in contest.submissions:
        old = submission.runs.order_by("pk").first()
        submission.refresh_from_db()
        assert submission.live_run is not None
        assert submission.live_run.scores == before[old.pk]
    assert sorted(MetricResult.objects.values_list("submission", "split", "metric", "metric_signature")) == known


def test_every_pair_is_computed_and_the_next_team_has_the_right_value(
    contest: Contest, wronged: Submission, neural: list[Any]
) -> None:
    wrong_score = score_of(wronged)
    neural.clear()
    rescore(contest, is_from_scratch=True)
    assert len({pair for pair in neural if pair[0] == "bertscore"}) >= len(values_of(wronged))
    neural.clear()
    another = send(contest, place=1)
    work_off()
    assert neural == []
    assert score_of(another) == pytest.approx(wrong_score - ERROR)


def test_other_versions_of_the_references_get_none_of_the_wrong_values(contest: Contest, wronged: Submission) -> None:
    """A preview that was cancelled, with another version, had computed from them."""
    draft = drafts.create_draft(phase=contest.phase, data=references("옳은말0"), actor=contest.organiser)
    looked = start(contest, reference_version=draft)
    work_off()
    rescoring.cancel_batch(batch=looked, actor=contest.organiser)
    assert MetricResult.objects.filter(submission=wronged, metric="bertscore").count() == 2
    rescore(contest, is_from_scratch=True)
    right_score = score_of(wronged)
    rescore(contest, reference_version=draft)
    assert score_of(wronged) == pytest.approx(right_score)


def test_a_cancelled_one_leaves_nothing(contest: Contest, wronged: Submission) -> None:
    before = (score_of(wronged), values_of(wronged))
    batch = start(contest, is_from_scratch=True)
    work_off()
    assert FreshResult.objects.exists()
    rescoring.cancel_batch(batch=batch, actor=contest.organiser)
    assert not FreshResult.objects.exists()
    assert (score_of(wronged), values_of(wronged)) == before


def test_an_upload_whose_second_run_ends_after_the_application_keeps_its_first(contest: Contest) -> None:
    batch = start(contest, is_from_scratch=True)
    work_off()
    late = upload(contest, place=2, seed=33)
    work_off(limit=1)
    apply(contest, batch)
    work_off()
    late.refresh_from_db()
    assert late.live_run is not None
    assert late.live_run.state == ScoringRun.State.FINISHED
    assert MetricResult.objects.filter(submission=late, metric="bertscore").count() == 1
    assert not FreshResult.objects.exists()
