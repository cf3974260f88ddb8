"""What applying a batch would change: whose ranks and prizes, which scores leave, and against which scores before."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone

from malpan.competitions.models import Competition, Phase
from malpan.leaderboard.rescore_preview import preview, require_seen
from malpan.submissions.models import HiddenResult, RescoreBatch, ScoringRun, Submission
from malpan.submissions.rescoring.errors import BatchPreviewGrew, BatchPreviewOutdated
from malpan.teams.models import Team
from tests.composite_boards import RECIPE, install, values
from tests.factories import PhaseFactory, ScoringRunFactory, SubmissionFactory, TeamFactory, UserFactory
from tests.factories import finished_submission as finished

pytestmark = pytest.mark.django_db
OLD = 0.9, 0.8, 0.7  # of the three teams


@pytest.fixture
def phase() -> Phase:
    phase = PhaseFactory.create()
    for score in OLD:
        finished(phase, team_of(phase), score, signature_hash="old")
    return phase


def team_of(phase: Phase) -> Team:
    return TeamFactory.create(competition=phase.track.competition)


def submissions(phase: Phase) -> list[Submission]:
    return list(Submission.objects.filter(phase=phase).order_by("pk"))


def batch_of(phase: Phase, **fields: Any) -> RescoreBatch:
    competition = phase.track.competition
    return RescoreBatch.objects.create(
        competition=competition, phase=phase, reason="정정", created_by=UserFactory.create(), **fields
    )


def scored(
    submission: Submission, batch: RescoreBatch | None, score: float, *, at: datetime | None = None, **fields: Any
) -> ScoringRun:
    """A finished run with the new signature."""
    given = {"state": "finished", "signature_hash": "new", "scores": {"final_score": score}} | fields
    return ScoringRunFactory.create(
        submission=submission, batch=batch, final_score=score, finished_at=at or timezone.now(), **given
    )


def rescored(phase: Phase, scores: tuple[float, ...]) -> RescoreBatch:
    batch = batch_of(phase)
    for submission, score in zip(submissions(phase), scores, strict=True):
        scored(submission, batch, score)
    return batch


def ranks(batch: RescoreBatch) -> list[tuple[int, int | None, int | None]]:
    return [(move.team_id, move.before, move.after) for move in preview(batch).moves]


def test_ranks_prizes_and_changes_are_those_of_the_new_scores(phase: Phase) -> None:
    Competition.objects.update(prize_places=[1])
    phase.track.competition.refresh_from_db()
    first, second, third = (row.team_id for row in submissions(phase))
    found = preview(rescored(phase, (0.5, 0.8, 0.95)))
    assert [(move.team_id, move.before, move.after) for move in found.moves] == [
        (third, 3, 1),
        (second, 2, 2),
        (first, 1, 3),
    ]
    assert [move.is_own for move in found.moves] == [True, False, True]
    assert {move.team_id for move in found.prize_moves} == {first, third}
    [change] = found.changes
    assert (change.score, change.count, change.changed) == ("final_score", 3, 2)
    assert (change.minimum, change.maximum) == pytest.approx((-0.4, 0.25))
    assert found.histogram is not None
    assert (found.histogram.unchanged, sum(bar.count for bar in found.histogram.bars)) == (1, 2)
    assert (found.left_out, found.has_hidden, found.hidden_histogram) == (0, False, None)
    assert (found.is_composite, found.ranked_by, dict(found.spreads)) == (False, ("final_score",), {})


def test_what_the_new_rule_has_not_scored_would_leave_the_board(phase: Phase) -> None:
    """Also where more submissions have the signature before."""
    batch = batch_of(phase, recipe="rag-qa-strict@1")
    first, second, third = submissions(phase)
    scored(first, batch, 0.6, recipe="rag-qa-strict@1")
    assert ranks(batch) == [(first.team_id, 1, 1), (second.team_id, 2, None), (third.team_id, 3, None)]
    assert preview(batch).left_out == 2


def test_a_submission_without_a_score_comes_onto_the_board_and_a_disqualified_team_does_not(phase: Phase) -> None:
    new, out = (SubmissionFactory.create(phase=phase, team=team_of(phase)) for _ in range(2))
    gone = finished(phase, team_of(phase), 1.0, signature_hash="old")
    Team.objects.filter(pk__in=[out.team_id, gone.team_id]).update(disqualified_at=timezone.now())
    batch = rescored(phase, (*OLD, 0.95, 0.99, 1.0))
    first, second, third = (row.team_id for row in submissions(phase)[:3])
    assert ranks(batch) == [(new.team_id, None, 1), (first, 1, 2), (second, 2, 3), (third, 3, 4)]
    found = preview(batch)
    assert found.left_out == 0
    assert [row.before is None for row in found.rows] == [False, False, False, True, True, False]
    assert found.histogram is not None
    assert found.histogram.unchanged == 4


def test_a_run_that_is_not_finished_changes_nothing(phase: Phase) -> None:
    batch = rescored(phase, (0.5, 0.5, 0.5))
    ScoringRun.objects.filter(batch=batch, submission=submissions(phase)[0]).update(state="failed")
    assert [row.after["final_score"] for row in preview(batch).rows] == [0.5, 0.5]


def test_of_the_private_split_too_it_is_after_minus_before(phase: Phase) -> None:
    batch = rescored(phase, OLD)
    hidden = {submissions(phase)[0].live_run: 0.5, submissions(phase)[1].live_run: 0.5}
    hidden |= dict(zip(batch.runs.order_by("submission_id"), (0.75, 0.5, 0.5), strict=True))
    for run, score in hidden.items():
        HiddenResult.objects.create(
            run=run, final_score=score, scores={"final_score": score}, signature_hash=run.signature_hash
        )
    found = preview(batch)
    assert found.has_hidden
    [change] = found.hidden_changes
    assert (change.count, change.changed, change.maximum) == (2, 1, 0.25)
    assert found.hidden_histogram is not None
    assert (found.hidden_histogram.unchanged, found.hidden_histogram.highest) == (1, 1)
    assert found.changes[0].changed == 0


# --- what is compared with --------------------------------------------------------------------------------------------
def test_an_applied_batch_is_compared_with_what_was_finished_right_before_it_closed(phase: Phase) -> None:
    closed = timezone.now()
    first = submissions(phase)[0]
    ScoringRun.objects.update(finished_at=closed - timedelta(hours=9))

    def by(state: str, hours: float, score: float) -> RescoreBatch:
        batch = batch_of(phase, state=state, closed_at=closed)
        scored(first, batch, score, at=closed - timedelta(hours=hours))
        return batch

    by("applied", 5, 0.1)
    by("applied", 4, 0.2)  # the newest
    ours = by("applied", 3, 0.3)
    by("applied", -1, 0.4)
    by("applied", 1, 0.5).runs.update(state="failed")
    by("cancelled", 1, 0.6)
    running = by("running", 1, 0.7)
    found = preview(ours)
    [row] = found.rows
    assert (row.before, row.after) == ({"final_score": 0.2}, {"final_score": 0.3})
    assert (found.moves, found.left_out) == ((), 0), "the board before is history"
    assert preview(running).rows[0].before == {"final_score": OLD[0]}, "before it is applied: the live one"


@pytest.mark.parametrize("state", ["running", "applied"])
def test_the_spreads_are_those_of_the_rules_compared_alone(phase: Phase, state: str) -> None:
    """A repetition by the rule of a submission that is not in the batch is none of them."""
    first, other = submissions(phase)[:2]
    ScoringRun.objects.filter(submission=other).update(signature_hash="another")
    batch = batch_of(phase, state=state, closed_at=timezone.now() + timedelta(hours=1))
    scored(first, batch, 0.5)
    for signature, width in (("old", 0.01), ("new", 0.02), ("another", 0.3)):
        repeats = batch_of(phase, repeats=2)
        for score in (0.5, 0.5 + width):
            scored(first, repeats, score, signature_hash=signature, at=timezone.now() + timedelta(hours=2))
    assert preview(batch).spreads == {"final_score": pytest.approx(0.02)}


# --- composites -------------------------------------------------------------------------------------------------------
def composite_phase(monkeypatch: pytest.MonkeyPatch) -> Phase:
    install(monkeypatch)
    phase = PhaseFactory.create(track__recipe=RECIPE, counting=Phase.Counting.LATEST)
    for score in OLD:
        finished(phase, team_of(phase), score, scores=values(0.5, score), signature_hash="old")
    return phase


def hidden_of(run: ScoringRun, scores: Mapping[str, float]) -> None:
    HiddenResult.objects.create(run=run, final_score=0.5, scores=dict(scores), signature_hash=run.signature_hash)


def test_where_a_composite_ranks_on_one_side_alone_there_is_nothing_to_compare_it_with(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    phase = composite_phase(monkeypatch)
    batch = batch_of(phase, recipe="regression@1")
    for submission, score in zip(submissions(phase), (0.9, 0.5, 0.1), strict=True):
        scored(submission, batch, score, recipe="regression@1")
    found = preview(batch)
    assert (found.is_composite, found.histogram, found.ranked_by) == (True, None, ("final_score",))
    assert [(move.before, move.after, move.score_after) for move in found.moves] == [
        (1, 1, 0.9),
        (2, 2, 0.5),
        (3, 3, 0.1),
    ]


def test_a_composite_has_no_histogram_of_private_scores_nor_one_without_teams_on_both_boards(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    phase = composite_phase(monkeypatch)
    batch = batch_of(phase)
    for submission in submissions(phase):
        assert submission.live_run is not None
        run = scored(submission, batch, 0.5, scores=values(0.5, 0.5), signature_hash="old")
        hidden_of(submission.live_run, values(0.5, 0.5) | {"final_score": 0.5})
        hidden_of(run, values(0.5, 0.25) | {"final_score": 0.6})
    found = preview(batch)
    assert found.has_hidden
    assert found.hidden_histogram is None
    assert found.histogram is not None
    assert found.ranked_by == ("rmse", "spearman", "judge")
    Submission.objects.update(live_run=None)
    assert preview(batch).histogram is None


# --- what was seen ----------------------------------------------------------------------------------------------------
def test_a_batch_is_applied_as_it_was_seen_alone(phase: Phase) -> None:
    batch = rescored(phase, OLD)
    seen = preview(batch).seen
    assert seen.startswith("3-")
    require_seen(batch, seen)
    late = finished(phase, team_of(phase), 0.1)
    scored(late, batch, 0.1)
    with pytest.raises(BatchPreviewGrew) as grown:
        require_seen(batch, seen)
    assert grown.value.params == {"before": "3", "now": "4"}
    with pytest.raises(BatchPreviewGrew):
        require_seen(batch, "123456789-")


@pytest.mark.parametrize("seen", ["3-0", "", "x-", "３-", "٤-", "1234567890-", "-4"])
def test_what_is_no_other_number_of_submissions_is_only_outdated(phase: Phase, seen: str) -> None:
    with pytest.raises(BatchPreviewOutdated) as refused:
        require_seen(rescored(phase, OLD), seen)
    assert type(refused.value) is BatchPreviewOutdated


def test_another_score_place_or_left_out_score_is_another_preview_and_a_name_is_not(phase: Phase) -> None:
    found = preview(rescored(phase, OLD))
    row, move = found.rows[0], found.moves[0]
    others = (
        replace(found, rows=(replace(row, after={"final_score": 0.1}), *found.rows[1:])),
        replace(found, moves=(replace(move, after=2), *found.moves[1:])),
        replace(found, left_out=1),
    )
    assert len({found.seen, *(each.seen for each in others)}) == 4
    assert replace(found, moves=(replace(move, team_name="새 이름"), *found.moves[1:])).seen == found.seen
