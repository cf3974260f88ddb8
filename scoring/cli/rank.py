"""``python -m scoring rank A.json B.json``: the composites of stored results, each a weighted mean of ranks.

The formula is that of boards (``scoring.composite``). Nothing is scored again. Files rank together only if they have
one recipe, one set of references, and one signature of every metric that the composite is made of.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from scoring.cli.files import load_report, require_folder_of, write_whole
from scoring.cli.words import say
from scoring.composite import COMPARED_DECIMALS, Component, Composite, composites
from scoring.errors import Language, ScoringError, quoted
from scoring.metrics import METRICS
from scoring.recipes import Recipe, get_recipe
from scoring.records import ScoreReport
from scoring.report import ReportFormat
from scoring.report.tables import Row, aligned, figure, markdown_table
from scoring.report.words import word
from scoring.signature import is_demo

_NONE: Final = "-"
_DECIMALS: Final = 4  # of a rank as 0-1


class CannotRank(ScoringError):
    """The files or the weights make no composite. ``code`` is a key of ``WORDS``, ``params`` fill it."""

    def __init__(self, code: str, **params: str) -> None:
        self.code, self.params = code, params
        super().__init__(self.message("en"))

    def message(self, language: Language = "ko") -> str:
        return say(self.code, language, **self.params)


@dataclass(frozen=True, slots=True)
class Standing:
    """One file in the ranking. ``place`` counts the files with a higher composite, plus 1; equal ones share it."""

    path: str
    place: int
    is_tied: bool
    composite: Composite


@dataclass(frozen=True, slots=True)
class Ranking:
    """The files, best first. ``left_out`` are components of the recipe that no file has a value of."""

    recipe: Recipe
    components: tuple[Component, ...]
    left_out: tuple[str, ...]
    standings: tuple[Standing, ...]
    is_demo: bool


def rank_files(
    paths: Sequence[str], weights: str | None, output: str | None, form: ReportFormat, language: Language
) -> str:
    """The ranking of the results in the files, rendered; stored as JSON at ``output`` too, if that is given.

    Raises ``CannotUse`` and ``CannotRank``.
    """
    if output:
        require_folder_of(output)
    ranking = rank(paths, [load_report(path) for path in paths], weights)
    if output:
        write_whole(output, _as_json(ranking, language))
    if form == "json":
        return _as_json(ranking, language)
    return _as_markdown(ranking, language) if form == "markdown" else _as_text(ranking, language)


def rank(paths: Sequence[str], reports: Sequence[ScoreReport], weights: str | None) -> Ranking:
    """The composites of ``reports``, at least one. ``weights`` such as ``rmse=45,spearman=45``; ``None``: the recipe's.

    Raises ``CannotRank``.
    """
    recipe = get_recipe(reports[0].recipe)
    components = components_of(recipe, reports, weights)
    require_alike(paths, reports, [component.score for component in components])
    found = composites(dict(enumerate(report.scores for report in reports)), components)
    values = {key: round(composite.value, COMPARED_DECIMALS) for key, composite in found.items()}
    standings = [
        Standing(
            paths[key],
            1 + sum(other > values[key] for other in values.values()),
            list(values.values()).count(values[key]) > 1,
            found[key],
        )
        for key in sorted(found, key=lambda key: (-values[key], key))
    ]
    ranked = {part.score for part in found[0].parts}
    left_out = tuple(component.score for component in components if component.score not in ranked)
    is_of_demo = any(is_demo(report.signature) for report in reports)
    return Ranking(recipe, components, left_out, tuple(standings), is_of_demo)


def components_of(recipe: Recipe, reports: Sequence[ScoreReport], weights: str | None) -> tuple[Component, ...]:
    """The components to rank by; which way a score is better is the recipe's to say. Raises ``CannotRank``."""
    if weights is None:
        if not recipe.composite:
            raise CannotRank("weights_needed", recipe=recipe.id, known=_names(reports))
        return recipe.composite
    directions = {score: recipe.higher_is_better(score) for score in recipe.directed_scores}
    directions |= {component.score: component.higher_is_better for component in recipe.composite}
    given = _parsed(weights)
    unknown = [score for score in given if not any(score in report.scores for report in reports)]
    if unknown:
        raise CannotRank("unknown_scores", names=", ".join(map(quoted, unknown)), known=_names(reports))
    undirected = [score for score in given if score not in directions]
    if undirected:
        raise CannotRank("no_direction", names=", ".join(map(quoted, undirected)), known=", ".join(directions))
    return tuple(Component(score, weight, directions[score]) for score, weight in given.items())


def _parsed(weights: str) -> dict[str, float]:
    """The weight of each score. Raises ``CannotRank`` for what is not ``name=number`` with a number above 0."""
    found: dict[str, float] = {}
    for part in weights.split(","):
        name, equals, number = (piece.strip() for piece in part.partition("="))
        try:
            weight = float(number)
        except ValueError:
            weight = 0.0
        if not name or not equals or not 0 < weight < float("inf") or name in found:
            raise CannotRank("bad_weights", part=quoted(part))
        found[name] = weight
    return found


