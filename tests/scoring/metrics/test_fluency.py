"""Fluency equals a direct computation with transformers, one masked row at a time, and needs a trained head."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from transformers import AutoModelForMaskedLM, AutoTokenizer, RobertaConfig, RobertaForMaskedLM

from scoring.engine import score
from scoring.metrics import MetricOptions, load_metric
from scoring.metrics.fluency import Fluency
from scoring.models.batching import TokenBudget
from scoring.models.bertscore import encoder_of
from scoring.models.files import ModelDamaged
from scoring.models.limits import MASKED_TOKENS
from scoring.models.masked import MaskedHeadMissing, MaskedScorer
from scoring.models.precision import FP32
from scoring.models.store import ModelStore
from scoring.recipes import get_recipe
from scoring.records import Item, Items
from scoring.running.costs import expected_tokens
from scoring.running.precompute import pair_work, precompute
from tests.scoring.caption_items import caption_items
from tests.scoring.memory_store import MemoryPairValues
from tests.scoring.tiny_models import STRANGE, make_masked_bert, one_thread, write_profile

LONG = "가나다라 마바사 " * 30
RECIPE = "captioning-rich@1"


@pytest.fixture(scope="module", autouse=True)
def _one_thread() -> Iterator[None]:
    with one_thread():
        yield


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_masked_bert(tmp_path_factory.mktemp("masked") / "bert")


@pytest.fixture(scope="module")
def store(folder: Path) -> ModelStore:
    """BERTScore would stop at the first layer; fluency reads all three."""
    return ModelStore(write_profile(folder.parent / "masked.toml", bertscore=folder, num_layers=1), "cpu")


@cache
def of_transformers(folder: Path) -> tuple[Any, Any]:
    return AutoTokenizer.from_pretrained(folder), AutoModelForMaskedLM.from_pretrained(folder).eval()


@cache
def directly(folder: Path, text: str) -> float:
    """The mean over the pieces, each masked alone in a forward pass of its own."""
    tokenizer, model = of_transformers(folder)
    ids = tokenizer(text, truncation=True, max_length=MASKED_TOKENS)["input_ids"]
    values = []
    for place in range(1, len(ids) - 1):
        row = torch.tensor([ids])
        row[0, place] = tokenizer.mask_token_id
        with torch.no_grad():
            values.append(float(model(row).logits[0, place].double().log_softmax(-1)[ids[place]]))
    return math.fsum(values) / len(values) if values else 0.0


def values_of(store: ModelStore, texts: list[str]) -> list[float]:
    return Fluency(store).score_pairs([""] * len(texts), texts)


def test_captions_of_many_lengths_equal_a_direct_computation(store: ModelStore, folder: Path) -> None:
    texts = [item.candidate for item in caption_items(25)] + ["파도", "가", "Cat 사진 3장", LONG[:40]]
    found = values_of(store, texts)
    assert found == pytest.approx([directly(folder, text) for text in texts], abs=1e-5)
    assert max(found) - min(value for value in found if value) > 0.1


def test_a_caption_that_is_too_long_is_cut_as_transformers_cuts_it(store: ModelStore, folder: Path) -> None:
    metric = Fluency(store)
    assert values_of(store, [LONG]) == pytest.approx([directly(folder, LONG)], abs=1e-5)
    assert values_of(store, [LONG]) == pytest.approx(values_of(store, [LONG + "뒷말"]), abs=1e-6)
    assert [cut.candidate for cut in metric.cut(["", ""], [LONG, "짧다"])] == [True, False]
    assert metric.max_length() == MASKED_TOKENS


@pytest.mark.parametrize("tokens", [1, 60, 5_000])
def test_batches_of_any_size_give_the_same_values(folder: Path, tokens: int) -> None:
    texts = [item.candidate for item in caption_items(12)]
    profile = write_profile(folder.parent / f"of{tokens}.toml", bertscore=folder, num_layers=1)
    assert values_of(ModelStore(profile, "cpu", tokens), texts) == pytest.approx(
        [directly(folder, text) for text in texts], abs=1e-5
    )


def test_rows_held_at_once_are_limited_without_changing_a_value(
    store: ModelStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = [item.candidate for item in caption_items(12)]
    whole, calls = values_of(store, texts), []
    monkeypatch.setattr("scoring.models.masked.CHUNK_TOKENS", 3_000)
    in_parts = Fluency(store).score_pairs([""] * 12, texts, lambda done, total: calls.append((done, total)))
    assert in_parts == pytest.approx(whole, abs=1e-6)
    assert len(calls) > 2
    assert calls == sorted(calls)
    assert calls[-1] == (12, 12)


def test_a_model_with_another_head_and_other_positions_equals_its_own_forward() -> None:
    shape = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64}
    torch.manual_seed(2)
    config = RobertaConfig(**shape, vocab_size=90, max_position_embeddings=60, type_vocab_size=1, initializer_range=0.2)
    model = RobertaForMaskedLM(config).eval()
    texts = {"짧은 글": [0, 20, 21, 2], "긴 글": [0, *range(30, 55), 2], "": [0, 2]}
    tokenizer = SimpleNamespace(encode_all=lambda given: [texts[text] for text in given], ignored_ids=frozenset({0, 2}))
    expected = {}  # first: the encoder takes the weights over
    for text, ids in texts.items():
        values = []
        for place in range(1, len(ids) - 1):
            row = torch.tensor([[*ids[:place], 4, *ids[place + 1 :]]])
            with torch.no_grad():
                values.append(float(model(row).logits[0, place].log_softmax(-1)[ids[place]]))
        expected[text] = sum(values) / max(1, len(values))
    encode = encoder_of(model.base_model, 1, FP32)
    found = MaskedScorer(encode, model.lm_head, tokenizer, 4, "cpu", TokenBudget(64)).score(texts, lambda _: None)
    assert found == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("text", STRANGE)
def test_strange_captions_have_finite_values(store: ModelStore, text: str) -> None:
    [value] = values_of(store, [text])
    assert math.isfinite(value)
    assert value <= 0
    assert (value == 0) is (not text.strip())


def references(*ids: str) -> Items:
    return Items(tuple(Item(item, "아이가 공을 찬다", 1) for item in ids), "id-object", "0" * 64)


def captions(**texts: str) -> Items:
    return Items(tuple(Item(item, text, 1) for item, text in texts.items()), "id-object", "1" * 64)


def test_in_a_recipe_answered_captions_count_and_nobody_is_ranked_by_it(store: ModelStore, folder: Path) -> None:
    kept = MemoryPairValues()
    report = score(RECIPE, references("a", "b", "c"), captions(a="공을 찬다", b=LONG), store=store, pair_values=kept)
    expected = [directly(folder, "공을 찬다"), directly(folder, LONG)]
    assert report.scores["fluency"] == pytest.approx(math.fsum(expected) / 2, abs=1e-5)
    assert [item.scores.get("fluency") for item in report.items] == [*map(pytest.approx, expected), None]
    assert report.final_score == report.scores["meteor"]
    assert [w.params for w in report.warnings if w.code == "fluency_truncated"] == [
        {"references": 0, "candidates": 1, "limit": MASKED_TOKENS}
    ]
    signed = report.signature["metrics"]["fluency"]
    assert (signed["input"], signed["max_length"]) == ("caption-alone@1", MASKED_TOKENS)
    assert "num_layers" not in signed
    assert len(kept.get("fluency", report.metric_signatures["fluency"], [("", "공을 찬다"), ("", LONG)])) == 2


def test_slices_of_a_large_file_compute_it_ahead(store: ModelStore) -> None:
    kept, files = MemoryPairValues(), (references("a", "b"), captions(a="공을 찬다", b="공을 던진다"))
    work = pair_work(RECIPE, *files, store=store)
    precompute(work, known={}, pair_values=kept)
    stored = kept.get("fluency", work.hashes["fluency"], [("", "공을 찬다"), ("", "공을 던진다")])
    report = score(RECIPE, *files, store=store, pair_values=kept)
    assert [item.scores["fluency"] for item in report.items] == list(stored.values())
    assert "fluency" not in pair_work(RECIPE, *files, profile="demo", device="cpu").metrics


def test_without_an_answered_caption_there_is_no_such_score(store: ModelStore) -> None:
    assert "fluency" not in score(RECIPE, references("a"), captions(a=" "), store=store).scores


def test_the_demo_models_have_no_head_and_the_report_says_so() -> None:
    report = score(RECIPE, references("a"), captions(a="공을 찬다"), profile="demo", device="cpu")
    assert "fluency" not in report.scores
    assert "fluency" not in report.signature["metrics"]
    assert "fluency_not_configured" in [warning.code for warning in report.warnings]
    demo = ModelStore("demo", "cpu")
    assert not Fluency.is_configured(demo, MetricOptions())
    with pytest.raises(MaskedHeadMissing) as caught:
        load_metric("fluency", demo).score_pairs([""], ["공을 찬다"])
    assert "ForMaskedLM" in caught.value.message("ko")


def test_a_checkpoint_that_says_it_has_a_head_and_has_none_is_refused(models: Path) -> None:
    config = json.loads((models / "bert" / "config.json").read_text(encoding="utf-8"))
    config["architectures"] = ["BertForMaskedLM"]
    (models / "bert" / "config.json").write_text(json.dumps(config), encoding="utf-8")
    store = ModelStore(write_profile(models / "liar.toml", bertscore=models / "bert"), "cpu")
    assert Fluency.is_configured(store, MetricOptions())
    with pytest.raises(ModelDamaged, match=r"cls\.predictions"):
        values_of(store, ["공을 찬다"])


def test_nothing_is_loaded_for_nothing() -> None:
    assert Fluency(ModelStore("demo", "cpu")).score_pairs([], []) == []


def test_the_cost_of_a_caption_grows_with_the_square_of_its_length_up_to_the_cut() -> None:
    recipe, alone = get_recipe(RECIPE), Fluency.cost
    assert alone([("",)], ["가나다라"]) == 4 * 6
    assert alone([("",)] * 2, [LONG, LONG]) == alone([("",)], [LONG * 9]) == (MASKED_TOKENS - 2) * MASKED_TOKENS
    short, long = (expected_tokens(recipe, references("a"), captions(a="가" * count)) for count in (10, 100))
    assert long - short > 100 * 102 - 10 * 12
