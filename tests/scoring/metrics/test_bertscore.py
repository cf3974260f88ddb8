"""BERTScore equals the bert-score package on models made here, whatever the texts, the batches and their order."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from scoring.metrics import load_metric
from scoring.metrics.bertscore import BertScore
from scoring.models.batching import TokenBudget
from scoring.models.cache import Embedded, EmbeddingCache
from scoring.models.encoder import PackedEncoder
from scoring.models.greedy import greedy_f1
from scoring.models.store import ModelStore
from scoring.recipes import Layout, Pairs
from scoring.running.run import run_metrics
from tests.scoring.tiny_models import make_bert, one_thread, strange_pairs, write_profile

LAYERS = 2
TOLERANCE = 1e-5
PAIRS = strange_pairs()
REFERENCES = [reference for reference, _ in PAIRS]
CANDIDATES = [candidate for _, candidate in PAIRS]


@pytest.fixture(scope="module", autouse=True)
def _one_thread() -> Iterator[None]:
    with one_thread():
        yield


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_bert(tmp_path_factory.mktemp("models") / "bert")


def package_f1(bert: Path, candidates: list[str], references: list[Any], **options: Any) -> list[float]:
    """F1 of the package, as its users call it."""
    import bert_score  # here: it takes seconds, and most processes of the tests need it not

    model = {"model_type": str(bert), "num_layers": LAYERS, "device": "cpu"}
    f1: list[float] = bert_score.score(candidates, references, **model, **options)[2].tolist()
    return f1


@pytest.fixture(scope="module")
def package(bert: Path) -> list[float]:
    return package_f1(bert, CANDIDATES, REFERENCES)


def metric_on(bert: Path, token_budget: int | None = None) -> BertScore:
    profile = write_profile(bert.parent / "profile.toml", bertscore=bert, num_layers=LAYERS)
    metric = load_metric("bertscore", ModelStore(profile, "cpu", token_budget))
    assert isinstance(metric, BertScore)
    return metric


@pytest.fixture(scope="module")
def ours(bert: Path) -> list[float]:
    return metric_on(bert).score_pairs(REFERENCES, CANDIDATES)


@pytest.fixture(scope="module")
def metric(bert: Path) -> BertScore:
    """One for all tests that leave it as it is and do not mind what it remembers of references."""
    return metric_on(bert)


def assert_close(values: list[float], expected: list[float], tolerance: float = TOLERANCE) -> None:
    worst = max(range(len(values)), key=lambda index: abs(values[index] - expected[index]))
    assert abs(values[worst] - expected[worst]) <= tolerance, (worst, values[worst], expected[worst])


def test_every_pair_equals_the_package(ours, package):
    assert len(PAIRS) >= 200
    assert torch.tensor(package).std() > 0.05  # values that all agree could not tell a wrong one
    assert_close(ours, package)


def test_a_lower_casing_model_equals_the_package_too(tmp_path):
    """Lower-casing strips accents and so takes Hangul apart: fast and slow tokenizer must still agree."""
    bert = make_bert(tmp_path / "bert", lower_case=True)
    assert_close(metric_on(bert).score_pairs(REFERENCES, CANDIDATES), package_f1(bert, CANDIDATES, REFERENCES))


def test_values_do_not_depend_on_the_batch(bert, ours):
    assert_close(metric_on(bert, token_budget=1).score_pairs(REFERENCES, CANDIDATES), ours)


def test_one_pair_at_a_time_gives_the_same(bert, ours):
    metric = metric_on(bert)
    sample = range(0, len(PAIRS), 7)
    singles = [metric.score_pairs([REFERENCES[index]], [CANDIDATES[index]])[0] for index in sample]
    assert_close(singles, [ours[index] for index in sample])


def test_shuffled_pairs_give_bitwise_the_same_values(bert, ours):
    order = list(range(len(PAIRS)))
    random.Random(3).shuffle(order)
    shuffled = metric_on(bert).score_pairs([REFERENCES[i] for i in order], [CANDIDATES[i] for i in order])
    assert [shuffled[order.index(index)] for index in range(len(PAIRS))] == ours


def test_the_second_submission_encodes_no_reference_again_and_scores_the_same(bert, ours):
    metric = metric_on(bert)
    encoder = metric._store.bertscore
    calls = count_rows(encoder)
    first = metric.score_pairs(REFERENCES, CANDIDATES)
    rows_first = calls.pop()
    second = metric.score_pairs(REFERENCES, CANDIDATES)
    assert second == first == ours
    assert rows_first == len(set(REFERENCES)) + len(set(CANDIDATES))
    assert calls.pop() == len(set(CANDIDATES))


def count_rows(encoder) -> list[int]:
    """A list whose last number grows by each row the encoder runs through its model."""
    encode, rows = encoder.encode, []

    def counted(packed):
        if not rows:
            rows.append(0)
        rows[-1] += len(packed.lengths)
        return encode(packed)

    encoder.encode = counted
    return rows


def test_equal_texts_are_encoded_once(bert):
    metric = metric_on(bert)
    calls = count_rows(metric._store.bertscore)
    values = metric.score_pairs(["같은 정답"] * 50, ["같은 답"] * 50)
    assert calls == [2]
    assert len(set(values)) == 1


def test_sets_larger_than_one_chunk_score_the_same(bert, ours, monkeypatch):
    monkeypatch.setattr("scoring.models.greedy.CHUNK_CHARACTERS", 700)
    metric = metric_on(bert)
    metric._store.bertscore.references = EmbeddingCache(max_bytes=200_000)  # too small for the references
    assert_close(metric.score_pairs(REFERENCES, CANDIDATES), ours)


def test_equal_texts_score_one_and_never_more(metric):
    texts = [text for text in REFERENCES if text.strip()]
    values = metric.score_pairs(texts, texts)
    assert max(values) <= 1
    assert min(value for text, value in zip(texts, values, strict=True) if "가" in text) > 1 - 1e-6


@pytest.mark.parametrize("blank", ["", "   ", "\n\t", "　", "\u200b"])
def test_a_text_without_tokens_scores_zero(metric, blank):
    assert metric.score_pairs(["정답", blank, blank], [blank, "답", blank]) == [0, 0, 0]


def test_special_tokens_spelt_out_in_a_text_do_not_count(metric):
    assert metric.score_pairs(["정답이다"], ["[SEP] [CLS] [SEP]"]) == [0]


def test_no_pairs_load_no_model(bert):
    metric = metric_on(bert)
    assert metric.score_pairs([], []) == []
    assert "bertscore" not in metric._store._loaded


def test_lists_of_different_length_are_refused(metric):
    with pytest.raises(ValueError, match="zip"):
        metric.score_pairs(["가", "나"], ["가"])


def test_out_of_device_memory_is_survived_with_the_same_values(bert, ours):
    metric = metric_on(bert, token_budget=8192)
    encoder = metric._store.bertscore
    encode = encoder.encode

    def small_device(packed):
        if len(packed.ids) > 1024:
            raise torch.cuda.OutOfMemoryError("CUDA out of memory.")
        return encode(packed)

    encoder.encode = small_device
    assert_close(metric.score_pairs(REFERENCES, CANDIDATES), ours)
    assert encoder.budget.tokens <= 1024


def test_progress_grows_with_the_work_and_ends_at_the_end(bert):
    heard: list[tuple[int, int]] = []
    metric_on(bert, token_budget=512).score_pairs(
        REFERENCES, CANDIDATES, lambda done, total: heard.append((done, total))
    )
    done = [step for step, _ in heard]
    assert {total for _, total in heard} == {len(PAIRS)}
    assert done == sorted(done)
    assert len(done) > 10
    assert done.count(len(PAIRS)) == 1


def test_layers_above_the_wanted_one_and_the_pooler_are_not_kept(metric):
    encode = metric._store.bertscore.encode
    assert isinstance(encode, PackedEncoder)
    assert len(encode.layers) == LAYERS


class TestTruncation:
    """A tokenizer saved without ``model_max_length`` overflows in the package; the model's positions must decide."""

    def test_a_tokenizer_without_length_cuts_at_the_models_positions(self, tmp_path, package):
        metric = metric_on(make_bert(tmp_path / "bert", with_length=False))
        assert metric._store.bertscore.tokenizer.max_length == 512
        assert_close(metric.score_pairs(REFERENCES, CANDIDATES), package)

    def test_the_package_itself_overflows_there(self, tmp_path):
        bert = make_bert(tmp_path / "bert", with_length=False)
        with pytest.raises(OverflowError):
            package_f1(bert, ["가"], ["가"], use_fast_tokenizer=True)
        with pytest.raises((IndexError, RuntimeError)):
            package_f1(bert, ["가 " * 600], ["가"])

    def test_what_stands_beyond_the_length_does_not_count(self, metric):
        long = " ".join(["말"] * 600)
        values = metric.score_pairs([long, long], [long, long + " 다른 끝"])
        assert values[0] == pytest.approx(values[1], abs=1e-6)


