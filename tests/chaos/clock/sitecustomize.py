"""On the PYTHONPATH of a process: its clock is ``CHAOS_CLOCK_SECONDS`` off, in all that it starts as well."""

import os
from datetime import UTC, datetime, timedelta

import time_machine

_offset = timedelta(seconds=float(os.environ["CHAOS_CLOCK_SECONDS"]))
time_machine.travel(datetime.now(UTC) + _offset, tick=True).start()
