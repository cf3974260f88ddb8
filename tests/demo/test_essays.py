"""The essay scoring demo: sound essays with believable scores, teams that differ as meant, and the order of the board.

What a file is worth is computed here anew, from the published rule and with scipy.
"""

from __future__ import annotations

import json
import math
import re
import subprocess
import sys
import unicodedata
from collections import Counter
from collections.abc import Callable, Mapping
from datetime import timedelta
from functools import cache
from hashlib import sha256
from itertools import pairwise
from statistics import fmean, pstdev
from typing import Any

import pytest
from scipy.stats import rankdata, spearmanr

from malpan.demo.essays import TRAITS, Essay, essays, published_essays
from malpan.demo.habits import DemoTeam, Packing, Upload
from malpan.demo.specs import COMPETITIONS
from malpan.demo.teams import ESSAY_TEAMS
from scoring.engine import score
from scoring.errors import InvalidFile
from scoring.reading import read_predictions, read_references
from scoring.recipes import get_recipe
from tests.paths import python_path

[SPEC] = [spec for spec in COMPETITIONS if spec.slug == "demo-essays"]
[TRACK] = SPEC.tracks
ESSAYS = essays()
ALL = [*ESSAYS, *published_essays()]
UPLOADS = [(team, upload) for team in ESSAY_TEAMS for upload in team.uploads]
SOUND = [(team, upload) for team, upload in UPLOADS if upload.packing is not Packing.BROKEN]
SPREAD = {"content": (3.3, 0.65), "organization": (3.3, 0.84), "expression": (3.7, 0.68)}
STEPS = {"content": 0.1, "organization": 0.25, "expression": 0.25}
SLIPS = ("않 볼", "되서", "몇일", "할수", "깨닳", "할려고", "않좋", "해야됀다", "써봣", "안된다", "이돈", "해야한다")
each_essay = pytest.mark.parametrize("essay", ALL, ids=lambda essay: essay.id)
each_sound_file = pytest.mark.parametrize(("team", "upload"), SOUND, ids=lambda value: getattr(value, "file_name", ""))


def half_up(value: float) -> int:
    return math.floor(value + 0.5)


def team_of(key: str) -> DemoTeam:
    return next(team for team in ESSAY_TEAMS if team.key == f"essays-{key}")


def rows_in(team: DemoTeam, upload: Upload) -> list[dict[str, Any]]:
    text = TRACK.upload_bytes(team, upload).decode()
    return [json.loads(line) for line in text.splitlines()] if upload.packing is Packing.JSONL else json.loads(text)


