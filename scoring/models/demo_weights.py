"""Closed-form weights of the demo models: small transformers whose scores follow word overlap, written, not trained.

Training would give other bits on other processors; here every number comes from a hash or from a cosine rounded to a
grid, so the files are the same on every machine and take a second to make. The two models share their first layer.

A hidden state has 192 dimensions: 88 for the token (a balanced +-1 code from a hash), 72 for its position (36
cosine-sine pairs, so that a rotation of the query shifts the position it looks for) and 32 flags.

Layer 1 (both): each token takes up its left and right neighbour, so a syllable counts fully only among the same
syllables. BERTScore stops here, with position and flags wiped by the last LayerNorm.
Layer 2 (BLEURT): each token looks for the same token in the other segment; if there is none, its attention goes to
[CLS], which contains nothing. The share that was found goes to the flag ``MATCH``.
Layer 3 (BLEURT): [CLS] averages ``MATCH`` over the reference (recall) and over the candidate (precision). The pooler's
tanh and the classifier map them to about 0.17 (nothing shared) to 0.97 (identical).
"""

from __future__ import annotations

import hashlib
import math
import string
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float32]
Tensors = dict[str, NDArray[Any]]

HIDDEN: Final = 192
HEADS: Final = 2
HEAD: Final = HIDDEN // HEADS
FEED_FORWARD: Final = 8
MAX_POSITIONS: Final = 512
SEED: Final = b"malpan-demo-1:"

CODE: Final = 88  # dimensions of a token's code ...
OWN: Final = 16  # ... of which the last ones distinguish the first piece of a word from a later one of the same letter
FREQUENCIES: Final = 36
POSITION: Final = slice(CODE, CODE + 2 * FREQUENCIES)
REFERENCE, CANDIDATE, HELD, BARRED, UNCOUNTED, SINK, MATCH, RECALL, PRECISION, ZERO = range(160, 170)

SPECIAL: Final = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
HANGUL: Final = tuple(map(chr, range(0xAC00, 0xD7A4)))
JAMO: Final = tuple(map(chr, range(0x3131, 0x3164)))
ALNUM: Final = tuple(string.digits + string.ascii_letters)
PUNCTUATION: Final = tuple(string.punctuation + "“”‘’·…–—「」『』《》〈〉、。")

NEIGHBOUR: Final = 0.625  # how much of each neighbour a token takes up
POSITION_GAIN: Final = 0.5  # score of a position per unit of the sum of 36 cosines
LIKENESS_GAIN: Final = 14.0  # score of a token of the other segment per unit of cosine
THRESHOLD: Final = 0.7  # cosine at which half of the attention is still on [CLS]
BARRIER: Final = 16.0  # how far the score of a token that must not be attended to is below all others
MATCH_GAIN: Final = 3.0


def vocabulary() -> tuple[str, ...]:
    """The pieces in order of their ids: special ones, letters as first piece of a word, letters as later piece."""
    letters = (*ALNUM, *JAMO, *HANGUL)
    return (*SPECIAL, *PUNCTUATION, *letters, *(f"##{letter}" for letter in letters))


def bertscore_tensors() -> Tensors:
    """The tensors of a ``BertModel`` of one layer, by their names in the file."""
    tensors = _embeddings("")
    layer = _neighbour_layer()
    layer["output.LayerNorm.weight"][CODE:] = 0
    return tensors | _named("encoder.layer.0.", layer)


def bleurt_tensors() -> Tensors:
    """The tensors of a ``BleurtForSequenceClassification`` of three layers, by their names in the file."""
    tensors = _embeddings("bleurt.")
    # Blank codes: the candidate's first word is next to [SEP], the reference's next to [CLS], so both must look the
    # same; and [CLS] must resemble no word, or the attention that rests on it would depend on the word.
    for special in ("[CLS]", "[SEP]"):
        tensors["bleurt.embeddings.word_embeddings.weight"][SPECIAL.index(special), :CODE] = 0
    tensors["bleurt.embeddings.position_ids"] = np.arange(MAX_POSITIONS, dtype=np.int64)[None]
    for index, layer in enumerate((_neighbour_layer(), _match_layer(), _average_layer())):
        tensors |= _named(f"bleurt.encoder.layer.{index}.", layer)
    pooler, pooler_bias = _zeros(HIDDEN, HIDDEN), _zeros(HIDDEN)
    classifier = _zeros(1, HIDDEN)
    # tanh of recall + precision, minus a hump of their difference: one right word is no good answer.
    for row, recall, precision, bias, weight in (
        (0, 0.25, 0.25, -0.6875, 0.65625),
        (1, 0.75, -0.75, 1.5, 0.125),
        (2, 0.75, -0.75, -1.5, -0.125),
    ):
        _read(pooler, row, RECALL, recall)
        _read(pooler, row, PRECISION, precision)
        pooler_bias[row], classifier[0, row] = bias, weight
    classifier_bias = np.asarray([0.5625 - 0.2265625], dtype=np.float32)
    tensors["bleurt.pooler.dense.weight"], tensors["bleurt.pooler.dense.bias"] = pooler, pooler_bias
    tensors["classifier.weight"], tensors["classifier.bias"] = classifier, classifier_bias
    return tensors


