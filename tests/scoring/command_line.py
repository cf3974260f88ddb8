"""``python -m scoring`` and the files it is given in the tests."""

import os
import subprocess
import sys

from tests.scoring.texts import GOLDEN

REFERENCE_ROWS = [(item["id"], item["reference"]) for item in GOLDEN["items"]]
PREDICTION_ROWS = [(item["id"], item["prediction"]) for item in GOLDEN["items"]]


def run(*arguments, **environment):
    """The finished process of ``python -m scoring``, with ``environment`` added to this one's."""
    return subprocess.run(
        [sys.executable, "-m", "scoring", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=240,
        env={**os.environ, **environment},
    )


def score_arguments(folder, predictions="P.json", output="OUT.json"):
    return (
        *("score", "--recipe", "rag-qa@1", "--references", folder / "R.json", "--predictions", folder / predictions),
        *("--models", "demo", "--device", "cpu", "--output", folder / output),
    )
