"""``make bench``, or ``python -m tests.benchmarks [options]``."""

import sys

from tests.benchmarks.bench_scoring import main

sys.exit(main())
