"""Makes Malpan Sans, the typeface of the site: ``python -m tests.typeface PretendardGOVVariable.ttf``.

Why and from what: ``platform/malpan/web/typeface.md``. The pieces and ``typeface.css`` are written over.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable
from itertools import pairwise
from pathlib import Path
from typing import Final

from fontTools import subset
from fontTools.ttLib import TTFont
from fontTools.varLib import instancer

from tests.paths import ROOT

FAMILY: Final = "Malpan Sans"
SHEET: Final = ROOT / "platform/malpan/web/static/web/typeface.css"
PIECES: Final = SHEET.with_name("typeface")
WEIGHTS: Final = (400, 700)
FEATURES: Final = ["kern", "mark", "mkmk", "ccmp", "tnum", "pnum"]  # without calt, which makes an arrow of "->"
LATIN: Final = {chr(code) for code in (*range(0x20, 0x7F), *range(0xA0, 0x180))}
SHOWN_EVERYWHERE: Final = set("–—‘’“”•…′″※₩€←↑→↓−∞≈≤≥①②③④⑤■□▲△▼▽◆◇○●✓、。〈〉《》「」『』【】〔〕")
TEXTS: Final = {".html", ".py", ".po", ".js", ".md", ".toml", ".json", ".tsv"}
SYLLABLES: Final = range(0xAC00, 0xD7A4)


def ks_x_1001(rows: Iterable[int]) -> set[str]:
    """The characters of these rows of KS X 1001: 1 and 2 are symbols, 4 jamo, 16 to 40 the 2,350 syllables."""
    cells = (bytes([0xA0 + row, cell]).decode("euc-kr", errors="ignore") for row in rows for cell in range(0xA1, 0xFF))
    return {character for character in cells if character}


def of_the_site() -> list[str]:
    """Every syllable that site and engine themselves write, the demo included, as often as they do."""
    folders = (ROOT / "platform/malpan", ROOT / "scoring")
    written = [path for folder in folders for path in sorted(folder.rglob("*")) if path.suffix in TEXTS]
    return [letter for path in written for letter in path.read_text(encoding="utf-8") if ord(letter) in SYLLABLES]


def pieces() -> dict[str, set[str]]:
    """What each file holds: a page loads those it has characters of."""
    own = set(of_the_site()) & ks_x_1001(range(16, 41))
    latin = LATIN | SHOWN_EVERYWHERE
    return {
        "latin": latin,
        "hangul": own,
        "more": (ks_x_1001(range(16, 41)) | ks_x_1001((1, 2, 4))) - own - latin,
    }


def unicode_range(characters: Collection[str | int]) -> str:
    """As CSS writes it: ``U+20-7e,U+b7``."""
    codes = sorted(ord(character) if isinstance(character, str) else character for character in characters)
    starts = [codes[0], *(later for earlier, later in pairwise(codes) if later > earlier + 1)]
    ends = [*(earlier for earlier, later in pairwise(codes) if later > earlier + 1), codes[-1]]
    runs = zip(starts, ends, strict=True)
    return ",".join(f"U+{start:x}" + (f"-{end:x}" if end > start else "") for start, end in runs)


def piece(source: Path, characters: set[str]) -> TTFont:
    """These characters alone, in the weights of the style sheets, under a name that the licence leaves free."""
    font = TTFont(source)
    options = subset.Options(layout_features=FEATURES, hinting=False, name_IDs=[0, 1, 2, 3, 4, 6, 13, 14])
    options.drop_tables += ["vhea", "vmtx"]
    only = subset.Subsetter(options)
    only.populate(text="".join(characters))
    only.subset(font)
    font = instancer.instantiateVariableFont(font, {"wght": WEIGHTS})
    for record in list(font["name"].names):
        if record.nameID in (1, 3, 4, 6):
            name = {6: FAMILY.replace(" ", "") + "-Regular"}.get(record.nameID, FAMILY)
            font["name"].setName(name, record.nameID, record.platformID, record.platEncID, record.langID)
    font.flavor = "woff2"
    return font


def main(source: Path) -> None:
    PIECES.mkdir(exist_ok=True)
    rules = ["/* Written by tests/typeface.py: a page loads the files it has characters of. */"]
    for name, characters in pieces().items():
        font = piece(source, characters)
        font.save(PIECES / f"{name}.woff2")
        rules.append(
            f"""
@font-face {{
  font-family: "{FAMILY}";
  font-weight: {WEIGHTS[0]} {WEIGHTS[1]};
  font-display: swap;
  src: url("typeface/{name}.woff2") format("woff2");
  unicode-range: {unicode_range(font.getBestCmap())};
}}"""
        )
    SHEET.write_text("\n".join(rules) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
