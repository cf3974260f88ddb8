"""Whether a short name that is found in a text stands there as a name, or is a piece of another word.

Two or three Hangul syllables are in many words: a team 고래 (whale) in 참고래 and 고래싸움, somebody called 이수 in
이수했다. Hidden there, the name gives nobody away and the sentence loses a word. But Korean writes particles, titles
and the copula on to a name: 고래는, 고래팀에서도 and 이수입니다 are that name. So a short name counts

* where a word begins, or after what teams put before theirs (``_BEFORE``: 우리고래, 팀고래), or where the script
  changes (KoGPT고래, 우리AI);
* and where the word ends with it, or nothing follows in the word but titles, then particles or a copula, or the script
  changes (고래7B). A name that ends in a Latin letter or a digit ends where these end: AI는, but not AIs or AI2.

What is neither stays as it is: a compound (고래싸움), a longer name (김철수민), a verb (이수했다). Where particles
follow the thing itself (고래를 보았다) nothing tells it from the team, and it is hidden: to give a team away is the
worse of the two. Particles are taken whether or not they fit the last sound: who writes 고래은 means the team as well.
"""

from __future__ import annotations

import re
from typing import Final

_BEFORE: Final = ("우리", "저희", "팀", "우리팀", "저희팀", "모델", "우리모델", "저희모델")
_TITLES: Final = (
    "팀장|팀원|팀|조|모델|모형|시스템|연구실|연구소|연구팀|대학교|대학|대|사|측|교수|박사|선생|연구원|학생|대표|"
    "위원장|심사위원|위원|평가자|작가|기자|씨|군|양|님|네|들"
)
_PARTICLES: Final = (
    "께서|에게서|한테서|에서|에게|한테|에|께|의|은|는|이|가|을|를|와|과|이랑|랑|하고|으로부터|로부터|으로서|로서|"
    "으로써|로써|으로|로|부터|까지|도|만큼|만|마저|조차|밖에|뿐|처럼|같은|같이|보다|마다|대로|이나|나|이나마|이라도|"
    "라도|이든지|든지|이야말로|야말로|이야|야|아|이여|커녕|이란|란"
)
_COPULA: Final = (
    "입니다|입니까|이었습니다|였습니다|이었다|였다|이다|다|이에요|예요|이어요|여요|이지요|지요|이죠|죠|이고|이며|며|"
    "이지만|지만|이므로|이니까|니까|이라서|라서|이어서|여서|인데|인지|인가|인|일|임|이던|이라면|라면|이라는|라는|"
    "이라고|라고|이라며|라며|이라|라"
)
_AFTER: Final = re.compile(rf"(?:{_TITLES}){{0,3}}(?:{_PARTICLES}|{_COPULA}){{0,4}}(?![가-힣])")
_WORD_BEFORE: Final = re.compile(r"[가-힣]+\Z")
_LONGEST_BEFORE: Final = max(map(len, _BEFORE))


def is_name(text: str, start: int, end: int) -> bool:
    """Whether the short name at ``text[start:end]`` stands there as one."""
    return _begins(text, start) and _ends(text, end)


def _begins(text: str, start: int) -> bool:
    before = text[max(0, start - 1) : start]
    if not before.isalnum() or _is_hangul(before) != _is_hangul(text[start]):
        return True
    found = _WORD_BEFORE.search(text[max(0, start - _LONGEST_BEFORE - 1) : start])
    return found is not None and found.group() in _BEFORE


def _ends(text: str, end: int) -> bool:
    after = text[end : end + 1]
    if _is_hangul(after):
        return _AFTER.match(text, end) is not None
    return not after.isalnum() or _is_hangul(text[end - 1])


def _is_hangul(character: str) -> bool:
    return "가" <= character <= "힣"
