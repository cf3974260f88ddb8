"""Characters that cannot be seen are found; those that belong to an emoji are left alone."""

import pytest
import regex

from scoring.invisible import (
    code_point_name,
    invisible_characters,
    is_invisible,
    looks_empty,
    without_invisible,
)

HIDDEN = (
    "\u200b\u200c\u200d\u200e\u200f\u202a\u202e\u2060\u2064\ufeff\u115f\u1160\u3164\uffa0\u00ad\ufe00\ufe0f"
    "\u034f\u17b4\u180b\u180f\ufff0\U0001bca0\U0001d173\U000e01ef"
    "\U000e0001\U000e0041\U000e0100"
)
EMOJI = {
    "family": "👨\u200d👩\u200d👧\u200d👦",
    "heart": "❤\ufe0f",
    "heart on fire": "❤\ufe0f\u200d🔥",
    "runner with a skin tone": "🏃🏽\u200d♀\ufe0f",
    "keycap": "1\ufe0f\u20e3",
    "flag of Scotland": "🏴\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f",
    "flag of Korea": "🇰🇷",
    "copyright": "©\ufe0f",
    "black heart as text": "♥\ufe0e",
}


@pytest.mark.parametrize("character", HIDDEN, ids=lambda character: code_point_name(ord(character)))
def test_an_invisible_character_inside_hangul_is_found(character: str) -> None:
    assert invisible_characters(f"하늘{character}이 맑다.") == {ord(character): 1}


@pytest.mark.parametrize("emoji", EMOJI.values(), ids=EMOJI.keys())
def test_what_belongs_to_an_emoji_is_not_flagged(emoji: str) -> None:
    assert not invisible_characters(f"산책{emoji}을 한다 {emoji}{emoji}")


@pytest.mark.parametrize("text", ["❤\ufe0f\u200d", "\u200d👩", "👩\u200d 가", "가\ufe0f", "👩\u200d\u200d👩"])
def test_a_joiner_or_selector_without_its_emoji_is_found(text: str) -> None:
    assert invisible_characters(text).total() >= 1


@pytest.mark.parametrize(
    "text", ["", "plain ascii", "한글과 漢字, “따옴표” — 줄표", "줄\n바꿈\t탭", "ㅋㅋㅋ ㅏ ㄱ", "훈민정음 ᄒᆞᆫ글"]
)
def test_ordinary_text_holds_none(text: str) -> None:
    assert not invisible_characters(text)


def test_characters_are_counted() -> None:
    assert invisible_characters("가\u200b나\u200b다\u3164") == {0x200B: 2, 0x3164: 1}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        *[("\u3164", True), (" \u200b\u2060 ", True), ("\u2800", True)],
        *[("", False), ("  ", False), ("가\u200b", False), ("😀", False)],
    ],
)
def test_an_answer_of_invisible_characters_looks_empty(text: str, expected: bool) -> None:
    assert looks_empty(text) is expected


def test_no_code_point_that_unicode_ignores_is_missing() -> None:
    ignored = regex.compile(r"\p{Default_Ignorable_Code_Point}")
    missing = [code for code in range(0x110000) if ignored.match(chr(code)) and not is_invisible(chr(code))]
    assert list(map(code_point_name, missing)) == []


@pytest.mark.parametrize("emoji", EMOJI.values(), ids=EMOJI.keys())
def test_taken_out_is_what_belongs_to_no_emoji(emoji: str) -> None:
    assert without_invisible(f"하\u200b늘{emoji}\u3164") == f"하늘{emoji}"
    assert not any(map(is_invisible, without_invisible(f"하\u200b늘{emoji}", even_in_emoji=True)))
