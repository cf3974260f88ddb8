"""A score for people to read, as text or Markdown, and for programs, as the JSON of ``OUT.json``.

In Korean or English. Scores are shown on the recipe's scale with its decimals (AI 말평: times 100, seven).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from scoring.errors import Language, Message, ScoringError, quoted
from scoring.particles import fitted
from scoring.recipes import Column, UnknownRecipe, get_recipe, warning_text
from scoring.recipes.targets import Target, published_sets
from scoring.records import ItemScores, ScoreReport, ScoreWarning
from scoring.report.tables import Row, aligned, figure, indented, markdown_table
from scoring.report.targets import Section, target_sections, targets_as_dict
from scoring.report.words import COVERAGE, word
from scoring.signature import ABOUT, is_demo, metric_signatures

ReportFormat = Literal["text", "markdown", "json"]

NO_TARGETS: Final[Mapping[str, Sequence[Target]]] = {}
_SHOWN_HASH_CHARS: Final = 12


class InvalidReport(ScoringError):
    """The file is not an ``OUT.json`` of this program; ``why`` says it in words."""

    def __init__(self, why: Message) -> None:
        self.why = why
        super().__init__(why.en)

    def message(self, language: Language = "ko") -> str:
        return self.why.text(language)


def report_as_dict(report: ScoreReport, language: Language = "ko") -> dict[str, Any]:
    """The content of ``OUT.json``. Every warning has its text in ``language`` in addition to its code."""
    return {
        "recipe": report.recipe,
        "final_score": report.final_score,
        "scores": dict(report.scores),
        "coverage": dict(report.coverage),
        "warnings": [
            {"code": warning.code, "params": dict(warning.params), "message": warning_text(warning, language)}
            for warning in report.warnings
        ],
        "items": [_item_as_dict(item) for item in report.items],
        "signature": report.signature,
        "signature_hash": report.signature_hash,
    }


def report_as_json(report: ScoreReport, language: Language = "ko") -> str:
    """``report_as_dict`` as indented JSON with unescaped Hangul, ending in a line feed."""
    return _as_json(report_as_dict(report, language))


def _as_json(value: Mapping[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, indent=2) + "\n"


def _item_as_dict(item: ItemScores) -> dict[str, Any]:
    """Without ``statistics`` if there are none, so that files of recipes without corpus metrics stay short."""
    out: dict[str, Any] = {"id": item.id, "scores": dict(item.scores)}
    if item.statistics:
        out["statistics"] = {metric: list(row) for metric, row in item.statistics.items()}
    return out


def _item_from_dict(data: Mapping[str, Any]) -> ItemScores:
    if not isinstance(data["id"], str):
        raise TypeError(f"id {data['id']!r} is no text")
    return ItemScores(
        id=data["id"],
        scores={metric: float(value) for metric, value in data["scores"].items()},
        statistics={metric: tuple(map(float, row)) for metric, row in data.get("statistics", {}).items()},
    )


def _no_number(text: str) -> float:
    raise ValueError(f"{text} is no score")


def report_from_json(text: str) -> ScoreReport:
    """The report in the text of an ``OUT.json``. Raises ``InvalidReport``."""
    try:
        data = json.loads(text, parse_constant=_no_number)
        report = ScoreReport(
            recipe=get_recipe(data["recipe"]).id,
            final_score=float(data["final_score"]),
            scores={name: float(value) for name, value in data["scores"].items()},
            coverage=dict(data["coverage"]),
            warnings=tuple(ScoreWarning(warning["code"], warning["params"]) for warning in data["warnings"]),
            items=tuple(map(_item_from_dict, data["items"])),
            signature=data["signature"],
            signature_hash=data["signature_hash"],
            metric_signatures=metric_signatures(data["signature"]),
        )
        if len({item.id for item in report.items}) < len(report.items):
            raise ValueError("an item is in it twice")
        _view(report, "ko", None)  # a file edited by hand fails here, not in the middle of a page
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, UnknownRecipe) as error:
        raise InvalidReport(_what_is_wrong(error)) from error
    return report


def _what_is_wrong(error: Exception) -> Message:
    if isinstance(error, json.JSONDecodeError):
        return Message("JSON이 아닙니다", "it is no JSON")
    if isinstance(error, UnknownRecipe):
        name = quoted(str(error.recipe_id))
        return Message(f"모르는 채점 방식 «{name}»", f"unknown recipe «{name}»")
    if isinstance(error, KeyError):
        name = quoted(str(error.args[0]))
        return Message(fitted(f"«{name}»이(가) 없습니다"), f"«{name}» is missing")
    return Message("내용이 채점 결과의 꼴이 아닙니다", "its content does not have the form of a result")


def render(
    report: ScoreReport,
    form: ReportFormat = "text",
    language: Language = "ko",
    baseline: ScoreReport | None = None,
    *,
    has_targets: bool = True,
) -> str:
    """``report`` in one of the three forms. ``baseline`` adds the change against another report to the first two.

    ``has_targets``: with the published figures for such a task (``scoring.recipes.targets``), if there are any. The
    JSON is that of ``OUT.json`` plus these.
    """
    targets = published_sets(get_recipe(report.recipe)) if has_targets else {}
    if form == "json":
        return _as_json({**report_as_dict(report, language), **targets_as_dict(targets, report.scores, language)})
    view = _view(report, language, baseline, targets)
    return _as_markdown(view) if form == "markdown" else _as_text(view)


@dataclass(frozen=True, slots=True)
class _View:
    """The common content of text and Markdown, without layout.

    ``tables`` are score rows under an optional heading; then come ``facts``, ``notes``, and the signature.
    """

    title: str
    recipe: str
    banner: str | None
    score_header: Row
    tables: list[tuple[str | None, list[Row]]]
    facts: list[Section]
    notes: list[tuple[str, list[str]]]
    signature: Section


def _view(
    report: ScoreReport,
    language: Language,
    baseline: ScoreReport | None,
    targets: Mapping[str, Sequence[Target]] = NO_TARGETS,
) -> _View:
    recipe = get_recipe(report.recipe)
    header = [word(key, language) for key in ("score", "value", *(("change",) if baseline else ()))]
    warnings = [warning_text(warning, language) for warning in report.warnings]
    if baseline and baseline.signature_hash != report.signature_hash:
        warnings.append(word("not_comparable", language))
    return _View(
        title=word("title", language),
        recipe=f"{word('recipe', language)}: {recipe.id} ({recipe.title(language)})",
        banner=word("demo", language) if is_demo(report.signature) else None,
        score_header=tuple(header),
        tables=_tables(report, language, baseline),
        facts=[
            *target_sections(targets, recipe, report.scores, language),
            (word("coverage", language), _coverage_rows(report.coverage, language)),
        ],
        notes=[
            (word("warnings", language), warnings or [word("none", language)]),
            (word("rule", language), [recipe.rule(language)]),
        ],
        signature=(word("signature", language), _signature_rows(report, language)),
    )


def _tables(
    report: ScoreReport, language: Language, baseline: ScoreReport | None
) -> list[tuple[str | None, list[Row]]]:
    """The scores in board order, those for reference in their own table; no headings if there is only one group."""
    recipe = get_recipe(report.recipe)
    rows: dict[str, list[Row]] = {}
    for column in (*recipe.columns, *recipe.further_columns(report.scores)):
        if column.key in report.scores:
            rows.setdefault(column.group, []).append(_score_row(report, column, language, baseline))
    return [(word(group, language) if len(rows) > 1 else None, listed) for group, listed in rows.items()]


def _score_row(report: ScoreReport, column: Column, language: Language, baseline: ScoreReport | None) -> Row:
    recipe = get_recipe(report.recipe)
    value = report.scores[column.key]
    row = (column.label(language), figure(recipe, column, value))
    if baseline is None:
        return row
    earlier = baseline.scores.get(column.key)
    return (*row, "" if earlier is None else figure(recipe, column, value - earlier, is_signed=True))


def _coverage_rows(coverage: Mapping[str, Any], language: Language) -> list[Row]:
    return [(word(key, language, COVERAGE), _coverage_value(value)) for key, value in coverage.items()]


def _coverage_value(value: object) -> str:
    return f"{100 * value:.1f}%" if isinstance(value, float) else f"{value:,}"


def _signature_rows(report: ScoreReport, language: Language) -> list[Row]:
    recipe = get_recipe(report.recipe)
    about = report.signature[ABOUT]
    rows: list[Row] = [
        (word("hash", language), report.signature_hash),
        (word("references", language), about["references_file_sha256"]),
        (word("profile", language), about["profile"] or word("none", language)),
    ]
    for metric, part in report.signature["metrics"].items():
        facts = (f"{key}={value}" for key, value in leaves(part) if key != "metric")
        rows.append((recipe.metric_label(metric, language), " · ".join(facts)))
    return rows


def leaves(tree: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    """(dotted key, value) of the leaves of ``tree``; long hexadecimal hashes cut to their first characters."""
    for key, value in tree.items():
        if isinstance(value, Mapping):
            yield from leaves(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", _short(str(value))


def _short(value: str) -> str:
    is_hash = len(value) == 64 and all(character in "0123456789abcdef" for character in value)
    return value[:_SHOWN_HASH_CHARS] if is_hash else value


def _as_text(view: _View) -> str:
    lines = [view.title, view.recipe]
    if view.banner:
        lines.append(f"*** {view.banner} ***")
    header, *figures = aligned([view.score_header, *(row for _, rows in view.tables for row in rows)], numeric=True)
    for number, (heading, rows) in enumerate(view.tables):
        table = [header, *figures[: len(rows)]] if number == 0 else figures[: len(rows)]
        lines += ["", *([heading] if heading else []), *(indented(table) if heading else table)]
        del figures[: len(rows)]
    for heading, facts in view.facts:
        lines += ["", heading, *indented(aligned(facts))]
    for heading, notes in view.notes:
        lines += ["", heading, *(f"  - {note}" for note in notes)]
    lines += ["", view.signature[0], *indented(aligned(view.signature[1]))]
    return "\n".join(lines) + "\n"


def _as_markdown(view: _View) -> str:
    lines = [f"# {view.title}", "", view.recipe]
    if view.banner:
        lines += ["", f"> **{view.banner}**"]
    for heading, rows in view.tables:
        lines += ["", *([f"## {heading}", ""] if heading else []), *markdown_table(view.score_header, rows)]
    for heading, facts in view.facts:
        lines += ["", f"## {heading}", "", *(f"- {name}: {value}" for name, value in facts)]
    for heading, notes in view.notes:
        lines += ["", f"## {heading}", "", *(f"- {note}" for note in notes)]
    name, signature = view.signature
    lines += ["", f"## {name}", "", *(f"- {key}: `{value}`" for key, value in signature)]
    return "\n".join(lines) + "\n"
