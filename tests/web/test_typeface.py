"""The typeface of the pages: what its files hold, under which name, and that a page loads them."""

from __future__ import annotations

import re

import pytest
from fontTools.ttLib import TTFont

from tests.typeface import FAMILY, PIECES, SHEET, WEIGHTS, ks_x_1001, of_the_site, unicode_range

RULES = re.findall(
    r'font-family: "(.+?)";.*?font-weight: (\d+) (\d+);.*?url\("typeface/(.+?)"\).*?unicode-range: (.+?);',
    SHEET.read_text(encoding="utf-8"),
    flags=re.S,
)


@pytest.fixture(params=[rule[3] for rule in RULES])
def font(request: pytest.FixtureRequest) -> TTFont:
    return TTFont(PIECES / request.param)


def characters(name: str) -> set[str]:
    return {chr(code) for code in TTFont(PIECES / name).getBestCmap()}


def test_the_sheet_names_every_file_in_all_its_weights_with_its_characters() -> None:
    assert {rule[3] for rule in RULES} == {path.name for path in PIECES.glob("*.woff2")}
    for family, lightest, heaviest, name, ranges in RULES:
        assert family == FAMILY
        assert (int(lightest), int(heaviest)) == WEIGHTS
        assert ranges == unicode_range(characters(name))


def test_no_character_is_in_two_files() -> None:
    sizes = [len(characters(rule[3])) for rule in RULES]
    assert sum(sizes) == len(set().union(*(characters(rule[3]) for rule in RULES)))


def test_it_has_every_syllable_of_ks_x_1001() -> None:
    everything = set().union(*(characters(rule[3]) for rule in RULES))
    assert len(ks_x_1001(range(16, 41))) == 2350
    assert everything >= ks_x_1001(range(16, 41))


def test_what_the_site_writes_is_nearly_always_in_the_piece_that_every_korean_page_loads() -> None:
    """Else make the pieces anew (``platform/malpan/web/typeface.md``)."""
    loaded = characters("hangul.woff2")
    written = of_the_site()
    assert sum(letter in loaded for letter in written) > 0.999 * len(written)


def test_a_subset_is_not_called_by_the_reserved_name(font: TTFont) -> None:
    """Condition 3 of the SIL Open Font License, which names the reserved one in the first line of its text."""
    assert "with Reserved Font Name Pretendard" in (PIECES / "OFL.txt").read_text(encoding="utf-8")
    called = [str(record) for record in font["name"].names if record.nameID in (1, 3, 4, 6)]
    assert called
    assert [name for name in called if "pretendard" in name.lower()] == []
    assert "Kil Hyung-jin" in str(font["name"].getName(0, 3, 1))  # the notice stays, condition 2


def test_figures_have_one_width() -> None:
    font = TTFont(PIECES / "latin.woff2")
    assert len({font["hmtx"][font.getBestCmap()[ord(figure)]][0] for figure in "0123456789"}) == 1


def test_its_weights_are_those_of_the_sheets(font: TTFont) -> None:
    (axis,) = font["fvar"].axes
    assert (axis.axisTag, axis.minValue, axis.maxValue) == ("wght", *WEIGHTS)
    for sheet in SHEET.parent.glob("*.css"):
        used = {int(weight) for weight in re.findall(r"font-weight: (\d+);", sheet.read_text(encoding="utf-8"))}
        assert used <= set(range(WEIGHTS[0], WEIGHTS[1] + 1)), sheet.name


def test_unicode_ranges_are_written_as_css_does() -> None:
    assert unicode_range("abcx가") == "U+61-63,U+78,U+ac00"
    assert unicode_range("a") == "U+61"