def judged(row: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The three traits of a row by the published rule, ``None`` for a parse failure."""
    if "output" not in row:
        return row.get("judge", row)
    text = row["output"].replace("```json", "").replace("```", "").strip()
    start, depth = text.find("{"), 0
    for place in range(max(start, 0), len(text)):
        depth += {"{": 1, "}": -1}.get(text[place], 0)
        if depth == 0:
            break
    try:
        found = json.loads(text[start : place + 1])
    except ValueError:
        return None
    return found if all(isinstance(found.get(trait), dict) and "score" in found[trait] for trait in TRAITS) else None


@cache
def measured(key: str, number: int = -1, rounded: Callable[[float], int] = half_up) -> dict[str, float]:
    """RMSE, Spearman, bias and the number of parse failures of a file of a team, by default the last."""
    team = team_of(key)
    read = [judged(row) for row in rows_in(team, team.uploads[number])]
    given = [0.0 if one is None else sum(rounded(one[trait]["score"]) for trait in TRAITS) / 3 for one in read]
    gold = [essay.score["average"] for essay in ESSAYS]
    is_constant = len(set(given)) == 1
    return {
        "rmse": math.sqrt(fmean((mine - theirs) ** 2 for mine, theirs in zip(given, gold, strict=True))),
        "spearman": 0.0 if is_constant else float(spearmanr(given, gold).statistic),
        "bias": fmean(given) - fmean(gold),
        "parse_failures": read.count(None),
    }


def board(rounded: Callable[[float], int] = half_up) -> list[str]:
    """The ranked teams by the composite of RMSE and Spearman, the best first."""
    keys = [team.key.removeprefix("essays-") for team in ESSAY_TEAMS if not team.is_baseline]
    values = [measured(key, rounded=rounded) for key in keys]
    by_rmse = rankdata([round(value["rmse"], 8) for value in values])
    by_spearman = rankdata([round(-value["spearman"], 8) for value in values])
    return [keys[place] for place in sorted(range(len(keys)), key=lambda place: by_rmse[place] + by_spearman[place])]


def test_there_are_enough_essays_on_enough_prompts_and_every_id_is_its_own() -> None:
    assert len(ESSAYS) >= 40
    assert len({essay.prompt_num for essay in ESSAYS}) == len({essay.prompt for essay in ESSAYS}) >= 5
    assert Counter(essay.prompt_num for essay in published_essays()) == dict.fromkeys(
        {essay.prompt_num for essay in ESSAYS}, 1
    )
    ids = [value for essay in ALL for value in (essay.id, essay.document_id)]
    assert len(set(ids)) == len(ids) == 2 * len({essay.text for essay in ALL})


@each_essay
def test_every_essay_is_one_clean_paragraph(essay: Essay) -> None:
    assert 250 <= len(essay.text) <= 500
    assert essay.text == " ".join(essay.text.split())
    assert unicodedata.is_normalized("NFC", essay.text)
    assert len(set(essay.sentences)) == len(essay.sentences) >= 7


@each_essay
def test_scores_have_the_steps_of_the_contest_and_the_average_is_cut_off(essay: Essay) -> None:
    for trait, step in STEPS.items():
        assert 1 <= essay.score[trait] <= 5
        assert essay.score[trait] / step == pytest.approx(round(essay.score[trait] / step), abs=1e-9)
    below = fmean(essay.score[trait] for trait in TRAITS) - essay.score["average"]
    assert -1e-9 <= below <= 0.0067
    assert essay.score["average"] == round(essay.score["average"], 2)


def test_scores_spread_as_those_of_the_contest_do() -> None:
    for trait, (mean, deviation) in SPREAD.items():
        scores = [essay.score[trait] for essay in ESSAYS]
        assert fmean(scores) == pytest.approx(mean, abs=0.05)
        assert pstdev(scores) == pytest.approx(deviation, abs=0.06)
    differing = [e for e in ESSAYS if abs(fmean(e.score[trait] for trait in TRAITS) - e.score["average"]) > 1e-6]
    assert len(differing) > len(ESSAYS) / 2


def test_essays_with_slips_of_spelling_are_scored_low_for_expression() -> None:
    slips = {essay.id: sum(essay.text.count(slip) for slip in SLIPS) for essay in ALL}
    careless = [essay for essay in ALL if slips[essay.id] >= 2]
    assert len(careless) >= 4
    assert all(essay.score["expression"] <= 3 for essay in careless)
    assert not [essay.id for essay in ALL if essay.score["expression"] >= 4 and slips[essay.id]]


def test_every_note_is_about_its_own_essay() -> None:
    notes = [note for essay in ESSAYS for note in essay.notes.values()]
    assert len(set(notes)) == len(notes) == len(TRAITS) * len(ESSAYS)
    quoted = [
        (essay, quote) for essay in ESSAYS for note in essay.notes.values() for quote in re.findall("'(.+?)'", note)
    ]
    assert len(quoted) >= 20
    assert not [(essay.id, quote) for essay, quote in quoted if quote not in essay.text]


def test_published_files_hold_no_score_of_an_essay_to_score() -> None:
    files = {file.file_name: file.data.decode() for file in TRACK.public_files()}
    rows = {name: [json.loads(line) for line in text.splitlines()] for name, text in files.items() if "jsonl" in name}
    assert [row["id"] for row in rows["essay_scoring_test.jsonl"]] == [essay.id for essay in ESSAYS]
    assert all("score" not in row for row in rows["essay_scoring_test.jsonl"])
    assert {row["id"] for row in rows["essay_scoring_train.jsonl"]}.isdisjoint(essay.id for essay in ESSAYS)
    everything = "\n".join(files.values())
    assert not [essay.id for essay in ESSAYS if any(note in everything for note in essay.notes.values())]


def test_the_example_of_the_format_is_a_published_essay() -> None:
    [shown] = re.findall(r'^\{"id": "GW-T.*?\}\}$', _document(), flags=re.MULTILINE | re.DOTALL)
    example = json.loads(shown)
    [essay] = [essay for essay in published_essays() if essay.id == example["id"]]
    assert (example["score"], example["document_id"]) == (essay.score, essay.document_id)


def _document() -> str:
    return next(file.data.decode() for file in TRACK.public_files() if file.kind == "document")


def test_there_are_at_least_nine_teams_and_one_baseline() -> None:
    assert len(ESSAY_TEAMS) >= 9
    assert sum(team.is_baseline for team in ESSAY_TEAMS) == 1
    assert len({team.key for team in ESSAY_TEAMS}) == len({team.name for team in ESSAY_TEAMS}) == len(ESSAY_TEAMS)


def test_every_team_keeps_to_four_submissions_72_hours_apart() -> None:
    assert (SPEC.phase.total_limit, SPEC.phase.min_interval) == (4, timedelta(hours=72))
    for team in ESSAY_TEAMS:
        moments = sorted(upload.after for upload in team.uploads if upload.packing is not Packing.BROKEN)
        assert len(moments) <= 4
        assert all(later - earlier >= timedelta(hours=72) for earlier, later in pairwise(moments))
        assert moments[-1] < timedelta(days=-SPEC.phase.first_day)


def test_files_are_the_same_bytes_in_another_process_with_another_hash_seed() -> None:
    script = (
        "from hashlib import sha256; from malpan.demo.specs import COMPETITIONS\n"
        "[spec] = [spec for spec in COMPETITIONS if spec.slug == 'demo-essays']; [track] = spec.tracks\n"
        "print(*(sha256(track.upload_bytes(t, u)).hexdigest() for t in spec.teams for u in t.uploads))\n"
    )
    other = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60,
        env={"PYTHONHASHSEED": "4242", "PYTHONPATH": python_path()},
    ).stdout.split()  # fmt: skip
    ours = [sha256(TRACK.upload_bytes(team, upload)).hexdigest() for team, upload in UPLOADS]
    assert other == ours
    assert len(set(ours)) == len(ours)


@each_sound_file
def test_every_sentence_that_a_rationale_quotes_is_in_its_essay(team: DemoTeam, upload: Upload) -> None:
    for essay, row in zip(ESSAYS, rows_in(team, upload), strict=True):
        for trait in judged(row).values() if judged(row) else ():
            quotes = re.findall("‘(.+?)’", trait["rationale"]) if isinstance(trait, dict) else []
            assert all(quote in essay.text for quote in quotes), row


@each_sound_file
@pytest.mark.parametrize(("recipe", "rounded"), [(TRACK.recipe, half_up), ("essay-scoring-half-even@1", round)])
def test_the_engine_reads_every_file_and_finds_what_the_rule_gives(
    team: DemoTeam, upload: Upload, recipe: str, rounded: Callable[[float], int]
) -> None:
    rule = get_recipe(recipe)
    references = read_references(TRACK.references(), rule)
    predictions = read_predictions(TRACK.upload_bytes(team, upload), rule, references)
    assert predictions.format == ("jsonl" if upload.packing is Packing.JSONL else "json-array")
    found = score(recipe, references, predictions, profile="demo", device="cpu")
    wanted = measured(team.key.removeprefix("essays-"), team.uploads.index(upload), rounded)
    for name in ("rmse", "spearman", "parse_failures"):
        assert found.scores[name] == pytest.approx(wanted[name], abs=1e-12)
    assert (found.scores["rationale_hangul"] == 0) is (team.key == "essays-english")


def test_the_sample_is_a_sound_submission() -> None:
    rule = get_recipe(TRACK.recipe)
    [sample] = [file for file in TRACK.public_files() if file.kind == "sample"]
    read = read_predictions(sample.data, rule, read_references(TRACK.references(), rule))
    assert [item.id for item in read.items] == [essay.id for essay in ESSAYS]


def test_the_careless_file_is_rejected_with_line_and_id_of_every_error() -> None:
    [(team, upload)] = [pair for pair in UPLOADS if pair not in SOUND]
    rule = get_recipe(TRACK.recipe)
    data = TRACK.upload_bytes(team, upload)
    with pytest.raises(InvalidFile) as caught:
        read_predictions(data, rule, read_references(TRACK.references(), rule))
    ids = [essay.id for essay in ESSAYS]
    assert [(error.code, error.item_id, error.field) for error in caught.value.errors] == [
        ("score_out_of_range", ids[1], "content.score"),
        ("wrong_type", ids[2], "expression.score"),
        ("duplicate_id", ids[3], "id"),
        ("missing_essay", ids[4], None),
    ]
    lines = data.decode().splitlines()
    assert '"score": 7' in lines[caught.value.errors[0].line - 1]


def test_the_careful_team_gets_better_with_every_file() -> None:
    files = [measured("careful", number) for number in range(3)]
    assert [file["rmse"] for file in files] == sorted((file["rmse"] for file in files), reverse=True)
    assert [file["spearman"] for file in files] == sorted(file["spearman"] for file in files)


def test_the_strict_team_has_a_good_order_and_a_bad_level() -> None:
    strict = measured("strict")
    assert strict["spearman"] > 0.9
    assert strict["bias"] == pytest.approx(-1, abs=0.15)
    assert strict["rmse"] > measured("threes")["rmse"], "who reads nothing is nearer"


def test_threes_have_no_order() -> None:
    assert measured("threes")["spearman"] == 0
    assert measured("threes")["rmse"] < 1


def test_each_damage_stands_in_one_raw_output_and_no_other_file_has_any() -> None:
    failures = {key: measured(key)["parse_failures"] for key in board()}
    assert failures.pop("braces") == 5
    assert set(failures.values()) == {0}
    failed = [row["output"] for row in rows_in(team_of("braces"), team_of("braces").uploads[0]) if not judged(row)]
    kinds = [
        [text for text in failed if text.count("{") > text.count("}")],
        [text for text in failed if "{" not in text],
        [text for text in failed if text.startswith("{'")],
        [text for text in failed if text.endswith("}") and "expression" not in text],
        [text for text in failed if is_json_with_all_traits(text)],
    ]
    assert [len(kind) for kind in kinds] == [1] * 5


def is_json_with_all_traits(text: str) -> bool:
    try:
        return set(json.loads(text)) == set(TRAITS)
    except ValueError:
        return False


def test_halves_are_rounded_otherwise_by_python_and_the_board_with_them() -> None:
    [upload] = team_of("halves").uploads
    scores = [row[trait]["score"] for row in rows_in(team_of("halves"), upload) for trait in TRAITS]
    assert sum(half_up(score) != round(score) for score in scores) >= 15
    assert measured("halves")["rmse"] > measured("halves", rounded=round)["rmse"] + 0.05
    moved = [(was, now) for was, now in zip(board(round), board(), strict=True) if was != now]
    assert len(moved) >= 2
    for key in ("careful", "strict", "threes", "english"):
        assert measured(key) == measured(key, rounded=round), "integers are the same by both rules"


def test_one_team_repeats_its_rationale_and_one_writes_english() -> None:
    said: dict[str, list[str]] = {}
    for key in ("stamp", "english", "careful"):
        rows = rows_in(team_of(key), team_of(key).uploads[-1])
        said[key] = [row[trait]["rationale"] for row in rows for trait in TRAITS]
    assert len(set(said["stamp"])) == 1
    assert len(set(said["careful"])) == len(TRAITS) * len(ESSAYS)
    assert not re.search("[가-힣]", "".join(said["english"]))


def test_teams_stand_in_the_order_that_was_meant() -> None:
    order = board()
    assert order[0] == "careful"
    assert set(order[-3:]) == {"braces", "threes", "second-try"}
    assert measured("careful")["rmse"] < 0.25
    assert measured("baseline")["spearman"] < measured("second-try")["spearman"]
