"""Accuracy and F1 equal scikit-learn's, of one label an item and of several."""

import hashlib
import json
import random
import warnings
from collections import Counter

import numpy as np
import pytest

from scoring.metrics import classification, load_metric
from scoring.metrics.classification import (
    Classification,
    additive,
    decode,
    encode,
    label_code,
    resampled_classes,
    scores_of_sums,
    sums_of,
)
from scoring.text.answers import UnreadableAnswer, label_text

AVERAGES = ("micro", "macro", "weighted")
LABELS = ("기쁨", "기대", "신뢰", "놀람", "혐오", "공포", "분노", "슬픔")


def scores(references, predictions):
    """The metric's scores of label sets, by way of texts and rows."""
    metric = Classification()
    ids = [str(number) for number in range(len(references))]
    rows = metric.statistics(ids, [[label_text(labels)] for labels in references], [*map(label_text, predictions)])
    return metric.aggregate(rows)


def sklearn_single(references, predictions):
    from sklearn.metrics import accuracy_score, f1_score

    f1s = {f"f1_{kind}": f1_score(references, predictions, average=kind, zero_division=0) for kind in AVERAGES}
    return {"accuracy": accuracy_score(references, predictions), **f1s}


def sklearn_multiple(references, predictions):
    from sklearn.metrics import accuracy_score, f1_score
    from sklearn.preprocessing import MultiLabelBinarizer

    binarizer = MultiLabelBinarizer().fit([*references, *predictions])
    truth, given = binarizer.transform(references), binarizer.transform(predictions)
    kinds = (*AVERAGES, "samples")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        f1s = {f"f1_{kind}": f1_score(truth, given, average=kind, zero_division=0) for kind in kinds}
    return {"accuracy": accuracy_score(truth, given), **f1s}


def random_sets(source, labels, count, longest=4):
    return [set(source.sample(labels, source.randint(0, min(longest, len(labels))))) for _ in range(count)]


@pytest.mark.parametrize("seed", range(20))
def test_one_label_an_item_equals_sklearn(seed):
    """Some classes are only in the references, some only in the predictions."""
    source = random.Random(seed)
    count = source.choice([1, 2, 7, 300])
    references = [source.choice(LABELS[:6]) for _ in range(count)]
    predictions = [source.choice([reference, source.choice([*LABELS[2:], ""])]) for reference in references]
    ours = scores([{label} for label in references], [{label} for label in predictions])
    expected = sklearn_single(references, predictions)
    assert {name: ours[name] for name in expected} == pytest.approx(expected, abs=1e-12)
    assert ours["f1_micro"] == pytest.approx(ours["accuracy"], abs=1e-12)
    assert ours["f1_samples"] == pytest.approx(ours["accuracy"], abs=1e-12)


@pytest.mark.parametrize("seed", range(20))
def test_several_labels_an_item_equal_sklearn(seed):
    """With items without a label on either side, unseen labels and classes that only one side has."""
    source = random.Random(seed)
    count = source.choice([1, 2, 7, 300])
    references = random_sets(source, LABELS[:6], count)
    guesses = random_sets(source, LABELS[2:], count)
    predictions = [source.choice(pair) for pair in zip(references, guesses, strict=True)]
    if len(set().union(*references, *predictions)) > 1:  # sklearn takes a single column for a binary task
        assert scores(references, predictions) == pytest.approx(sklearn_multiple(references, predictions), abs=1e-12)


@pytest.mark.parametrize(
    ("references", "predictions"),
    [
        ([{"가"}, {"나"}], [set(), set()]),
        ([set(), set()], [{"가"}, {"나"}]),
        ([{"가", "나"}, set()], [{"가", "나"}, set()]),
        ([{"가", "나"}, {"나"}], [{"가"}, {"다"}]),
    ],
)
def test_absent_classes_and_empty_sets_equal_sklearn(references, predictions):
    assert scores(references, predictions) == pytest.approx(sklearn_multiple(references, predictions), abs=1e-12)


def test_two_empty_sets_are_an_exact_match_with_an_f1_of_zero():
    """What ``zero_division=0`` means for the samples average."""
    assert scores([set(), {"가"}], [set(), {"가"}]) == {
        "accuracy": 1.0,
        "f1_micro": 1.0,
        "f1_macro": 1.0,
        "f1_weighted": 1.0,
        "f1_samples": 0.5,
    }


def test_no_item_scores_zero():
    assert Classification().aggregate([]) == dict.fromkeys(Classification.score_names, 0.0)
    assert list(scores_of_sums(sums_of({}))) == list(Classification.score_names)


def test_inventing_labels_lowers_the_macro_f1():
    references = [{"가"}, {"나"}, {"가"}, {"나"}]
    wrong = [{"가"}, {"나"}, {"가"}, {"가"}]
    invented = [{"가"}, {"나"}, {"가"}, {"어느 것도 아님"}]
    assert scores(references, invented)["f1_macro"] < scores(references, wrong)["f1_macro"]
    assert scores(references, invented)["accuracy"] == scores(references, wrong)["accuracy"]


def test_a_row_does_not_depend_on_the_other_items():
    metric = Classification()
    rows = metric.statistics(["1", "2"], [['["가", "나"]'], ["다"]], ["나", "[]"])
    assert metric.statistics(["2"], [["다"]], ["[]"]) == rows[1:]
    assert rows[0] == encode(["나", "가"], ["나"])


