"""How sure the ranks of several results are, for people to read, as text or Markdown, and for programs, as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from scoring.composite import Component
from scoring.errors import Language
from scoring.recipes import Recipe, get_recipe
from scoring.report import ReportFormat
from scoring.report.tables import Row, aligned, markdown_table
from scoring.report.words import Words, word
from scoring.significance.board import COMPOSITE, FINAL_SCORE, BoardSureness, Sureness
from scoring.significance.resampling import Interval
from scoring.significance.view import WORDS as PAIR_WORDS

_NONE: Final = "-"
_DECIMALS: Final = 4

WORDS: Final[Words] = {
    "title": ("말판 순위의 신뢰도", "Malpan: how sure the ranks are"),
    "file": ("결과", "Result"),
    "rank": ("순위", "Rank"),
    "score": ("점수", "Score"),
    "interval": ("95% 신뢰구간", "95% interval"),
    "places": ("순위의 95% 구간", "95% interval of the rank"),
    "band": ("동률 구간", "Band"),
    "above": ("윗순위와의 보정 p", "adjusted p to the rank above"),
    "facts": (
        "문항 {items:,}개, 시행 {trials:,}회, 시드 {seed}, 검정한 쌍 {pairs:,}개",
        "{items:,} items, {trials:,} trials, seed {seed}, {pairs:,} pairs tested",
    ),
    "bootstrap": (
        "구간: 문항을 복원 추출한 부트스트랩의 백분위수입니다. 모든 결과가 같은 문항을 뽑습니다.",
        "Intervals: percentiles of the bootstrap over items; all results draw the same items.",
    ),
    "test": (
        "동률 구간: 가장 높은 결과부터, 그 결과와 유의하게 다르지 않은 결과를 묶습니다(대응표본 근사 무작위화 검정, "
        "모든 쌍에 Holm 보정, 유의수준 {level:.2f}).",
        "Bands, from the best result: all that do not differ significantly from it (paired approximate randomisation, "
        "Holm's correction over all pairs, level {level:.2f}).",
    ),
    "not_ranked": (
        "순위는 문항을 다시 뽑아 계산할 수 없습니다: {why}",
        "Ranks cannot be resampled: {why}",
    ),
    "too_large": (
        "문항과 결과가 너무 많습니다.",
        "there are too many items and results.",
    ),
}


def render_board(
    sure: BoardSureness, scores: Mapping[str, float], form: ReportFormat = "text", language: Language = "ko"
) -> str:
    """``sure`` in one of the three forms; ``scores`` are what the results rank by, by name, the best first."""
    if form == "json":
        return json.dumps(board_as_dict(sure, scores), ensure_ascii=False, allow_nan=False, indent=2) + "\n"
    header, *rows = _table(sure, scores, language)
    title = word("title", language, WORDS)
    facts = word("facts", language, WORDS).format(
        items=sure.items, trials=sure.trials, seed=sure.seed, pairs=sure.pairs
    )
    recipe = get_recipe(sure.recipe)
    heading = [f"{word('recipe', language)}: {recipe.id} ({recipe.title(language)})", facts]
    notes = _notes(sure, language)
    if form == "markdown":
        lines = [f"# {title}", "", *(f"- {each}" for each in heading), "", *markdown_table(header, rows), ""]
        return "\n".join([*lines, *(f"- {note}" for note in notes)]) + "\n"
    lines = [title, *heading, "", *aligned([header, *rows], numeric=True), "", *(f"  - {note}" for note in notes)]
    return "\n".join(lines) + "\n"


def board_as_dict(sure: BoardSureness, scores: Mapping[str, float]) -> dict[str, Any]:
    """Scores as stored; an interval is [low, high]; what there is not is ``null``."""
    return {
        "recipe": sure.recipe,
        "components": [_component(each) for each in sure.components],
        "items": sure.items,
        "trials": sure.trials,
        "seed": sure.seed,
        "level": sure.level,
        "confidence": sure.confidence,
        "pairs": sure.pairs,
        "reason": sure.reason,
        "results": [_entry(place, each, scores[each.name]) for place, each in enumerate(sure.entrants, 1)],
    }


def _component(component: Component) -> dict[str, Any]:
    return {
        "score": component.score,
        "weight": float(component.weight),
        "higher_is_better": component.higher_is_better,
    }


def _entry(place: int, each: Sureness, score: float) -> dict[str, Any]:
    return {
        "file": each.name,
        "rank": place,
        "score": score,
        "intervals": {name: [interval.low, interval.high] for name, interval in each.intervals.items()},
        "rank_interval": None if each.places is None else [each.places.best, each.places.worst],
        "band": each.band,
        "above_p": each.above_p,
    }


def _table(sure: BoardSureness, scores: Mapping[str, float], language: Language) -> list[Row]:
    keys = ("file", "rank", "score", "interval", "places", "band", "above")
    key = COMPOSITE if sure.components else FINAL_SCORE
    recipe = get_recipe(sure.recipe)
    rows: list[Row] = [tuple(word(each, language, WORDS) for each in keys)]
    for place, each in enumerate(sure.entrants, 1):
        rows.append(
            (
                each.name,
                str(place),
                _figure(recipe, scores[each.name], recipe.decimals),
                _interval(recipe, each.intervals.get(key)),
                _NONE if each.places is None else f"{each.places.best}–{each.places.worst}",
                _NONE if each.band is None else str(each.band),
                _NONE if each.above_p is None else f"{each.above_p:.4f}",
            )
        )
    return rows


def _interval(recipe: Recipe, interval: Interval | None) -> str:
    if interval is None:
        return _NONE
    decimals = min(recipe.decimals, _DECIMALS)
    return f"[{_figure(recipe, interval.low, decimals)}, {_figure(recipe, interval.high, decimals)}]"


def _figure(recipe: Recipe, value: float, decimals: int) -> str:
    return f"{value * recipe.scale:.{decimals}f}"


def _notes(sure: BoardSureness, language: Language) -> list[str]:
    notes = [word("bootstrap", language, WORDS), word("test", language, WORDS).format(level=sure.level)]
    if sure.reason is not None:
        why = word(sure.reason, language, WORDS if sure.reason in WORDS else PAIR_WORDS)
        notes.append(word("not_ranked", language, WORDS).format(why=why))
    return notes
