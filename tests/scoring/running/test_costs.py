"""The expected cost of a scoring: near what real tokenizers make of such texts, and told without any of them."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from scoring.metrics import METRICS, costs, is_neural
from scoring.metrics.base import LEXICAL_PAIR_TOKENS, Metric
from scoring.metrics.costs import estimated_tokens
from scoring.recipes import RECIPES, get_recipe
from scoring.records import Item, Items
from scoring.running.costs import expected_tokens, tokens_of_file
from tests.scoring.tiny_models import contest_like, make_bert, make_sentencepiece_bleurt

RAG = get_recipe("rag-qa@1")


def file_of(*texts: str) -> Items:
    answers = tuple(Item(f"q{number}", text, number + 1) for number, text in enumerate(texts))
    return Items(items=answers, format="json-array", sha256="0" * 64)


def _wordpiece(folder: Path) -> Any:
    from transformers import BertTokenizer

    return BertTokenizer.from_pretrained(make_bert(folder))


def _sentencepiece(folder: Path) -> Any:
    from bleurt_pytorch.bleurt.tokenization_bleurt_sp import BleurtSPTokenizer

    return BleurtSPTokenizer.from_pretrained(make_sentencepiece_bleurt(folder))


@pytest.mark.parametrize(("make", "low", "high"), [(_wordpiece, 0.95, 1.1), (_sentencepiece, 0.7, 1.0)])
def test_estimate_is_near_what_a_real_tokenizer_makes_of_contest_like_texts(
    tmp_path: Path, make: Callable[[Path], Any], low: float, high: float
) -> None:
    chance = random.Random(5)
    texts = [contest_like(chance, chance.randint(1, 4)) for _text in range(150)]
    tokenizer = make(tmp_path / "model")

    made = sum(len(tokenizer.tokenize(text)) for text in texts)

    assert low < made / sum(map(estimated_tokens, texts)) < high


def test_longer_texts_cost_more_in_proportion_until_the_models_cut_them() -> None:
    def cost(times: int) -> int:
        return expected_tokens(RAG, file_of("답이 옳다. 이유이다"), file_of("답이 옳다. " + "가나다라 " * times))

    assert cost(20) - cost(10) == pytest.approx(2 * 40, abs=1)  # read by BERTScore and by BLEURT
    assert cost(10_000) == cost(200) < 2 * costs.MODEL_TOKENS + 100


def test_only_what_the_neural_metrics_read_weighs() -> None:
    with_reasons = file_of(*["답이 옳다. 규범에 따라 적는다."] * 4)
    without = file_of(*["답이 옳다."] * 4)

    assert expected_tokens(RAG, with_reasons, without) == 4 * LEXICAL_PAIR_TOKENS
    assert expected_tokens(RAG, with_reasons, with_reasons) > 4 * LEXICAL_PAIR_TOKENS


def test_a_pair_that_stands_there_twice_is_read_once() -> None:
    once, often = (file_of(*["답이 옳다. 규범에 따라 적는다."] * count) for count in (1, 50))

    lexical = LEXICAL_PAIR_TOKENS * 2 * 49  # exact match and ROUGE of the others
    assert expected_tokens(RAG, often, often) == expected_tokens(RAG, once, once) + lexical


def test_every_reference_of_a_caption_is_read() -> None:
    recipe = get_recipe("captioning@1")
    one = file_of("개가 달린다")
    two = Items((Item("q0", "개가 달린다", 1, others=("강아지가 뛴다",)),), "coco", "0" * 64)
    captions = file_of("개가 뛴다")

    assert expected_tokens(recipe, two, captions) - expected_tokens(recipe, one, captions) == len("강아지가뛴다") + 2


@pytest.mark.parametrize("recipe", RECIPES.values(), ids=lambda recipe: recipe.id)
def test_every_neural_metric_of_every_recipe_is_counted(recipe: Any) -> None:
    neural = filter(is_neural, recipe.metrics)
    assert all(METRICS[name].cost.__func__ is not Metric.cost.__func__ for name in neural)


def test_nothing_costs_nothing() -> None:
    assert expected_tokens(RAG, file_of(), file_of()) == tokens_of_file(0) == 1


def test_no_model_library_is_loaded() -> None:
    code = "import scoring.running.costs, sys; print({'torch', 'transformers', 'numpy'} & sys.modules.keys())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "set()"
