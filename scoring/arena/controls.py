"""Bad outputs made by rule: what a judge who reads cannot prefer.

* ``other_item``: an answer to another item.
* ``shuffled``: the words in another order.
* ``cut``: the first third, ending in the middle of a sentence.
* ``looped``: the first words again and again, about as long as the whole.

``rules_for`` says which rules fit a text: the last three need ``FEWEST_WORDS`` words, and words that differ.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from itertools import cycle, islice
from typing import Final, Literal

from scoring.arena.draws import one_of, shuffled

Rule = Literal["other_item", "shuffled", "cut", "looped"]

RULES: Final[tuple[Rule, ...]] = ("other_item", "shuffled", "cut", "looped")
FEWEST_WORDS: Final = 6

_LOOP_WORDS: Final = 3
_TRIES: Final = 100
_ENDS: Final = " .,!?。…;:\"'”’)"


def rules_for(text: str) -> tuple[Rule, ...]:
    """The rules that can make a bad output of ``text``; ``other_item`` also needs an answer to another item."""
    words = text.split()
    if len(words) < FEWEST_WORDS or len(set(words)) <= len(words) // 2:
        return ("other_item",)
    return RULES


def bad_output(rule: str, own: str, others: Sequence[str], rng: random.Random) -> str:
    """What ``rule`` makes of ``own``; ``others`` are answers of the same system to other items.

    It never says the same as ``own`` in the same order. Raises ``ValueError`` for a rule that does not fit.
    """
    if rule not in _MADE or rule not in rules_for(own):
        raise ValueError(f"the rule {rule!r} does not fit this output")
    for _ in range(_TRIES):
        found = _MADE[rule](own, others, rng)
        if found and found.split() != own.split():
            return found
    raise ValueError(f"the rule {rule!r} makes nothing else of this output")


def _other_item(own: str, others: Sequence[str], rng: random.Random) -> str:
    different = [each for each in others if each.strip() and each.split() != own.split()]
    if not different:
        raise ValueError("there is no answer to another item")
    return one_of(rng, different)


def _shuffled(own: str, _others: Sequence[str], rng: random.Random) -> str:
    return " ".join(shuffled(rng, own.split()))


def _cut(own: str, _others: Sequence[str], _rng: random.Random) -> str:
    words = own.split()
    return " ".join(words[: len(words) // 3]).rstrip(_ENDS)


def _looped(own: str, _others: Sequence[str], _rng: random.Random) -> str:
    words = own.split()
    return " ".join(islice(cycle(words[:_LOOP_WORDS]), len(words)))


_MADE: Final[Mapping[str, Callable[[str, Sequence[str], random.Random], str]]] = {
    "other_item": _other_item,
    "shuffled": _shuffled,
    "cut": _cut,
    "looped": _looped,
}
