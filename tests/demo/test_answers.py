"""What the demo's teams upload: fixed bytes, sound files, and exact-match values in the order that was meant."""

from __future__ import annotations

import subprocess
import sys
import unicodedata
from hashlib import sha256

import pytest

from malpan.demo import documents
from malpan.demo.answers import answer_file, chosen
from malpan.demo.habits import CULTURE_QA, RAG_QA, DemoTeam, Packing, Upload
from malpan.demo.specs import COMPETITIONS
from malpan.demo.teams import PAST_TEAMS, TEAMS
from malpan.demo.tracks import QuestionTrack
from scoring.errors import InvalidFile
from scoring.metrics.exact import exact_match
from scoring.reading import read_predictions, read_references
from scoring.recipes import Layout, get_recipe

TRACKS = {track.slug: track for spec in COMPETITIONS if spec.slug == "demo" for track in spec.tracks}
UPLOADS = [(team, upload) for team in TEAMS for upload in team.uploads]
SOUND = [(team, upload) for team, upload in UPLOADS if upload.packing is not Packing.BROKEN]
BROKEN = [(team, upload) for team, upload in UPLOADS if upload.packing is Packing.BROKEN]


def name_of(value: object) -> str | None:
    return {DemoTeam: lambda: value.key, Upload: lambda: value.file_name}.get(type(value), lambda: None)()


def prepare(team: DemoTeam, upload: Upload, track: QuestionTrack | None = None) -> Layout:
    """The upload, read against the references by the rules of its track."""
    track = track or TRACKS[upload.track]
    rule = get_recipe(track.recipe)
    references = read_references(documents.references_file(track.items()), rule)
    return rule.prepare(references, read_predictions(answer_file(team, upload, track.items()), rule, references))


def exact(prepared: Layout) -> float:
    pairs = prepared.pairs["exact_match"]
    golds = [gold for (gold,) in pairs.references]
    return sum(map(exact_match, golds, pairs.candidates)) / len(pairs)


def last_exact(key: str, slug: str) -> float:
    team = next(team for team in TEAMS if team.key == key)
    return exact(prepare(team, [upload for upload in team.uploads if upload.track == slug][-1]))


def test_each_track_has_at_least_eight_teams_and_one_baseline() -> None:
    for slug in (RAG_QA, CULTURE_QA):
        teams = [team for team in TEAMS if any(upload.track == slug for upload in team.uploads)]
        assert len(teams) >= 8
        assert sum(team.is_baseline for team in teams) == 1
    assert len({team.key for team in TEAMS}) == len({team.name for team in TEAMS}) == len(TEAMS)
    assert max(len(team.name) for team in TEAMS) == 60
    assert set(PAST_TEAMS) < set(TEAMS)


@pytest.mark.parametrize(("team", "upload"), SOUND, ids=name_of)
def test_every_upload_but_the_broken_one_is_sound(team: DemoTeam, upload: Upload) -> None:
    prepare(team, upload)


def test_files_are_the_same_bytes_in_another_process_with_another_hash_seed() -> None:
    script = (
        "from hashlib import sha256; from malpan.demo.answers import answer_file\n"
        "from malpan.demo.specs import COMPETITIONS; from malpan.demo.teams import TEAMS\n"
        "tracks = {t.slug: t.items() for spec in COMPETITIONS if spec.slug == 'demo' for t in spec.tracks}\n"
        "print(*(sha256(answer_file(t, u, tracks[u.track])).hexdigest() for t in TEAMS for u in t.uploads))"
    )
    other = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60,
        env={"PYTHONHASHSEED": "4242"},
    ).stdout.split()  # fmt: skip
    ours = [sha256(answer_file(team, upload, TRACKS[upload.track].items())).hexdigest() for team, upload in UPLOADS]
    assert other == ours
    assert len(set(ours)) == len(ours)


def test_a_smaller_share_is_a_part_of_a_larger_one_and_met_exactly() -> None:
    ids = [f"i{number}" for number in range(60)]
    small, large = chosen("team", "wrong", ids, 0.1), chosen("team", "wrong", ids, 0.35)
    assert small < large
    assert (len(small), len(large)) == (6, 21)
    assert chosen("other", "wrong", ids, 0.1) != small


