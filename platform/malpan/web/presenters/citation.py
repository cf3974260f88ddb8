"""How a competition is cited: BibTeX, as text and as a file."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from django.utils import timezone
from django.utils.translation import gettext as _

from malpan.competitions.models import Competition
from malpan.core.times import kst_day

_SPECIAL: Final = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%", "_": r"\_",
    "^": r"\textasciicircum{}", "~": r"\textasciitilde{}",
}  # fmt: skip


def bibtex(competition: Competition, starts_at: datetime | None, address: str) -> str:
    """An entry that BibTeX and biber read; the year is that of the beginning, or of the day it is read."""
    day = kst_day(timezone.now())
    year = kst_day(starts_at).year if starts_at else day.year
    fields = {
        "title": f"{{{escaped(competition.title)}}}",
        "author": f"{{{escaped(competition.organiser)}}}" if competition.organiser else "",
        "year": str(year),
        "howpublished": rf"\url{{{address}}}",
        "note": escaped(_("말판 경진대회, %(day)s 확인") % {"day": day.isoformat()}),
    }
    lines = [f"  {name} = {{{value}}}," for name, value in fields.items() if value]
    return "\n".join([f"@misc{{malpan-{competition.slug},", *lines, "}"]) + "\n"


def escaped(text: str) -> str:
    """``text`` with the characters that LaTeX gives a meaning."""
    return "".join(_SPECIAL.get(character, character) for character in text)
