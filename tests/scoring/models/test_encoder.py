"""The packed encoder equals the packages' own forward, whatever way its attention runs."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest
import torch
from transformers import AutoModel, BertConfig, BertModel, ElectraConfig, ElectraModel, RobertaConfig, RobertaModel

from scoring.models import encoder as encoders
from scoring.models.bertscore import encoder_of
from scoring.models.encoder import (
    FirstTokenLayer,
    PackedEncoder,
    PaddedEncoder,
    attend_by_blocks,
    attend_varlen,
)
from scoring.models.packing import Block, Packed, pack
from scoring.models.precision import FP32, exact_inference, precision_on
from tests.scoring.tiny_models import one_thread

SHAPE = {
    "vocab_size": 200,
    "hidden_size": 48,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "intermediate_size": 96,
    "max_position_embeddings": 130,
    "initializer_range": 0.1,
}
KINDS = {
    "bert": (BertModel, BertConfig(**SHAPE)),
    "bert with another activation": (BertModel, BertConfig(**SHAPE, hidden_act="relu")),
    "roberta": (RobertaModel, RobertaConfig(**SHAPE, pad_token_id=1, type_vocab_size=1)),
    "electra": (ElectraModel, ElectraConfig(**SHAPE, embedding_size=24)),
}


@pytest.fixture(scope="module", autouse=True)
def _one_thread() -> Iterator[None]:
    with one_thread():
        yield


def rows_of(seed: int = 1) -> list[list[int]]:
    """Rows of 1 to 120 ids, some of one length, none of them padding."""
    rng = random.Random(seed)
    lengths = [1, 1, 2, 120, 7, 7, 7, *(rng.randint(1, 120) for _ in range(20))]
    return [[rng.randint(5, 199) for _ in range(length)] for length in sorted(lengths, reverse=True)]


def made(kind: str):
    loader, config = KINDS[kind]
    torch.manual_seed(4)
    return loader(config).eval()


@pytest.mark.parametrize("kind", KINDS)
def test_every_state_equals_the_models_own_forward_row_by_row(kind):
    rows, model = rows_of(), made(kind)
    expected = [model(torch.tensor([row]))[0][0] for row in rows]
    with exact_inference():
        states = encoder_of(model, model.config.pad_token_id, FP32)(pack(rows))
    assert (states - torch.cat(expected)).abs().max() <= 1e-5


@pytest.mark.parametrize("place", [0, 1, -1])
def test_roberta_passes_over_padding_tokens_that_a_text_spells_out(place):
    model = made("roberta")
    rows = [[7, 8, 9, 10, 11], [12, 13], [14, 15, 16]]
    rows[0][place] = rows[2][place] = model.config.pad_token_id
    every = [torch.ones(1, len(row)) for row in rows]  # bert-score masks by length, not by id
    expected = [model(torch.tensor([row]), attention_mask=mask)[0][0] for row, mask in zip(rows, every, strict=True)]
    with exact_inference():
        states = encoder_of(model, model.config.pad_token_id, FP32)(pack(rows))
    assert (states - torch.cat(expected)).abs().max() <= 1e-5


def test_models_with_the_layers_of_bert_are_packed_and_others_padded():
    assert isinstance(encoder_of(made("bert"), 0, FP32), PackedEncoder)
    assert isinstance(encoder_of(made("roberta"), 1, FP32), PackedEncoder)
    assert isinstance(encoder_of(made("electra"), 0, FP32), PaddedEncoder)


def test_a_model_with_relative_positions_is_not_taken_for_one_with_absolute_ones():
    config = BertConfig(**SHAPE, position_embedding_type="relative_key", attn_implementation="eager")
    assert isinstance(encoder_of(BertModel(config).eval(), 0, FP32), PaddedEncoder)


@pytest.mark.parametrize("ordered", [True, False])
def test_first_states_are_the_first_token_of_every_row(ordered):
    model, rows = made("bert"), rows_of()
    packed = pack(rows if ordered else random.Random(5).sample(rows, len(rows)))
    with exact_inference():
        everything = model_states(model, packed)
        first = PackedEncoder(model.embeddings, list(model.encoder.layer), first_only=True)(packed)
    assert first.shape == (len(packed.lengths), 48)
    assert (everything[packed.first_tokens] - first).abs().max() <= 1e-5


def test_first_states_of_one_layer_alone():
    model = made("bert")
    model.encoder.layer = model.encoder.layer[:1]
    packed = pack(rows_of())
    with exact_inference():
        everything = model_states(model, packed)
        first = PackedEncoder(model.embeddings, list(model.encoder.layer), first_only=True)(packed)
    assert (everything[packed.first_tokens] - first).abs().max() <= 1e-5


@pytest.mark.parametrize("first_only", [False, True])
def test_what_fills_a_buffer_up_is_cut_off_and_products_see_few_sizes(first_only, monkeypatch):
    model = made("bert")
    encode = PackedEncoder(model.embeddings, list(model.encoder.layer), first_only=first_only)
    seen = set()
    attend = encode.layers[0].attend

    def watched(query, *others):
        seen.add(len(query))
        return attend(query, *others)

    monkeypatch.setattr(encode.layers[0], "attend", watched)
    for tokens in range(1, 33):
        with exact_inference():
            assert len(encode(pack([[7] * tokens, [8]]))) == (2 if first_only else tokens + 1)
    assert seen == {16, 32, 48}


def test_a_row_that_overflows_leaves_the_first_states_of_others_alone():
    model = made("bert")
    packed = pack([[7, 8, 9], [10, 11]])
    layer = FirstTokenLayer(model.encoder.layer[-1])
    hidden = torch.randn(5, 48, generator=torch.Generator().manual_seed(6))
    with exact_inference():
        before = layer(hidden, packed)
        hidden[:3] = float("inf")
        after = layer(hidden, packed)
    assert after[0].isnan().all()
    assert torch.equal(after[1], before[1])


def model_states(model, packed: Packed) -> torch.Tensor:
    """The model's own states of every token, row by row."""
    return torch.cat([model(row[None])[0][0] for row in packed.ids.split(packed.lengths)])


