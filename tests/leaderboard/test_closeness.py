"""Spread of repeated scoring: where it is read from, and which neighbours of a board are told apart only within it."""

from __future__ import annotations

import random
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from malpan.competitions.models import Phase
from malpan.leaderboard.closeness import close_neighbours, is_owed_to_spread
from malpan.leaderboard.rescore_preview import preview
from malpan.leaderboard.selectors import board
from malpan.submissions.models import RescoreBatch, Submission
from malpan.submissions.rescoring import deltas
from malpan.submissions.rescoring.spreads import spreads_of
from malpan.teams.models import Team
from malpan.web.presenters.spread import spread_context
from scoring.composite import Component, composites
from tests.composite_boards import RECIPE, WEIGHTS, install, values
from tests.factories import PhaseFactory, ScoringRunFactory, TeamFactory, UserFactory, finished_submission

COMPONENTS = tuple(Component(name, weight, is_up) for name, (weight, is_up) in WEIGHTS.items())


@pytest.fixture
def phase(monkeypatch: pytest.MonkeyPatch, db: None) -> Phase:
    install(monkeypatch)
    return PhaseFactory.create(track__recipe=RECIPE, counting=Phase.Counting.LATEST)


def repeat(submission: Submission, judged: list[float], signature: str = "s", **fields: Any) -> RescoreBatch:
    phase = submission.phase
    batch = RescoreBatch.objects.create(
        competition=phase.track.competition, phase=phase, reason="반복", repeats=2, created_by=UserFactory.create()
    )
    for value in judged:
        ScoringRunFactory.create(
            submission=submission, batch=batch, **{"state": "finished", "finished_at": timezone.now()} | fields,
            final_score=0.5, scores=values(0.5, 0.5, value) | {"final_score": 0.5}, signature_hash=signature,
        )  # fmt: skip
    return batch


def test_the_spread_is_the_largest_range_of_one_file_of_one_signature(phase: Phase) -> None:
    teams: list[Team] = [TeamFactory.create(competition=phase.track.competition) for _ in range(3)]
    rows = [finished_submission(phase, team, 0.5, scores=values(0.5, 0.5, 0.5)) for team in teams]
    assert spreads_of(phase) == {}
    repeat(rows[0], [0.50, 0.53, 0.51])
    repeat(rows[1], [0.90, 0.91])
    repeat(rows[2], [0.1], "s")
    repeat(rows[2], [0.9], "another")
    repeat(rows[2], [0.0], state="failed")
    assert spreads_of(phase, ["s"]) == {"judge": pytest.approx(0.03)}
    assert spreads_of(phase) == {"judge": pytest.approx(0.03)}
    assert spreads_of(phase, ["another"]) == {}
    assert spreads_of(PhaseFactory.create()) == {}


def test_the_scores_of_repetitions_are_read_once_until_another_is_finished(phase: Phase) -> None:
    team = TeamFactory.create(competition=phase.track.competition)
    row = finished_submission(phase, team, 0.5, scores=values(0.5, 0.5, 0.5))
    repeat(row, [0.50, 0.53])

    def read() -> tuple[dict[str, float], list[bool]]:
        with CaptureQueriesContext(connection) as queries:
            found = dict(spreads_of(phase, ["s"]))
        return found, ['"scores"' in query["sql"] for query in queries]

    assert read() == ({"judge": pytest.approx(0.03)}, [False, True])
    assert read() == ({"judge": pytest.approx(0.03)}, [False])
    batch = repeat(row, [0.60])
    assert read() == ({"judge": pytest.approx(0.10)}, [False, True])
    batch.runs.all().delete()
    assert read()[0] == {"judge": pytest.approx(0.03)}


def test_a_preview_does_not_count_differences_within_the_spread(phase: Phase) -> None:
    teams: list[Team] = [TeamFactory.create(competition=phase.track.competition) for _ in range(3)]
    rows = [finished_submission(phase, team, 0.5, scores=values(0.5, 0.5, 0.5)) for team in teams]
    repeat(rows[0], [0.50, 0.53])
    batch = RescoreBatch.objects.create(
        competition=phase.track.competition, phase=phase, reason="다시", created_by=UserFactory.create()
    )
    for row, judged in zip(rows, (0.52, 0.47, 0.60), strict=True):
        ScoringRunFactory.create(
            submission=row, batch=batch, state="finished", finished_at=timezone.now(), final_score=0.5,
            scores=values(0.5, 0.5, judged) | {"final_score": 0.5}, signature_hash="s",
        )  # fmt: skip
    found = preview(batch)
    assert {change.score: change.changed for change in found.changes}["judge"] == 1
    assert deltas.count_changed(found.rows, found.ranked_by, spreads=found.spreads) == 1
    assert deltas.count_changed(found.rows, found.ranked_by) == 3


def _beaten(gain: float, gains: list[float]) -> float:
    """How many a team with ``gain`` beats, one with the same value by half."""
    return sum(gain > other for other in gains) + sum(gain == other for other in gains) / 2


