"""The served script computes a composite board again from its rows, and sees a row that does not follow from them."""

from __future__ import annotations

import copy
import random
import types
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.test import Client
from django.utils import timezone

from malpan.competitions.models import Phase
from malpan.leaderboard.snapshots import publish_final_board
from malpan.submissions.integrity import chain, receipts
from malpan.submissions.models import HiddenResult
from malpan.web.pages.chain import SCRIPT
from scoring.composite import COMPARED_DECIMALS, Component, composites
from scoring.signature import json_sha256
from tests.composite_boards import install, values
from tests.database import written_for_now
from tests.factories import (
    PhaseFactory,
    ReferenceVersionFactory,
    TeamFactory,
    finished_submission,
    person_in,
)
from tests.web.test_chain_pages import board_url, body, chain_url, run_script

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def made(kept: None) -> Iterator[int]:
    """The number of a phase with six recorded teams, one a baseline; ties, a team without the judge's score, and a
    private split.
    """
    with pytest.MonkeyPatch.context() as patched:
        yield _made(install(patched)).pk


def _made(recipe: str) -> Phase:
    phase = PhaseFactory.create(track__recipe=recipe, counting=Phase.Counting.LATEST)
    ReferenceVersionFactory.create(phase=phase, public_ids=["q1"])
    chance = random.Random(3)
    for number in range(6):
        team = TeamFactory.create(competition=phase.track.competition, is_baseline=number == 2)
        scores = values(chance.choice([0.5, 0.61]), chance.random() - 0.5, None if number == 4 else chance.random())
        row = finished_submission(phase, team, chance.random(), scores=scores)
        assert row.live_run is not None
        HiddenResult.objects.create(
            run=row.live_run, final_score=0.5, scores=values(chance.random(), 1 / 3, 0.2), signature_hash="h"
        )
        receipts.issue_receipt(submission=row)
        chain.append_scores([row])
    return phase


@pytest.fixture
def phase(made: int, db: None) -> Phase:
    return Phase.objects.get(pk=made)


def files_of(phase: Phase) -> dict[str, Any]:
    return {"chain": body(Client().get(f"{chain_url(phase)}.json")), "board": body(Client().get(board_url(phase)))}


def publish(phase: Phase) -> None:
    Phase.objects.filter(pk=phase.pk).update(ends_at=timezone.now() - timedelta(seconds=1))
    user = person_in(phase.track.competition, "owner")
    publish_final_board(phase=Phase.objects.get(pk=phase.pk), actor=user)


@pytest.fixture(scope="module")
def published(made: int) -> dict[str, Any]:
    """What anybody downloads once the final board is there, which is taken back."""
    with written_for_now():
        phase = Phase.objects.get(pk=made)
        publish(phase)
        return files_of(phase)


@pytest.fixture
def files(published: dict[str, Any]) -> dict[str, Any]:
    return copy.deepcopy(published)


def test_the_script_computes_the_public_and_the_final_board_again(files: dict[str, Any], tmp_path: Path) -> None:
    done = run_script(tmp_path, **files)
    assert done.returncode == 0, done.stdout
    assert done.stdout.count("All 6 composites, ranks and the order were computed again") == 2
    assert "rmse 45, spearman 45, judge 10" in done.stdout


def _swap(rows: list[Any]) -> None:
    rows[0], rows[1] = rows[1], rows[0]


CHANGES: dict[str, Callable[[list[Any]], object]] = {
    "composite": lambda rows: rows[3]["composite"].update(value=rows[3]["composite"]["value"] + 1e-9),
    "rank of a part": lambda rows: rows[1]["composite"]["parts"][0].update(rank=1.25),
    "weight of a part": lambda rows: rows[1]["composite"]["parts"][2].update(weight=45.0),
    "a value": lambda rows: rows[1]["scores"].update(spearman=-0.9),
    "who is a baseline": lambda rows: next(row for row in rows if row["is_baseline"]).update(is_baseline=False),
    "the order": _swap,
    "a rank": lambda rows: rows[0].update(rank=2),
    "a row left out": lambda rows: rows.remove(next(row for row in rows if not row["is_baseline"])),
    "no composite": lambda rows: rows[0].pop("composite"),
}


