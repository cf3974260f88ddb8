"""``python -m scoring compare``: the paired significance of two stored results; of more, intervals, ranks and bands."""

from __future__ import annotations

from collections.abc import Sequence

from scoring.cli.files import load_report
from scoring.cli.rank import components_of
from scoring.composite import COMPARED_DECIMALS, Component, composites
from scoring.errors import Language
from scoring.recipes import get_recipe
from scoring.records import ScoreReport
from scoring.report import ReportFormat
from scoring.significance.board import Entrant, board_sureness
from scoring.significance.board_view import render_board
from scoring.significance.comparison import compare
from scoring.significance.view import render_comparison


def compare_files(
    a: str, b: str, form: ReportFormat, language: Language, again_a: Sequence[str] = (), again_b: Sequence[str] = ()
) -> str:
    """The comparison of the results in the files ``a`` and ``b``, rendered. Nothing is scored again.

    ``again_a`` and ``again_b`` are files with repetitions of them. Raises ``CannotUse``, ``DifferentRecipes``,
    ``DifferentItems`` and ``NoRepetition``.
    """
    repeated_a, repeated_b = ([load_report(path) for path in paths] for paths in (again_a, again_b))
    compared = compare(load_report(a), load_report(b), again_a=repeated_a, again_b=repeated_b)
    return render_comparison(compared, (a, b), form, language)


def compare_many(paths: Sequence[str], weights: str | None, form: ReportFormat, language: Language) -> str:
    """How sure the ranks of the results in the files are, rendered: by the final score or, where the recipe or
    ``weights`` name one, by a composite of ranks. A file that is given twice counts twice.

    Raises ``CannotUse``, ``CannotRank`` and ``NotOneBoard``.
    """
    reports = [load_report(path) for path in paths]
    recipe = get_recipe(reports[0].recipe)
    components = components_of(recipe, reports, weights) if weights or recipe.composite else ()
    scores = _scores(reports, components)
    order = sorted(range(len(paths)), key=lambda at: (-round(scores[at], COMPARED_DECIMALS), at))
    names = {at: path if paths.count(path) == 1 else f"{path} ({at + 1})" for at, path in enumerate(paths)}
    sure = board_sureness([Entrant(names[at], reports[at]) for at in order], components=components)
    return render_board(sure, {names[at]: scores[at] for at in order}, form, language)


def _scores(reports: Sequence[ScoreReport], components: Sequence[Component]) -> list[float]:
    """What ranks each of ``reports``."""
    if not components:
        return [report.final_score for report in reports]
    found = composites(dict(enumerate(report.scores for report in reports)), components)
    return [found[at].value for at in range(len(reports))]