def _embeddings(prefix: str) -> Tensors:
    """Embedding tensors. Each segment has its flag; [CLS] cancels that of the reference."""
    types = _zeros(2, HIDDEN)
    types[0, REFERENCE] = types[1, CANDIDATE] = 1
    positions = _zeros(MAX_POSITIONS, HIDDEN)
    angles = np.outer(np.arange(MAX_POSITIONS), _frequencies())
    positions[:, POSITION] = _on_grid(np.concatenate([np.cos(angles), np.sin(angles)], axis=1))
    named = {
        "word_embeddings.weight": _word_embeddings(vocabulary()),
        "position_embeddings.weight": positions,
        "token_type_embeddings.weight": types,
        **_layer_norm("LayerNorm."),
    }
    return _named(f"{prefix}embeddings.", named)


def _word_embeddings(pieces: Sequence[str]) -> Array:
    """Rows of ``pieces``: (n, 192)."""
    weights = _zeros(len(pieces), HIDDEN)
    letters = [piece if piece in SPECIAL else piece.removeprefix("##") for piece in pieces]
    weights[:, : CODE - OWN] = _codes(letters, CODE - OWN)
    weights[:, CODE - OWN : CODE] = _codes(pieces, OWN)
    special = np.array([piece in SPECIAL for piece in pieces])
    weights[:, HELD] = ~special
    weights[:, BARRED] = special
    weights[:, UNCOUNTED] = special
    weights[pieces.index("[UNK]"), UNCOUNTED] = 0  # it counts as a token that matches nothing
    weights[pieces.index("[CLS]"), [REFERENCE, BARRED, SINK]] = (-1, 0, 1)
    return weights


