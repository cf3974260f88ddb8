"""The font of the papers that tests make: of the machine's own the letters that Korean texts are written with.

The machine's has 44,000 letters; reading them took most of the half second that a paper took.
"""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path
from typing import Final

from django.conf import settings

from malpan.local.file_lock import FileLock
from malpan.web import certificate

LETTERS: Final = (
    *range(0x20, 0x180),
    *range(0x2000, 0x2070),
    *range(0x3000, 0x3040),
    *range(0x3130, 0x3190),
    *(letter for letter in range(0xAC00, 0xD7A4) if chr(letter).encode("euc_kr", "ignore")),  # the 2,350 common ones
)
UNUSED: Final = ("GSUB", "GPOS", "GDEF", "BASE", "VORG", "vmtx", "vhea", "DSIG")  # a paper has none of it either
MAKING_SECONDS: Final = 600.0  # of another process, on busy cores
of_the_machine: Final = certificate.font


def font() -> tuple[Path, int] | None:
    """In the place of ``certificate.font``: a part of what that returns."""
    found = of_the_machine()
    return found and (_part_of(*found), 0)


@cache
def _part_of(path: Path, number: int) -> Path:
    """Made once for a machine, beside what else test runs share: other processes wait for the one that makes it."""
    name = hashlib.sha256(f"{path} {number} {path.stat().st_mtime} {LETTERS}".encode()).hexdigest()
    made = settings.VAR_DIR / "fonts" / f"{name[:16]}.otf"
    made.parent.mkdir(exist_ok=True)
    lock = FileLock(made.parent / "lock")
    assert lock.acquire(timeout=MAKING_SECONDS), f"another process makes {made}"
    try:
        if not made.exists():
            unfinished = made.with_suffix(".unfinished")
            _write_part(path, number, unfinished)
            unfinished.replace(made)
    finally:
        lock.release()
    return made


def _write_part(path: Path, number: int, target: Path) -> None:
    from fontTools.subset import Options, Subsetter
    from fontTools.ttLib import TTFont

    # the box around all letters stays that of the whole font: drawing each to measure it took a third of the time
    font = TTFont(path, fontNumber=number, lazy=True, recalcBBoxes=False)
    options = Options(notdef_outline=True, recommended_glyphs=True)
    options.drop_tables += UNUSED
    chosen = Subsetter(options)
    chosen.populate(unicodes=LETTERS)
    chosen.subset(font)
    font.save(target)
