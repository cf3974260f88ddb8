"""Whether a text repeats itself, as a model does when its decoding is stuck: by white-space words, and inside words.

A text loops when a run of four words occurs three times or more, or when repeats of such runs make up more than 30 % of
its words; a long word also when a short piece of it is repeated several times in a row.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Final

RUN_WORDS: Final = 4
OFTEN: Final = 3
REPEATED_SHARE: Final = 0.3
LONG_WORD: Final = 30
_STUCK: Final = re.compile(r"(.{2,12}?)\1{4,}")  # five times in a row


def is_loop(text: str) -> bool:
    """Whether ``text`` loops by the rule above. Time is linear in the text."""
    words = text.split()
    if any(len(word) >= LONG_WORD and _STUCK.search(word) for word in words):
        return True
    runs = [tuple(words[start : start + RUN_WORDS]) for start in range(len(words) - RUN_WORDS + 1)]
    if len(set(runs)) == len(runs):
        return False
    return max(Counter(runs).values()) >= OFTEN or repeated_share(runs) > REPEATED_SHARE


def repeated_share(runs: Sequence[tuple[str, ...]]) -> float:
    """Share of the words that are in a repeat of an earlier run; ``runs`` are those of every position, at least one.

    The first occurrence of a run is no repeat: a sentence written twice is half repeated.
    """
    seen: set[tuple[str, ...]] = set()
    again: set[int] = set()
    for start, run in enumerate(runs):
        if run in seen:
            again.update(range(start, start + RUN_WORDS))
        seen.add(run)
    return len(again) / (len(runs) + RUN_WORDS - 1)
