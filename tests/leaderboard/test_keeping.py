"""Public boards of composites are kept as they stood before what ranks changed, and can be computed again."""

from __future__ import annotations

import json
import random
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.utils import timezone

from malpan.competitions.errors import CountingInvalid
from malpan.competitions.models import Phase, Track
from malpan.core.models import AuditEntry
from malpan.leaderboard.boards import Board
from malpan.leaderboard.errors import BoardNotFound
from malpan.leaderboard.models import BoardSnapshot
from malpan.leaderboard.published import past_board, published_board
from malpan.leaderboard.rules import composite_json
from malpan.leaderboard.selectors import board
from malpan.leaderboard.snapshots import publish_final_board
from malpan.leaderboard.verification import verify_competition
from malpan.submissions.integrity import chain, receipts
from malpan.submissions.models import ChainEntry, RescoreBatch, Submission
from malpan.submissions.rescoring import services as rescoring
from malpan.submissions.scoring_changes import publish_reference_version, split_again, update_phase
from malpan.teams.models import Team
from scoring.recipes import RECIPES
from scoring.signature import json_sha256
from tests.composite_boards import RECIPE, by_loops, install, values
from tests.factories import PhaseFactory, ReferenceVersionFactory, TeamFactory, finished_submission
from tests.leaderboard.test_composite_boards import batch_of, organiser_of

pytestmark = pytest.mark.django_db
PUBLIC = BoardSnapshot.Kind.PUBLIC


@pytest.fixture(autouse=True)
def recipe(monkeypatch: pytest.MonkeyPatch) -> str:
    return install(monkeypatch)


@pytest.fixture
def phase() -> Phase:
    return recorded_phase()


def recorded_phase() -> Phase:
    """Six recorded teams, one a baseline, with two submissions each, of which the latest counts."""
    phase = PhaseFactory.create(track__recipe=RECIPE, counting=Phase.Counting.LATEST)
    chance = random.Random(11)
    for number in range(6):
        team = TeamFactory.create(competition=phase.track.competition, is_baseline=number == 2)
        for hour in range(2):
            scores = values(chance.choice([0.41, 0.5]), chance.random() - 0.5, None if number == 4 else chance.random())
            at = timezone.now() - timedelta(hours=9 - hour, minutes=number)
            row = finished_submission(phase, team, chance.random(), scores=scores, created_at=at)
            receipts.issue_receipt(submission=row)
            chain.append_scores([row])
    return phase


def fresh(phase: Phase) -> Phase:
    return Phase.objects.select_related("track__competition").get(pk=phase.pk)


def shown(found: Board) -> list[Any]:
    """All that readers see of the rows of a board, whether of now or of the past."""
    return [
        (row.rank, row.place, row.team_name, row.submission_name, row.scores, row.final_score, row.submission_count,
         row.submitted_at, row.is_baseline, row.is_demo_models, composite_json(row.composite))
        for row in found.rows
    ]  # fmt: skip


def now_shown(phase: Phase) -> list[Any]:
    return shown(board(fresh(phase)))


def apply_new_scores(phase: Phase) -> RescoreBatch:
    """A rescoring that lifts the last team to the top."""
    last = next(row.team_id for row in reversed(board(fresh(phase)).rows) if row.rank is not None)
    assert last is not None
    batch = batch_of(phase, {last: values(0.001, 0.999, 1.0)})
    return rescoring.apply_batch(batch=batch, actor=batch.created_by)


def kept(phase: Phase) -> list[BoardSnapshot]:
    return list(BoardSnapshot.objects.filter(phase=phase, kind=PUBLIC).order_by("number"))


def committed(phase: Phase) -> list[str]:
    """The hashes of kept boards that the chain has."""
    entries = ChainEntry.objects.filter(competition=phase.track.competition, kind="board").order_by("number")
    return [entry.payload["rows_sha256"] for entry in entries]


def test_the_board_before_a_rescoring_is_kept_with_its_parts(phase: Phase) -> None:
    before, expected = now_shown(phase), by_loops(phase)
    batch = apply_new_scores(phase)
    assert now_shown(phase) != before
    [snapshot] = kept(phase)
    past = past_board(fresh(phase), 1)
    assert shown(past) == before
    numbers = dict(Team.objects.values_list("number", "pk"))
    names = dict(Submission.objects.values_list("public_id", "pk"))
    ids = {str(name): pk for name, pk in names.items()}
    assert [(row["rank"], numbers[row["team_number"]], ids[row["submission"]]) for row in snapshot.rows] == [
        row[:3] for row in expected
    ]
    assert json.dumps([row["rank"] for row in snapshot.rows]) == json.dumps([row[0] for row in expected]), "1, not true"
    assert [row["composite"]["value"] for row in snapshot.rows] == pytest.approx(
        [row[3] for row in expected], abs=1e-12
    )
    assert snapshot.sha256 == json_sha256(snapshot.rows)
    assert [part["score"] for part in snapshot.components] == ["rmse", "spearman", "judge"]
    assert (snapshot.recipe, snapshot.published_by) == (RECIPE, batch.created_by)
    assert AuditEntry.objects.get(action="phase.keep_public_board").after["sha256"] == snapshot.sha256
    payload = ChainEntry.objects.get(kind="board").payload
    assert (payload["board"], payload["snapshot"], payload["rows_sha256"]) == ("public", 1, snapshot.sha256)
    assert verify_competition(phase.track.competition) == []


