"""Token ids exactly as the bert-score package makes them, faster where that is safe.

The package uses the slow tokenizer. The fast one gives other ids for some texts (it does not normalise to NFC, and
the two disagree on which rare characters are blank or punctuation), so it is used only for texts of plain characters,
and only after it has agreed with the slow one on a set of probes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

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


class BertIds:
    """Ids of texts for one model, cut to ``max_length`` tokens including the special ones."""

    def __init__(self, folder: Path, max_length: int) -> None:
        from transformers import AutoTokenizer

        from scoring.models.store import load_tokenizer

        self.max_length = max_length
        self._slow = load_tokenizer(AutoTokenizer, folder, use_fast=False)
        self.pad_id: int = self._slow.pad_token_id
        self.ignored_ids: frozenset[int] = frozenset({self._slow.cls_token_id, self._slow.sep_token_id})
        self._options = self._slow_options()
        self._fast = self._fast_twin(folder)

    @property
    def uses_fast(self) -> bool:
        """Whether plain texts take the fast way."""
        return self._fast is not None

    def encode_all(self, texts: Sequence[str]) -> list[list[int]]:
        """Ids of each text, special tokens included. A text of white space only has the special tokens alone."""
        stripped = [text.strip() for text in texts]
        if self._fast is None:
            return [self._encode_slow(text) for text in stripped]
        plain = [text for text in stripped if self._is_plain(text)]
        fast = iter(self._encode_fast(plain))
        return [next(fast) if self._is_plain(text) else self._encode_slow(text) for text in stripped]

    def _encode_slow(self, text: str) -> list[int]:
        """As ``bert_score.utils.sent_encode``, for a text already stripped."""
        if text == "":
            return list(self._slow.build_inputs_with_special_tokens([]))
        options = {"add_special_tokens": True, "truncation": True, "max_length": self.max_length, **self._options}
        return list(self._slow.encode(text, **options))

    def _encode_fast(self, texts: Sequence[str]) -> list[list[int]]:
        return _encode_with(self._fast, texts, self.max_length) if texts else []

    def _is_plain(self, text: str) -> bool:
        """A special token spelt out in a text ("[SEP]") is left to the slow tokenizer."""
        if text == "" or _PLAIN.fullmatch(text) is None:
            return False
        return not any(token in text for token in self._slow.all_special_tokens)

    def _slow_options(self) -> dict[str, Any]:
        from transformers import GPT2Tokenizer, RobertaTokenizer

        return {"add_prefix_space": True} if isinstance(self._slow, GPT2Tokenizer | RobertaTokenizer) else {}

    def _fast_twin(self, folder: Path) -> Any:
        """The fast tokenizer of a WordPiece model if it agrees with the slow one on every probe, else ``None``."""
        from transformers import BertTokenizer, BertTokenizerFast

        from scoring.models.store import load_tokenizer

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
