"""Two systems compared pair by pair by a judge that sees both orders of every pair.

An item is asked twice, with the left text first and with the right text first. The system preferred both times wins;
if the choice flips with the order, or is a tie in either, the item is a tie. Equal texts are a tie that nobody need be
asked about. Whether one system wins more often than by chance is an exact two-sided sign test on the items with a
winner, and the interval of its share of them is Wilson's (1927).

A judge that prefers a position so decides nothing, and how much it does is measured: ``order_effect`` is the share of
decided answers for the text that stood first minus that for the second, -1 to 1, and 0 for a fair judge, whichever
system is better, as each comes first equally often. Whether that could be chance is an exact two-sided sign test on
the items whose two answers lean to a position (first twice, or first once and a tie): a fair judge that errs leans to
the first position as often as to the second, as the order of the two answers of an item is then of no account.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, Protocol

from scoring.judging.asking import Tally
from scoring.judging.budget import Ledger
from scoring.judging.judge import Judge, Texts
from scoring.judging.parsing import Judgement
from scoring.judging.prompt_files import Prompt

PROMPT: Final = "preference-1"
BIASED_BELOW: Final = 0.01  # the p-value under which a judge counts as biased
Z_95: Final = 1.959963984540054  # the 97.5 % point of the normal distribution

Winner = Literal["left", "right", "tie"]
_LEANS: Final = {"first": 1, "second": -1}


@dataclass(frozen=True, slots=True)
class Duel:
    """An item: what was asked, and the answers of two systems."""

    item: str
    reference: str
    left: str
    right: str

    @property
    def is_same(self) -> bool:
        """Whether the two texts are equal, white space around them aside."""
        return self.left.strip() == self.right.strip()


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of one duel. ``choices`` with the left text first, then with the right one first: ``first`` and so
    on, ``None`` for an unparsable answer. ``reasons`` are the judge's; ``is_same``: equal texts, not asked about.
    """

    item: str
    winner: Winner
    choices: tuple[str | None, str | None]
    reasons: tuple[str, str] = ("", "")
    is_same: bool = False

    @property
    def is_flip(self) -> bool:
        """Whether a position won both times."""
        return self.choices in (("first", "first"), ("second", "second"))

    @property
    def lean(self) -> int:
        """Above 0 where the two answers together prefer the first position, below 0 the second."""
        return sum(_LEANS.get(choice or "", 0) for choice in self.choices)


@dataclass(frozen=True, slots=True)
class Comparison:
    """All duels. ``p_value``: that a judge without a preference for a position leans so one-sidedly or more."""

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
        return tuple(each.item for each in self.outcomes if None in each.choices and not each.is_same)

    @property
    def flips(self) -> tuple[str, ...]:
        return tuple(each.item for each in self.outcomes if each.is_flip)

    def count(self, winner: Winner) -> int:
        return sum(each.winner == winner for each in self.outcomes)

    @property
    def preference_p(self) -> float:
        """The p-value of as many wins of one system, or more, if both were equally good."""
        left = self.count("left")
        return sign_test(left, left + self.count("right"))

    @property
    def left_share(self) -> tuple[float, float, float]:
        """The share of the left system of the items with a winner, and its 95 % interval; 0.5, 0 and 1 for none."""
        left = self.count("left")
        return wilson(left, left + self.count("right"))

    def votes(self, judge: str, left: str, right: str) -> list[dict[str, str]]:
        """The results as votes of ``judge`` on the systems ``left`` and ``right``."""
        common = {"judge": judge, "left": left, "right": right}
        return [{**common, "item": each.item, "choice": each.winner} for each in self.outcomes]

    def as_dict(self) -> dict[str, Any]:
        share, low, high = self.left_share
        return {
            "items": len(self.outcomes),
            **{name: self.count(name) for name in ("left", "right", "tie")},
            "left_share": share,
            "left_share_low": low,
            "left_share_high": high,
            "preference_p": self.preference_p,
            "flips": len(self.flips),
            "same": sum(each.is_same for each in self.outcomes),
            "unparsable": list(self.unparsable),
            "order_effect": self.order_effect,
            "p_value": self.p_value,
            "is_biased": self.is_biased,
        }


class Answers(Protocol):
    """Where answers are kept as they come, by the key of their question. Used from the thread that asks."""

    def known(self, key: str) -> tuple[Judgement | None] | None:
        """The answer to a question that was asked before, in a tuple of one; ``None`` if it was not."""

    def keep(self, key: str, answer: Judgement | None) -> None:
        """Keep an answer that just came; ``None`` for one that stayed unparsable."""


