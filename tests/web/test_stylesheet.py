"""The style sheets: contrast in both schemes, tokens that exist, nothing from elsewhere."""

from __future__ import annotations

import re

import pytest

from malpan.competitions.models import Competition
from malpan.web.plots.matrix import SHADES
from tests.paths import ROOT

SHEETS = ROOT / "platform/malpan/web/static/web"
ALL_CSS = "\n".join(path.read_text(encoding="utf-8") for path in sorted(SHEETS.glob("*.css")))
TEXT_PAIRS = [
    ("place-text", "place-1"),
    ("place-text", "place-2"),
    ("place-text", "place-3"),
    ("text", "surface"),
    ("text", "surface-sunken"),
    ("text", "surface-raised"),
    ("text-quiet", "surface"),
    ("text-quiet", "surface-sunken"),
    ("text-quiet", "surface-raised"),
    ("text-faint", "surface"),
    ("text-faint", "surface-sunken"),
    ("link", "surface"),
    ("link", "surface-sunken"),
    ("link", "surface-raised"),
    ("link-visited-hover", "surface"),
    ("accent-text", "accent"),
    ("accent-text", "accent-hover"),
    ("accent-tint-text", "accent-tint"),
    ("danger", "surface"),
    ("danger", "surface-raised"),
    ("danger-tint-text", "danger-tint"),
    ("warning-tint-text", "warning-tint"),
    ("success-tint-text", "success-tint"),
    ("info-tint-text", "info-tint"),
    *((text, f"cover-{cover}") for text in ("text", "text-quiet", "link") for cover in Competition.Cover.values),
]
SHAPE_PAIRS = [
    ("line-input", "surface"),
    ("line-input", "surface-raised"),
    ("focus", "surface"),
    ("focus", "surface-sunken"),
]


def tokens(scheme: str) -> dict[str, str]:
    """The custom properties of a scheme; the dark one overrides the light one."""
    source = (SHEETS / "tokens.css").read_text(encoding="utf-8")
    light, dark = source.split("@media screen and (prefers-color-scheme: dark)")
    found = dict(re.findall(r"--([\w-]+):\s*([^;]+);", light))
    return found | (dict(re.findall(r"--([\w-]+):\s*([^;]+);", dark)) if scheme == "dark" else {})


def luminance(colour: str) -> float:
    """Relative luminance of ``#rrggbb`` by WCAG 2.2."""
    channels = [int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """WCAG contrast ratio of two colours, 1 to 21."""
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def test_the_measure_of_contrast_is_right() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#767676", "#ffffff") == pytest.approx(4.54, abs=0.005)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(("text", "ground"), TEXT_PAIRS)
def test_text_has_a_contrast_of_four_and_a_half(scheme: str, text: str, ground: str) -> None:
    values = tokens(scheme)
    assert contrast(values[text], values[ground]) >= 4.5, (values[text], values[ground])


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(("shape", "ground"), SHAPE_PAIRS)
def test_borders_of_controls_and_the_focus_ring_have_a_contrast_of_three(scheme: str, shape: str, ground: str) -> None:
    values = tokens(scheme)
    assert contrast(values[shape], values[ground]) >= 3, (values[shape], values[ground])


def test_every_token_used_is_defined() -> None:
    used = set(re.findall(r"var\(--([\w-]+)", ALL_CSS))
    assert used - tokens("light").keys() == set()


def test_no_token_is_left_unused() -> None:
    used = set(re.findall(r"var\(--([\w-]+)", ALL_CSS))
    assert tokens("light").keys() - used == set()


def test_colours_are_named_in_the_tokens_only() -> None:
    for path in SHEETS.glob("*.css"):
        if path.name != "tokens.css":
            source = path.read_text(encoding="utf-8")
            assert re.findall(r"#[0-9a-fA-F]{3,8}\b|\brgb\(|\bhsl\(", source) == [], path.name


def test_nothing_is_fetched_from_elsewhere() -> None:
    assert re.findall(r"@import|https?://", ALL_CSS) == []
    named = re.findall(r"url\((.*?)\)", ALL_CSS)
    assert sorted(named) == [f'"typeface/{path.name}"' for path in sorted((SHEETS / "typeface").glob("*.woff2"))]


def test_braces_match() -> None:
    for path in SHEETS.glob("*.css"):
        source = re.sub(r"/\*.*?\*/", "", path.read_text(encoding="utf-8"), flags=re.S)
        assert source.count("{") == source.count("}"), path.name


def test_every_class_of_the_sheets_stands_in_a_template() -> None:
    sources = [*(ROOT / "platform/malpan/web/templates").rglob("*.html"), *SHEETS.glob("*.js")]
    markup = "\n".join(path.read_text(encoding="utf-8") for path in sources)
    styled = set(re.findall(r"\.([a-z][\w-]*)(?=[\s.:,>{\[)])", re.sub(r"/\*.*?\*/", "", ALL_CSS, flags=re.S)))
    written_by_code = {"errorlist", "key-rank", "key-submissions", "key-submitted", "success", "warning", "error"}
    written_by_code |= {"place-1", "place-2", *(f"cover-{cover}" for cover in Competition.Cover.values)}
    written_by_code |= {f"plot-shade-{shade}" for shade in range(SHADES)} | {"plot-part-0", "plot-part-1"}
    unused = {name for name in styled - written_by_code if not re.search(rf"\b{re.escape(name)}\b", markup)}
    assert unused == set()
