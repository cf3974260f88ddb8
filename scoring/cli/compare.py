"""``python -m scoring compare A.json B.json``: the paired significance of two stored results."""

from __future__ import annotations

from collections.abc import Sequence

from scoring.cli.files import load_report
from scoring.errors import Language
from scoring.report import ReportFormat
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
