"""Practice items that an organiser wrote: outputs, the judgement that is expected, and what a judge is told afterwards.

They take the place of the practice that is made by rule from the references (``arena.practice``). The file is a JSON
array of ``{"input", "reference", "outputs": [text, …], "expected", "feedback_ko", "feedback_en"}``; ``reference``,
``feedback_en`` and, where no input is shown, ``input`` may be missing. ``expected`` by protocol:

* pairwise ``{"choice": "first"}``, or a list of choices that are all right;
* rubric ``{"scores": {key: number or [lowest, highest]}}`` for some criteria or all;
* ranking ``{"ranks": [1, 2, 2]}`` in the order of the outputs;
* errors ``{"score": number or [lowest, highest]}``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from django.db import transaction

from malpan.arena.errors import PracticeInvalid, PracticeProblem, ValueInvalid
from malpan.arena.locks import lock_draft
from malpan.arena.models import Campaign
from malpan.arena.values import HIGHEST_SCORE, clean_value
from malpan.competitions.permissions import Permission, require
from malpan.core import audit
from scoring.arena.votes import CHOICES

if TYPE_CHECKING:
    from malpan.accounts.models import User

ITEMS_MAX: Final = 20
TEXT_MAX: Final = 20_000  # characters of an input, a reference or an output
FEEDBACK_MAX: Final = 2_000
PROBLEMS_MAX: Final = 20
_KNOWN: Final = ("input", "reference", "outputs", "expected", "feedback_ko", "feedback_en")

Item = dict[str, Any]


def read_practice(data: bytes, campaign: Campaign) -> list[Item]:
    """The items in ``data``, as ``Campaign.practice`` has them. Raises ``PracticeInvalid``."""
    try:
        given = json.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise PracticeInvalid([PracticeProblem("utf8")]) from None
    except json.JSONDecodeError as error:
        raise PracticeInvalid([PracticeProblem("json", {"line": error.lineno, "column": error.colno})]) from None
    except (ValueError, RecursionError):
        raise PracticeInvalid([PracticeProblem("json", {"line": 1, "column": 1})]) from None
    return clean_practice(given, campaign)


def clean_practice(given: Any, campaign: Campaign) -> list[Item]:
    """``given`` as ``Campaign.practice`` has it, if it fits the protocol, the rubric and the number of outputs of
    ``campaign``. Raises ``PracticeInvalid`` with all that is wrong.
    """
    if not isinstance(given, list) or not given:
        raise PracticeInvalid([PracticeProblem("array")])
    if len(given) > ITEMS_MAX:
        raise PracticeInvalid([PracticeProblem("many", {"count": len(given), "most": ITEMS_MAX})])
    checks = [_Check(campaign, number, row) for number, row in enumerate(given, start=1)]
    items = [check.item() for check in checks]
    problems = [problem for check in checks for problem in check.problems]
    if problems:
        raise PracticeInvalid(problems[:PROBLEMS_MAX], total=len(problems))
    return items


def set_practice(*, campaign: Campaign, actor: User, data: bytes) -> Campaign:
    """Give a draft the practice items in ``data``, instead of those that it had.

    Raises ``ManageNotFound`` and ``NotAllowed`` without the permission to manage, ``CampaignOpened``,
    ``PracticeInvalid``.
    """
    return _save(campaign, actor, lambda fresh: read_practice(data, fresh))


def remove_practice(*, campaign: Campaign, actor: User) -> Campaign:
    """Let the practice of a draft be made by rule again. Raises as ``set_practice``."""
    return _save(campaign, actor, lambda _fresh: [])


def _save(campaign: Campaign, actor: User, items: Any) -> Campaign:
    require(actor, campaign.track.competition, Permission.MANAGE)
    with transaction.atomic():
        fresh = lock_draft(campaign.pk)
        before = len(fresh.practice)
        fresh.practice = items(fresh)
        fresh.save(update_fields=["practice"])
        after = {"items": len(fresh.practice)}
        audit.record(actor=actor, action="campaign.set_practice", obj=fresh, before={"items": before}, after=after)
    return fresh


def is_as_expected(expected: Mapping[str, Any], value: Mapping[str, Any]) -> bool:
    """Whether a judgement is one that was expected."""
    if "choice" in expected:
        return value.get("choice") in expected["choice"]
    if "ranks" in expected:
        return value.get("ranks") == expected["ranks"]
    if "scores" in expected:
        given = value.get("scores", {})
        return all(low <= given.get(key, low - 1) <= high for key, (low, high) in expected["scores"].items())
    low, high = expected["score"]
    return bool(low <= value.get("score", low - 1) <= high)


@dataclass
class _Check:
    """One item of the file, with what is wrong with it."""

    campaign: Campaign
    number: int
    given: Any
    problems: list[PracticeProblem] = field(default_factory=list)

    def item(self) -> Item:
        """The item; incomplete where there are problems."""
        if not isinstance(self.given, Mapping):
            self._add("object")
            return {}
        for name in sorted(set(self.given) - set(_KNOWN)):
            self._add("unknown", str(name)[:40])
        texts = {
            "input": self._text("input", TEXT_MAX, is_needed=self.campaign.shows_input),
            "reference": self._text("reference", TEXT_MAX),
            "feedback_ko": self._text("feedback_ko", FEEDBACK_MAX, is_needed=True),
            "feedback_en": self._text("feedback_en", FEEDBACK_MAX),
        }
        outputs = self._outputs()
        return {**texts, "outputs": outputs, "expected": self._expected(outputs) if outputs else {}}

    def _add(self, code: str, place: str = "", **params: Any) -> None:
        self.problems.append(PracticeProblem(code, params, self.number, place))

    def _text(self, name: str, most: int, *, is_needed: bool = False) -> str:
        return self._checked(self.given.get(name, ""), name, most, is_needed=is_needed)

    def _checked(self, value: Any, place: str, most: int, *, is_needed: bool) -> str:
        if not isinstance(value, str) or "\x00" in value:
            self._add("text", place)
            return ""
        if is_needed and not value.strip():
            self._add("empty", place)
        if len(value) > most:
            self._add("long", place, most=most)
        return value.strip()

    def _outputs(self) -> list[str]:
        given = self.given.get("outputs")
        wanted = self.campaign.group_size
        if not isinstance(given, list) or len(given) != wanted:
            self._add("outputs", "outputs", count=wanted)
            return []
        return [self._checked(text, f"outputs[{place}]", TEXT_MAX, is_needed=True) for place, text in enumerate(given)]

    def _expected(self, outputs: Sequence[str]) -> dict[str, Any]:
        given = self.given.get("expected")
        name = {"pairwise": "choice", "rubric": "scores", "ranking": "ranks", "errors": "score"}[self.campaign.protocol]
        if not isinstance(given, Mapping) or set(given) != {name}:
            self._add("expected", "expected", name=name)
            return {}
        found = {
            "choice": self._choices,
            "scores": self._scores,
            "ranks": lambda ranks: self._ranks(outputs, ranks),
            "score": lambda score: self._range(score, "expected.score", 0, HIGHEST_SCORE),
        }[name](given[name])
        return {name: found}

    def _choices(self, given: Any) -> list[str]:
        found = given if isinstance(given, list) else [given]
        if not found or not all(isinstance(each, str) and each in CHOICES for each in found):
            self._add("choice", "expected.choice", known=", ".join(CHOICES))
        return found

    def _scores(self, given: Any) -> dict[str, list[int]]:
        scales = {row["key"]: (row["low"], row["high"]) for row in self.campaign.rubric.criteria}
        if not isinstance(given, Mapping) or not given or not set(given) <= set(scales):
            self._add("criteria", "expected.scores", known=", ".join(scales))
            return {}
        return {key: self._range(score, f"expected.scores.{key}", *scales[key]) for key, score in given.items()}

    def _range(self, given: Any, place: str, low: int, high: int) -> list[int]:
        found = given if isinstance(given, list) else [given, given]
        is_sound = len(found) == 2 and all(
            isinstance(each, int) and not isinstance(each, bool) and low <= each <= high for each in found
        )
        if not is_sound or found[0] > found[1]:
            self._add("range", place, low=low, high=high)
            return [low, high]
        return list(found)

    def _ranks(self, outputs: Sequence[str], given: Any) -> list[int]:
        try:
            found: list[int] = clean_value("ranking", self.campaign.rubric, outputs, {"ranks": given})["ranks"]
        except ValueInvalid:
            self._add("ranks", "expected.ranks", count=len(outputs))
            return []
        return found


def shown_labels(item: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The outputs of an item by labels that no system has, in the order of the file, which is the one shown."""
    return ((f"P{place:02d}", text) for place, text in enumerate(item["outputs"], start=1))
