"""The scores file: what automatic metrics gave to the systems of a campaign, beside its votes file, so that everybody
can compute which of them agreed with the people. Its labels are those of the votes file. No numpy.

JSON: ``{"format", "campaign", "recipe", "metrics": [{"name", "higher_is_better", "systems": {label: score},
"items": {label: {item: value}}}]}``; ``items`` of a metric without values of items is empty.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from scoring.arena.meta_scores import MetricScores
from scoring.errors import Language, Message, ScoringError, quoted
from scoring.recipes import Recipe, UnknownRecipe, get_recipe
from scoring.signature import canonical_json

FORMAT: Final = "malpan-arena-scores@1"
_KEYS: Final = {"name", "higher_is_better", "systems", "items"}
_WORDS: Final = {
    "not_json": Message("JSON 문서가 아닙니다.", "is not a JSON document."),
    "format": Message(f"지표 점수 파일(format이 {FORMAT})이 아닙니다.", f"is no scores file (format {FORMAT})."),
    "recipe": Message("recipe가 이 판이 아는 채점 방식이 아닙니다.", "recipe is none that this version knows."),
    "metrics": Message("metrics는 지표의 배열이어야 합니다.", "metrics must be an array of metrics."),
    "metric": Message(
        "{place}은(는) name, higher_is_better, systems, items를 가진 객체여야 합니다.",
        "{place} must be an object with name, higher_is_better, systems and items.",
    ),
    "twice": Message("{place}의 이름이 앞의 지표와 같습니다.", "{place} has the name of a metric before it."),
    "number": Message("{place}은(는) 유한한 숫자여야 합니다.", "{place} must be a finite number."),
    "object": Message("{place}은(는) 객체여야 합니다.", "{place} must be an object."),
}


class ScoresInvalid(ScoringError):
    """A file that is no scores file. ``place``: where, such as ``metrics[2].systems.S01``."""

    def __init__(self, code: str, place: str = "") -> None:
        self.code, self.place = code, place
        super().__init__(self.message("en"))

    def message(self, language: Language = "ko") -> str:
        return _WORDS[self.code].filled(language, place=quoted(self.place))


@dataclass(frozen=True, slots=True)
class ScoresFile:
    """``campaign`` as in the votes file; ``metrics`` in the order of the columns of ``recipe``."""

    campaign: Mapping[str, Any]
    recipe: Recipe
    metrics: Sequence[MetricScores]

    def bytes(self) -> bytes:
        """The published file: canonical JSON."""
        return canonical_json(
            {
                "format": FORMAT,
                "campaign": dict(self.campaign),
                "recipe": self.recipe.id,
                "metrics": [asdict(each) for each in self.metrics],
            }
        )


def read_scores(data: bytes) -> ScoresFile:
    """The scores file in ``data``. Raises ``ScoresInvalid``."""
    try:
        raw = json.loads(data.decode("utf-8-sig"))
    except (UnicodeDecodeError, ValueError, RecursionError):
        raise ScoresInvalid("not_json") from None
    if not isinstance(raw, dict) or raw.get("format") != FORMAT or not isinstance(raw.get("campaign"), dict):
        raise ScoresInvalid("format")
    try:
        recipe = get_recipe(str(raw.get("recipe")))
    except UnknownRecipe:
        raise ScoresInvalid("recipe") from None
    if not isinstance(raw.get("metrics"), list):
        raise ScoresInvalid("metrics")
    return ScoresFile(raw["campaign"], recipe, tuple(_metrics(raw["metrics"])))


def _metrics(rows: Sequence[Any]) -> Iterator[MetricScores]:
    names: set[str] = set()
    for at, row in enumerate(rows):
        place = f"metrics[{at}]"
        if not isinstance(row, dict) or row.keys() != _KEYS:
            raise ScoresInvalid("metric", place)
        if not isinstance(row["name"], str) or not isinstance(row["higher_is_better"], bool):
            raise ScoresInvalid("metric", place)
        if row["name"] in names:
            raise ScoresInvalid("twice", place)
        names.add(row["name"])
        systems = _numbers(row["systems"], f"{place}.systems")
        given = _object(row["items"], f"{place}.items")
        items = {label: _numbers(of, f"{place}.items.{label}") for label, of in given.items()}
        yield MetricScores(row["name"], systems, items, row["higher_is_better"])


def _numbers(given: Any, place: str) -> dict[str, float]:
    for name, value in _object(given, place).items():
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            raise ScoresInvalid("number", f"{place}.{name}")
    return dict(given)


def _object(given: Any, place: str) -> dict[str, Any]:
    if not isinstance(given, dict):
        raise ScoresInvalid("object", place)
    return given
