"""How long the site was down."""

from __future__ import annotations

import pytest

from tests.chaos.outcome import PROBE_SECONDS, Outcome, Recovery


@pytest.mark.parametrize(("stops_starts", "down"), [(False, 17.0), (True, 10.0)])
def test_the_site_is_down_from_when_it_could_be_started(stops_starts: bool, down: float) -> None:
    outcome = Outcome(seed=1, began=1000.0, seconds=60.0)
    outcome.answered = [1000.0, 1010.0, 1010.0 + 17.0 + PROBE_SECONDS, 1059.0]
    outcome.answered += [float(second) for second in range(1028, 1059)]
    outcome.answered += [float(second) for second in range(1000, 1010)]
    outcome.recoveries = [Recovery("two at once", 1010.0, 1017.0, 1030.0, True, stops_starts)]
    assert outcome.longest_down() == pytest.approx(down)
