"""Deep calls need no memory of the kernel's for each."""

from __future__ import annotations

import resource
import sys

import pytest

from malpan.core.deep_calls import with_room


def deeper(frames: int, calls: int) -> int:
    """Make ``calls`` calls from ``frames`` frames below this one."""
    if frames:
        return deeper(frames - 1, calls)
    return sum(_leaf(number, number, number, number) for number in range(calls))


def _leaf(a: int, b: int, c: int, d: int) -> int:
    return min(a, b, c, d)


def faults(frames: int) -> int:
    """Page faults of 2,000 calls that far down."""
    before = resource.getrusage(resource.RUSAGE_THREAD).ru_minflt
    deeper(frames, 2000)
    return resource.getrusage(resource.RUSAGE_THREAD).ru_minflt - before


@pytest.mark.skipif(sys.implementation.name != "cpython", reason="another interpreter keeps frames elsewhere")
def test_no_depth_makes_calls_dear() -> None:
    """Of a hundred depths some begin a call at the edge of a chunk; with room none does."""
    faults(200)
    assert max(with_room(faults)(frames) for frames in range(40, 140)) < 500


def test_results_errors_and_names_pass_through() -> None:
    assert with_room(max)(1, 3) == 3
    assert with_room(sorted)([2, 1], reverse=True) == [2, 1]
    with pytest.raises(ZeroDivisionError):
        with_room(lambda: 1 / 0)()
