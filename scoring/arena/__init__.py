"""The arena: evaluation by people, from the design of who judges what to a result that anyone can compute again."""

from __future__ import annotations

from typing import Final

from scoring import __version__

INSTRUMENT: Final = f"{__version__}+arena.6"  # the number rises whenever equal votes give other figures