def unit(rows: list[list[float]], weights: list[float]) -> Embedded:
    vectors = torch.nn.functional.normalize(torch.tensor(rows), dim=-1)
    return Embedded(vectors, torch.tensor(weights))


def test_f1_of_a_worked_example():
    """Candidate tokens a, b; reference tokens a, c with cos(a, b) = 0, cos(b, c) = 0.6, cos(a, c) = 0.8."""
    a, b, c = [1.0, 0.0], [0.0, 1.0], [0.8, 0.6]
    (f1,) = greedy_f1([unit([a, c], [1, 1])], [unit([a, b], [1, 1])])
    precision, recall = (1 + 0.6) / 2, (1 + 0.8) / 2
    assert f1 == pytest.approx(2 * precision * recall / (precision + recall), abs=1e-7)


def test_an_overflow_is_no_score_of_zero():
    broken = Embedded(torch.full((2, 2), math.nan), torch.ones(2))
    (f1,) = greedy_f1([broken], [broken])
    assert math.isnan(f1)
    (opposed,) = greedy_f1([unit([[1.0, 0.0]], [1])], [unit([[0.0, 1.0]], [1])])
    assert opposed == 0


def test_padding_matches_nothing_even_where_all_cosines_are_negative():
    """A pair must score the same alone and beside a longer one: padding is no token of cosine 0."""
    pair = unit([[1.0, 0.0]], [1]), unit([[-1.0, 0.1]], [1])
    long = unit([[1.0, 0.0]] * 4, [1] * 4)
    (alone,) = greedy_f1([pair[0]], [pair[1]])
    beside, _ = greedy_f1([pair[0], long], [pair[1], long])
    assert alone == pytest.approx(beside, abs=1e-7)
    assert alone < -0.9


