"""``python -m scoring compare A.json B.json``: the paired significance of two stored results."""

from __future__ import annotations

from scoring.cli.files import load_report
from scoring.errors import Language
from scoring.report import ReportFormat
from scoring.significance.comparison import compare
from scoring.significance.view import render_comparison


def compare_files(a: str, b: str, form: ReportFormat, language: Language) -> str:
    """The comparison of the results in the files ``a`` and ``b``, rendered. Nothing is scored again.

    Raises ``CannotUse``, ``DifferentRecipes`` and ``DifferentItems``.
    """
    return render_comparison(compare(load_report(a), load_report(b)), (a, b), form, language)
