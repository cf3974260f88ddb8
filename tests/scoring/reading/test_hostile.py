"""What a hostile, a huge or a randomly broken file may cost, and what may come of it."""

import json
import random
import time
from collections.abc import Callable

import pytest

from scoring.errors import FileError, InvalidFile
from scoring.reading import MAX_BYTES, MAX_ERRORS_KEPT, MAX_ITEMS, read_predictions, read_references
from scoring.reading.json_items import scan
from scoring.recipes import get_recipe
from scoring.records import Items
from tests.scoring.bad_files import CANARY, GOOD, IDS, REFERENCES, array, good_items, item, lines
from tests.scoring.growth import Sized, growth

RAG = get_recipe("rag-qa@1")
SECONDS = 8.0  # of processor time: far above what is measured (1 s at most), far below what anything quadratic takes
SHARE = 8  # of a hostile file's allowed size


@pytest.fixture(scope="module")
def references() -> Items:
    return read_references(REFERENCES, RAG)


def read_or_errors(data: bytes, references: Items | None = None) -> Items | InvalidFile:
    try:
        return read_predictions(data, RAG, references)
    except InvalidFile as invalid:
        return invalid


# Made when read. Of items that each cost something there are as many as a file may have: reading ends with the limit,
# and a part of a file beyond it would cost more than its share.
HOSTILE: dict[str, Callable[[Sized], str]] = {
    "open brackets": lambda of: "[" * of(900_000),
    "open objects": lambda of: '{"a":' * of(900_000),
    "flat empty lists": lambda of: '[{"id":"1","x":[' + "[]," * of(490_000) + "[]]}]",
    "empty objects": lambda of: "[" + "{}," * of(MAX_ITEMS - 1) + "{}]",
    "tiny numbers": lambda of: "[" + "1," * of(MAX_ITEMS - 1) + "1]",
    "tiny items": lambda of: "1\n" * of(1_000_000),
    "broken lines": lambda of: '{"id":"1"\n' * of(MAX_ITEMS),
    "broken long lines": lambda of: ('{"id":"1",' + " " * 300 + "\n") * of(50_000),
    "blank lines": lambda of: '{"id":"1","output":{"answer":""}}' + " \n" * of(9_000_000),
    "one quote": lambda of: '["' + "a" * of(19_000_000),
    "backslashes": lambda of: '["' + "\\" * of(19_000_000),
    "key of megabytes": lambda of: '[{"' + "k" * of(19_000_000) + '":1}]',
    "same key again and again": lambda of: "[{" + '"a":1,' * of(900_000) + '"a":1}]',
    "many keys, one twice": lambda of: "[{" + ",".join(f'"{n}":1' for n in range(of(900_000))) + ',"0":1}]',
    "every item broken twice": lambda of: (
        "[" + ",".join(['{"id":"1","id":"2","output":{"answer":NaN}}'] * of(50_000)) + "]"
    ),
    "deep items": lambda of: "[" + ",".join(['{"output":1,"x":' + "[" * 400 + "]" * 400 + "}"] * of(1_000)) + "]",
    "digits": lambda of: '[{"id":' + "9" * of(19_000_000) + "}]",
    "numbers of 90 digits": lambda of: '[{"id":[' + ",".join(["9" * 90] * of(200_000)) + "]}]",
    "combining marks": lambda of: '[{"id":"1","output":{"answer":"a' + "\u0301\u0323" * of(4_500_000) + '"}}]',
    "marks up to the limit": lambda of: (
        "["
        + ",".join(f'{{"id":"{n}","output":{{"answer":"{("a" + chr(0x301) * 30) * 300}"}}}}' for n in range(of(900)))
        + "]"
    ),
    "ids like keys": lambda of: '[{"x":"' + '\\"id\\" ' * of(2_700_000) + "'",
    "unknown ids": lambda of: "".join(f'{{"id": "x{n}", "output": {{"answer": "가"}}}}\n' for n in range(of(30_000))),
    "duplicate ids": lambda of: '{"id": "1", "output": {"answer": "가"}}\n' * of(50_000),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_is_answered_in_bounded_time(references, name):
    refused: list[InvalidFile | Items] = []

    def seconds_of(of: Sized) -> float:
        data = HOSTILE[name](of).encode()
        assert len(data) < MAX_BYTES
        started = time.thread_time()
        refused.append(read_or_errors(data, references))
        return time.thread_time() - started

    found = growth(SHARE, seconds_of, SECONDS / SHARE)

    assert found.seconds < SECONDS / SHARE
    assert found.is_in_step, found
    for invalid in refused:
        assert isinstance(invalid, InvalidFile)
        assert len(invalid.errors) <= MAX_ERRORS_KEPT
        assert all(len(json.dumps(error.as_dict())) < 4_000 for error in invalid.errors)


def test_an_item_of_thousands_of_defects_is_walked_once():
    texts = ",".join(['"\\u0007' + "a" * 7_000 + '"'] * 2_400)
    data = ('[{"id":"1","input":{"texts":[' + texts + ']},"output":{"answer":"a"}}]').encode()
    assert len(data) < MAX_BYTES
    started = time.thread_time()
    with pytest.raises(InvalidFile) as refused:
        read_references(data, RAG)
    assert time.thread_time() - started < SECONDS
    assert len(refused.value.errors) == MAX_ERRORS_KEPT


@pytest.mark.parametrize("form", ["array", "object", "lines"])
def test_a_sound_file_of_twenty_megabytes_is_read_in_seconds(form):
    texts = [item(f"q-{n}", "가나다라 마바사 " * 40) for n in range(18_000)]
    text = {"array": array, "lines": lines}.get(form, lambda *all_: '{"data": ' + array(*all_) + "}")(*texts)
    data = text.encode()
    assert 19_000_000 < len(data) < MAX_BYTES
    started = time.thread_time()
    read = read_predictions(data, RAG)
    assert time.thread_time() - started < SECONDS
    assert len(read.items) == 18_000
    assert read.items[-1].line == (18_000 if form == "lines" else 18_001)


def mutated(data: bytes, chance: random.Random) -> bytes:
    """``data`` with one to four random edits: bytes replaced, removed, repeated, moved or inserted."""
    pieces = [
        b"{",
        b"}",
        b"[",
        b"]",
        b",",
        b'"',
        b"\\",
        b"\n",
        b"\r",
        b"\x00",
        b"\xff",
        b"NaN",
        b"\\ud800",
        b"'",
        b"1e999",
    ]
    for _ in range(chance.randint(1, 4)):
        start = chance.randrange(len(data) + 1)
        end = min(len(data), start + chance.choice((0, 1, 1, 3, 40)))
        middle = chance.choice((b"", chance.choice(pieces), data[start:end] * 2, chance.randbytes(2)))
        data = data[:start] + middle + data[end:]
    return data


@pytest.mark.parametrize("seed", range(6))
def test_a_mutated_file_is_read_or_refused_and_nothing_else(references, seed):
    chance = random.Random(seed)
    forms = [
        GOOD,
        lines(*good_items()).encode(),
        b'{"data": ' + GOOD + b"}",
        json.dumps(json.loads(GOOD), ensure_ascii=False, indent=2).encode(),
    ]
    for _ in range(150):
        data = mutated(chance.choice(forms), chance)
        read = read_or_errors(data, references)
        if isinstance(read, Items):
            assert {answer.id for answer in read.items} == set(IDS)
            continue
        assert read.errors
        for error in read.errors:
            assert error.message("ko")
            assert error.message("en")
            assert error.line is None or 1 <= error.line <= data.count(b"\n") + data.count(b"\r") + 1
            assert CANARY not in error.message()


def test_a_file_python_reads_strictly_is_never_called_broken():
    chance = random.Random(7)
    for _ in range(400):
        data = mutated(GOOD, chance)
        try:
            json.loads(data.decode("utf-8"))
        except ValueError:
            continue
        entries = list(scan(data.decode())[1])
        syntax = {"json_syntax", "missing_comma", "missing_colon", "truncated_json", "bad_escape", "raw_control"}
        assert not [entry for entry in entries if isinstance(entry, FileError) and entry.code in syntax]