def _names(reports: Sequence[ScoreReport]) -> str:
    return ", ".join(dict.fromkeys(name for report in reports for name in report.scores))


def require_alike(paths: Sequence[str], reports: Sequence[ScoreReport], scores: Sequence[str]) -> None:
    """Raise ``CannotRank`` unless the reports may rank together by ``scores``."""
    first = reports[0]
    known: dict[str, tuple[str, Any]] = {}  # the first file with each metric, and the metric's signature there
    for path, other in zip(paths, reports, strict=True):
        files = {"a": paths[0], "b": path}
        if other.recipe != first.recipe:
            raise CannotRank("other_recipe", **files, recipe_a=first.recipe, recipe_b=other.recipe)
        if other.signature["references"] != first.signature["references"]:
            raise CannotRank("other_references", **files)
        for name, signature in sorted(other.signature["metrics"].items()):
            before, expected = known.setdefault(name, (path, signature))
            if signature != expected and _takes_part(name, scores):
                raise CannotRank("other_metrics", a=before, b=path, metrics=name)
    for name, (path, _signature) in sorted(known.items()):
        without = [each for each, other in zip(paths, reports, strict=True) if name not in other.signature["metrics"]]
        if without and not set(METRICS[name].score_names).isdisjoint(scores):
            raise CannotRank("missing_metrics", a=path, b=without[0], metrics=name)


def _takes_part(metric: str, scores: Sequence[str]) -> bool:
    """Whether one of ``scores`` is of ``metric``, or made of several metrics."""
    own = {name for kind in METRICS.values() for name in kind.score_names}
    return any(score in METRICS[metric].score_names or score not in own for score in scores)


# --- what people and programs read ------------------------------------------------------------------------------------
def _as_json(ranking: Ranking, language: Language) -> str:
    out: dict[str, Any] = {
        "recipe": ranking.recipe.id,
        "formula": say("rank_formula", language),
        "components": [
            {"score": each.score, "weight": each.weight, "higher_is_better": each.higher_is_better}
            for each in ranking.components
        ],
        "left_out": list(ranking.left_out),
        "is_demo": ranking.is_demo,
        "entries": [_entry(standing) for standing in ranking.standings],
    }
    return json.dumps(out, ensure_ascii=False, allow_nan=False, indent=2) + "\n"


def _entry(standing: Standing) -> Mapping[str, Any]:
    parts = {
        part.score: {"value": part.value, "rank": part.rank, "normalised": part.normalised}
        for part in standing.composite.parts
    }
    composite = standing.composite.value
    return {
        "file": standing.path,
        "rank": standing.place,
        "is_tied": standing.is_tied,
        "composite": composite,
        "parts": parts,
    }


def _as_text(ranking: Ranking, language: Language) -> str:
    title, *notes = _notes(ranking, language)
    header, *rows = _table(ranking, language)
    lines = [title, "", *aligned([header, *rows], numeric=True), "", *(f"  - {note}" for note in notes)]
    return "\n".join(lines) + "\n"


def _as_markdown(ranking: Ranking, language: Language) -> str:
    title, *notes = _notes(ranking, language)
    header, *rows = _table(ranking, language)
    lines = [f"# {title}", "", *markdown_table(header, rows), "", *(f"- {note}" for note in notes)]
    return "\n".join(lines) + "\n"


def _notes(ranking: Ranking, language: Language) -> list[str]:
    """The title, then how the composites are made and what to know of them."""
    weights = ", ".join(f"{each.score} {each.weight:g}" for each in ranking.components)
    notes = [
        f"{say('rank_title', language)}: {ranking.recipe.id} ({ranking.recipe.title(language)})",
        say("rank_formula", language),
        say("rank_weights", language, weights=weights),
    ]
    if ranking.left_out:
        notes.append(say("rank_left_out", language, names=", ".join(ranking.left_out)))
    notes.append(say("rank_ties", language))
    return [*notes, word("demo", language)] if ranking.is_demo else notes


def _table(ranking: Ranking, language: Language) -> list[Row]:
    """The header, then a row for each file, on the scale of the recipe: its composite, and of each component value,
    rank and rank as 0-1.
    """
    recipe = ranking.recipe
    columns = {column.key: column for column in recipe.columns}
    scores = [part.score for part in ranking.standings[0].composite.parts]
    names = [say(key, language) for key in ("rank_file", "rank_place", "rank_composite")]
    of_part = say("rank_rank", language), say("rank_normalised", language)
    rows: list[Row] = [(*names, *(cell for score in scores for cell in (columns[score].label(language), *of_part)))]
    for standing in ranking.standings:
        composite = f"{standing.composite.value * recipe.scale:.{recipe.decimals}f}"
        cells = [standing.path, f"{standing.place}{'=' if standing.is_tied else ''}", composite]
        for part in standing.composite.parts:
            value = _NONE if part.value is None else figure(recipe, columns[part.score], part.value)
            cells += [value, f"{part.rank:g}", f"{part.normalised:.{_DECIMALS}f}"]
        rows.append(tuple(cells))
    return rows