def test_every_change_keeps_one_and_an_equal_board_is_not_kept_twice(phase: Phase) -> None:
    apply_new_scores(phase)
    middle = now_shown(phase)
    batch = batch_of(phase, {})  # scores what is there now
    rescoring.apply_batch(batch=batch, actor=batch.created_by)
    assert now_shown(phase)[0][:4] == middle[0][:4]
    assert [each.number for each in kept(phase)] == [1, 2]
    assert shown(past_board(fresh(phase), 2)) == middle
    organiser = organiser_of(phase)
    update_phase(phase=phase, actor=organiser, counting="best", counting_score="rmse")
    assert len(kept(phase)) == 2, "as it was kept last"
    best = now_shown(phase)
    assert best != middle
    update_phase(phase=phase, actor=organiser, counting="latest", counting_score="")
    update_phase(phase=phase, actor=organiser, counting="best", counting_score="rmse")
    assert shown(past_board(fresh(phase), 3)) == best
    newest = past_board(fresh(phase), 4)
    assert shown(newest) == middle
    assert [each.number for each in newest.snapshots] == [4, 3, 2, 1]
    assert verify_competition(phase.track.competition) == []


def test_what_counts_is_a_rule_and_other_settings_are_none(phase: Phase) -> None:
    organiser, before = organiser_of(phase), now_shown(phase)
    update_phase(phase=phase, actor=organiser, title_ko="다른 이름", counting="latest")
    assert kept(phase) == []
    with pytest.raises(CountingInvalid):
        update_phase(phase=phase, actor=organiser, counting="chosen", finals_limit=2)
    assert kept(phase) == []
    update_phase(phase=phase, actor=None, score_step=Decimal("0.1"))
    assert now_shown(phase) != before
    assert shown(past_board(fresh(phase), 1)) == before
    assert kept(phase)[0].published_by is None
    rounded = now_shown(phase)
    update_phase(phase=phase, actor=organiser, score_step=None)
    assert shown(past_board(fresh(phase), 2)) == rounded, "as it was public: with rounded scores"
    assert all(value == round(value, 1) for row in rounded for value in row[4].values())


def test_replaced_references_keep_the_board_that_they_empty(phase: Phase) -> None:
    organiser, before = organiser_of(phase), now_shown(phase)
    data = b'[{"id": "1", "output": 3}, {"id": "2", "output": 4}]'
    publish_reference_version(phase=phase, data=data, actor=organiser, replace_in_use=True)
    assert now_shown(phase) == []
    assert shown(past_board(fresh(phase), 1)) == before
    split_again(phase=phase, actor=organiser, public_ids=["1"], replace_in_use=True)
    assert len(kept(phase)) == 1, "an empty board is none"
    assert committed(phase) == [each.sha256 for each in kept(phase)]


def test_a_new_split_commits_to_the_board_that_it_ends(phase: Phase) -> None:
    organiser = organiser_of(phase)
    data = b'[{"id": "1", "output": 3}, {"id": "2", "output": 4}]'
    publish_reference_version(phase=phase, data=data, actor=organiser, replace_in_use=True)
    for team in Team.objects.all():
        row = finished_submission(phase, team, 0.5, scores=values(0.1 * team.number, 0.5, 0.5))
        receipts.issue_receipt(submission=row)
        chain.append_scores([row])
    before = now_shown(phase)
    split_again(phase=phase, actor=organiser, public_ids=["1"], replace_in_use=True)
    assert shown(past_board(fresh(phase), 2)) == before != []
    assert committed(phase) == [each.sha256 for each in kept(phase)]
    assert verify_competition(phase.track.competition) == []


def test_a_frozen_board_is_kept_as_it_was_frozen(phase: Phase) -> None:
    update_phase(phase=phase, actor=None, board="frozen", frozen_at=timezone.now() - timedelta(hours=8, minutes=30))
    before = now_shown(phase)
    organisers = shown(board(fresh(phase), for_organiser=True))
    assert before != organisers
    apply_new_scores(phase)
    assert shown(past_board(fresh(phase), 1)) == before


