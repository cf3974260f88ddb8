"""The site's settings with a stopwatch around every request (``stopwatch``), for benchmarks."""

from malpan.settings import *  # noqa: F403
from malpan.settings import MIDDLEWARE

MIDDLEWARE = ["tests.benchmarks.stopwatch.Stopwatch", *MIDDLEWARE]
