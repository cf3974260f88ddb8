"""What ``growth`` tells apart: linear and quadratic work, a moment of a busy machine, a part too quick to compare."""

from __future__ import annotations

import pytest

from tests.scoring.growth import TRIES, Sized, growth

WHOLE, SHARE = 3_200, 32  # its part has 100 pieces, a quarter of that 25


def test_linear_work_is_in_step_and_measured_once() -> None:
    asked: list[int] = []

    def seconds_of(of: Sized) -> float:
        asked.append(of(WHOLE))
        return 0.01 * of(WHOLE)

    found = growth(SHARE, seconds_of, most=2.0)
    assert (found.is_in_step, found.seconds, found.quarter) == (True, 1.0, 0.25)
    assert asked == [25, 100]


@pytest.mark.parametrize("linear", [0.0, 0.001, 0.002])
def test_quadratic_work_is_out_of_step_however_often_it_is_measured(linear: float) -> None:
    asked: list[int] = []

    def seconds_of(of: Sized) -> float:
        asked.append(of(WHOLE))
        return linear * of(WHOLE) + 1e-4 * of(WHOLE) ** 2

    assert not growth(SHARE, seconds_of, most=2.0).is_in_step
    assert asked == [25, 100] * TRIES


def test_a_busy_moment_is_no_growth() -> None:
    taken = iter([0.2, 4.0, 0.3, 0.8])
    found = growth(SHARE, lambda _of: next(taken), most=2.0)
    assert (found.is_in_step, found.seconds, found.quarter) == (True, 0.8, 0.2)


def test_what_takes_too_long_is_measured_again_and_told() -> None:
    assert growth(SHARE, lambda _of: 3.0, most=2.0).seconds == 3.0
    taken = iter([3.0, 3.0, 1.0, 1.5])
    assert growth(SHARE, lambda _of: next(taken), most=2.0).seconds == 1.5


def test_a_part_that_takes_next_to_nothing_is_not_compared() -> None:
    assert growth(SHARE, lambda of: 0.09 * (of(WHOLE) == 100), most=2.0).is_in_step
