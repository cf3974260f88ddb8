"""chrF equals sacrebleu's, in the corpus and in each row."""

import unicodedata

import pytest
from sacrebleu.metrics import CHRF

from scoring.metrics import load_metric
from scoring.metrics.chrf import best_counts, f_score
from tests.scoring.caption_items import STRANGE, caption_items, metric_rows
from tests.scoring.texts import random_pairs


def witness(references, candidates):
    """sacrebleu's corpus chrF2, 0-1. It wants one list for each number of the reference, filled up with None."""
    most = max(map(len, references))
    columns = [[texts[n] if n < len(texts) else None for texts in references] for n in range(most)]
    return CHRF().corpus_score(list(candidates), columns).score / 100


def score(references, candidates, name="chrf"):
    metric = load_metric(name)
    return metric.aggregate(metric_rows(metric, references, candidates))[name]


def test_sacrebleu_agrees_on_300_items_with_several_references():
    references, candidates = zip(*caption_items(300), strict=True)
    assert {len(texts) for texts in references} == {1, 2, 3}
    expected = witness(references, candidates)
    assert score(references, candidates) == pytest.approx(expected, abs=1e-9)
    assert 0.3 < expected < 0.9


def test_sacrebleu_agrees_on_every_item_and_its_counts():
    for references, candidate in caption_items(300, seed=4):
        assert score([references], [candidate]) == pytest.approx(witness([references], [candidate]), abs=1e-9)
        expected = CHRF()._extract_corpus_statistics([candidate], [[text] for text in references])[0]
        assert list(best_counts(references, candidate)) == expected


def test_sacrebleu_agrees_with_one_reference_on_texts_of_every_script():
    pairs = random_pairs(300)
    references, candidates = [[reference] for reference, _ in pairs], [candidate for _, candidate in pairs]
    assert score(references, candidates) == pytest.approx(witness(references, candidates), abs=1e-9)


@pytest.mark.parametrize("reference", ["가", "가나", "파도가 친다", " ", "A b", "😀"])
@pytest.mark.parametrize("candidate", ["", " ", "가", "나 가", "파도가\n친다", "a B", "😀😀"])
def test_sacrebleu_agrees_on_short_and_empty_texts(reference, candidate):
    """Orders that the reference is too short for are left out on both sides."""
    for references in ([reference], ["가나다라마바사", reference], [reference, "가"]):
        assert score([references], [candidate]) == pytest.approx(witness([references], [candidate]), abs=1e-9)


@pytest.mark.parametrize("candidate", STRANGE)
@pytest.mark.parametrize("items", [1, 2])
def test_strange_captions_have_sacrebleus_value(candidate, items):
    references = [["파도가 하얀 바다 위로 부서진다", "가"], [candidate or "가"]][:items]
    value = score(references, [candidate] * items)
    assert 0 <= value <= 1
    assert value == pytest.approx(witness(references, [candidate] * items), abs=1e-9)


def test_white_space_does_not_count_and_case_does():
    assert score([["파도 가 친다"]], ["파도가 친\t다"]) == 1.0
    assert score([["ABC"]], ["abc"]) == 0.0


def test_of_equal_references_the_first_counts():
    first, second = best_counts(["가나", "나가"], "가"), best_counts(["나가", "가나"], "가")
    assert f_score(first) == f_score(second)
    assert first == second == (1, 2, 1, 0, 1, 0, *[0] * 12)


def test_a_longer_match_beats_the_first_reference():
    assert best_counts(["파도가", "파도가 친다"], "파도가 친다")[1] == 5


def test_of_no_items_the_score_is_zero():
    assert load_metric("chrf").aggregate([]) == {"chrf": 0.0}


def test_progress_counts_items():
    calls = []
    load_metric("chrf").statistics(
        ["a", "b"], [["물"], ["불"]], ["물", ""], lambda done, total: calls.append((done, total))
    )
    assert calls == [(1, 2), (2, 2)]


def test_signature_names_the_rule_and_no_tokenizer():
    signature = load_metric("chrf").signature()
    assert (signature["n"], signature["words"], signature["beta"], signature["whitespace"]) == (6, 0, 2, False)
    assert "tokenizer" not in signature


# --- of jamo ----------------------------------------------------------------------------------------------------------
def nfd(texts):
    return [unicodedata.normalize("NFD", text) for text in texts]


def test_of_jamo_sacrebleu_agrees_on_decomposed_texts():
    references, candidates = zip(*caption_items(300), strict=True)
    expected = witness(list(map(nfd, references)), nfd(candidates))
    assert score(references, candidates, "chrf_jamo") == pytest.approx(expected, abs=1e-9)
    assert abs(expected - score(references, candidates)) > 0.01


@pytest.mark.parametrize("candidate", STRANGE)
def test_of_jamo_strange_captions_have_sacrebleus_value(candidate):
    references = [["파도가 하얀 바다 위로 부서진다", "가"]]
    expected = witness(list(map(nfd, references)), nfd([candidate]))
    assert score(references, [candidate], "chrf_jamo") == pytest.approx(expected, abs=1e-9)


def test_of_jamo_a_syllable_that_differs_in_one_letter_is_near():
    assert score([["파도가 친다"]], ["파두가 친다"], "chrf_jamo") > 1.2 * score([["파도가 친다"]], ["파두가 친다"])
    assert score([["파도가"]], ["\u1111\u1161\u1103\u1169\u1100\u1161"], "chrf_jamo") == 1.0


def test_of_jamo_the_signature_says_so():
    plain, jamo = load_metric("chrf").signature(), load_metric("chrf_jamo").signature()
    assert (jamo["unicode"], jamo["rule"], jamo["is_experimental"]) == ("NFD", "sacrebleu-chrf-nfd@1", True)
    assert "unicode" not in plain
