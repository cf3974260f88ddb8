"""BLEURT equals the bleurt-pytorch package on models made here, for both of its tokenizers."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from scoring.metrics import load_metric
from scoring.metrics.bleurt import Bleurt
from scoring.models.bleurt import PairTokenizer, cut_longest_first
from scoring.models.store import ModelStore
from tests.scoring.tiny_models import (
    make_sentencepiece_bleurt,
    make_wordpiece_bleurt,
    one_thread,
    strange_pairs,
    write_profile,
)

TOLERANCE = 1e-5
PAIRS = strange_pairs()
REFERENCES = [reference for reference, _ in PAIRS]
CANDIDATES = [candidate for _, candidate in PAIRS]
MAKERS = {"wordpiece": make_wordpiece_bleurt, "sentencepiece": make_sentencepiece_bleurt}


@pytest.fixture(scope="module", autouse=True)
def _one_thread() -> Iterator[None]:
    with one_thread():
        yield


@pytest.fixture(scope="module", params=sorted(MAKERS))
def bleurt(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return MAKERS[request.param](tmp_path_factory.mktemp("models") / request.param)


def package_tokenizer(folder: Path) -> Any:
    from bleurt_pytorch import BleurtTokenizer  # here: it takes seconds, and most processes of the tests need it not

    return BleurtTokenizer.from_pretrained(folder)


def package_scores(folder: Path, pairs: list[tuple[str, str]]) -> list[float]:
    """The README's loop with the truncation the contest needs, one pair at a time: no padding at all."""
    from bleurt_pytorch import BleurtForSequenceClassification

    tokenizer = package_tokenizer(folder)
    model = BleurtForSequenceClassification.from_pretrained(folder).eval()
    values = []
    with torch.no_grad():
        for reference, candidate in pairs:
            inputs = tokenizer([reference], [candidate], truncation=True, max_length=512, return_tensors="pt")
            values += model(**inputs).logits.flatten().tolist()
    return values


def metric_on(folder: Path, token_budget: int | None = None) -> Bleurt:
    profile = write_profile(folder.parent / "profile.toml", bleurt=folder)
    metric = load_metric("bleurt", ModelStore(profile, "cpu", token_budget))
    assert isinstance(metric, Bleurt)
    return metric


@pytest.fixture(scope="module")
def metric(bleurt: Path) -> Bleurt:
    """One for all tests that leave it as it is."""
    return metric_on(bleurt)


@pytest.fixture(scope="module")
def ours(bleurt: Path) -> list[float]:
    return metric_on(bleurt).score_pairs(REFERENCES, CANDIDATES)


def assert_close(values: list[float], expected: list[float]) -> None:
    worst = max(range(len(values)), key=lambda index: abs(values[index] - expected[index]))
    assert abs(values[worst] - expected[worst]) <= TOLERANCE, (worst, values[worst], expected[worst])


def test_every_pair_equals_the_package(bleurt, ours):
    assert len(PAIRS) >= 200
    expected = package_scores(bleurt, PAIRS)
    assert torch.tensor(expected).std() > 0.05  # values that all agree could not tell a wrong one
    assert_close(ours, expected)


def test_the_reference_comes_first(metric, ours):
    swapped = metric.score_pairs(CANDIDATES, REFERENCES)
    assert max(abs(one - other) for one, other in zip(ours, swapped, strict=True)) > 0.01


def test_values_do_not_depend_on_padding(bleurt, ours):
    assert_close(metric_on(bleurt, token_budget=1).score_pairs(REFERENCES, CANDIDATES), ours)
    assert_close(metric_on(bleurt, token_budget=1_000_000).score_pairs(REFERENCES, CANDIDATES), ours)


def test_shuffled_pairs_give_bitwise_the_same_values(bleurt, ours):
    order = list(range(len(PAIRS)))
    random.Random(3).shuffle(order)
    shuffled = metric_on(bleurt).score_pairs([REFERENCES[i] for i in order], [CANDIDATES[i] for i in order])
    assert [shuffled[order.index(index)] for index in range(len(PAIRS))] == ours


def test_ids_and_segments_equal_the_packages_tokenizer(bleurt):
    theirs = package_tokenizer(bleurt)(REFERENCES, CANDIDATES, truncation="longest_first", max_length=512)
    ours = PairTokenizer(bleurt, 512).encode_pairs(PAIRS)
    assert [pair.ids for pair in ours] == theirs["input_ids"]
    assert [pair.segments for pair in ours] == theirs["token_type_ids"]
    assert max(len(pair.ids) for pair in ours) == 512


