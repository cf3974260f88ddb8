"""Tables as CSV files whose cells a spreadsheet does not run as formulas."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, Final

from django.http import HttpResponse

from malpan.core.times import KST

_FORMULA_STARTS: Final = ("=", "+", "-", "@", "＝", "＋", "－", "＠")  # the wide ones start a formula in Korean Excel


def csv_response(file_name: str, header: Sequence[Any], rows: Iterable[Sequence[Any]]) -> HttpResponse:
    """A download of ``header`` and ``rows``: UTF-8 with a byte order mark for Excel."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow([safe_cell(cell) for cell in header])
    writer.writerows([safe_cell(cell) for cell in row] for row in rows)
    response = HttpResponse("\ufeff" + text.getvalue(), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{file_name}"'
    response["X-Content-Type-Options"] = "nosniff"
    return response


def safe_cell(value: Any) -> str:
    """``value`` as a cell. A text that a spreadsheet would read as a formula is marked as text; a number is not.

    Times are in KST and in ISO 8601, floats as Python writes them, ``None`` empty.
    """
    if value is None:
        return ""
    if isinstance(value, bool | int | float):
        return str(value)
    if isinstance(value, datetime):
        return value.astimezone(KST).isoformat(timespec="seconds")
    text = str(value)
    is_formula = text.lstrip().startswith(_FORMULA_STARTS) or text[:1] in {"\t", "\r", "\n"}
    return f"'{text}" if is_formula else text
