"""The tokens of one run: every distinct text analysed once by each tokenizer, however many metrics read it.

A worker scores many files against the same references, so what was analysed is remembered from run to run, up to a
bound. A run looks up all its texts before it analyses any: one that is larger than the bound still finds what was kept.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any, Final

from scoring.lru import LruCache
from scoring.text.tokenization import OnShare, Tokenizer, Tokens, tokenizer

TEXT: Final = "text"  # read by metrics that take the text itself: no tokenizer has this name

REMEMBERED: Final = 4_000_000  # of each tokenizer: tokens, and TEXT_SIZE for every text; about 100 MB at most
TEXT_SIZE: Final = 20  # what a text and its place take, in tokens

Memory = LruCache[str, Tokens]
_memories: dict[tuple[type[Tokenizer], int], Memory] = {}


class RunTokens:
    """A table for each tokenizer, filled at a metric's first request. Used by one thread at a time; dropped with its
    run.

    300,000 texts of 13 morphs take 60 MB: a tuple for each text, with one string for each distinct morph.
    """

    def __init__(self) -> None:
        self._tables: dict[str, dict[str, Tokens]] = defaultdict(dict)

    def add(self, name: str, texts: Iterable[str], report: OnShare) -> None:
        """Analyse those of ``texts`` that are new to the tokenizer called ``name``. ``report`` gets the share done."""
        table = self._tables[name]
        missing = [text for text in dict.fromkeys(texts) if text not in table]
        analyser = tokenizer(name)
        if analyser.source is not None:
            self.add(analyser.source, missing, report)
            known = self._tables[analyser.source]
            table.update((text, analyser.view(known[text])) for text in missing)
            return
        memory = _memory_of(analyser)
        table.update((text, tokens) for text in missing if (tokens := memory.get(text)) is not None)
        fresh = [text for text in missing if text not in table]
        for text, tokens in zip(fresh, analyser.tokenize_all(fresh, report), strict=True):
            table[text] = tokens
            memory.put(text, tokens)

    def tokenize(self, name: str) -> Callable[[str], Any]:
        """A function that returns the tokens of a text that was added."""
        return self._tables[name].__getitem__


def remembering(name: str) -> Callable[[str], Any]:
    """The tokens of one text after the other, outside a run; what was analysed is remembered here too."""
    analyser = tokenizer(name)
    if analyser.source is not None:
        read = remembering(analyser.source)
        return lambda text: analyser.view(read(text))
    memory = _memory_of(analyser)

    def tokens_of(text: str) -> Tokens:
        tokens = memory.get(text)
        if tokens is None:
            tokens = analyser.tokenize(text)
            memory.put(text, tokens)
        return tokens

    return tokens_of


def forget() -> None:
    """Remember nothing of earlier runs."""
    _memories.clear()


def _memory_of(analyser: Tokenizer) -> Memory:
    """What this process remembers of a tokenizer; a forked child begins anew, as its tokenizers do."""
    key = (type(analyser), os.getpid())
    return _memories.setdefault(key, LruCache(REMEMBERED, lambda tokens: TEXT_SIZE + len(tokens)))
