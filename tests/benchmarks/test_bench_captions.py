"""The benchmark of captions runs, agrees with the implementations it is compared with, and has texts of that length."""

import random
import re

import pytest

from tests.benchmarks import __main__ as program
from tests.benchmarks.bench_captions import LIMIT, OTHER_RULE, PEERS, main
from tests.scoring.caption_items import caption, caption_items


@pytest.fixture(scope="module")
def printed() -> str:
    """What the quick benchmark prints: it starts four processes, so once for all tests."""
    import contextlib
    import io

    with contextlib.redirect_stdout(io.StringIO()) as out:
        assert main(["--quick"]) == 0
    return out.getvalue()


@pytest.mark.parametrize("metric", PEERS)
def test_every_metric_has_its_line_and_agrees_with_its_peer(printed, metric):
    peer = PEERS[metric][0]
    row = re.search(rf"^{metric} +[\d.]+ s +[\d.]+ s(?: +[\d.]+ s +{peer} +[\d.]+x +[\d.]+x +(.+))?$", printed, re.M)
    assert row is not None, printed
    assert bool(row[1]) == bool(peer)
    if metric in OTHER_RULE:
        assert row[1] == "other rule"
    elif peer:
        assert float(row[1]) <= LIMIT


def test_okt_and_the_two_programs_are_timed_apart(printed):
    assert re.search(r"^Okt morphs .* konlpy .* 0\.0e\+00$", printed, re.M)
    for name in ("python -m scoring", r"nltk \+ pycocoevalcap"):
        assert re.search(rf"^{name} +[\d.]+ s +[\d.]+ s +-?[\d.]+ s$", printed, re.M), printed


def test_captions_have_about_twelve_words_and_up_to_three_references():
    words = [len(caption(random.Random(seed)).split()) for seed in range(200)]
    assert (min(words), max(words)) == (12, 15)
    items = caption_items(1_000, edges=False)
    assert {len(item.references) for item in items} == {1, 2, 3}
    assert len({item.references[0] for item in items}) > 990


def test_without_a_name_every_benchmark_runs_and_the_worst_result_counts(monkeypatch, capsys):
    asked = []
    kinds = {"scoring": lambda given: asked.append(given) or 1, "captions": lambda given: asked.append(given) or 0}
    monkeypatch.setattr(program, "BENCHMARKS", kinds)
    assert program.main([]) == 1
    assert asked == [[], []]
    assert program.main(["captions", "--quick"]) == 0
    assert asked[2:] == [["--quick"]]
    assert program.main(["--quick"]) == 2
    assert "scoring|captions" in capsys.readouterr().err
