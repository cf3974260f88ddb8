"""A board and a result as a browser prints them: a table with its head on every sheet, and nothing to press."""

from __future__ import annotations

import os
import re
import uuid
from io import BytesIO
from pathlib import Path

import pytest
from playwright.sync_api import Page
from pypdf import PdfReader

from tests.system.browsers import log_in_somebody
from tests.system.make_long_board import TEAMS, score_of
from tests.system.stack import Stack

pytestmark = [pytest.mark.browser, pytest.mark.services]

TO_PRESS = "button, .button, nav a, input[type=search], select"


def sheets_of(page: Page, path: Path) -> list[str]:
    """The texts of the sheets, without spaces. With PICTURES in the environment the paper is at ``path``."""
    paper = page.pdf(format="A4")
    if "PICTURES" in os.environ:
        path.write_bytes(paper)
    return ["".join(sheet.extract_text().split()) for sheet in PdfReader(BytesIO(paper)).pages]


def assert_nothing_to_press(page: Page) -> None:
    page.emulate_media(media="print")
    shown = [each.inner_text() for each in page.locator(TO_PRESS).all() if each.is_visible()]
    assert shown == []


def test_a_board_and_a_result_are_printed_whole(page: Page, stack: Stack, tmp_path: Path) -> None:
    email = log_in_somebody(page, stack)
    made = stack.call("tests.system.make_long_board", "prepare", f"paper-{uuid.uuid4().hex[:8]}", email)
    page.goto(f"{stack.url}/competitions/{made['slug']}/board/")
    sheets = sheets_of(page, tmp_path / "board.pdf")
    tables = [sheet for sheet in sheets if "이웃팀" in sheet]
    assert len(tables) > 1
    assert all("팀최종점수" in sheet for sheet in tables), "the head of the table"
    for number in range(1, TEAMS + 1):
        line = rf"이웃팀{number}(−\d+\.\d\d)?{100 * score_of(number):.4f}"  # between: the gap to the one above
        assert sum(len(re.findall(line, sheet)) for sheet in tables) == 1, line
    assert "표전체를CSV로" not in "".join(sheets)
    assert_nothing_to_press(page)
    assert page.locator(".board tbody tr").first.evaluate("row => getComputedStyle(row).display") == "table-row"

    page.emulate_media(media="null")
    page.goto(f"{stack.url}/competitions/{made['slug']}/submissions/")
    page.get_by_role("table", name="내 제출").get_by_role("link", name=made["files"][1]).click()
    page.wait_for_load_state()
    [sheet, *_rest] = sheets_of(page, tmp_path / "result.pdf")
    assert "채점완료" in sheet
    assert "70.0000000" in sheet
    assert_nothing_to_press(page)
