"""Korean particles that follow the word before them: ``‘말판’을(를)`` becomes ``‘말판’을``.

Texts that are filled with names, numbers or file names are written with both forms; ``fitted`` chooses one by the last
letter that is read: of a syllable by its final consonant, of a digit by its Sino-Korean name, of a Latin letter by
how words ending in it are usually read.
"""

from __future__ import annotations

import re
from typing import Final

_CLOSING: Final = "’'\"”»›)]}」』`"
_FORMS: Final = {  # after a final consonant, and without one
    "은(는)": ("은", "는"),
    "이(가)": ("이", "가"),
    "을(를)": ("을", "를"),
    "과(와)": ("과", "와"),
    "(으)로": ("으로", "로"),
    "(이)라": ("이라", "라"),
}
_PLACE: Final = re.compile(
    rf"(?P<last>[nN][gG]|[^\s{re.escape(_CLOSING)}])(?P<closing>[{re.escape(_CLOSING)}]*)"
    rf"(?P<both>{'|'.join(map(re.escape, _FORMS))})"
)
_SYLLABLES: Final = range(0xAC00, 0xD7A4)
_FINALS: Final = 28
_RIEUL: Final = 8  # 로 follows it as it follows a vowel
_DIGITS: Final = dict(zip("0123456789", "영일이삼사오육칠팔구", strict=True))
_LETTERS: Final = {"l": "엘", "m": "엠", "n": "엔", "r": "알", "ng": "엥"}


def fitted(text: str) -> str:
    """``text`` with one of each two forms; where the word before ends in nothing that is read, both stay."""
    return _PLACE.sub(_chosen, text) if "(" in text else text


def _chosen(place: re.Match[str]) -> str:
    last, both = place["last"], place["both"]
    final = _final_of(last)
    if final is None:
        return place[0]
    is_closed = final not in (0, _RIEUL) if both == "(으)로" else final != 0
    return f"{last}{place['closing']}{_FORMS[both][0 if is_closed else 1]}"


def _final_of(character: str) -> int | None:
    """The number of the final consonant of what ``character`` is read as, 0 for none; ``None`` if it is not read."""
    lower = character.lower()
    read = _DIGITS.get(character) or _LETTERS.get(lower) or ("에" if lower.isascii() and lower.isalpha() else character)
    return (ord(read) - _SYLLABLES.start) % _FINALS if ord(read[-1]) in _SYLLABLES else None
