"""The tokens of one run: every distinct text analysed once by each tokenizer, however many metrics read it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any, Final

from scoring.text.tokenization import OnShare, Tokens, tokenizer

TEXT: Final = "text"  # read by metrics that take the text itself: no tokenizer has this name


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
        fresh = [text for text in dict.fromkeys(texts) if text not in table]
        analyser = tokenizer(name)
        if analyser.source is None:
            table.update(zip(fresh, analyser.tokenize_all(fresh, report), strict=True))
            return
        self.add(analyser.source, fresh, report)
        known = self._tables[analyser.source]
        table.update((text, analyser.view(known[text])) for text in fresh)

    def tokenize(self, name: str) -> Callable[[str], Any]:
        """A function that returns the tokens of a text that was added."""
        return self._tables[name].__getitem__
