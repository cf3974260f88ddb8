"""Arithmetic that is the same for one score and for thousands of resampled ones.

A *figure* is a float, or a numpy array with one number a resampling. A formula written with these functions and with
plus, minus and times serves both the score and the bootstrap. numpy is imported only when an array is passed: the web
process reads what metrics and recipes declare and computes nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

Figure = Any
NUMBER: Final = (int, float)


def is_number(figure: Figure) -> bool:
    return isinstance(figure, NUMBER)


def total(figures: Sequence[Figure]) -> Figure:
    """The sum, exact where all are floats (``math.fsum``): their order cannot change it. 0.0 for none."""
    return math.fsum(figures) if all(map(is_number, figures)) else sum(figures)


def average(figures: Sequence[Figure]) -> Figure:
    """Arithmetic mean; 0.0 for none."""
    return total(figures) / len(figures) if figures else 0.0


def ratio(part: Figure, whole: Figure) -> Figure:
    """``part / whole``, 0.0 where ``whole`` is 0."""
    if isinstance(whole, NUMBER) and isinstance(part, NUMBER):  # written out: a metric asks for millions
        return part / whole if whole else 0.0
    import numpy as np

    part, whole = np.broadcast_arrays(np.asarray(part, dtype=np.float64), whole)
    return np.divide(part, whole, out=np.zeros(part.shape), where=whole != 0)


def logarithm(figure: Figure) -> Figure:
    """The natural logarithm, minus infinity of 0."""
    if is_number(figure):
        return math.log(figure) if figure else -math.inf
    import numpy as np

    with np.errstate(divide="ignore"):
        return np.log(figure)


def exponential(figure: Figure) -> Figure:
    if is_number(figure):
        return math.exp(figure)
    import numpy as np

    return np.exp(figure)


def at_most(figure: Figure, limit: float) -> Figure:
    """``figure``, or ``limit`` where it is larger."""
    if is_number(figure):
        return min(figure, limit)
    import numpy as np

    return np.minimum(figure, limit)


def root(figure: Figure) -> Figure:
    """The square root."""
    if is_number(figure):
        return math.sqrt(figure)
    import numpy as np

    return np.sqrt(figure)
