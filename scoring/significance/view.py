"""A comparison of two results for people to read, as text or Markdown, and for programs, as JSON.

Text and Markdown show scores on the recipe's scale with its decimals, JSON as stored.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any, Final

from scoring.errors import Language
from scoring.recipes import Column, get_recipe
from scoring.report import ReportFormat
from scoring.report.tables import Row, aligned, figure, indented, markdown_table
from scoring.report.words import Words, word
from scoring.significance.comparison import LEVEL, Comparison, Line
from scoring.significance.resampling import CONFIDENCE, Interval

_INTERVAL_DECIMALS: Final = 4  # a resampled bound has no more digits than that
_NONE: Final = "-"

WORDS: Final[Words] = {
    "title": ("말판 결과 비교", "Malpan comparison of results"),
    "score": ("지표", "Score"),
    "difference": ("차이(B−A)", "B − A"),
    "interval": ("95% 신뢰구간", "95% interval"),
    "p": ("p", "p"),
    "adjusted": ("보정 p", "adjusted p"),
    "verdict": ("판정", "Verdict"),
    "significant": ("유의함", "significant"),
    "no_difference": ("차이 없음", "no difference"),
    "within_spread": ("반복 폭 안", "within the spread"),
    "spread": (
        "반복 폭: 같은 파일을 다시 채점한 값들의 최댓값과 최솟값의 차이입니다. 두 결과의 차이가 그 안이면 다르다고 "
        "하지 않습니다. {spreads}",
        "Spread: the range of the values of one file scored again. A difference within it is not called one. {spreads}",
    ),
    "not_tested": ("검정 안 함", "not tested"),
    "intervals": ("점수별 95% 신뢰구간", "95% interval of each score"),
    "method": ("방법", "Method"),
    "warnings": ("주의", "Warnings"),
    "facts": (
        "문항 {items:,}개, 시행 {trials:,}회, 시드 {seed}",
        "{items:,} items, {trials:,} trials, seed {seed}",
    ),
    "test": (
        "p: 대응표본 근사 무작위화 검정(양측). 문항마다 두 결과를 통째로 맞바꾸어 다시 계산합니다.",
        "p: paired approximate randomisation, two-sided. Items are swapped whole between the two results.",
    ),
    "bootstrap": (
        "신뢰구간: 문항을 복원 추출한 대응 부트스트랩의 백분위수입니다.",
        "Intervals: percentiles of the paired bootstrap over items.",
    ),
    "holm": (
        "판정: 검정한 지표 전체에 Holm 보정을 하여 보정 p가 {level:.2f} 이하이면 유의함입니다. "
        "'차이 없음'은 이 문항들로는 차이를 확인하지 못했다는 뜻입니다.",
        "Verdict: significant if p, corrected by Holm over all tested scores, is at most {level:.2f}. "
        "'No difference' means that these items do not show one.",
    ),
    "other_references": (
        "정답 파일의 내용이 다릅니다({keys}). 차이는 참고만 하십시오.",
        "The references differ ({keys}): the differences are only a hint.",
    ),
    "other_signature": ("서명이 다릅니다({keys}).", "the signatures differ ({keys})."),
    "not_resampled": (
        "파일 전체로만 계산하는 값이라 검정하지 않습니다.",
        "is computed for whole files only, so it is not tested.",
    ),
    "no_statistics": (
        "결과 파일에 문항별 통계가 없습니다. 다시 채점한 결과를 주십시오.",
        "the result files hold no statistics of the items. Score the predictions again.",
    ),
    "too_many_classes": (
        "분류나 값의 종류가 너무 많아 문항을 바꾸어 가며 다시 계산하지 못했습니다.",
        "has too many classes or values to be resampled.",
    ),
    "one_side": ("한쪽 결과에만 있습니다.", "is in one of the results only."),
    "depends": ("검정할 수 없는 지표로 계산한 값입니다.", "is made of scores that cannot be tested."),
    "items_disagree": (
        "저장된 점수가 문항 점수에서 나오지 않습니다. 파일을 고쳤는지 확인하십시오.",
        "the stored score does not follow from the stored items. Check whether a file was changed.",
    ),
}


def render_comparison(
    comparison: Comparison, names: tuple[str, str], form: ReportFormat = "text", language: Language = "ko"
) -> str:
    """``comparison`` in one of the three forms. ``names`` are the names of the two results."""
    if form == "json":
        out = comparison_as_dict(comparison, names, language)
        return json.dumps(out, ensure_ascii=False, allow_nan=False, indent=2) + "\n"
    return _as_markdown(comparison, names, language) if form == "markdown" else _as_text(comparison, names, language)


def comparison_as_dict(comparison: Comparison, names: tuple[str, str], language: Language = "ko") -> dict[str, Any]:
    """Scores as stored; an interval is [low, high]; what was not tested is ``null`` and has a ``reason``."""
    return {
        "recipe": comparison.recipe,
        "a": names[0],
        "b": names[1],
        "items": comparison.items,
        "trials": comparison.trials,
        "seed": comparison.seed,
        "confidence": CONFIDENCE,
        "scores": {line.key: _line_as_dict(line) for line in comparison.lines},
        "differing": {name: list(keys) for name, keys in comparison.differing.items()},
        "warnings": _warnings(comparison, language),
    }


def _line_as_dict(line: Line) -> dict[str, Any]:
    bounds = {}
    for name in ("difference_interval", "a_interval", "b_interval"):
        interval: Interval | None = getattr(line.result, name, None)
        bounds[name] = None if interval is None else list(asdict(interval).values())
    return {
        "a": line.a,
        "b": line.b,
        "difference": line.difference,
        "spread": line.spread,
        **bounds,
        "p": None if line.result is None else line.result.p,
        "p_holm": line.adjusted_p,
        "is_significant": None if line.result is None else line.is_significant,
        "reason": line.reason,
    }


def _as_text(comparison: Comparison, names: tuple[str, str], language: Language) -> str:
    table, intervals = _score_table(comparison, language), _interval_table(comparison, language)
    lines = [*_heading(comparison, names, language), "", *aligned(table, numeric=True)]
    if len(intervals) > 1:
        lines += ["", word("intervals", language, WORDS), *indented(aligned(intervals, numeric=True))]
    for heading, notes in _notes(comparison, language):
        lines += ["", heading, *(f"  - {note}" for note in notes)]
    return "\n".join(lines) + "\n"


def _as_markdown(comparison: Comparison, names: tuple[str, str], language: Language) -> str:
    title, *facts = _heading(comparison, names, language)
    header, *rows = _score_table(comparison, language)
    lines = [f"# {title}", "", *(f"- {fact}" for fact in facts), "", *markdown_table(header, rows)]
    header, *rows = _interval_table(comparison, language)
    if rows:
        lines += ["", f"## {word('intervals', language, WORDS)}", "", *markdown_table(header, rows)]
    for heading, notes in _notes(comparison, language):
        lines += ["", f"## {heading}", "", *(f"- {note}" for note in notes)]
    return "\n".join(lines) + "\n"


def _heading(comparison: Comparison, names: tuple[str, str], language: Language) -> list[str]:
    recipe = get_recipe(comparison.recipe)
    facts = word("facts", language, WORDS)
    return [
        word("title", language, WORDS),
        f"{word('recipe', language)}: {recipe.id} ({recipe.title(language)})",
        f"A: {names[0]}",
        f"B: {names[1]}",
        facts.format(items=comparison.items, trials=comparison.trials, seed=comparison.seed),
    ]


def _score_table(comparison: Comparison, language: Language) -> list[Row]:
    """The header, then a row for each score."""
    keys = ("difference", "interval", "p", "adjusted", "verdict")
    rows: list[Row] = [(word("score", language, WORDS), "A", "B", *(word(key, language, WORDS) for key in keys))]
    for line, column in _with_columns(comparison):
        difference = line.difference
        rows.append(
            (
                column.label(language),
                *(_NONE if value is None else _figure(comparison, column, value) for value in (line.a, line.b)),
                _NONE if difference is None else _figure(comparison, column, difference, is_signed=True),
                *_test_cells(comparison, line, column, language),
            )
        )
    return rows


def _test_cells(comparison: Comparison, line: Line, column: Column, language: Language) -> Row:
    """Interval of the difference, p, adjusted p, verdict."""
    if line.result is None or line.adjusted_p is None:
        return (_NONE, _NONE, _NONE, word("not_tested", language, WORDS))
    interval = _interval(comparison, column, line.result.difference_interval, is_signed=True)
    key = "within_spread" if line.is_within_spread else "significant" if line.is_significant else "no_difference"
    verdict = word(key, language, WORDS)
    return (interval, f"{line.result.p:.4f}", f"{line.adjusted_p:.4f}", verdict)


def _interval_table(comparison: Comparison, language: Language) -> list[Row]:
    """The header, then the intervals of A and B for each score tested."""
    rows: list[Row] = [(word("score", language, WORDS), "A", "B")]
    for line, column in _with_columns(comparison):
        if line.result is not None:
            sides = (line.result.a_interval, line.result.b_interval)
            rows.append((column.label(language), *(_interval(comparison, column, side) for side in sides)))
    return rows


def _notes(comparison: Comparison, language: Language) -> list[tuple[str, list[str]]]:
    method = [word(key, language, WORDS) for key in ("test", "bootstrap")]
    method.append(word("holm", language, WORDS).format(level=LEVEL))
    spreads = [
        f"{column.label(language)} {_figure(comparison, column, line.spread)}"
        for line, column in _with_columns(comparison)
        if line.spread is not None
    ]
    if spreads:
        method.append(word("spread", language, WORDS).format(spreads=", ".join(spreads)))
    warnings = _warnings(comparison, language) or [word("none", language)]
    return [(word("warnings", language, WORDS), warnings), (word("method", language, WORDS), method)]


def _warnings(comparison: Comparison, language: Language) -> list[str]:
    """Why scores were not tested: one line for each reason, with the scores; differing signatures with what differs."""
    warnings = []
    if "references" in comparison.differing:
        text = word("other_references", language, WORDS)
        warnings.append(text.format(keys=", ".join(comparison.differing["references"])))
    if comparison.is_demo:
        warnings.insert(0, word("demo", language))
    labels: dict[str, list[str]] = {}
    for line, column in _with_columns(comparison):
        if line.reason is not None and line.reason not in ("other_references", "other_signature"):
            labels.setdefault(line.reason, []).append(column.label(language))
    for metric, keys in comparison.differing.items():
        if metric != "references":
            text = word("other_signature", language, WORDS)
            warnings.append(f"{metric}: {text.format(keys=', '.join(keys))}")
    return warnings + [f"{', '.join(names)}: {word(reason, language, WORDS)}" for reason, names in labels.items()]


def _with_columns(comparison: Comparison) -> list[tuple[Line, Column]]:
    columns = {column.key: column for column in get_recipe(comparison.recipe).columns}
    return [(line, columns[line.key]) for line in comparison.lines]


def _figure(comparison: Comparison, column: Column, value: float, *, is_signed: bool = False) -> str:
    return figure(get_recipe(comparison.recipe), column, value, is_signed=is_signed)


def _interval(comparison: Comparison, column: Column, interval: Interval, *, is_signed: bool = False) -> str:
    recipe = get_recipe(comparison.recipe)
    decimals = min(recipe.decimals, _INTERVAL_DECIMALS)
    bounds = (
        figure(recipe, column, bound, is_signed=is_signed, decimals=decimals) for bound in (interval.low, interval.high)
    )
    return f"[{', '.join(bounds)}]"
