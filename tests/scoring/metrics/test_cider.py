"""CIDEr-D equals the golden values and pycocoevalcap's, and does what its rule says of strange corpora."""

import json
import math

import pytest
from pycocoevalcap.cider.cider import Cider

from scoring.metrics import load_metric
from scoring.metrics.cider import CiderD, cider_d
from scoring.text.run_tokens import remembering
from tests.paths import ROOT
from tests.scoring.caption_items import STRANGE, BySpace, caption_items, metric_rows

GOLDEN = json.loads((ROOT / "tests/scoring/golden_captioning.json").read_text(encoding="utf-8"))

pytestmark = pytest.mark.usefixtures("okt_knows_the_items")


def coco(references, candidates):
    """pycocoevalcap's values, given the same morphs."""
    morphs = remembering("okt")
    truth = {str(n): [" ".join(morphs(text)) for text in texts] for n, texts in enumerate(references)}
    answers = {str(n): [" ".join(morphs(text))] for n, text in enumerate(candidates)}
    return Cider().compute_score(truth, answers)


def test_golden_values_of_every_item_and_of_the_mean():
    items = GOLDEN["items"]
    values = cider_d([[item["reference_tokens"]] for item in items], [item["prediction_tokens"] for item in items])
    assert values == pytest.approx([item["cider_d"] for item in items], abs=1e-9)
    metric = load_metric("cider")
    rows = metric_rows(metric, [[item["reference"]] for item in items], [item["prediction"] for item in items])
    assert [row[0] for row in rows] == pytest.approx([item["cider_d"] for item in items], abs=1e-9)
    assert metric.aggregate(rows)["cider"] == pytest.approx(GOLDEN["corpus"]["cider_d"], abs=1e-9)


def test_pycocoevalcap_agrees_on_300_items_with_several_references():
    references, candidates = zip(*caption_items(300), strict=True)
    mean, values = coco(references, candidates)
    metric = load_metric("cider")
    rows = metric_rows(metric, references, candidates)
    assert [row[0] for row in rows] == pytest.approx(list(values), abs=1e-9)
    assert metric.aggregate(rows)["cider"] == pytest.approx(mean, abs=1e-9)
    assert len({round(value, 6) for value in values}) > 200


@pytest.mark.parametrize("strange", STRANGE[:4])
def test_pycocoevalcap_agrees_on_strange_candidates_and_references(strange):
    references = [("파도가 하얀 바다", strange or "가"), ("구름이 흐른다",), (strange or "가",)]
    for candidate in (strange, "파도가 하얀 바다"):
        candidates = [candidate] * 3
        expected = list(coco(references, candidates)[1])
        rows = metric_rows(load_metric("cider"), references, candidates)
        assert [row[0] for row in rows] == pytest.approx(expected, abs=1e-9)


def test_one_item_scores_zero_because_every_ngram_is_in_every_item():
    metric = BySpace(CiderD())
    assert metric_rows(metric, [["푸른 바다 위로"]], ["푸른 바다 위로"]) == [(0.0,)]


def test_a_copied_reference_of_four_tokens_scores_ten():
    references = [["푸른 바다 위로 간다"], ["붉은 산 아래 있다"]]
    assert metric_rows(BySpace(CiderD()), references, ["푸른 바다 위로 간다", "밤"]) == [
        pytest.approx((10.0,)),
        (0.0,),
    ]


def test_an_item_takes_the_mean_of_its_references_not_the_best():
    references = [["푸른 바다 위로 간다", "붉은 산 아래 있다"], ["흰 눈"]]
    rows = metric_rows(BySpace(CiderD()), references, ["푸른 바다 위로 간다", ""])
    assert rows[0][0] == pytest.approx(5.0)


def test_frequencies_count_items_not_texts():
    once = [["강 위", "강 옆"], ["산 위"], ["들 위"]]
    other = [["강 위", "길 옆"], ["산 위"], ["들 위"]]
    metric = BySpace(CiderD())
    candidates = ["강 위", "", ""]
    assert metric_rows(metric, once, candidates)[0] > metric_rows(metric, other, candidates)[0] > (0.0,)


def test_a_word_of_every_item_is_worth_nothing():
    metric = BySpace(CiderD())
    assert metric_rows(metric, [["하얀 파도"], ["하얀 구름"]], ["하얀", "하얀"]) == [(0.0,), (0.0,)]


def test_repeating_a_word_does_not_pay():
    metric = BySpace(CiderD())
    references = [["하얀 파도 친다"], ["붉은 구름 간다"]]
    plain = metric_rows(metric, references, ["하얀 파도", ""])[0]
    assert metric_rows(metric, references, ["하얀 파도 파도 파도", ""])[0] < plain


def test_one_caption_for_every_scene_scores_low():
    references, _ = zip(*caption_items(60), strict=True)
    own = metric_rows(load_metric("cider"), references, [texts[-1] for texts in references])
    constant = metric_rows(load_metric("cider"), references, [references[0][0]] * 60)
    assert math.fsum(row[0] for row in constant) < 0.2 * math.fsum(row[0] for row in own)


@pytest.mark.parametrize("candidate", STRANGE)
@pytest.mark.parametrize("items", [1, 2])
def test_strange_captions_have_finite_values(candidate, items):
    metric = load_metric("cider")
    references = [["파도가 하얀 바다 위로 부서진다", "가"], [candidate or "가"]][:items]
    rows = metric_rows(metric, references, [candidate] * items)
    assert all(0 <= row[0] <= 10.000001 for row in rows)
    assert math.isfinite(metric.aggregate(rows)["cider"])


def test_scores_of_a_selection_are_means_of_its_rows():
    metric = BySpace(CiderD())
    assert metric.aggregate([(1.0,), (2.0,)]) == {"cider": 1.5}
    assert metric.aggregate([]) == {"cider": 0.0}


def test_progress_counts_items():
    calls = []
    BySpace(CiderD()).statistics(
        ["a", "b"], [["물"], ["불"]], ["물", ""], lambda done, total: calls.append((done, total))
    )
    assert calls == [(1, 2), (2, 2)]


def test_signature_names_rule_and_tokenizer():
    signature = load_metric("cider").signature()
    assert signature["tokenizer"]["name"] == "okt"
    assert (signature["n"], signature["sigma"], signature["references"]) == (4, 6.0, "mean")