@pytest.mark.parametrize("name", CHANGES)
@pytest.mark.parametrize("part", ["public", "final"])
def test_the_script_finds_every_manipulated_row(files: dict[str, Any], tmp_path: Path, part: str, name: str) -> None:
    """Even where the one who changed a final board wrote its hash anew into board and chain."""
    board = files["board"]["final"] if part == "final" else files["board"]
    CHANGES[name](board["rows"])
    board["row_count"] = len(board["rows"])
    if part == "final":
        board["sha256"] = json_sha256(board["rows"])
        entry = next(entry for entry in files["chain"]["entries"] if entry["kind"] == "board")
        entry["payload"]["rows_sha256"] = board["sha256"]
        entry["sha256"] = chain.link_sha256(
            number=entry["number"], kind="board", payload=entry["payload"], previous=entry["previous"]
        )
    done = run_script(tmp_path, **files)
    assert done.returncode == 1, done.stdout
    assert "다시 계산한 것" in done.stdout or "종합 점수와 맞지 않습니다" in done.stdout


def test_the_script_compares_to_as_many_digits_as_the_site() -> None:
    assert served_script().DECIMALS == COMPARED_DECIMALS


def test_the_script_agrees_with_the_site_on_many_boards() -> None:
    """Its own computation against ``scoring.composite``, on boards of all sizes with ties, gaps and baselines."""
    script = served_script()
    components = [Component("a", 45, higher_is_better=False), Component("b", 45.5), Component("c", 10)]
    bare = [{"score": c.score, "weight": str(c.weight), "higher_is_better": c.higher_is_better} for c in components]
    chance = random.Random(9)
    for _board in range(300):
        rows = [
            {
                "is_baseline": chance.random() < 0.2,
                "final_score": 0.0,
                "scores": {name: chance.choice([0.1, 0.2, 0.2 + 4e-9, 0.3]) for name in "abc" if chance.random() < 0.8},
            }
            for _row in range(chance.randrange(1, 12))
        ]
        unranked = [place for place, row in enumerate(rows) if row["is_baseline"]]
        site = composites({place: row["scores"] for place, row in enumerate(rows)}, components, unranked)
        again = script.composed(copy.deepcopy(rows), bare)
        assert [value for value, _parts in again] == [site[place].value for place in range(len(rows))]
        assert [[tuple(part) for part in parts] for _value, parts in again] == [
            [(p.score, p.weight, p.value, p.rank, p.normalised) for p in site[place].parts]
            for place in range(len(rows))
        ]


def served_script() -> types.ModuleType:
    script = types.ModuleType("served")
    exec(compile(SCRIPT.read_bytes(), str(SCRIPT), "exec"), script.__dict__)
    return script


def test_a_weight_of_zero_counts_for_nothing() -> None:
    """As numpy's weighted mean, on boards with gaps and baselines."""
    script, chance = served_script(), random.Random(4)
    weights = {"a": 45.0, "b": 0.0, "c": 10.0}
    components = [{"score": name, "weight": str(weight), "higher_is_better": True} for name, weight in weights.items()]
    for _board in range(50):
        rows = [
            {"is_baseline": number == 3, "final_score": 0.0, "scores": {name: chance.random() for name in "abc"}}
            for number in range(chance.randrange(2, 8))
        ]
        for value, parts in script.composed(rows, components):
            assert [part[:2] for part in parts] == list(weights.items())
            witness = np.average([part[4] for part in parts], weights=list(weights.values()))
            assert value == pytest.approx(witness, abs=1e-12)


@pytest.mark.parametrize("weights", [(0, 0, 0), (45, -45, 0)])
def test_weights_that_add_up_to_nothing_are_named_and_break_nothing(
    phase: Phase, tmp_path: Path, weights: tuple[float, ...]
) -> None:
    files = files_of(phase)
    for component, weight in zip(files["board"]["composite"]["components"], weights, strict=True):
        component["weight"] = weight
    done = run_script(tmp_path, **files)
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.count("가중치 합이 0이라 다시 계산할 수 없습니다") == 1
    assert done.stdout.count("add up to 0: it cannot be computed again") == 1
    assert "composites, ranks and the order were computed again" not in done.stdout
    assert "사슬이 온전합니다" in done.stdout  # what can be verified is


def test_a_board_that_is_rounded_is_computed_from_what_it_shows(phase: Phase, tmp_path: Path) -> None:
    Phase.objects.filter(pk=phase.pk).update(score_step="0.1")
    done = run_script(tmp_path, **files_of(phase))
    assert "All 6 composites, ranks and the order were computed again" in done.stdout