class TestCache:
    def embedded(self, tokens: int) -> Embedded:
        return Embedded(torch.zeros(tokens, 4), torch.ones(tokens))  # 16 bytes a token

    def test_the_least_recently_used_text_is_dropped_first(self):
        cache = EmbeddingCache(max_bytes=64)
        cache.put_many({"가": self.embedded(2)})
        cache.put_many({"나": self.embedded(2)})
        cache.get_many(["가"])
        cache.put_many({"다": self.embedded(1)})
        assert [text in cache for text in ("가", "나", "다")] == [True, False, True]
        assert cache.bytes == 48

    def test_a_text_larger_than_the_cache_is_not_kept(self):
        cache = EmbeddingCache(max_bytes=64)
        cache.put_many({"가": self.embedded(100)})
        assert "가" not in cache
        assert cache.bytes == 0

    def test_putting_a_text_again_does_not_count_it_twice(self):
        cache = EmbeddingCache(max_bytes=64)
        cache.put_many({"가": self.embedded(2)})
        cache.put_many({"가": self.embedded(3)})
        assert cache.bytes == 48


def test_a_metric_without_models_says_what_is_missing():
    with pytest.raises(TypeError, match="needs models"):
        load_metric("bertscore", None)


def test_the_signature_names_all_that_can_change_a_value(metric):
    signature = metric.signature()
    assert signature["num_layers"] == LAYERS
    assert signature["max_length"] == 512
    assert signature["dtype"] == "float32"
    assert signature["device_class"] == "cpu"
    assert set(signature["libraries"]) == {"torch", "transformers", "tokenizers"}
    assert len(signature["weights_sha256"]) == len(signature["tokenizer_sha256"]) == 64


def test_the_callers_budget_is_that_of_the_store(bert):
    assert metric_on(bert, token_budget=77)._store.bertscore.budget == TokenBudget(77)


def test_the_best_of_several_references_is_the_packages_too(bert, metric):
    """bert-score takes the best F1 of an item's references; the engine does so for every pair metric."""
    items = [(f"i{n}", tuple(REFERENCES[n : n + 1 + n % 3]), CANDIDATES[n]) for n in range(0, 120, 3)]
    pairs = Pairs(*(tuple(column) for column in zip(*items, strict=True)))
    prepared = Layout(pairs.ids, {"bertscore": pairs})
    values = run_metrics({"bertscore": metric}, prepared, {"bertscore": ""}, known={}).values["bertscore"]
    expected = package_f1(bert, list(pairs.candidates), [list(references) for references in pairs.references])
    assert_close([values[item] for item in pairs.ids], expected)