def test_the_texts_told_as_cut_are_those_the_packages_tokenizer_cuts(bleurt, metric):
    tokenizer = package_tokenizer(bleurt)
    expected = []
    for pair in PAIRS:
        whole = [len(tokenizer(text, add_special_tokens=False)["input_ids"]) for text in pair]
        segments = tokenizer([pair[0]], [pair[1]], truncation=True, max_length=512)["token_type_ids"][0]
        kept = segments.count(0) - 2, segments.count(1) - 1
        expected.append(tuple(one < other for one, other in zip(kept, whole, strict=True)))
    found = metric.cut(REFERENCES, CANDIDATES)
    assert [tuple(cut) for cut in found] == expected
    assert {(True, False), (False, True), (False, False)} <= set(expected)


def test_pairs_are_cut_to_the_models_length_not_to_512(tmp_path):
    folder = make_sentencepiece_bleurt(tmp_path / "short", max_position_embeddings=64)
    metric = metric_on(folder)
    assert metric._store.bleurt.tokenizer.max_length == 64
    assert len(metric.score_pairs(REFERENCES[:40], CANDIDATES[:40])) == 40


def test_a_model_without_embedding_projection_equals_the_package(tmp_path):
    folder = make_sentencepiece_bleurt(tmp_path / "plain", embedding_size=None, layers=1)
    assert_close(metric_on(folder).score_pairs(REFERENCES[:60], CANDIDATES[:60]), package_scores(folder, PAIRS[:60]))


def test_of_a_text_no_more_pieces_are_kept_than_a_pair_has_room_for(tmp_path):
    tokenizer = PairTokenizer(make_sentencepiece_bleurt(tmp_path / "plain"), 512)
    tokenizer.encode_pairs([("가나다라 " * 2000, "짧은 답")])
    assert len(tokenizer._pieces("가나다라 " * 2000)) == 512


def test_equal_pairs_are_scored_once(bleurt):
    metric = metric_on(bleurt)
    scorer, rows = metric._store.bleurt, []
    predict = scorer.predict
    scorer.predict = lambda batch: rows.append(len(batch)) or predict(batch)
    values = metric.score_pairs(["정답"] * 30 + ["답"], ["답"] * 30 + ["정답"])
    assert sum(rows) == 2
    assert len(set(values[:30])) == 1


def test_out_of_device_memory_is_survived_with_the_same_values(bleurt, ours):
    metric = metric_on(bleurt, token_budget=16384)
    scorer = metric._store.bleurt
    predict = scorer.predict

    def small_device(rows):
        if len(rows) * max(len(row.ids) for row in rows) > 2048:
            raise torch.cuda.OutOfMemoryError("CUDA out of memory.")
        return predict(rows)

    scorer.predict = small_device
    assert_close(metric.score_pairs(REFERENCES, CANDIDATES), ours)
    assert scorer.budget.tokens <= 2048


def test_progress_counts_pairs_and_ends_at_the_end(bleurt):
    heard: list[tuple[int, int]] = []
    metric_on(bleurt, token_budget=1024).score_pairs(
        REFERENCES, CANDIDATES, lambda done, total: heard.append((done, total))
    )
    done = [step for step, _ in heard]
    assert done == sorted(done)
    assert len(done) > 10
    assert heard[-1] == (len(PAIRS), len(PAIRS))


def test_no_pairs_load_no_model(bleurt):
    metric = metric_on(bleurt)
    assert metric.score_pairs([], []) == []
    assert "bleurt" not in metric._store._loaded


def test_values_outside_zero_and_one_are_not_clipped(bleurt, ours):
    """The contest takes the model's value as it is."""
    metric = metric_on(bleurt)
    metric._store.bleurt.model.classifier.bias.data += 3
    assert_close(metric.score_pairs(REFERENCES[:9], CANDIDATES[:9]), [value + 3 for value in ours[:9]])


@pytest.mark.parametrize(
    ("reference", "candidate", "room", "kept"),
    [
        (3, 3, 6, (3, 3)),
        (10, 10, 5, (3, 2)),
        (10, 2, 6, (4, 2)),
        (1, 9, 4, (1, 3)),
        (0, 9, 4, (0, 4)),
        (9, 0, 4, (4, 0)),
    ],
)
def test_the_longer_text_is_cut_first_and_the_candidate_where_both_are_as_long(reference, candidate, room, kept):
    cut = cut_longest_first(list(range(reference)), list(range(candidate)), room)
    assert tuple(map(len, cut)) == kept
    assert cut == (list(range(kept[0])), list(range(kept[1])))


def test_the_signature_names_all_that_can_change_a_value(metric):
    signature = metric.signature()
    assert signature["metric"] == "bleurt"
    assert signature["max_length"] == 512
    assert signature["device_class"] == "cpu"
    assert {"bleurt-pytorch", "sentencepiece", "tokenizers"} <= signature["libraries"].keys()
    assert len(signature["weights_sha256"]) == len(signature["tokenizer_sha256"]) == 64
