"""What a hostile, a huge or a randomly broken caption file may cost, and what may come of it."""

import json
import random
import subprocess
import sys
import time
from typing import Any

import pytest

from scoring.errors import FileError, InvalidFile
from scoring.reading import MAX_BYTES, MAX_ERRORS_KEPT, read_predictions, read_references
from scoring.reading.caption_files import scan_captions
from scoring.recipes import get_recipe
from scoring.records import Items
from tests.paths import ROOT
from tests.scoring.caption_layouts import PREDICTION_LAYOUTS, REFERENCE_LAYOUTS
from tests.scoring.caption_samples import CANARY, CANDIDATE_FILES, KNOWN, REFERENCE_FILES, dumped
from tests.scoring.growth import Growth
from tests.scoring.hostile_captions import HOSTILE, HOSTILE_REFERENCES, SECONDS, SHARE
from tests.scoring.reading.test_hostile import mutated

CAPTIONING = get_recipe("captioning@1")
SECONDS_OF_A_SOUND_FILE = 8.0  # of processor time: far above what is measured, far below what anything quadratic takes


@pytest.fixture(scope="module")
def known() -> Items:
    return read_references(dumped(KNOWN).encode(), CAPTIONING)


def read_or_errors(data: bytes, known: Items | None = None) -> Items | InvalidFile:
    try:
        return read_predictions(data, CAPTIONING, known)
    except InvalidFile as invalid:
        return invalid


@pytest.fixture(scope="module")
def measured() -> dict[str, dict[str, Any]]:
    """What reading each hostile file took and gave, in a process that has done nothing else, as the web process."""
    command = [sys.executable, "-m", "tests.scoring.hostile_captions"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600, check=True)
    answers: dict[str, dict[str, Any]] = json.loads(done.stdout)
    return answers


def assert_bounded(answer: dict[str, Any]) -> None:
    assert answer["seconds"] < SECONDS
    assert Growth(answer["seconds"], answer["quarter"]).is_in_step, answer


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_is_answered_in_bounded_time(measured, name):
    answer = measured[name]
    assert 2_000_000 < SHARE * answer["bytes"] < MAX_BYTES
    assert_bounded(answer)
    assert 0 < answer["errors"] <= MAX_ERRORS_KEPT
    assert answer["longest error"] < 4_000


@pytest.mark.parametrize("name", HOSTILE_REFERENCES)
def test_hostile_references_are_answered_in_bounded_time(measured, name):
    answer = measured[f"references: {name}"]
    assert_bounded(answer)
    assert answer["errors"] > 0


@pytest.mark.parametrize("form", ["object", "object over lines", "rows", "wrapped", "lines", "table"])
def test_a_sound_file_of_45_000_captions_is_read_in_seconds(form):
    text = "가나다라 마바사 " * 4
    captions = {f"v-{n}": text for n in range(45_000)}
    values = [{"id": item_id, "caption": text} for item_id in captions]
    data = {
        "object": lambda: dumped(captions),
        "object over lines": lambda: dumped(captions, 0),
        "rows": lambda: dumped(values),
        "wrapped": lambda: dumped({"info": {}, "results": values}),
        "lines": lambda: "\n".join(map(dumped, values)),
        "table": lambda: "\n".join(f"{item_id}\t{text}" for item_id in captions),
    }[form]().encode()
    started = time.thread_time()
    answers = read_predictions(data, CAPTIONING).items
    assert time.thread_time() - started < SECONDS_OF_A_SOUND_FILE
    assert len(answers) == len(captions)


@pytest.mark.parametrize("seed", range(4))
def test_a_mutated_file_is_read_or_refused_and_nothing_else(known, seed):
    chance = random.Random(seed)
    texts = [*(text for text, _, _ in CANDIDATE_FILES.values()), *(form.text for form in PREDICTION_LAYOUTS.values())]
    forms = [text.encode() for text in texts]
    for _ in range(250):
        data = mutated(chance.choice(forms), chance)
        captions = read_or_errors(data, known)
        if isinstance(captions, Items):
            assert {answer.id for answer in captions.items} <= set(KNOWN)
            continue
        assert captions.errors
        for error in captions.errors:
            assert error.message("ko")
            assert error.message("en")
            assert error.line is None or 1 <= error.line <= data.count(b"\n") + data.count(b"\r") + 1
            assert CANARY not in error.message()


@pytest.mark.parametrize("seed", range(2))
def test_mutated_references_are_read_or_refused_and_nothing_else(seed):
    chance = random.Random(seed)
    texts = [*(text for text, _ in REFERENCE_FILES.values()), *(form.text for form in REFERENCE_LAYOUTS.values())]
    forms = [text.encode() for text in texts]
    for _ in range(250):
        data = mutated(chance.choice(forms), chance)
        try:
            references = read_references(data, CAPTIONING)
        except InvalidFile:
            continue
        assert all(text.strip() for answer in references.items for text in answer.texts)


def test_an_object_python_reads_strictly_is_never_called_broken():
    chance = random.Random(7)
    for name in ("object over several lines", "results, info last", "object in captions"):
        source = CANDIDATE_FILES[name][0].encode()
        for _ in range(150):
            data = mutated(source, chance)
            try:
                value = json.loads(data.decode("utf-8"))
            except ValueError:
                continue
            if not isinstance(value, dict):
                continue
            entries = scan_captions(data.decode())[1]
            syntax = {"json_syntax", "missing_comma", "missing_colon", "truncated_json", "bad_escape", "raw_control"}
            assert not [entry for entry in entries if isinstance(entry, FileError) and entry.code in syntax]
