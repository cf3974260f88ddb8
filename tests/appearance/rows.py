"""Rows of tables whose cells do not stand under the heads of their columns: something lays them out otherwise."""

from __future__ import annotations

from typing import Final

from playwright.sync_api import Page

BROKEN: Final = r"""() => {
    const isOf = (element, display) => getComputedStyle(element).display === display;
    const tables = [...document.querySelectorAll("table")].filter((table) => isOf(table, "table"));
    const rows = tables.flatMap((table) => [...table.rows]).filter((row) => row.checkVisibility());
    const isSound = (row) => isOf(row, "table-row")
        && [...row.cells].every((cell) => isOf(cell, "table-cell") || isOf(cell, "none"));
    return rows.filter((row) => !isSound(row)).map((row) => row.innerText.replace(/\s+/g, " ").slice(0, 60));
}"""


def broken_rows(page: Page) -> list[str]:
    """The first words of each. A table that is a list on a phone has none there: it is no table as laid out."""
    return list(page.evaluate(BROKEN))
