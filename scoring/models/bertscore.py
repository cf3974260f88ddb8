"""The encoder of BERTScore: a model up to one layer, the token ids of bert-score, and the cached embeddings.

Token ids are exactly those of the bert-score package, made faster where that is safe. The package uses the slow
tokenizer. The fast one gives other ids for some texts (it does not normalise to NFC, and the two disagree on which rare
characters are blank or punctuation), so it is used only for texts of plain characters, and only after it has agreed
with the slow one on a set of probes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import torch

from scoring.models.batching import PREFETCH_CHARACTERS, TokenBudget, chunks, prefetch, run_batches
from scoring.models.cache import Embedded, EmbeddingCache
from scoring.models.encoder import PACKABLE, PackedEncoder, PaddedEncoder
from scoring.models.loading import TooFewLayers, load_pretrained, load_tokenizer
from scoring.models.packing import Packed, pack
from scoring.models.precision import FP32, Precision, exact_inference

VERSION: Final = 1  # increased whenever a change here, or in the metric, could change a value
CACHE_BYTES: Final = 512 << 20  # in memory; five reference sets of the contest, with BERT-base

OnCharacters = Callable[[int], None]

# ASCII, Hangul syllables and compatibility jamo, and the marks usual in Korean prose: both tokenizers agree on these.
_PLAIN: Final = re.compile(r"[\n -~가-힣ㄱ-ㅣ‘’“”·…「」『』]*")
_PROBES: Final = (
    "'-대'는 다른 사람이 말한 내용을 간접적으로 전할 때 쓰는 말이다.",
    "“겪은 일”을 회상하여… ‘데’를 쓴다; (예) Upper CASE, lower-case & 1,234.5%!",
    "ㄱㄴㄷ ㅏㅑㅓ 「한글 맞춤법」 제30항·『표준어 규정』\n둘째 줄",
    "a_b~c@d.e/f#g$h^i*j+k=l<m>n|o\\p`q{r}s[t]u\"v'w?x:y",
    "뷁뛣쀓" + "가" * 120 + " " + "z" * 120,
    "   앞뒤 빈칸   ",
)


class BertScoreTokenizer:
    """Ids of texts for one model, cut to ``max_length`` tokens including the special ones."""

    def __init__(self, folder: Path, max_length: int) -> None:
        from transformers import AutoTokenizer

        self.max_length = max_length
        self._slow = load_tokenizer(AutoTokenizer, folder, use_fast=False)
        self.pad_id: int = self._slow.pad_token_id
        self.mask_id: int | None = self._slow.mask_token_id
        self.ignored_ids: frozenset[int] = frozenset({self._slow.cls_token_id, self._slow.sep_token_id})
        self._options = self._slow_options()
        self._fast = self._fast_twin(folder)

    def encode_all(self, texts: Sequence[str]) -> list[list[int]]:
        """Ids of each text, special tokens included. A text of white space only has the special tokens alone."""
        stripped = [text.strip() for text in texts]
        if self._fast is None:
            return [self._encode_slow(text) for text in stripped]
        plain = [text for text in stripped if self._is_plain(text)]
        fast = iter(self._encode_fast(plain))
        return [next(fast) if self._is_plain(text) else self._encode_slow(text) for text in stripped]

    def cut(self, texts: Iterable[str]) -> frozenset[str]:
        """Those of ``texts`` that are longer than ``max_length``."""
        distinct = list(dict.fromkeys(texts))
        rows = zip(distinct, self.encode_all(distinct), strict=True)
        full = [text for text, ids in rows if len(ids) == self.max_length]
        return frozenset(text for text in full if self._whole_length(text) > self.max_length)

    def _whole_length(self, text: str) -> int:
        return len(self._slow.encode(text.strip(), add_special_tokens=True, verbose=False, **self._options))

    def _encode_slow(self, text: str) -> list[int]:
        """As ``bert_score.utils.sent_encode``, for a text already stripped."""
        if text == "":
            return list(self._slow.build_inputs_with_special_tokens([]))
        options = {"add_special_tokens": True, "truncation": True, "max_length": self.max_length, **self._options}
        return list(self._slow.encode(text, **options))

    def _encode_fast(self, texts: Sequence[str]) -> list[list[int]]:
        return _encode_with(self._fast, texts, self.max_length) if texts else []

    def _is_plain(self, text: str) -> bool:
        """Whether the fast tokenizer may take ``text``: not if it spells out a special token ("[SEP]")."""
        if text == "" or _PLAIN.fullmatch(text) is None:
            return False
        return not any(token in text for token in self._slow.all_special_tokens)

    def _slow_options(self) -> dict[str, Any]:
        from transformers import GPT2Tokenizer, RobertaTokenizer

        return {"add_prefix_space": True} if isinstance(self._slow, GPT2Tokenizer | RobertaTokenizer) else {}

    def _fast_twin(self, folder: Path) -> Any:
        """The fast tokenizer of a WordPiece model if it agrees with the slow one on every probe, else ``None``."""
        from transformers import BertTokenizer, BertTokenizerFast

        if type(self._slow) is not BertTokenizer:
            return None
        twin = load_tokenizer(BertTokenizerFast, folder)
        probes = [probe.strip() for probe in _PROBES]
        agrees = _encode_with(twin, probes, self.max_length) == [self._encode_slow(probe) for probe in probes]
        return twin if agrees else None


def _encode_with(fast: Any, texts: Sequence[str], max_length: int) -> list[list[int]]:
    encoded = fast(list(texts), truncation=True, max_length=max_length, return_attention_mask=False)
    ids: list[list[int]] = encoded["input_ids"]
    return ids


class BertScoreEncoder:
    """One model up to its layer ``num_layers``, on one device, with its tokenizer and its cache of references."""

    def __init__(
        self,
        encode: Callable[[Packed], torch.Tensor],
        tokenizer: BertScoreTokenizer,
        device: str,
        budget: TokenBudget,
        precision: Precision = FP32,
    ) -> None:
        self.encode = encode
        self.tokenizer = tokenizer
        self.device = device
        self.budget = budget
        self.precision = precision
        self.references = EmbeddingCache(CACHE_BYTES)

    def embed(self, texts: Iterable[str], on_characters: OnCharacters) -> dict[str, Embedded]:
        """Embed each text of ``texts`` once. ``on_characters`` gets the number of characters of each batch."""
        longest_first = sorted(set(texts), key=lambda text: (-len(text), text))
        embedded: dict[str, Embedded] = {}
        parts = chunks(longest_first, len, max(PREFETCH_CHARACTERS, self.budget.tokens))
        with closing(prefetch(self.tokenizer.encode_all, parts)) as encoded:
            for chunk, rows in encoded:
                self._embed_chunk(chunk, rows, embedded, on_characters)
        return embedded

    def _embed_chunk(
        self,
        texts: Sequence[str],
        rows: Sequence[Sequence[int]],
        embedded: dict[str, Embedded],
        on_characters: OnCharacters,
    ) -> None:
        def forward(batch: Sequence[int]) -> None:
            packed = pack([rows[index] for index in batch], device=self.device)
            with exact_inference(self.precision):
                hidden = self.encode(packed).float()
                vectors = (hidden / hidden.norm(dim=-1, keepdim=True)).split(packed.lengths)
            for index, own in zip(batch, vectors, strict=True):
                counting = [float(piece not in self.tokenizer.ignored_ids) for piece in rows[index]]
                embedded[texts[index]] = Embedded(own, torch.tensor(counting))

        run_batches(
            list(map(len, rows)),
            self.budget,
            forward,
            lambda batch: on_characters(sum(len(texts[index]) for index in batch)),
        )


def load_encoder(
    folder: Path,
    num_layers: int,
    tokenizer: BertScoreTokenizer,
    device: str,
    budget: TokenBudget,
    precision: Precision = FP32,
) -> BertScoreEncoder:
    """Load the model in ``folder`` without the layers above ``num_layers`` and without its pooler.

    Raises ``ModelDamaged`` if weights are missing from the file and ``TooFewLayers`` if the model has fewer layers.
    """
    from transformers import AutoConfig, AutoModel

    config = AutoConfig.from_pretrained(folder, local_files_only=True)
    if num_layers > config.num_hidden_layers:
        raise TooFewLayers(folder=str(folder), has=config.num_hidden_layers, wanted=num_layers)
    config.num_hidden_layers = num_layers
    unpooled = {"add_pooling_layer": False} if config.model_type in PACKABLE else {}  # others do not know the word
    model = load_pretrained(AutoModel, folder, config, optional=("pooler.",), **unpooled)
    if getattr(model, "pooler", None) is not None:
        model.pooler = None
    encode = encoder_of(model.to(device), tokenizer.pad_id, precision)
    return BertScoreEncoder(encode, tokenizer, device, budget, precision)


def encoder_of(model: Any, pad_id: int, precision: Precision) -> Callable[[Packed], torch.Tensor]:
    """How packed rows go through ``model``: without padding where its layers are BERT's, else by its own forward."""
    config = model.config
    if config.model_type not in PACKABLE or getattr(config, "position_embedding_type", "absolute") != "absolute":
        return PaddedEncoder(model.to(precision.weights), pad_id)
    model.encoder.to(precision.weights)
    counts_from = None if config.model_type == "bert" else config.pad_token_id
    return PackedEncoder(model.embeddings, list(model.encoder.layer), counts_from=counts_from)