def test_a_hidden_board_is_not_kept_and_hides_those_that_were(phase: Phase) -> None:
    apply_new_scores(phase)
    update_phase(phase=phase, actor=None, board="hidden")
    assert board(fresh(phase)).snapshots == ()
    with pytest.raises(BoardNotFound):
        past_board(fresh(phase), 1)
    update_phase(phase=phase, actor=None, counting="best", counting_score="rmse")
    assert len(kept(phase)) == 1
    update_phase(phase=phase, actor=None, board="live")
    assert [each.number for each in board(fresh(phase)).snapshots] == [1]


def test_a_board_by_the_final_score_is_not_kept(phase: Phase) -> None:
    Track.objects.filter(pk=phase.track_id).update(recipe="regression@1")
    update_phase(phase=fresh(phase), actor=None, score_step=Decimal("0.1"))
    assert kept(phase) == []


def test_kept_boards_are_no_final_ones(phase: Phase) -> None:
    organiser = organiser_of(phase)
    apply_new_scores(phase)
    assert published_board(fresh(phase)) is None
    Phase.objects.filter(pk=phase.pk).update(ends_at=timezone.now() - timedelta(seconds=1))
    final = publish_final_board(phase=fresh(phase), actor=organiser)
    assert final.number == 1
    found = published_board(fresh(phase))
    assert found is not None
    assert (found.snapshots, found.is_past, found.is_final) == ((final,), False, True)
    past = past_board(fresh(phase), 1)
    assert (past.is_past, past.is_kept, past.is_final) == (True, True, False)
    assert verify_competition(phase.track.competition) == []


def test_a_manipulated_kept_board_is_found(phase: Phase) -> None:
    apply_new_scores(phase)
    [snapshot] = kept(phase)
    snapshot.rows[0]["scores"]["rmse"] = 0.9
    snapshot.sha256 = json_sha256(snapshot.rows)
    snapshot.save()
    codes = {finding.code for finding in verify_competition(phase.track.competition)}
    assert codes == {"board_differs", "composite_differs"}


def test_without_the_recipe_nothing_is_kept_and_the_change_goes_through(
    phase: Phase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(RECIPES.entries, RECIPE)
    update_phase(phase=phase, actor=None, score_step=Decimal("0.1"))
    assert kept(phase) == []


def test_a_board_with_a_disqualified_team_is_kept_without_it(phase: Phase) -> None:
    out = Team.objects.filter(competition=phase.track.competition, is_baseline=False).first()
    Team.objects.filter(pk=out.pk if out else None).update(disqualified_at=timezone.now())
    before = now_shown(phase)
    apply_new_scores(phase)
    assert shown(past_board(fresh(phase), 1)) == before
    assert len(before) == 5


def board_of(*results: tuple[str, int]) -> Phase:
    """A phase with a team for each of ``results``: its signature, and how many hours ago it came."""
    phase, now = PhaseFactory.create(track__recipe=RECIPE, counting=Phase.Counting.LATEST), timezone.now()
    add_results(phase, *((signature, now - timedelta(hours=hours)) for signature, hours in results))
    return phase


def add_results(phase: Phase, *results: tuple[str, datetime]) -> None:
    for number, (signature, moment) in enumerate(results):
        scores = values(0.9 - number / 10, number / 10, 0.5)
        team = TeamFactory.create(competition=phase.track.competition)
        finished_submission(phase, team, 0.5, scores=scores, signature_hash=signature, created_at=moment)


@pytest.mark.parametrize(
    "results",
    [
        [("s", 1)],
        [("s", 9), ("s", 8), ("t", 1)],  # the most common one, though another is newer
        [("s", 9), ("s", 1), ("t", 5), ("t", 4)],  # of equal ones that of the newest result
        [("s", 5), ("t", 5), ("t", 5), ("s", 5)],  # if they came at once, of the last
    ],
)
def test_of_several_signatures_the_one_on_the_board_is_kept(results: list[tuple[str, int]]) -> None:
    phase = board_of(*results)
    before = now_shown(phase)
    update_phase(phase=phase, actor=None, score_step=Decimal("0.1"))
    [snapshot] = kept(phase)
    assert (snapshot.signature_hash, len(snapshot.rows)) == ("s", [name for name, _hours in results].count("s"))
    assert shown(past_board(fresh(phase), 1)) == before


def test_results_of_earlier_references_are_kept_where_a_current_one_has_their_signature() -> None:
    phase = board_of(("s", 9), ("s", 8), ("old", 7), ("old", 6), ("old", 5))
    phase.reference_versions.update(is_current=False)
    ReferenceVersionFactory.create(phase=phase)
    add_results(phase, ("s", timezone.now() - timedelta(hours=1)))
    before = now_shown(phase)
    update_phase(phase=phase, actor=None, score_step=Decimal("0.1"))
    [snapshot] = kept(phase)
    assert (snapshot.signature_hash, len(snapshot.rows)) == ("s", 3)
    assert shown(past_board(fresh(phase), 1)) == before
