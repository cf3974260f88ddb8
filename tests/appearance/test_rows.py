"""What the look at rows of tables finds, and what it lets pass."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from tests.appearance.rows import broken_rows
from tests.system.browsers import chromium

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as opened:
        yield opened


@pytest.mark.parametrize(
    ("style", "found"),
    [
        pytest.param("", [], id="a table"),
        pytest.param("tbody tr { display: grid }", ["가 나"], id="a row that is a grid"),
        pytest.param("td { display: grid }", ["가 나"], id="a cell that is a grid"),
        pytest.param("table, tbody, tr { display: block } thead { display: none }", [], id="a table that is a list"),
        pytest.param("td:last-child { display: none }", [], id="a column that is left out"),
        pytest.param("tbody tr { display: none }", [], id="a row that is hidden"),
    ],
)
def test_rows_that_are_not_laid_out_as_rows_are_found(browser: Browser, style: str, found: list[str]) -> None:
    page = browser.new_page()
    head, row = "<thead><tr><th>ㄱ<th>ㄴ</thead>", "<tr><th>가<td>나"
    page.set_content(f"<!DOCTYPE html><style>{style}</style><table>{head}<tbody>{row}</table>")
    assert broken_rows(page) == found
    page.close()
