"""A supervisor with programs of the tests: ``python -m tests.local.toy_site PROGRAMS STEADY_SECONDS READY_SECONDS``.

``PROGRAMS`` is a JSON list of the fields of ``Program``, with ``code`` (Python) instead of ``arguments``.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from malpan.local import supervisor
from malpan.local.embedded import Services
from malpan.local.programs import Program


def main(programs: str, steady_seconds: str, ready_seconds: str) -> None:
    supervisor._TURN_SECONDS = 0.01
    supervisor._STEADY_AFTER_SECONDS = float(steady_seconds)
    supervisor._READY_WITHIN_SECONDS = float(ready_seconds)
    made = [Program(arguments=("-c", each.pop("code")), **each) for each in json.loads(programs)]
    supervisor.Supervisor(made, root=Path.cwd(), environment={}, services=Services()).run()


if __name__ == "__main__":
    main(*sys.argv[1:])