def test_contest_teams_stand_in_the_order_that_was_meant() -> None:
    order = ["hanmal", "concise", "climbers", "talkers", "decomposed", "silent", "long-name", "second-try", "confused"]
    values = [last_exact(key, RAG_QA) for key in order]
    assert values == sorted(values, reverse=True)
    assert len(set(values)) == len(values)
    assert values[0] > 0.95
    assert values[-1] == pytest.approx(0.5, abs=0.02)
    assert last_exact("baseline", RAG_QA) < values[-1]


def test_culture_teams_stand_in_the_order_that_was_meant() -> None:
    order = ["hanmal", "climbers", "long-name", "second-try", "confused", "baseline"]
    values = [last_exact(key, CULTURE_QA) for key in order]
    assert values == sorted(values, reverse=True)
    assert values[0] == 1
    assert values[-1] == 0


@pytest.mark.parametrize("slug", [RAG_QA, CULTURE_QA])
def test_the_climbing_team_gets_better_and_unlearns_nothing(slug: str) -> None:
    team = next(team for team in TEAMS if team.key == "climbers")
    first, second = (prepare(team, upload) for upload in team.uploads if upload.track == slug)
    assert exact(second) > exact(first)
    right = [
        {
            item
            for item, (gold,), given in zip(p.ids, p.references, p.candidates, strict=True)
            if exact_match(gold, given)
        }
        for p in (first.pairs["exact_match"], second.pairs["exact_match"])
    ]
    assert right[0] < right[1]


def test_the_silent_team_answers_two_reasons_in_three_and_all_others_every_one() -> None:
    shares = {
        team.key: prepare(team, upload).coverage["reason_coverage"] for team, upload in SOUND if upload.track == RAG_QA
    }
    assert shares.pop("silent") == pytest.approx(2 / 3, abs=0.04)
    assert set(shares.values()) == {1.0}


@pytest.mark.parametrize("slug", [RAG_QA, CULTURE_QA])
def test_the_macos_file_is_decomposed_and_every_item_of_it_is_reported(slug: str) -> None:
    team = next(team for team in TEAMS if team.key == "decomposed")
    upload = next(upload for upload in team.uploads if upload.track == slug)
    track = TRACKS[slug]
    text = answer_file(team, upload, track.items()).decode()
    assert unicodedata.is_normalized("NFD", text)
    assert not unicodedata.is_normalized("NFC", text)
    read = read_predictions(text.encode(), get_recipe(track.recipe))
    hangul = {answer.id for answer in read.items if not answer.text.isascii()}
    assert set(read.normalized_ids) == hangul
    assert len(hangul) > len(read.items) / 2
    assert all(unicodedata.is_normalized("NFC", answer.text) for answer in read.items)


def test_the_lines_file_is_jsonl_and_the_others_are_arrays() -> None:
    for team, upload in SOUND:
        data = answer_file(team, upload, TRACKS[upload.track].items())
        expected = "jsonl" if team.key == "long-name" else "json-array"
        assert read_predictions(data, get_recipe(TRACKS[upload.track].recipe)).format == expected


def test_the_broken_file_is_rejected_with_line_and_id_of_every_error() -> None:
    [(team, upload)] = BROKEN
    items = TRACKS[upload.track].items()
    data = answer_file(team, upload, items)
    with pytest.raises(InvalidFile) as caught:
        prepare(team, upload)
    located = {(error.code, error.item_id): error for error in caught.value.errors}
    duplicate = located["duplicate_id", items[1].id]
    lines = data.decode().splitlines()
    assert items[1].id in lines[duplicate.line - 1]
    assert duplicate.line > next(number for number, line in enumerate(lines, 1) if items[1].id in line)
    missing_field = next(error for error in caught.value.errors if error.item_id == items[4].id)
    assert missing_field.line is not None
    assert missing_field.field == "output.answer"
    assert ("missing_id", items[2].id) in located
    assert caught.value.total == 3