class MemoryAnswers:
    """Answers of one process."""

    def __init__(self) -> None:
        self._found: dict[str, Judgement | None] = {}

    def known(self, key: str) -> tuple[Judgement | None] | None:
        return (self._found[key],) if key in self._found else None

    def keep(self, key: str, answer: Judgement | None) -> None:
        self._found[key] = answer


def compare(
    judge: Judge,
    duels: Sequence[Duel],
    *,
    prompt: Prompt | None = None,
    answers: Answers | None = None,
    ledger: Ledger | None = None,
    tally: Tally | None = None,
    progress: Callable[[int, int], None] = lambda _done, _of: None,
) -> Comparison:
    """The comparison by ``judge``: two requests an item, less what ``answers`` holds. ``progress`` is told of every
    answer. Raises what ``Judge.ask`` raises.
    """
    prompt, answers = prompt or judge.prompt("preference", PROMPT), answers or MemoryAnswers()
    questions = {
        (number, order): texts
        for number, duel in enumerate(duels)
        if not duel.is_same
        for order, texts in enumerate(orders_of(duel))
    }
    keys = {place: key_of(judge.body(prompt, texts)) for place, texts in questions.items()}
    open_ones = {keys[place]: texts for place, texts in questions.items() if answers.known(keys[place]) is None}
    asked = list(open_ones)
    found = judge.ask(prompt, list(open_ones.values()), ledger=ledger, tally=tally) if asked else ()
    for done, (number, answer) in enumerate(found, start=1):
        answers.keep(asked[number], answer)
        progress(done, len(asked))
    given = {place: _required(answers.known(key)) for place, key in keys.items()}
    return comparison_of(
        [
            Outcome(duel.item, "tie", (None, None), is_same=True)
            if duel.is_same
            else outcome_of(duel.item, given[number, 0], given[number, 1])
            for number, duel in enumerate(duels)
        ]
    )


def orders_of(duel: Duel) -> tuple[Texts, Texts]:
    """The two questions about ``duel``: the left text first, then the right one first."""
    one = {"reference": duel.reference, "first": duel.left, "second": duel.right}
    return one, {"reference": duel.reference, "first": duel.right, "second": duel.left}


def key_of(body: bytes) -> str:
    """What names a question: the hash of its request, in which are model, sampling, prompt and texts."""
    return hashlib.sha256(body).hexdigest()


def _required(found: tuple[Judgement | None] | None) -> Judgement | None:
    assert found is not None, "every question was answered"
    return found[0]


def outcome_of(item: str, left_first: Judgement | None, right_first: Judgement | None) -> Outcome:
    """The result of one item from the answers to both orders."""
    one, other = (None if each is None else str(each.decision) for each in (left_first, right_first))
    winner: Winner = "left" if (one, other) == ("first", "second") else "tie"
    winner = "right" if (one, other) == ("second", "first") else winner
    first, second = ("" if each is None else each.reason for each in (left_first, right_first))
    return Outcome(item, winner, (one, other), (first, second))


def comparison_of(outcomes: Sequence[Outcome]) -> Comparison:
    """The comparison of these outcomes. Without a decided answer the effect is 0; without a lean the p-value is 1."""
    decided = [choice for each in outcomes for choice in each.choices if choice in _LEANS]
    first = sum(choice == "first" for choice in decided)
    leans = [each.lean for each in outcomes if each.lean]
    effect = (2 * first - len(decided)) / len(decided) if decided else 0.0
    return Comparison(tuple(outcomes), effect, sign_test(sum(lean > 0 for lean in leans), len(leans)))


def sign_test(count: int, of: int) -> float:
    """The exact two-sided p-value of ``count`` heads in ``of`` throws of a fair coin."""
    least = max(count, of - count)
    tail = ways = math.comb(of, least)
    for heads in range(least, of):
        ways = ways * (of - heads) // (heads + 1)  # exact: the ways for one more
        tail += ways
    return float(min(1.0, 2 * tail / 2**of))


def wilson(count: int, of: int) -> tuple[float, float, float]:
    """The share ``count`` / ``of`` and its 95 % interval by Wilson's score; 0.5, 0 and 1 where ``of`` is 0."""
    if not of:
        return 0.5, 0.0, 1.0
    share, z2 = count / of, Z_95**2
    middle = (share + z2 / (2 * of)) / (1 + z2 / of)
    half = Z_95 / (1 + z2 / of) * math.sqrt(share * (1 - share) / of + z2 / (4 * of**2))
    return share, max(0.0, middle - half), min(1.0, middle + half)