def test_segments_and_positions_reach_the_embeddings():
    model = made("bert")
    rows = [[7, 8, 9, 10], [11, 12]]
    segments = [[0, 0, 1, 1], [0, 1]]
    expected = [
        model(torch.tensor([row]), token_type_ids=torch.tensor([kinds]))[0][0]
        for row, kinds in zip(rows, segments, strict=True)
    ]
    with exact_inference():
        states = PackedEncoder(model.embeddings, list(model.encoder.layer))(pack(rows, segments))
    assert (states - torch.cat(expected)).abs().max() <= 1e-5


def test_attention_by_blocks_equals_attention_row_by_row():
    packed = pack(rows_of(2))
    torch.manual_seed(3)
    parts = [part.unflatten(-1, (3, 8)) for part in torch.randn(len(packed.ids), 72).chunk(3, dim=-1)]
    expected = []
    for query, key, value in zip(*(part.split(packed.lengths) for part in parts), strict=True):
        weights = torch.einsum("qhd,khd->hqk", query, key).div(8**0.5).softmax(-1)
        expected.append(torch.einsum("hqk,khd->qhd", weights, value))
    with exact_inference():
        assert (attend_by_blocks(*parts, packed) - torch.cat(expected)).abs().max() <= 1e-5


def test_a_gpu_gets_the_kernels_for_rows_of_any_length_and_blocks_where_it_lacks_them(monkeypatch):
    for works in (True, False):
        monkeypatch.setattr(encoders, "_works", lambda *_, works=works: works)
        chosen = encoders.attention_for.__wrapped__
        assert chosen("cpu", torch.float32, 64) is attend_by_blocks
        assert chosen("cuda", torch.float32, 64) is (encoders.attend_ragged if works else attend_by_blocks)
        assert chosen("cuda", torch.bfloat16, 64) is (attend_varlen if works else attend_by_blocks)


