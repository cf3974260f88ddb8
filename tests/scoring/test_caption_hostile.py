"""What a hostile, a huge or a randomly broken caption file may cost, and what may come of it."""

import json
import random
import time

import pytest

from scoring.errors import FileError, InvalidFile
from scoring.reading import MAX_BYTES, MAX_ERRORS_KEPT, read_predictions, read_references
from scoring.reading.caption_files import scan_captions
from scoring.recipes import get_recipe
from scoring.records import AnswerFile
from tests.scoring.caption_samples import CANARY, CANDIDATE_FILES, KNOWN, REFERENCE_FILES, dumped
from tests.scoring.test_reading_hostile import mutated

CAPTIONING = get_recipe("captioning@1")
SECONDS = 8.0  # of processor time: far above what is measured (2 s at most), far below what anything quadratic takes
pytestmark = pytest.mark.usefixtures("_own_garbage_only")


@pytest.fixture(scope="module")
def known() -> AnswerFile:
    return read_references(dumped(KNOWN).encode(), CAPTIONING)


def read_or_errors(data: bytes, known: AnswerFile | None = None) -> AnswerFile | InvalidFile:
    try:
        return read_predictions(data, CAPTIONING, known)
    except InvalidFile as invalid:
        return invalid


HOSTILE = {
    "open objects": '{"a":' * 900_000,
    "open objects in a row": '[{"annotation":' * 450_000,
    "same key again and again": "{" + '"a":"",' * 900_000 + '"a":""}',
    "many keys": "{" + ",".join(f'"{n}":""' for n in range(900_000)) + "}",
    "many lists": "{" + ",".join(f'"{n}":[{{}}]' for n in range(300_000)) + "}",
    "many wrappers": "{" + '"captions":[{}],' * 300_000 + '"captions":[{}]}',
    "key of megabytes": '{"' + "k" * 19_000_000 + '":""}',
    "endings of megabytes": '{"' + ".mp4" * 4_700_000 + '":""}',
    "caption of megabytes": '{"v-1":"' + "k" * 19_000_000 + '"}',
    "one quote": '{"v-1":"' + "a" * 19_000_000,
    "backslashes": '{"' + "\\" * 19_000_000,
    "ids like keys": '[{"x":"' + '\\"image_id\\" ' * 1_400_000 + "'",
    "keys like ids": '[{"id" ' + '"id" ' * 3_800_000,
    "white space after a key": '{"results": [{"id":' + " " * 19_000_000,
    "many ids without value": '[{"x": "' + "'id':" * 3_800_000,
    "broken lines": '{"id":"1"\n' * 400_000,
    "unknown lines": '{"id":"1","caption":""}\n' * 300_000,
    "tiny table": "a\tb\n" * 4_900_000,
    "lines without tabs": "a\tb\n" + "a\n" * 9_000_000,
    "tabs": "a" + "\t" * 19_000_000,
    "blank lines": "a\tb" + "\n \n" * 6_000_000 + "a\tb",
    "quotes in a table": 'a\t"' + '""' * 9_000_000,
    "odd quotes in a table": 'a\t"' + '""' * 9_000_000 + '""x',
    "carriage returns": "a\tb" + "\r" * 19_000_000 + "c",
    "combining marks": "a\t" + "\u0301\u0323" * 4_500_000,
    "no tab": "가나다 " * 1_900_000,
    "digits": "9" * 19_000_000,
    "references without end": '{"a": [' + '"x",' * 900_000 + '"x"]}',
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_is_answered_in_bounded_time(known, name):
    data = HOSTILE[name].encode()
    assert len(data) < MAX_BYTES
    started = time.thread_time()
    invalid = read_or_errors(data, known)
    assert time.thread_time() - started < SECONDS
    assert isinstance(invalid, InvalidFile)
    assert len(invalid.errors) <= MAX_ERRORS_KEPT
    assert all(len(json.dumps(error.as_dict())) < 4_000 for error in invalid.errors)


@pytest.mark.parametrize("name", ["references without end", "tiny table", "many lists", "combining marks"])
def test_hostile_references_are_answered_in_bounded_time(name):
    started = time.thread_time()
    with pytest.raises(InvalidFile):
        read_references(HOSTILE[name].encode(), CAPTIONING)
    assert time.thread_time() - started < SECONDS


@pytest.mark.parametrize("form", ["object", "object over lines", "rows", "wrapped", "lines", "table"])
def test_a_sound_file_of_twenty_megabytes_is_read_in_seconds(form):
    text = "가나다라 마바사 " * 18
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
    assert 18_000_000 < len(data) < MAX_BYTES
    started = time.thread_time()
    answers = read_predictions(data, CAPTIONING).answers
    assert time.thread_time() - started < SECONDS
    assert len(answers) == len(captions)


@pytest.mark.parametrize("seed", range(4))
def test_a_mutated_file_is_read_or_refused_and_nothing_else(known, seed):
    chance = random.Random(seed)
    forms = [text.encode() for text, _, _ in CANDIDATE_FILES.values()]
    for _ in range(250):
        data = mutated(chance.choice(forms), chance)
        captions = read_or_errors(data, known)
        if isinstance(captions, AnswerFile):
            assert {answer.id for answer in captions.answers} <= set(KNOWN)
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
    forms = [text.encode() for text, _ in REFERENCE_FILES.values()]
    for _ in range(250):
        data = mutated(chance.choice(forms), chance)
        try:
            references = read_references(data, CAPTIONING)
        except InvalidFile:
            continue
        assert all(text.strip() for answer in references.answers for text in answer.texts)


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
