"""The names of institutions as people write them: which are the same, and which look as if they might be."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from malpan.arena.models import CampaignJudge, CampaignSystem
from malpan.core.text import without_unseen

# what says how an institution is organised, and nothing about which one it is
_FORMS: Final = re.compile(r"\(?(?:주|유|사|재)\)|주식회사|유한회사|사단법인|재단법인|학교법인")
_WORDS: Final = re.compile(r"\w+")
_FORM_WORDS: Final = frozenset(
    {"inc", "incorporated", "co", "ltd", "limited", "corp", "corporation", "llc", "plc", "gmbh"}
)
_SPELT_OUT: Final = {"univ": "university"}
_SCHOOL: Final = re.compile(r"(?:대학교|대학|대|university)$")
_UNIVERSITY: Final = re.compile(r".+?대")
_OWNER: Final = re.compile(r"^(?:국립|시립|도립|한국)")
CORE_LEAST: Final = 2  # characters that must be left of a name
INSIDE_LEAST: Final = 3  # characters of a name that is found inside another
EDITS: Final = ((8, 2), (4, 1))  # from how many characters on how many edits are a slip


@dataclass(frozen=True, slots=True)
class NearInstitution:
    """Two names that are not the same and look alike: of a judge, and of the team of a system."""

    judge: CampaignJudge
    system: CampaignSystem


def folded(text: str) -> str:
    """``text`` in one case and width, without spaces and what nobody sees."""
    return "".join(unicodedata.normalize("NFKC", without_unseen(text)).casefold().split())


def institution_key(name: str) -> str:
    """``name`` without what is written in different ways: case, width, spaces, punctuation, 주식회사, (주), Inc., Ltd.;
    Univ. is university. Two institutions are the same if their keys are; empty for none.
    """
    plain = unicodedata.normalize("NFKC", without_unseen(name)).casefold()
    words = [_SPELT_OUT.get(word, word) for word in _WORDS.findall(_FORMS.sub(" ", plain))]
    return "".join(word for word in words if word not in _FORM_WORDS) or folded(name)


def is_same(one: str, other: str) -> bool:
    """Whether both name one institution; no name is like no other."""
    key = institution_key(one)
    return bool(key) and key == institution_key(other)


def may_be_same(one: str, other: str) -> bool:
    """Whether names that are not the same could be of one institution: a person has to say. ``서울대`` and
    ``서울대학교``, ``국어원`` and ``국립국어원``, one name inside the other, two names that begin with one university,
    a slip of the keyboard.
    """
    keys = [institution_key(one), institution_key(other)]
    if not all(keys) or keys[0] == keys[1]:
        return False
    university = _university(keys[0])
    if university and university == _university(keys[1]):
        return True
    short, long = sorted(map(_core, keys), key=len)
    if short == long or (len(short) >= INSIDE_LEAST and short in long):
        return True
    short_key, long_key = sorted(keys, key=len)
    if len(short_key) >= INSIDE_LEAST and short_key in long_key:
        return True
    allowed = next((edits for least, edits in EDITS if len(short) >= least), 0)
    return allowed > 0 and _distance(short, long, allowed) <= allowed


def near_institutions(
    judges: Iterable[CampaignJudge], systems: Iterable[CampaignSystem]
) -> tuple[NearInstitution, ...]:
    """The pairs that nobody is barred for and a person should look at (``may_be_same``)."""
    rows = [system for system in systems if system.institution]
    return tuple(
        NearInstitution(judge, system)
        for judge in judges
        for system in rows
        if may_be_same(judge.institution, system.institution)
    )


def _university(key: str) -> str:
    """The university that a name begins with, as it is called for short: ``한국대`` of ``한국대학교병원`` and of
    ``한국대ai연구소``; empty of a name that begins with none.
    """
    found = _UNIVERSITY.match(key)
    return found[0] if found and len(found[0]) >= INSIDE_LEAST else ""


def _core(key: str) -> str:
    """``key`` without what many institutions have in common, as far as something is left."""
    without_school = _SCHOOL.sub("", key)
    if len(without_school) < CORE_LEAST:
        return key
    core = _OWNER.sub("", without_school)
    return core if len(core) >= CORE_LEAST else without_school


def _distance(one: str, other: str, most: int) -> int:
    """Levenshtein's distance, or something above ``most``."""
    if len(other) - len(one) > most:
        return most + 1
    row = list(range(len(one) + 1))
    for place, letter in enumerate(other, start=1):
        before, row[0] = row[0], place
        for column, own in enumerate(one, start=1):
            before, row[column] = row[column], min(row[column] + 1, row[column - 1] + 1, before + (own != letter))
    return row[-1]
