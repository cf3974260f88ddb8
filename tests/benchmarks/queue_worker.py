"""A scoring worker whose scoring is a sleep: Celery, the claim, the lease and the result are the site's.

Run as ``python -m tests.benchmarks.queue_worker NAME ORDER TOKENS_A_SECOND READY_FILE``.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any


def main(name: str, order: str, rate: float, ready: Path) -> None:
    """Serve the scoring queue in ``order`` until told to stop; ``ready`` is made when the worker listens."""
    import django

    django.setup()
    from celery.signals import worker_ready

    from malpan import worker_process
    from malpan.celery import app
    from malpan.submissions.evaluation import canary, computing, results
    from tests.benchmarks.queue_orders import stand_in
    from tests.factories import report

    def sleep(run: Any, **_options: Any) -> results.Outcome:
        time.sleep(run.job.cost / rate)
        return results.Outcome(shown=report())

    worker_process.SCORING_QUEUE = ""  # no models are loaded
    canary.require = lambda _metrics, _profile: None  # nor checked before the first run
    computing.score_run = sleep
    stand_in(order)
    worker_ready.connect(lambda **_signal: ready.touch(), weak=False)
    options = ["--queues", "scoring", "--concurrency", "1", "--hostname", name, "--without-gossip", "--without-mingle"]
    app.worker_main(["--quiet", "worker", "--loglevel", "ERROR", *options])


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], float(sys.argv[3]), Path(sys.argv[4]))