def _codes(pieces: Sequence[str], size: int) -> Array:
    """For each piece +1 in the half of ``size`` dimensions where its hash ranks high, else -1: mean 0, fixed norm."""
    digests = b"".join(hashlib.shake_128(SEED + piece.encode()).digest(size) for piece in pieces)
    ranks = np.frombuffer(digests, dtype=np.uint8).reshape(len(pieces), size).argsort(axis=1, kind="stable")
    codes = np.full((len(pieces), size), -1, dtype=np.float32)
    np.put_along_axis(codes, ranks[:, size // 2 :], 1, axis=1)
    return codes


def _frequencies() -> NDArray[np.float64]:
    """36 angles spread over (0, pi) without a common period, so that no two of 512 positions look the same."""
    golden = (math.sqrt(5) - 1) / 2
    return np.array([math.pi * ((index * golden) % 1) for index in range(1, FREQUENCIES + 1)])


def _neighbour_layer() -> Tensors:
    """Head 0 brings each token its left neighbour, head 1 its right one; their codes are rolled differently."""
    layer = _empty_layer()
    query, key, value, output = _attention(layer)
    scale = _stretch(FREQUENCIES + CODE + 2)
    for head, offset, roll in ((0, -1, 1), (1, 1, 2)):
        start = head * HEAD
        gain = POSITION_GAIN * math.sqrt(HEAD) / scale**2
        query[start : start + 2 * FREQUENCIES, POSITION] = _on_grid(gain * _rotation(offset))
        key[start : start + 2 * FREQUENCIES, POSITION] = np.eye(2 * FREQUENCIES)
        value[start : start + CODE, :CODE] = np.eye(CODE)
        for index in range(CODE):
            output[(index + roll) % CODE, start + index] = NEIGHBOUR
        # [CLS] attends to itself.
        _read(query, start + 2 * FREQUENCIES, SINK, BARRIER)
        _read(key, start + 2 * FREQUENCIES, SINK, BARRIER)
    return layer


def _match_layer() -> Tensors:
    """Head 0 looks for the same token in the other segment and otherwise rests on [CLS]; head 1 is idle."""
    layer = _empty_layer()
    query, key, value, output = _attention(layer)
    root = math.sqrt(HEAD)
    query[:CODE, :CODE] = _on_grid(np.eye(CODE) * LIKENESS_GAIN * root / (CODE * (1 + 2 * NEIGHBOUR**2)))
    key[:CODE, :CODE] = np.eye(CODE)
    for row, segment in ((CODE, REFERENCE), (CODE + 1, CANDIDATE)):
        _read(query, row, segment, -BARRIER * root)
        _read(key, row, segment, 1)
    layer["attention.self.query.bias"][CODE + 2] = _on_grid(root)
    _read(key, CODE + 2, BARRED, -BARRIER)
    _read(key, CODE + 2, SINK, LIKENESS_GAIN * THRESHOLD / _stretch(FREQUENCIES + 2))
    _read(value, 0, HELD, 1)
    output[MATCH, 0] = MATCH_GAIN
    return layer


def _average_layer() -> Tensors:
    """Head 0 averages ``MATCH`` over the counted tokens of the reference, head 1 over those of the candidate."""
    layer = _empty_layer()
    _, key, value, output = _attention(layer)
    for head, other_segment, flag in ((0, CANDIDATE, RECALL), (1, REFERENCE, PRECISION)):
        start = head * HEAD
        layer["attention.self.query.bias"][start] = _on_grid(math.sqrt(HEAD))
        _read(key, start, UNCOUNTED, -BARRIER)
        _read(key, start, other_segment, -BARRIER)
        _read(value, start, MATCH, 1)
        output[flag, start] = 1
    return layer


def _read(matrix: Array, row: int, flag: int, weight: float) -> None:
    """Let ``row`` read ``flag`` times ``weight``, relative to a flag that is always zero.

    LayerNorm subtracts the mean of a hidden state, so every flag is shifted by an amount that differs between tokens.
    """
    matrix[row, flag] += _on_grid(weight)
    matrix[row, ZERO] -= _on_grid(weight)


def _rotation(offset: int) -> NDArray[np.float64]:
    """The matrix that turns the position part of place i into that of place i + ``offset``: (72, 72)."""
    cos, sin = (np.diag(function(offset * _frequencies())) for function in (np.cos, np.sin))
    return np.block([[cos, -sin], [sin, cos]])


def _stretch(square: float) -> float:
    """The factor by which LayerNorm stretches a state of squared norm ``square`` (36 of it are the position's)."""
    return math.sqrt(HIDDEN / square)


def _empty_layer() -> Tensors:
    """A layer that passes its input on: all weights zero, LayerNorms plain."""
    layer: Tensors = {}
    for name, rows, columns in (
        ("attention.self.query.", HIDDEN, HIDDEN),
        ("attention.self.key.", HIDDEN, HIDDEN),
        ("attention.self.value.", HIDDEN, HIDDEN),
        ("attention.output.dense.", HIDDEN, HIDDEN),
        ("intermediate.dense.", FEED_FORWARD, HIDDEN),
        ("output.dense.", HIDDEN, FEED_FORWARD),
    ):
        layer[f"{name}weight"], layer[f"{name}bias"] = _zeros(rows, columns), _zeros(rows)
    return layer | _layer_norm("attention.output.LayerNorm.") | _layer_norm("output.LayerNorm.")


def _attention(layer: Tensors) -> tuple[Array, Array, Array, Array]:
    """The query, key, value and output matrices of ``layer``, to be filled in place."""
    names = ("attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense")
    query, key, value, output = (layer[f"{name}.weight"] for name in names)
    return query, key, value, output


def _layer_norm(prefix: str) -> Tensors:
    return {f"{prefix}weight": np.ones(HIDDEN, dtype=np.float32), f"{prefix}bias": _zeros(HIDDEN)}


def _named(prefix: str, tensors: Tensors) -> Tensors:
    return {prefix + name: tensor for name, tensor in tensors.items()}


def _zeros(*shape: int) -> Array:
    return np.zeros(shape, dtype=np.float32)


def _on_grid(values: float | NDArray[np.float64]) -> Array:
    """Rounded to multiples of 1/4096, so that another library's last digit of a cosine changes no weight."""
    return (np.round(np.asarray(values) * 4096) / 4096).astype(np.float32)