def lead_without(name: str, above: dict[str, float], below: dict[str, float], teams: list[dict[str, float]]) -> float:
    """The lead of one team before another by plain loops, the score ``name`` left out."""
    total = 0.0
    for component in COMPONENTS:
        if component.score == name:
            continue
        sign = 1 if component.higher_is_better else -1
        gains = [sign * team[component.score] for team in teams]
        ahead, behind = (_beaten(sign * one[component.score], gains) for one in (above, below))
        total += component.weight * (ahead - behind) / (len(teams) - 1)
    return total


def test_who_leads_only_within_the_spread_of_the_judge_is_found_as_by_plain_loops() -> None:
    """``rmse`` and ``spearman`` are exact; of 400 boards with many ties both answers occur often."""
    dice, found = random.Random(5), {True: 0, False: 0}
    for _ in range(400):
        teams = [values(dice.randint(1, 4) / 8, dice.randint(1, 4) / 8, dice.random()) for _ in range(6)]
        composed = composites(dict(enumerate(teams)), COMPONENTS)
        order = sorted(composed, key=lambda key: -composed[key].value)
        for above, below in pairwise(order):
            difference = abs(teams[above]["judge"] - teams[below]["judge"])
            expected = 0 < difference <= 0.3 and lead_without("judge", teams[above], teams[below], teams) <= 1e-9
            assert is_owed_to_spread(composed[above], composed[below], {"judge": 0.3}) is expected
            found[expected] += 1
    assert min(found.values()) > 50


def test_equal_values_and_scores_without_a_spread_are_no_matter_of_spread() -> None:
    teams = {1: values(0.1, 0.9, 0.5), 2: values(0.1, 0.9, 0.5), 3: values(0.1, 0.9, 0.4)}
    composed = composites(teams, COMPONENTS)
    assert not is_owed_to_spread(composed[1], composed[2], {"judge": 0.3})
    assert not is_owed_to_spread(composed[1], composed[3], {})
    assert is_owed_to_spread(composed[1], composed[3], {"judge": 0.1})
    assert not is_owed_to_spread(composed[1], composed[3], {"judge": 0.09})


def test_a_score_that_one_of_two_lacks_is_no_difference_within_its_spread() -> None:
    composed = composites({1: values(0.1, 0.9, 0.5), 2: values(0.1, 0.9)}, COMPONENTS)
    assert not is_owed_to_spread(composed[1], composed[2], {"judge": 2.0})


def test_a_baseline_between_two_teams_is_the_neighbour_of_neither() -> None:
    teams = {1: values(0.1, 0.9, 0.5), 2: values(0.1, 0.9, 0.4)}
    composed = composites(teams | {3: values(0.1, 0.9, 0.45)}, COMPONENTS, unranked={3})
    rows: Any = [SimpleNamespace(rank=rank, composite=composed[key]) for key, rank in ((1, 1), (3, None), (2, 2))]
    assert [(above.rank, below.rank) for above, below in close_neighbours(rows, {"judge": 0.2})] == [(1, 2)]


def test_repetitions_of_a_third_signature_count_neither_in_a_preview_nor_on_a_board(phase: Phase) -> None:
    """The rule before and that of the batch are compared; a wide spread by an older one is no matter of theirs."""
    teams: list[Team] = [TeamFactory.create(competition=phase.track.competition) for _ in range(2)]
    judged = {"s": (0.52, 0.47), "new": (0.60, 0.55)}
    rows = [
        finished_submission(phase, team, 0.5, scores=values(0.5, 0.5, judged["s"][n])) for n, team in enumerate(teams)
    ]
    repeat(rows[0], [0.50, 0.52], "s")
    repeat(rows[0], [0.60, 0.63], "new")
    repeat(rows[0], [0.1, 0.9], "third")
    repeat(rows[1], [0.2, 0.6], "third")
    witness = {"s": 0.52 - 0.50, "new": 0.63 - 0.60, "third": 0.9 - 0.1}
    for signature, width in witness.items():
        assert spreads_of(phase, [signature]) == {"judge": pytest.approx(width)}
    assert spreads_of(phase, {"s", "new"}) == {"judge": pytest.approx(max(witness["s"], witness["new"]))}
    assert spreads_of(phase) == {"judge": pytest.approx(witness["third"])}

    batch = RescoreBatch.objects.create(
        competition=phase.track.competition, phase=phase, reason="다시", created_by=UserFactory.create()
    )
    for row, value in zip(rows, judged["new"], strict=True):
        ScoringRunFactory.create(
            submission=row, batch=batch, state="finished", finished_at=timezone.now(), final_score=0.5,
            scores=values(0.5, 0.5, value) | {"final_score": 0.5}, signature_hash="new",
        )  # fmt: skip
    found = preview(batch)
    assert found.spreads == {"judge": pytest.approx(0.03)}
    assert {change.score: change.changed for change in found.changes}["judge"] == 2  # by 0.08; by the third's, none

    shown = board(phase)
    assert [row.composite is not None for row in shown.rows] == [True, True]
    assert shown.signature_hash == "s"
    assert close_neighbours(shown.rows, spreads_of(phase, ["s"])) == []  # 0.05 apart
    [(above, below)] = close_neighbours(shown.rows, spreads_of(phase))
    assert (above.rank, below.rank) == (1, 2)
    assert spread_context(shown)["close_pairs"] == []
