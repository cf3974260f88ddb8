"""The instrument: scoring of Korean text generation, on files or in Python, without a server.

>>> import scoring
>>> scoring.score(["파도가 밀려온다"], ["파도가 밀려온다"], metrics=["chrf"]).scores
{'chrf': 1.0}
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from scoring.lists import ListMetric as ListMetric
    from scoring.lists import Scores as Scores
    from scoring.lists import WrongArgument as WrongArgument
    from scoring.lists import metric as metric
    from scoring.lists import metric_names as metric_names
    from scoring.lists import score as score

__all__ = ["ListMetric", "Scores", "WrongArgument", "__version__", "metric", "metric_names", "score"]

__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    """The functions on lists, loaded at their first use: whoever wants a module of this package pays for no other."""
    if name in __all__:
        return getattr(import_module("scoring.lists"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
