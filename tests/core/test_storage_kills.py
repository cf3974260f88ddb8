"""Processes killed at each of their steps: nothing that a row names is lost, and the next run finishes the work."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.paths import ROOT


def test_s3_kill_drill(in_s3: Any, settings: Any, tmp_path: Path) -> None:
    settings_of_the_site = {
        name: getattr(settings, name)
        for name in ("MALPAN_STORAGE", "S3_ENDPOINT", "S3_REGION", "S3_ACCESS_KEY", "S3_SECRET_KEY")
    }
    done = subprocess.run(
        [sys.executable, "-m", "tests.core.kill_drill", str(tmp_path)],
        cwd=ROOT, env={**os.environ, **settings_of_the_site, "DJANGO_SETTINGS_MODULE": "malpan.settings"},
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    counts = json.loads(done.stdout)
    lost = sum(count["lost"] for count in counts.values())
    kills = sum(count["kills"] for count in counts.values())
    print(f"S3 kill drill: lost {lost} in {kills} kills: {json.dumps(counts)}")

    assert lost == 0, counts
    assert all(count["unfinished"] == 0 for count in counts.values()), counts
    assert all(count["kills"] >= 3 for count in counts.values()), counts  # else there was nothing to kill
    assert len(counts) == 10
