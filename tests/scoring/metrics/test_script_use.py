"""Language consistency: which letters are Hangul, what a foreign run is, against Unicode's own names."""

import random
import unicodedata
from itertools import groupby

import pytest

from scoring.metrics import load_metric
from scoring.metrics.script_use import foreign_runs, script_row
from tests.scoring.caption_items import STRANGE, metric_rows
from tests.scoring.texts import random_pairs


def scores(*captions):
    metric = load_metric("script_use")
    return metric.aggregate(metric_rows(metric, [["정답"]] * len(captions), captions))


def by_names(text):
    """The row from the names and categories of Unicode alone."""

    def kind(character):
        if not unicodedata.category(character).startswith("L"):
            return "none"
        return "hangul" if "HANGUL" in unicodedata.name(character, "") else "foreign"

    runs = [(name, len(list(part))) for name, part in groupby(text, kind)]
    hangul, foreign = (sum(size for name, size in runs if name == wanted) for wanted in ("hangul", "foreign"))
    count = sum(name == "foreign" for name, _ in runs)
    return (hangul, hangul + foreign, count, int(count > 0), int(bool(text.strip())))


def test_every_assigned_character_is_of_the_kind_that_unicode_says():
    wrong = [
        hex(code)
        for code in range(0x20000)
        if not 0xD800 <= code <= 0xDFFF
        and unicodedata.category(chr(code)) != "Cn"
        and script_row(chr(code))[:4] != by_names(chr(code))[:4]
    ]
    assert wrong == []


def test_rows_equal_an_independent_writing_on_texts_of_every_script():
    source = random.Random(3)
    pieces = ["가나", "ㅋ", "\u1112\u1161\u11ab", "cat", "Élan", "日本", "の", "Русский", "5GHz", "½a", "x²y"]
    pieces += ["😀", " ", "'", "e\u0301"]
    texts = ["".join(source.choices(pieces, k=source.randint(0, 12))) for _ in range(500)]
    for text in [*texts, *(text for pair in random_pairs(100) for text in pair)]:
        assert script_row(text) == by_names(text)


@pytest.mark.parametrize(
    ("text", "runs"),
    [
        ("CCTV 화면에 나온 New York", ["CCTV", "New", "York"]),
        ("고양이が寝ている 모습", ["が寝ている"]),
        ("5GHz와 ½컵, x²", ["GHz", "x"]),
        ("아이가 공을 찬다", []),
        ("", []),
    ],
)
def test_a_run_is_a_stretch_of_letters_that_are_not_hangul(text, runs):
    assert foreign_runs(text) == runs


def test_scores_are_of_the_file_and_of_answered_captions():
    found = scores("한국 cat dog", "가나다", "", " ")
    assert found == {"hangul_share": 5 / 11, "foreign_runs": 1.0, "foreign_captions": 0.5}


def test_nothing_written_is_zero():
    assert set(scores("", "😀 123").values()) == {0.0}
    assert set(load_metric("script_use").aggregate([]).values()) == {0.0}


@pytest.mark.parametrize("candidate", STRANGE)
def test_strange_captions_have_finite_rows(candidate):
    assert scores(candidate)["foreign_captions"] == 0.0