def test_a_row_holds_both_sets_exactly():
    row = encode(["가", "나"], ["나", "다", "라"])
    assert decode(row) == (set(map(label_code, "가나")), set(map(label_code, "나다라")))
    assert decode(tuple(json.loads(json.dumps(row)))) == decode(row)
    assert decode(encode([], [])) == (frozenset(), frozenset())


def test_codes_are_whole_numbers_that_a_float_holds():
    codes = [label_code(str(number)) for number in range(20_000)]
    assert len(set(codes)) == len(codes)
    assert all(code == int(code) < 2**52 for code in codes)


def test_codes_are_the_first_bits_of_a_hash_and_stay_so_for_they_are_stored():
    assert label_code("기쁨") == int(hashlib.sha256("기쁨".encode()).hexdigest()[:13], 16)  # 13 digits are 52 bits
    assert Classification().parameters()["code_bits"] == 52
    assert Classification().parameters()["zero_division"] == 0


def test_the_commonest_classes_are_kept_by_references_and_then_by_answers():
    rows = [encode([], ["가"]), encode([], ["나"]), encode([], ["나"]), encode(["다"], [])]

    assert resampled_classes(rows) == [label_code(label) for label in ("다", "나", "가")]
    assert resampled_classes(rows, 1) == [label_code("다")]


@pytest.mark.parametrize(
    ("more", "approximate"),
    [
        ([], ()),
        ([encode(["가"], ["다"])], ("f1_macro",)),  # a class of the answers alone has no weight
        ([encode(["가"], ["가"]), encode(["나"], ["나"]), encode(["다"], ["가"])], ("f1_macro", "f1_weighted")),
        ([encode(["가"], ["가"]), encode(["나"], ["나"]), encode(["다"], ["라"])], ("f1_macro", "f1_weighted")),
    ],
)
def test_scores_over_more_classes_than_are_kept_are_said_to_be_approximate(more, approximate, monkeypatch):
    monkeypatch.setattr(classification, "MAX_RESAMPLED_CLASSES", 2)
    rows = [encode(["가"], ["가"]), encode(["나"], ["나"]), *more]

    found = Classification.summable(rows, rows[:2])

    assert found.approximate == approximate
    assert found.systems[0].shape == (len(rows), 12)


def test_classes_beyond_those_kept_are_one_class_together():
    rows = [encode(["가"], ["가"]), encode(["나"], ["나"]), encode(["가"], ["다", "라"])]

    sums = additive(rows, [label_code("가"), label_code("나")]).sum(axis=0)

    assert sums.tolist() == [3, 2, 2, *(2, 1, 0), *(1, 1, 2), *(1, 1, 0)]


def test_a_label_with_half_a_surrogate_has_a_code():
    assert label_code("\ud800") != label_code("\ud801")


def test_summed_rows_give_the_scores_of_every_resample():
    source = random.Random(7)
    references, predictions = random_sets(source, LABELS[:6], 60), random_sets(source, LABELS[2:], 60)
    rows = [encode(*pair) for pair in zip(references, predictions, strict=True)]
    table = additive(rows, resampled_classes(rows))
    draws = [source.choices(range(60), k=60) for _ in range(25)]
    weights = np.array([[Counter(draw)[item] for item in range(60)] for draw in draws], dtype=float)
    summed = scores_of_sums((weights @ table).T)
    for trial, draw in enumerate(draws):
        expected = Classification().aggregate([rows[item] for item in draw])
        assert {name: values[trial] for name, values in summed.items()} == pytest.approx(expected, abs=1e-12)


def test_free_texts_for_labels_cannot_blow_up_the_summed_rows():
    """The classes beyond the limit are one together: what does not count by class stays exact."""
    rows = [encode(["가"], ["가" if number % 3 else f"답 {number}", "나"]) for number in range(900)]
    classes = resampled_classes(rows)
    assert (len(classes), classes[0]) == (200, label_code("가"))
    table = additive(rows, classes)
    assert table.shape == (900, 606)
    summed, exact = scores_of_sums(table.sum(axis=0, keepdims=True).T), Classification().aggregate(rows)
    for name in ("accuracy", "f1_micro", "f1_samples"):
        assert summed[name][0] == pytest.approx(exact[name], abs=1e-12)
    assert summed["f1_macro"][0] < 2 / 200


def test_summed_rows_of_no_item_score_zero():
    assert all(values.tolist() == [0.0] for values in scores_of_sums(np.zeros((6 + 3 * 2, 1))).values())


def test_the_order_of_the_items_changes_nothing():
    source = random.Random(3)
    pairs = [*zip(random_sets(source, LABELS, 200), random_sets(source, LABELS, 200), strict=True)]
    shuffled = source.sample(pairs, len(pairs))
    assert scores(*zip(*pairs, strict=True)) == scores(*zip(*shuffled, strict=True))


def test_a_text_that_is_no_label_list_is_refused_and_not_quoted():
    with pytest.raises(UnreadableAnswer) as caught:
        Classification().statistics(["1"], [["[비밀"]], ["가"])
    assert "비밀" not in str(caught.value)


def test_registered_with_a_signature_in_json():
    metric = load_metric("classification")
    assert json.loads(json.dumps(metric.signature()))["rule"] == "label-sets@1"
