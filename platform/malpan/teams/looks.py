"""Which team names look alike: 팀 1 in full-width digits, a Latin a and a Cyrillic one, a capital I and a small l, rn
and m.

Whole names are compared, as Unicode's skeletons (UTS 39) do: of a letter that looks like several others (``m`` like
``rn``, ``æ`` like ``ae``) those stand in the skeleton. Two names that are words of their own and differ in nothing but
such letters (``modern``, ``modem``) are taken for one: who comes second is told so and takes another name, which costs
less than a team that passes for another one.
"""

from __future__ import annotations

import hashlib
import unicodedata
from functools import cache
from typing import Any, Final

from django.db import models

from scoring.invisible import without_invisible

LOOK_MAX_CHARS: Final = 240


def look(name: str) -> str:
    """A key that names have in common if a reader could take one for the other. Pure.

    Compatible forms are one (NFKC), letters of one look are one (Unicode's confusables), case, spaces and what nobody
    sees are none.
    """
    compatible = unicodedata.normalize("NFKC", without_invisible(name, even_in_emoji=True))
    shown = _folded("".join(compatible.split()))
    several = _several()
    key = _folded("".join(several.get(character, character) for character in shown))
    return key if len(key) <= LOOK_MAX_CHARS else hashlib.sha256(key.encode()).hexdigest()


class LookField(models.CharField):
    """The look of the row's ``name``, kept with every write of it."""

    def pre_save(self, model_instance: Any, add: bool) -> Any:
        value = look(model_instance.name)
        setattr(model_instance, self.attname, value)
        return value


def _folded(text: str) -> str:
    """``text`` with one letter for all of its look, in one case."""
    alike = _alike()
    return unicodedata.normalize("NFKC", "".join(alike.get(each, each) for each in text)).casefold()


@cache
def _alike() -> dict[str, str]:
    """For each character that has others of its look, one that is used for all of them."""
    from confusable_homoglyphs.confusables import confusables_data  # half a second: only where a team gets a name

    groups: dict[str, set[str]] = {}
    for character, others in confusables_data.items():
        of_one = {character, *(each["c"].replace("\u200e", "") for each in others)}
        members = {each for each in of_one if len(each) == 1}
        joined = set().union(members, *(groups[each] for each in members if each in groups))
        for each in joined:
            groups[each] = joined
    return {character: min(group, key=_small_letter_first) for character, group in groups.items()}


@cache
def _several() -> dict[str, str]:
    """The Latin letters that a character looks like, where they are several: ``rn`` for ``m``."""
    from confusable_homoglyphs.confusables import confusables_data

    return {
        character: each["c"]
        for character, others in confusables_data.items()
        for each in others
        if len(character) == 1 and len(each["c"]) > 1 and each["c"].isascii() and each["c"].isalpha()
    }


def _small_letter_first(character: str) -> tuple[bool, str]:
    """So that case can be folded afterwards."""
    return not "a" <= character <= "z", character
