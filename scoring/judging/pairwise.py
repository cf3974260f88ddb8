"""Two systems compared pair by pair by a judge that sees both orders of every pair.

An item is asked twice, with the left text first and with the right text first. The system preferred both times wins;
if the choice flips with the order, or is a tie in either, the item is a tie. So a judge that prefers a position decides
nothing, and how much it does is measured: ``order_effect`` is the share of decided answers for the text that stood
first minus that for the second, -1 to 1, and 0 for a fair judge, whichever system is better, as each stands first
equally often. Whether that could be chance is an exact two-sided sign test on the items that flipped: a fair judge that
errs flips to the first position as often as to the second.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from scoring.judging.asking import Tally
from scoring.judging.budget import Ledger
from scoring.judging.judge import Judge
from scoring.judging.parsing import Judgement
from scoring.judging.prompt_files import Prompt

PROMPT: Final = "preference-1"
BIASED_BELOW: Final = 0.01  # the p-value under which a judge counts as biased

Winner = Literal["left", "right", "tie"]


@dataclass(frozen=True, slots=True)
class Duel:
    """An item: what was asked, and the answers of two systems."""

    item: str
    reference: str
    left: str
    right: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of one duel. ``choices`` with the left text first, then with the right one first: ``first`` and so
    on, ``None`` for an unparsable answer. ``is_flip``: the position won both times.
    """

    item: str
    winner: Winner
    choices: tuple[str | None, str | None]

    @property
    def is_flip(self) -> bool:
        return self.choices in (("first", "first"), ("second", "second"))


@dataclass(frozen=True, slots=True)
class Comparison:
    """All duels. ``p_value``: that a judge without a preference for a position flips so one-sidedly or more."""

    outcomes: tuple[Outcome, ...]
    order_effect: float
    p_value: float

    @property
    def is_biased(self) -> bool:
        """Whether the judge prefers a position, beyond chance."""
        return self.p_value < BIASED_BELOW

    @property
    def unparsable(self) -> tuple[str, ...]:
        """The items with an answer that could not be parsed; they are ties."""
        return tuple(each.item for each in self.outcomes if None in each.choices)

    def votes(self, judge: str, left: str, right: str) -> list[dict[str, str]]:
        """The results as votes of ``judge`` on the systems ``left`` and ``right``."""
        common = {"judge": judge, "left": left, "right": right}
        return [{**common, "item": each.item, "choice": each.winner} for each in self.outcomes]

    def as_dict(self) -> dict[str, Any]:
        wins = {name: sum(each.winner == name for each in self.outcomes) for name in ("left", "right", "tie")}
        return {
            **wins,
            "flips": sum(each.is_flip for each in self.outcomes),
            "unparsable": list(self.unparsable),
            "order_effect": self.order_effect,
            "p_value": self.p_value,
            "is_biased": self.is_biased,
        }


def compare(
    judge: Judge,
    duels: Sequence[Duel],
    *,
    prompt: Prompt | None = None,
    ledger: Ledger | None = None,
    tally: Tally | None = None,
    each_turn: Callable[[], None] = lambda: None,
) -> Comparison:
    """The comparison by ``judge``: two requests an item. Raises what ``Judge.ask`` raises."""
    orders = [
        {"reference": duel.reference, "first": first, "second": second}
        for duel in duels
        for first, second in ((duel.left, duel.right), (duel.right, duel.left))
    ]
    prompt = prompt or judge.prompt("preference", PROMPT)
    answers = dict(judge.ask(prompt, orders, ledger=ledger, tally=tally, each_turn=each_turn))
    outcomes = [
        outcome_of(duel.item, answers[2 * number], answers[2 * number + 1]) for number, duel in enumerate(duels)
    ]
    return comparison_of(outcomes)


def outcome_of(item: str, left_first: Judgement | None, right_first: Judgement | None) -> Outcome:
    """The result of one item from the answers to both orders."""
    one, other = (None if each is None else str(each.decision) for each in (left_first, right_first))
    winner: Winner = "left" if (one, other) == ("first", "second") else "tie"
    return Outcome(item, "right" if (one, other) == ("second", "first") else winner, (one, other))


def comparison_of(outcomes: Sequence[Outcome]) -> Comparison:
    """The comparison of these outcomes. Without a decided answer the effect is 0; without a flip the p-value is 1."""
    decided = [choice for each in outcomes for choice in each.choices if choice in ("first", "second")]
    first = sum(choice == "first" for choice in decided)
    flips = [each.choices[0] for each in outcomes if each.is_flip]
    to_first = sum(choice == "first" for choice in flips)
    effect = (2 * first - len(decided)) / len(decided) if decided else 0.0
    return Comparison(tuple(outcomes), effect, sign_test(to_first, len(flips)))


def sign_test(count: int, of: int) -> float:
    """The exact two-sided p-value of ``count`` heads in ``of`` throws of a fair coin."""
    tail = sum(math.comb(of, heads) for heads in range(max(count, of - count), of + 1))
    return min(1.0, float(2 * tail / 2**of))
