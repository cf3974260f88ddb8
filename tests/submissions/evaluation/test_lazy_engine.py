"""A process that takes files and queues runs never loads an analyser, a model library or numpy."""

import json
import subprocess
import sys

PROGRAM = """
import json, sys
import psutil
from malpan.wsgi import application
from django.urls import get_resolver
get_resolver().url_patterns
import malpan.submissions.admin, malpan.submissions.intake, malpan.submissions.evaluation.runs
import malpan.submissions.tasks, malpan.api.routes
heavy = {"torch", "transformers", "numpy", "mecab", "konlpy", "bert_score", "bleurt_pytorch", "scoring.engine"}
print(json.dumps({
    "loaded": sorted(heavy & set(sys.modules)),
    "megabytes": psutil.Process().memory_info().rss / 2**20,
}))
"""


def test_web_process_loads_no_model_library_and_stays_small():
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=120, check=True)

    found = json.loads(done.stdout.splitlines()[-1])
    assert found["loaded"] == []
    assert found["megabytes"] < 200
