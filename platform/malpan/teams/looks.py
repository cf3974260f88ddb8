"""Which team names look alike: 팀 1 in full-width digits, a Latin a and a Cyrillic one, a capital I and a small l."""

from __future__ import annotations

import unicodedata
from functools import cache
from typing import Any

from django.db import models


def look(name: str) -> str:
    """A key that names have in common if a reader could take one for the other. Pure.

    Compatible forms are one (NFKC), characters of one look are one (Unicode's confusables), case and spaces are none.
    """
    compatible = unicodedata.normalize("NFKC", name)
    alike = _alike()
    shown = "".join(alike.get(character, character) for character in compatible if not character.isspace())
    return unicodedata.normalize("NFKC", shown).casefold()


class LookField(models.CharField):
    """The look of the row's ``name``, kept with every write of it."""

    def pre_save(self, model_instance: Any, add: bool) -> Any:
        value = look(model_instance.name)
        setattr(model_instance, self.attname, value)
        return value


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


def _small_letter_first(character: str) -> tuple[bool, str]:
    """So that case can be folded afterwards."""
    return not "a" <= character <= "z", character
