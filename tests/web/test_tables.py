"""Every table says what it is of before its first row: a caption, in the reader's language."""

from __future__ import annotations

import re

from tests.paths import ROOT

TEMPLATES = ROOT / "platform/malpan/web/templates"
COMMENTS = re.compile(r"\{#.*?#\}|\{% comment %\}.*?\{% endcomment %\}", re.S)
TABLE = re.compile(r"<table\b(?:\{[{%].*?[}%]\}|[^>{])*>\s*(?P<next>\S+)", re.S)
WHOLE = re.compile(r"<table\b.*?</table>", re.S)
CAPTION = re.compile(r"<caption\b[^>]*>(.*?)</caption>", re.S)


def test_every_table_begins_with_a_caption() -> None:
    without, count = [], 0
    for path in sorted(TEMPLATES.rglob("*.html")):
        source = COMMENTS.sub("", path.read_text(encoding="utf-8"))
        tables = list(TABLE.finditer(source))
        assert len(tables) == source.count("<table"), path
        without += [f"{path.name}: {found[0]}" for found in tables if not found["next"].startswith("<caption")]
        count += len(tables)
    assert without == []
    assert count > 70  # the search finds them


def test_no_caption_is_empty() -> None:
    texts = [
        text.strip() for path in TEMPLATES.rglob("*.html") for text in CAPTION.findall(path.read_text(encoding="utf-8"))
    ]
    assert all(texts)


def test_wide_tables_of_rescorings_and_campaigns_fold_on_a_phone() -> None:
    """And their cells keep their roles: a row that is shown as a list is none any more to a screen reader."""
    paths = [*TEMPLATES.glob("manage/rescoring_*.html"), *TEMPLATES.glob("manage/arena_*.html")]
    sources = [path.read_text(encoding="utf-8") for path in (*paths, TEMPLATES / "pages/campaign_result.html")]
    wide = [table for each in sources for table in WHOLE.findall(each) if table.count('scope="col"') > 4]
    assert [table for table in wide if not table.startswith('<table class="table folded')] == []
    assert [table for table in wide if table.count("<td") != table.count('role="cell"')] == []
    assert len(wide) > 8
