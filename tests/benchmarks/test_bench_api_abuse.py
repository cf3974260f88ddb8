"""The benchmark of who abuses the API, in its quick form, tells what it is to tell."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys

import pytest

from tests.benchmarks.bench_api_abuse import READ_BYTES, _key, _keys, _shares
from tests.paths import ROOT


@pytest.mark.services
def test_each_abuse_is_refused_and_the_visitor_is_answered() -> None:
    few = {"API_REQUESTS_PER_TOKEN": "30"}  # a slow machine's 210 requests may fall into two of the limit's minutes
    options = ["--quick", "--requests", "210"]  # from nothing: this one also shows that a benchmark can
    done = subprocess.run(
        [sys.executable, "-m", "tests.benchmarks", "api_abuse", *options],
        cwd=ROOT, env=os.environ | few, capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip

    assert done.returncode == 0, done.stderr
    rows = dict(re.findall(r"^\| +([^|]+?) +\| +([^|]+?) +\|", done.stdout, re.MULTILINE))
    assert rows["60 MB declared"].startswith("413 named")
    assert rows["60 MB in chunks"].startswith("413 named")
    assert "200: " in rows["210 requests of a token"]
    assert "429: " in rows["210 requests of a token"]
    assert "no answer" not in rows["210 requests of a token"]
    assert "without Retry-After" not in rows["210 requests of a token"]
    assert next(row for name, row in rows.items() if "200,000 keys" in name).startswith(("413", "BrokenPipe", "Conn"))
    assert next(row for name, row in rows.items() if name.startswith("JSON of 2.0 MB")).startswith("422 fields_invalid")


def test_the_largest_json_that_is_read_is_just_below_the_limit() -> None:
    body = _keys(READ_BYTES // len(_key(0)))
    assert READ_BYTES - 64 < len(body) <= 2 * 1024 * 1024
    assert len(json.loads(_keys(1000))) == 1000
    assert _shares(10, 4) == [3, 3, 2, 2]
