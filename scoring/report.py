"""A score for people to read, as text or Markdown, and for programs, as the JSON of ``OUT.json``.

Korean first, English complete. Scores are shown on the recipe's scale with its decimals (AI 말평: times 100, seven).
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from scoring.errors import Language, ScoringError
from scoring.recipes import UnknownRecipe, get_recipe, warning_text
from scoring.records import ItemScores, ScoreReport, ScoreWarning
from scoring.signature import ABOUT, is_demo, metric_signatures

ReportFormat = Literal["text", "markdown", "json"]
Row = tuple[str, ...]

_SHOWN_HASH_CHARS: Final = 12

LABELS: Final[dict[str, tuple[str, str]]] = {
    "title": ("말판 채점 결과", "Malpan score report"),
    "recipe": ("채점 방식", "Recipe"),
    "demo": (
        "데모 모델 점수 — 공식 점수와 비교할 수 없습니다",
        "Demo model score — not comparable with official scores",
    ),
    "scores": ("점수", "Scores"),
    "score": ("항목", "Score"),
    "value": ("값", "Value"),
    "change": ("기준 대비", "Change"),
    "coverage": ("응답 현황", "Coverage"),
    "warnings": ("주의", "Warnings"),
    "rule": ("계산 규칙", "Rule"),
    "signature": ("서명", "Signature"),
    "hash": ("서명 해시", "Signature hash"),
    "references": ("정답 파일", "References"),
    "profile": ("모델 프로필", "Model profile"),
    "none": ("없음", "none"),
    "not_comparable": (
        "기준 파일은 서명이 다릅니다(다른 정답, 모델 또는 규칙). 점수 차이는 참고만 하십시오.",
        "The baseline has another signature (other references, models or rules): the change is only a hint.",
    ),
    "items": ("문항 수", "Items"),
    "answered": ("빈 답변이 아닌 문항", "Items with an answer"),
    "reason_gold": ("정답에 이유가 있는 문항", "Items whose reference has a reason"),
    "reason_answered": ("그 가운데 이유를 쓴 문항", "Of these, answered with a reason"),
    "reason_coverage": ("이유 응답률", "Reason coverage"),
    "multiple_choice": ("선다형 문항", "Multiple-choice items"),
    "short_answer": ("단답형 문항", "Short-answer items"),
    "descriptive": ("서술형 문항", "Descriptive items"),
}


class InvalidReport(ScoringError):
    """The file is not an ``OUT.json`` of this program."""


def report_as_dict(report: ScoreReport, language: Language = "ko") -> dict[str, Any]:
    """The content of ``OUT.json``. Every warning carries its text in ``language`` beside its code."""
    return {
        "recipe": report.recipe,
        "final_score": report.final_score,
        "scores": dict(report.scores),
        "coverage": dict(report.coverage),
        "warnings": [
            {"code": warning.code, "params": dict(warning.params), "message": warning_text(warning, language)}
            for warning in report.warnings
        ],
        "items": [{"id": item.id, "scores": dict(item.scores)} for item in report.items],
        "signature": report.signature,
        "signature_hash": report.signature_hash,
    }


def report_as_json(report: ScoreReport, language: Language = "ko") -> str:
    """``report_as_dict`` as indented JSON with Hangul as it is, ending in a line feed."""
    return json.dumps(report_as_dict(report, language), ensure_ascii=False, allow_nan=False, indent=2) + "\n"


def report_from_json(text: str) -> ScoreReport:
    """The report in the text of an ``OUT.json``. Raises ``InvalidReport``."""
    try:
        data = json.loads(text)
        report = ScoreReport(
            recipe=get_recipe(data["recipe"]).id,
            final_score=float(data["final_score"]),
            scores={name: float(value) for name, value in data["scores"].items()},
            coverage=dict(data["coverage"]),
            warnings=tuple(ScoreWarning(warning["code"], warning["params"]) for warning in data["warnings"]),
            items=tuple(ItemScores(item["id"], dict(item["scores"])) for item in data["items"]),
            signature=data["signature"],
            signature_hash=data["signature_hash"],
            metric_signatures=metric_signatures(data["signature"]),
        )
        _view(report, "ko", None)  # whatever a hand has changed in the file shows here, not in the middle of a page
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, UnknownRecipe) as error:
        raise InvalidReport(f"{type(error).__name__}: {error}") from error
    return report


def render(
    report: ScoreReport, form: ReportFormat = "text", language: Language = "ko", baseline: ScoreReport | None = None
) -> str:
    """``report`` in one of the three forms. ``baseline`` adds the change against another report to the first two."""
    if form == "json":
        return report_as_json(report, language)
    view = _view(report, language, baseline)
    return _as_markdown(view) if form == "markdown" else _as_text(view)


@dataclass(frozen=True, slots=True)
class _View:
    """What text and Markdown have in common: words and figures, without layout."""

    title: str
    recipe: str
    banner: str | None
    score_header: Row
    score_rows: list[Row]
    facts: list[tuple[str, list[Row]]]
    notes: list[tuple[str, list[str]]]


def _view(report: ScoreReport, language: Language, baseline: ScoreReport | None) -> _View:
    recipe = get_recipe(report.recipe)
    header = [_label(key, language) for key in ("score", "value", *(("change",) if baseline else ()))]
    warnings = [warning_text(warning, language) for warning in report.warnings]
    if baseline and baseline.signature_hash != report.signature_hash:
        warnings.append(_label("not_comparable", language))
    return _View(
        title=_label("title", language),
        recipe=f"{_label('recipe', language)}: {recipe.id} ({recipe.title(language)})",
        banner=_label("demo", language) if is_demo(report.signature) else None,
        score_header=tuple(header),
        score_rows=_score_rows(report, language, baseline),
        facts=[
            (_label("coverage", language), _coverage_rows(report.coverage, language)),
            (_label("signature", language), _signature_rows(report, language)),
        ],
        notes=[
            (_label("warnings", language), warnings or [_label("none", language)]),
            (_label("rule", language), [recipe.rule(language)]),
        ],
    )


def _score_rows(report: ScoreReport, language: Language, baseline: ScoreReport | None) -> list[Row]:
    recipe = get_recipe(report.recipe)
    rows: list[Row] = []
    for column in recipe.columns:
        if column.key not in report.scores:
            continue
        value = report.scores[column.key]
        row = [column.label(language), f"{value * recipe.scale:.{recipe.decimals}f}"]
        if baseline is not None:
            earlier = baseline.scores.get(column.key)
            row.append("" if earlier is None else f"{(value - earlier) * recipe.scale:+.{recipe.decimals}f}")
        rows.append(tuple(row))
    return rows


def _coverage_rows(coverage: Mapping[str, float | int], language: Language) -> list[Row]:
    return [
        (_label(key, language), f"{100 * value:.1f}%" if isinstance(value, float) else f"{value:,}")
        for key, value in coverage.items()
    ]


def _signature_rows(report: ScoreReport, language: Language) -> list[Row]:
    labels = {column.key: column.label(language) for column in get_recipe(report.recipe).columns}
    about = report.signature[ABOUT]
    rows: list[Row] = [
        (_label("hash", language), report.signature_hash),
        (_label("references", language), about["references_file_sha256"]),
        (_label("profile", language), about["profile"] or _label("none", language)),
    ]
    for metric, part in report.signature["metrics"].items():
        facts = (f"{key}={value}" for key, value in _flat(part) if key != "metric")
        rows.append((labels.get(metric, metric), " · ".join(facts)))
    return rows


def _flat(tree: Mapping[str, Any], prefix: str = "") -> Iterable[tuple[str, str]]:
    """(dotted key, value) of the leaves of ``tree``; long hexadecimal hashes cut to their first characters."""
    for key, value in tree.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", _short(str(value))


def _short(value: str) -> str:
    is_hash = len(value) == 64 and all(character in "0123456789abcdef" for character in value)
    return value[:_SHOWN_HASH_CHARS] if is_hash else value


def _label(key: str, language: Language) -> str:
    korean, english = LABELS.get(key, (key, key))
    return korean if language == "ko" else english


def _as_text(view: _View) -> str:
    lines = [view.title, view.recipe]
    if view.banner:
        lines.append(f"*** {view.banner} ***")
    lines += ["", *_aligned([view.score_header, *view.score_rows], numeric=True)]
    (warnings, rule), (coverage, signature) = view.notes, view.facts
    lines += ["", coverage[0], *_indented(_aligned(coverage[1]))]
    for heading, notes in (warnings, rule):
        lines += ["", heading, *(f"  - {note}" for note in notes)]
    lines += ["", signature[0], *_indented(_aligned(signature[1]))]
    return "\n".join(lines) + "\n"


def _as_markdown(view: _View) -> str:
    lines = [f"# {view.title}", "", view.recipe]
    if view.banner:
        lines += ["", f"> **{view.banner}**"]
    lines += ["", *_markdown_table(view.score_header, view.score_rows)]
    (warnings, rule), (coverage, signature) = view.notes, view.facts
    lines += ["", f"## {coverage[0]}", "", *(f"- {name}: {value}" for name, value in coverage[1])]
    for heading, notes in (warnings, rule):
        lines += ["", f"## {heading}", "", *(f"- {note}" for note in notes)]
    lines += ["", f"## {signature[0]}", "", *(f"- {name}: `{value}`" for name, value in signature[1])]
    return "\n".join(lines) + "\n"


def _markdown_table(header: Row, rows: Sequence[Row]) -> list[str]:
    ruler = ["---", *("---:" for _ in header[1:])]
    return [f"| {' | '.join(cells)} |" for cells in (header, ruler, *rows)]


def _aligned(rows: Sequence[Row], numeric: bool = False) -> list[str]:
    """Rows as columns: the first padded, further ones right-aligned where ``numeric``. Hangul counts two columns."""
    widths = [max(map(display_width, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        cells = [row[0] + " " * (widths[0] - display_width(row[0]))]
        for cell, width in zip(row[1:], widths[1:], strict=True):
            cells.append(" " * (width - display_width(cell) if numeric else 0) + cell)
        lines.append("  ".join(cells).rstrip())
    return lines


def _indented(lines: Iterable[str]) -> list[str]:
    return [f"  {line}" for line in lines]


def display_width(text: str) -> int:
    """Columns ``text`` takes in a terminal: East Asian wide characters take two."""
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)
