"""How often a process of the site looks for garbage.

What it imports stays to its end: looking through that after every 700 new objects, as Python does, took a quarter of
the time of its start.
"""

from __future__ import annotations

import gc
from typing import Final

AFTER: Final = (50_000, 20, 20)  # new objects, and rounds of the younger ones

if gc.get_threshold()[0] < AFTER[0]:
    gc.set_threshold(*AFTER)
