"""The benchmark of webhooks shows what it is there to show, with fewer events."""

from __future__ import annotations

import pytest

from malpan.notifications.claims import PAUSES
from malpan.notifications.webhooks import STRETCH_MOST
from tests.benchmarks.webhook_load import FAILING, RECEIVERS, delivered


@pytest.mark.django_db
def test_all_events_arrive_once_and_the_worst_delay_is_that_of_the_pauses() -> None:
    outcome = delivered(120)
    assert (len(outcome.arrivals), outcome.arrivals.total()) == (120, 120)
    assert outcome.requests > 120
    late = [delay for delay in outcome.delays.values() if delay > PAUSES[0]]
    assert len(late) == 120 * FAILING // RECEIVERS
    assert sum(PAUSES[:4]) < max(late) < sum(PAUSES[:5]) * STRETCH_MOST + 60