def test_a_way_of_attention_is_tried_before_it_is_trusted():
    def right(query, key, value, packed):
        return attend_by_blocks(query, key, value, packed)

    def wrong(query, key, value, packed):
        return attend_by_blocks(query, key, value, packed) + 1

    assert encoders._works(right, "cpu", torch.float32, 12)
    assert not encoders._works(attend_varlen, "cpu", torch.bfloat16, 12)  # no processor has this kernel
    assert not encoders._works(wrong, "cpu", torch.float32, 12)


def test_a_device_without_memory_is_not_taken_for_one_without_the_kernel():
    def full(*_):
        raise torch.OutOfMemoryError

    with pytest.raises(torch.OutOfMemoryError):
        encoders._works(full, "cpu", torch.float32, 12)


def test_a_model_saved_and_loaded_gives_the_same_bits(tmp_path):
    model = made("bert")
    model.save_pretrained(tmp_path)
    again = AutoModel.from_pretrained(tmp_path).eval()
    with exact_inference():
        first, second = (encoder_of(one, 0, FP32)(pack(rows_of())) for one in (model, again))
    assert torch.equal(first, second)


@pytest.mark.parametrize("name", ["bf16", "fp16"])
def test_half_formats_move_states_a_little_and_only_a_little(name):
    rows = rows_of()
    with exact_inference():
        exact = encoder_of(made("bert"), 0, FP32)(pack(rows))
        half = encoder_of(made("bert"), 0, precision_on(name, "cpu"))(pack(rows))
    assert half.dtype is precision_on(name, "cpu").weights
    moved = (half.float() - exact).abs()
    assert 0 < moved.mean() < 0.02


class TestPacking:
    def test_rows_stand_end_to_end(self):
        packed = pack([[5, 6, 7], [8], [9]], [[0, 1, 1], [0], [1]])
        assert packed.ids.tolist() == [5, 6, 7, 8, 9]
        assert packed.segments.tolist() == [0, 1, 1, 0, 1]
        assert packed.positions.tolist() == [0, 1, 2, 0, 0]
        assert packed.offsets.tolist() == [0, 3, 4, 5]
        assert packed.first_tokens.tolist() == [0, 3, 4]

    def test_neighbours_of_one_length_are_one_block(self):
        blocks = pack([[1, 1], [2, 2], [3], [4, 4]]).blocks
        assert blocks == (Block(2, 0, 2), Block(1, 4, 1), Block(1, 5, 2))

    def test_a_rectangle_is_filled_up_on_the_right(self):
        packed = pack([[5, 6], [7], [8, 9, 4]])
        ids, is_token = packed.to_padded(packed.ids, fill=1)
        assert ids.tolist() == [[5, 6, 1], [7, 1, 1], [8, 9, 4]]
        assert is_token.sum(1).tolist() == [2, 1, 3]
        states, _ = packed.to_padded(torch.full((6, 2), float("inf")))
        assert states[1].tolist() == [[float("inf")] * 2, [0, 0], [0, 0]]

    def test_a_buffer_is_filled_up_by_a_row_of_its_own(self):
        packed = pack([[5, 6, 7], [8]], [[0, 1, 1], [0]])
        filled = packed.pad_to_multiple(8)
        assert filled.lengths == (3, 1, 4)
        assert filled.ids.tolist() == [5, 6, 7, 8, 0, 0, 0, 0]
        assert filled.segments.tolist() == [0, 1, 1, 0, 0, 0, 0, 0]
        assert filled.positions.tolist() == [0, 1, 2, 0, 0, 1, 2, 3]
        assert filled.offsets.tolist() == [0, 3, 4, 8]
        assert filled.offsets.dtype is torch.int32
        assert packed.pad_to_multiple(4) is packed

    def test_a_row_without_a_token_is_refused(self):
        with pytest.raises(ValueError, match="without a token"):
            pack([[1], []])
