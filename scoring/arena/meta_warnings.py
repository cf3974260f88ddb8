"""What is to be told of a meta-evaluation beside its figures. Loads nothing that computes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

FEWEST: Final = 6  # systems of an interval over systems
ENOUGH: Final = 10  # … from which on it holds about as often as it says (``python -m tests.benchmarks meta``)
FEW_ITEMS: Final = 30


def warnings_of(document: Mapping[str, Any]) -> list[str]:
    """The warnings of a document of ``scoring.arena.meta``, and ``narrow_systems``: its intervals over systems hold
    less often than they say.
    """
    is_narrow = FEWEST <= document["numbers"]["systems"] < ENOUGH
    return [*(["narrow_systems"] if is_narrow else []), *document["warnings"]]
