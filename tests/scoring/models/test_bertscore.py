"""Ids of texts are those of the slow tokenizer that the bert-score package uses, whichever way they were made."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from scoring.models.bertscore import BertScoreTokenizer
from tests.scoring.tiny_models import STRANGE, contest_like, make_bert, strange_pairs


@pytest.fixture(params=[False, True], ids=["cased", "lower-cased"])
def folder(tmp_path, request) -> Path:
    return make_bert(tmp_path / "bert", layers=1, lower_case=request.param)


def test_ids_equal_those_of_the_package(folder):
    from bert_score.utils import sent_encode
    from transformers import AutoTokenizer

    slow = AutoTokenizer.from_pretrained(folder, use_fast=False)
    ids = BertScoreTokenizer(folder, 512)
    texts = sorted({text for pair in strange_pairs() for text in pair})
    assert ids.encode_all(texts) == [sent_encode(slow, text) for text in texts]
    assert ids._fast is not None


def test_ordinary_reasons_take_the_fast_way_and_strange_texts_do_not(folder):
    ids = BertScoreTokenizer(folder, 512)
    assert all(ids._is_plain(contest_like(random.Random(seed), 3)) for seed in range(20))
    assert not any(ids._is_plain(text) for text in (STRANGE[7], STRANGE[10], STRANGE[11], STRANGE[13]))


def test_a_fast_tokenizer_that_disagrees_is_not_used(folder):
    """Its own file holds the pieces in another order than the slow tokenizer's vocabulary."""
    from transformers import BertTokenizerFast

    pieces = (folder / "vocab.txt").read_text(encoding="utf-8").splitlines()
    (folder / "other.txt").write_text("\n".join([*pieces[:5], *reversed(pieces[5:])]), encoding="utf-8")
    fast = BertTokenizerFast(str(folder / "other.txt"), do_lower_case=False)
    fast.backend_tokenizer.save(str(folder / "tokenizer.json"))
    assert BertScoreTokenizer(folder, 512)._fast is None
